#include "launch/host/host.h"

void pti_host_run_parts(int64_t n_parts, pti_part_function *run, void *user) {
#pragma omp parallel for num_threads(pti_host_default_threads()) schedule(dynamic, 1)
    for (int64_t part = 0; part < n_parts; part++)
        run(part, user);
}
