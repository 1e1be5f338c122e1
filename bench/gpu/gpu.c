#include "gpu/gpu.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE_BYTES = 4096 };

void gpu_check(cudaError_t error, const char *call, const char *file, int line) {
    if (error != cudaSuccess)
        gpu_fail("%s:%d: %s: %s (%s)", file, line, call, cudaGetErrorString(error),
                 cudaGetErrorName(error));
}

void gpu_begin(gpu_waiting waiting) {
    if (waiting == GPU_WAITS_ASLEEP)
        GPU_CALL(cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync));
    GPU_CALL(cudaSetDevice(0));
    GPU_CALL(cudaFree(NULL));
}

static void touch(char *memory, int64_t n_bytes) {
#pragma omp parallel for
    for (int64_t byte = 0; byte < n_bytes; byte += PAGE_BYTES)
        memory[byte] = 1;
}

float *gpu_allocate_pinned(int64_t n_bytes) {
    const size_t n_whole = ((size_t)n_bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
    char *memory = aligned_alloc(PAGE_BYTES, n_whole);
    if (memory == NULL)
        gpu_fail("aligned_alloc: no %lld bytes", (long long)n_bytes);
    madvise(memory, n_whole, MADV_NOHUGEPAGE);
    touch(memory, n_bytes);
    GPU_CALL(cudaHostRegister(memory, (size_t)n_bytes, cudaHostRegisterPortable));
    return (float *)memory;
}

float *gpu_allocate_pageable(int64_t n_bytes) {
    char *memory = malloc((size_t)n_bytes);
    if (memory == NULL)
        gpu_fail("malloc: no %lld bytes", (long long)n_bytes);
    touch(memory, n_bytes);
    return (float *)memory;
}

/** 64 bits that look random, one number a pair of seed and index. Source: Steele et al., "Fast
 * splittable pseudorandom number generators", 2014. */
static inline uint64_t scramble(uint64_t seed, int64_t index) {
    uint64_t h = (seed << 40) + 0x9e3779b97f4a7c15u * (uint64_t)(index + 1);
    h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9u;
    h = (h ^ (h >> 27)) * 0x94d049bb133111ebu;
    return h ^ (h >> 31);
}

void gpu_fill_random(float *data, int64_t n, uint64_t seed) {
#pragma omp parallel for
    for (int64_t k = 0; k < n; k++)
        data[k] = (float)(int64_t)(scramble(seed, k) >> 40) * 0x1p-23f - 1.0f;
}

void gpu_fill_whole_numbers(float *data, int64_t n, uint64_t seed) {
#pragma omp parallel for
    for (int64_t k = 0; k < n; k++)
        data[k] = (float)((int)(scramble(seed, k) % 5) - 2);
}

void gpu_poison(float *data, int64_t n) {
    enum { CHUNK = 1 << 20 };
#pragma omp parallel for
    for (int64_t begin = 0; begin < n; begin += CHUNK) {
        int64_t count = n - begin < CHUNK ? n - begin : CHUNK;
        memset(data + begin, 0xff, (size_t)count * sizeof *data);
    }
}

void gpu_require_all_right(const char *array, const float *data, int64_t first_wrong, int64_t n) {
    if (first_wrong < n)
        gpu_fail("wrong result: element %lld of %lld of %s is %.9g", (long long)first_wrong,
                 (long long)n, array, (double)data[first_wrong]);
}

void gpu_require_sums(const float *x, const float *y, const float *z, int64_t n) {
    int64_t first_wrong = n;
#pragma omp parallel for reduction(min : first_wrong)
    for (int64_t i = 0; i < n; i++) {
        if (!(z[i] == x[i] + y[i]))
            first_wrong = i < first_wrong ? i : first_wrong;
    }
    gpu_require_all_right("z", z, first_wrong, n);
}

void gpu_require_equal(const char *array, const float *data, const float *expected, int64_t n) {
    int64_t first_wrong = n;
#pragma omp parallel for reduction(min : first_wrong)
    for (int64_t k = 0; k < n; k++) {
        if (!(data[k] == expected[k]))
            first_wrong = k < first_wrong ? k : first_wrong;
    }
    gpu_require_all_right(array, data, first_wrong, n);
}

void gpu_require_same_bits(const char *array, const float *data, const float *expected, int64_t n) {
    int64_t first_wrong = n;
#pragma omp parallel for reduction(min : first_wrong)
    for (int64_t k = 0; k < n; k++) {
        if (memcmp(&data[k], &expected[k], sizeof *data) != 0)
            first_wrong = k < first_wrong ? k : first_wrong;
    }
    gpu_require_all_right(array, data, first_wrong, n);
}

void gpu_alternate(gpu_repetition *ours, gpu_repetition *rival, void *subject,
                   bench_times *ours_times, bench_times *rival_times) {
    gpu_alternate_few(GPU_REPETITIONS, ours, rival, subject, ours_times, rival_times);
}

void gpu_alternate_few(int n_repetitions, gpu_repetition *ours, gpu_repetition *rival,
                       void *subject, bench_times *ours_times, bench_times *rival_times) {
    ours(subject);
    rival(subject);
    for (int r = 0; r < n_repetitions; r++) {
        bool rival_first = r % 2 == 0;
        if (rival_first)
            bench_add_time(rival_times, rival(subject));
        bench_add_time(ours_times, ours(subject));
        if (!rival_first)
            bench_add_time(rival_times, rival(subject));
    }
}
