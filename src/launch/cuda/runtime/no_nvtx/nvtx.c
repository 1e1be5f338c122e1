#include "launch/cuda/runtime/nvtx.h"

/* What stands in for NVTX where the CUDA Toolkit came without its header. */

void pti_nvtx_push(const char *name) {
    (void)name;
}

void pti_nvtx_pop(void) {}
