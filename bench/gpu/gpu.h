#ifndef BENCH_GPU_GPU_H
#define BENCH_GPU_GPU_H

#include "gpu/report.h"

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What the cases share: calls that are checked, host memory, inputs and checks in parallel. */

/** Make a call of the CUDA runtime; the case fails with its text and line if the call does. */
#define GPU_CALL(call) gpu_check((call), #call, __FILE__, __LINE__)

void gpu_check(cudaError_t error, const char *call, const char *file, int line);

/** How this process waits for the GPU. */
typedef enum gpu_waiting { GPU_WAITS_AS_EVER, GPU_WAITS_ASLEEP } gpu_waiting;

/** Begin a case on the first GPU: its context exists afterwards. */
void gpu_begin(gpu_waiting waiting);

/** Memory in small pages that was touched by all threads and then pinned, which is sooner done than
 * by cudaHostAlloc. Copies of four GPUs to huge pages stall at random (docs/scaling.md). */
float *gpu_allocate_pinned(int64_t n_bytes);

/** What malloc gives, touched by all threads. */
float *gpu_allocate_pageable(int64_t n_bytes);

/** Random numbers in [-1, 1). */
void gpu_fill_random(float *data, int64_t n, uint64_t seed);

/** Random whole numbers from -2 to 2: sums of up to 2^22 of their products are exact. */
void gpu_fill_whole_numbers(float *data, int64_t n, uint64_t seed);

/** NaN everywhere, so that an element that is not written fails every check. */
void gpu_poison(float *data, int64_t n);

/** Fail unless first_wrong is n, which says that no element was wrong. */
void gpu_require_all_right(const char *array, const float *data, int64_t first_wrong, int64_t n);

/** Fail unless z = x + y everywhere. */
void gpu_require_sums(const float *x, const float *y, const float *z, int64_t n);

/** Fail unless an array has the numbers expected; NaN is never one of them. */
void gpu_require_equal(const char *array, const float *data, const float *expected, int64_t n);

/** The same bit by bit, where zeros of different sign differ. */
void gpu_require_same_bits(const char *array, const float *data, const float *expected, int64_t n);

/** Make one repetition, check what it computed, and return its time in seconds. */
typedef double gpu_repetition(void *subject);

enum { GPU_REPETITIONS = 11 };

/** Run both in turns, either being first as often as the other, after one run of each that does not
 * count. */
void gpu_alternate(gpu_repetition *ours, gpu_repetition *rival, void *subject,
                   bench_times *ours_times, bench_times *rival_times);

/** The same with so many repetitions, where each takes long. */
void gpu_alternate_few(int n_repetitions, gpu_repetition *ours, gpu_repetition *rival,
                       void *subject, bench_times *ours_times, bench_times *rival_times);

#ifdef __cplusplus
}
#endif

#endif
