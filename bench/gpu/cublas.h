#ifndef BENCH_GPU_CUBLAS_H
#define BENCH_GPU_CUBLAS_H

#include <cublasXt.h>
#include <cublas_v2.h>

/** Make a call of cuBLAS; the case fails with its text and line if the call does. */
#define GPU_CUBLAS(call) gpu_check_cublas((call), #call, __FILE__, __LINE__)

void gpu_check_cublas(cublasStatus_t status, const char *call, const char *file, int line);

#endif
