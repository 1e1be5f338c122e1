#include "launch/cuda/route.h"
polytile_status pti_cuda_routes_begin(pti_cuda_device *cuda, const pti_execution *execution, pti_cuda_host_memory *kinds) { (void)cuda; (void)execution; (void)kinds; return POLYTILE_OK; }
polytile_status pti_cuda_routes_end(pti_cuda_device *cuda, const pti_execution *execution, const pti_cuda_host_memory *kinds) { (void)cuda; (void)execution; (void)kinds; return POLYTILE_OK; }
bool pti_cuda_is_staged(const pti_command *command, const pti_cuda_host_memory *kinds) { (void)command; (void)kinds; return false; }
