#ifndef POLYTILE_KERNEL_RANGE_H
#define POLYTILE_KERNEL_RANGE_H

/*
 * PT_SUM_RANGE adds up a value for each index of a range that differs from thread to thread, such
 * as the entries of a row of a sparse matrix. On the host this is a plain loop. On a GPU the
 * threads of a warp go through their ranges together where each begins after the one before it:
 * neighbours read neighbouring entries then, and each thread adds up its own values in their order.
 */

#ifdef __CUDA_ARCH__

#include <polytile/kernel_atomic.h>

/* On a GPU one thread's value may be computed by another one. So it is a function of e, and of what
 * is listed, alone: compilers refuse the name of anything else. */
#define PT_SUM_RANGE(sum, e, lo, hi, shared, ...)                                                  \
    pt_sum_range(sum, lo, hi, [PT_UNPACK shared](const int64_t e) { return __VA_ARGS__; })

enum { PT_RANGE_WARPS = 32, PT_RANGE_BYTES = 512 };

/** Whether all threads of a warp are here, and each one's range ends where the next one's begins.
 * *first, *end: what they have together, without end. The same for all. */
__device__ __forceinline__ bool pt_ranges_join(int64_t lo, int64_t hi, int64_t *first,
                                               int64_t *end) {
    const unsigned all = 0xffffffffu;
    if (__activemask() != all)
        return false;
    const int64_t next = (int64_t)__shfl_down_sync(all, (long long)lo, 1);
    *first = (int64_t)__shfl_sync(all, (long long)lo, 0);
    *end = (int64_t)__shfl_sync(all, (long long)(hi + 1), 31);
    return __all_sync(all, pt_lane() == 31 || next == hi + 1);
}

/** Values of a warp in shared memory: those that are 32 apart lie in different banks. */
template <class T> struct pt_range_values {
    enum { EACH = PT_RANGE_BYTES / 32 / (int)sizeof(T), N = 32 * EACH };
    T value[N + EACH];
    __device__ __forceinline__ T &at(int k) { return value[k + k / 32]; }
};

/** Compute the values of N indices from base on, of those before end. */
template <class T, class Value>
__device__ __forceinline__ void pt_fill_values(pt_range_values<T> &values, int64_t base,
                                               int64_t end, const Value &value) {
    enum { EACH = pt_range_values<T>::EACH };
    const int lane = (int)pt_lane();
    T found[EACH];
#pragma unroll
    for (int k = 0; k < EACH; k++) {
        const int64_t e = base + 32 * k + lane;
        found[k] = e < end ? (T)value(e) : T();
    }
#pragma unroll
    for (int k = 0; k < EACH; k++)
        values.at(32 * k + lane) = found[k];
}

/** Add up the values of a thread's range, in its order, by all threads of the warp. */
template <class T, class Value>
__device__ __forceinline__ void pt_sum_joined(T &sum, int64_t lo, int64_t hi, int64_t first,
                                              int64_t end, const Value &value) {
    enum { N = pt_range_values<T>::N };
    __shared__ pt_range_values<T> of_warp[PT_RANGE_WARPS];
    const unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    pt_range_values<T> &values = of_warp[thread / 32];
    for (int64_t base = first; base < end; base += N) {
        pt_fill_values(values, base, end, value);
        __syncwarp();
        const int from = (int)(lo > base ? (lo - base < N ? lo - base : N) : 0);
        const int behind = (int)(hi - base < N ? hi - base + 1 : N);
        for (int k = from; k < behind; k++)
            sum = (T)(sum + values.at(k));
        __syncwarp();
    }
}

template <class T, class Value>
__device__ __forceinline__ void pt_sum_range(T &sum, int64_t lo, int64_t hi, const Value &value) {
    int64_t first, end;
    if (pt_ranges_join(lo, hi, &first, &end)) {
        pt_sum_joined(sum, lo, hi, first, end, value);
        return;
    }
    for (int64_t e = lo; e <= hi; e++)
        sum = (T)(sum + (T)value(e));
}

#elif defined(__cplusplus)

/* As on a GPU, so that a name which is not listed is refused here, too. */
#define PT_SUM_RANGE(sum, e, lo, hi, shared, ...)                                                  \
    do {                                                                                           \
        const auto pt_value = [PT_UNPACK shared](const int64_t e) { return __VA_ARGS__; };         \
        const int64_t pt_last = (int64_t)(hi);                                                     \
        for (int64_t pt_at = (lo); pt_at <= pt_last; pt_at++)                                      \
            (sum) = (__typeof__(sum))((sum) + pt_value(pt_at));                                    \
    } while (0)

#else

#define PT_SUM_RANGE(sum, e, lo, hi, shared, ...)                                                  \
    do {                                                                                           \
        const int64_t pt_last = (int64_t)(hi);                                                     \
        for (int64_t e = (lo); e <= pt_last; e++)                                                  \
            (sum) = (__typeof__(sum))((sum) + (__VA_ARGS__));                                      \
    } while (0)

#endif

#endif
