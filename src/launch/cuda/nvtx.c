#include "launch/cuda/nvtx.h"
void pti_nvtx_push(const char *name) { (void)name; }
void pti_nvtx_pop(void) {}
