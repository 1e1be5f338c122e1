#include "launch/cuda/runtime/api.h"

const pti_cuda_api pti_cuda_runtime = {
#define ROW(name, parameters) .name = name,
    PTI_CUDA_CALLS(ROW)
#undef ROW
};

const pti_cuda_api *pti_cuda_current_api = &pti_cuda_runtime;
