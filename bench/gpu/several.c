#include "gpu/several.h"

#include "gpu/gpu.h"

static int n_asked;

void several_use(int n_gpus) {
    n_asked = n_gpus;
}

int several_count(void) {
    int n_gpus = 0;
    GPU_CALL(cudaGetDeviceCount(&n_gpus));
    n_gpus = n_gpus < SEVERAL_MOST_GPUS ? n_gpus : SEVERAL_MOST_GPUS;
    return n_asked > 0 && n_asked < n_gpus ? n_asked : n_gpus;
}

int several_next(int n_gpus) {
    const int n_all = several_count();
    if (n_asked > 0)
        return n_gpus < n_all ? n_all : 0;
    if (n_gpus >= n_all)
        return 0;
    return 2 * n_gpus < n_all ? 2 * n_gpus : n_all;
}

void several_write_devices(int n_gpus, int64_t memory_bytes, char text[SEVERAL_DEVICES_BYTES]) {
    size_t used = 0;
    for (int g = 0; g < n_gpus; g++)
        used +=
            (size_t)snprintf(text + used, SEVERAL_DEVICES_BYTES - used, "%scuda:%d(memory=%lldB)",
                             g == 0 ? "" : ",", g, (long long)memory_bytes);
}

void several_open(queue_stage *s, int n_gpus, int64_t memory_bytes, const char *declaration,
                  const polytile_implementation *implementation) {
    char text[SEVERAL_DEVICES_BYTES];
    several_write_devices(n_gpus, memory_bytes, text);
    queue_stage_open_on(s, text, declaration, implementation);
}
