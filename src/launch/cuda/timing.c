#include "launch/cuda/timing.h"
polytile_status pti_cuda_timing_create(pti_cuda_device *cuda, pti_cuda_timing **timing) { (void)cuda; *timing = NULL; return POLYTILE_OK; }
void pti_cuda_timing_destroy(pti_cuda_timing *timing) { (void)timing; }
polytile_status pti_cuda_timing_begin(pti_cuda_timing *timing, pti_execution *execution) { (void)timing; (void)execution; return POLYTILE_OK; }
polytile_status pti_cuda_timing_start(pti_cuda_timing *timing, const pti_command *command) { (void)timing; (void)command; return POLYTILE_OK; }
polytile_status pti_cuda_timing_stop(pti_cuda_timing *timing, const pti_command *command) { (void)timing; (void)command; return POLYTILE_OK; }
polytile_status pti_cuda_timing_harvest(pti_cuda_timing *timing) { (void)timing; return POLYTILE_OK; }
polytile_status pti_cuda_timing_end(pti_cuda_timing *timing) { (void)timing; return POLYTILE_OK; }
void pti_cuda_timing_abandon(pti_cuda_timing *timing) { (void)timing; }
