#define POLYTILE_PERIODIC_TILES 1
#include "launch/cuda/tile_kernels_periodic.h"

#include <string.h>

static const struct {
    const char *name;
    const polytile_implementation *implementation;
} kernels[] = {
#define BODY_ROW(name) {#name, &name##_kernel},
    PERIODIC_TILE_BODIES(BODY_ROW)};

extern "C" const polytile_implementation *cuda_periodic_tile_kernel_of(const char *name) {
    for (const auto &kernel : kernels)
        if (strcmp(kernel.name, name) == 0)
            return kernel.implementation;
    return NULL;
}
