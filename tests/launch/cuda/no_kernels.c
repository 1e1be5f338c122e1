#include "launch/cuda/kernels.h"

#include "launch/cuda/tile_kernels.h"
#include "launch/cuda/tile_kernels_periodic.h"

#include <stddef.h>

const polytile_implementation *cuda_kernel_of(const char *name) {
    (void)name;
    return NULL;
}

const polytile_implementation *cuda_program_kernel_of(const char *name) {
    (void)name;
    return NULL;
}

const polytile_implementation *cuda_tile_kernel_of(const char *name) {
    (void)name;
    return NULL;
}

const polytile_implementation *cuda_periodic_tile_kernel_of(const char *name) {
    (void)name;
    return NULL;
}
