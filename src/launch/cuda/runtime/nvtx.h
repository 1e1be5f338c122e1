#ifndef POLYTILE_LAUNCH_CUDA_RUNTIME_NVTX_H
#define POLYTILE_LAUNCH_CUDA_RUNTIME_NVTX_H

/* Named ranges on the host thread's track, for Nsight and other tools of NVTX; without a tool they
 * cost nothing. */

/** Begin a range inside the one that is open. */
void pti_nvtx_push(const char *name);
void pti_nvtx_pop(void);

#endif
