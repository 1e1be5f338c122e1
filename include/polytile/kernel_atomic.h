#ifndef POLYTILE_KERNEL_ATOMIC_H
#define POLYTILE_KERNEL_ATOMIC_H

/* Atomic combining on NVIDIA GPUs of compute capability 7.0 and newer, of any type of 1, 2, 4 or 8
 * bytes that has the operators: the integers, float, double, and __half for those who include
 * cuda_fp16.h. Only compiled for the device. */
#include <stdint.h>

#if __CUDA_ARCH__ < 700
#error "polytile's kernels need GPUs of compute capability 7.0 or newer: nvcc -arch=sm_70 and up"
#endif

struct pt_sum {
    template <class T> static __device__ __forceinline__ T of(T a, T b) { return (T)(a + b); }
};

struct pt_prod {
    template <class T> static __device__ __forceinline__ T of(T a, T b) { return (T)(a * b); }
};

/* In any order of combining, a value that is not a number (a != a) loses against a number. */
struct pt_min {
    template <class T> static __device__ __forceinline__ T of(T a, T b) {
        return b < a || a != a ? b : a;
    }
};

struct pt_max {
    template <class T> static __device__ __forceinline__ T of(T a, T b) {
        return b > a || a != a ? b : a;
    }
};

/** The word in which atomics and shuffles move a type of n_bytes. */
template <int n_bytes> struct pt_word { typedef unsigned type; };
template <> struct pt_word<8> { typedef unsigned long long type; };

template <class Word, class T> __device__ __forceinline__ Word pt_bits_of(T value) {
    Word bits = 0;
    __builtin_memcpy(&bits, &value, sizeof value);
    return bits;
}

template <class T, class Word> __device__ __forceinline__ T pt_value_of(Word bits) {
    T value;
    __builtin_memcpy(&value, &bits, sizeof value);
    return value;
}

/** Return where an element begins in its aligned word, in bits (little endian). */
template <class T> __device__ __forceinline__ unsigned pt_shift_of(const T *at) {
    return sizeof(T) < sizeof(unsigned) ? 8 * (unsigned)((uintptr_t)at % sizeof(unsigned)) : 0;
}

/** Replace the bits of one element in a word. */
template <class T, class Word>
__device__ __forceinline__ Word pt_replace(Word word, unsigned shift, T value) {
    const Word mask = (Word)((Word)-1 >> 8 * (sizeof(Word) - sizeof(T))) << shift;
    return (word & ~mask) | (pt_bits_of<Word>(value) << shift);
}

/** Combine by compare and swap of the aligned word around the element, until no other thread came
 * between. The word's other elements keep their values, also when others change them. Ends at once
 * where the value changes nothing. */
template <class Verb, class T> __device__ __forceinline__ void pt_atomic(Verb, T *at, T value) {
    typedef typename pt_word<sizeof(T)>::type Word;
    const unsigned shift = pt_shift_of(at);
    Word *const word = (Word *)((char *)at - shift / 8);
    Word seen = *(volatile Word *)word, expected;
    do {
        expected = seen;
        const T element = pt_value_of<T>((Word)(expected >> shift));
        const Word wanted = pt_replace(expected, shift, Verb::of(element, value));
        if (wanted == expected)
            return;
        seen = atomicCAS(word, expected, wanted);
    } while (seen != expected);
}

/* Defines what the hardware has: signed and unsigned integers add up alike. */
#define PT_ATOMIC(verb, T, function, H)                                                            \
    __device__ __forceinline__ void pt_atomic(verb, T *at, T value) {                              \
        function((H *)at, (H)value);                                                               \
    }

PT_ATOMIC(pt_sum, int, atomicAdd, unsigned)
PT_ATOMIC(pt_sum, unsigned, atomicAdd, unsigned)
PT_ATOMIC(pt_sum, long, atomicAdd, unsigned long long)
PT_ATOMIC(pt_sum, unsigned long, atomicAdd, unsigned long long)
PT_ATOMIC(pt_sum, long long, atomicAdd, unsigned long long)
PT_ATOMIC(pt_sum, unsigned long long, atomicAdd, unsigned long long)
PT_ATOMIC(pt_sum, float, atomicAdd, float)
PT_ATOMIC(pt_sum, double, atomicAdd, double)
PT_ATOMIC(pt_min, int, atomicMin, int)
PT_ATOMIC(pt_min, unsigned, atomicMin, unsigned)
PT_ATOMIC(pt_min, long, atomicMin, long long)
PT_ATOMIC(pt_min, unsigned long, atomicMin, unsigned long long)
PT_ATOMIC(pt_min, long long, atomicMin, long long)
PT_ATOMIC(pt_min, unsigned long long, atomicMin, unsigned long long)
PT_ATOMIC(pt_max, int, atomicMax, int)
PT_ATOMIC(pt_max, unsigned, atomicMax, unsigned)
PT_ATOMIC(pt_max, long, atomicMax, long long)
PT_ATOMIC(pt_max, unsigned long, atomicMax, unsigned long long)
PT_ATOMIC(pt_max, long long, atomicMax, long long)
PT_ATOMIC(pt_max, unsigned long long, atomicMax, unsigned long long)

#undef PT_ATOMIC

/** Return the number of the calling thread in its warp. */
__device__ __forceinline__ unsigned pt_lane(void) {
    unsigned lane;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    return lane;
}

/**
 * Combine the values of some lanes of a warp. Only the lowest lane's result counts. Every lane in
 * `lanes` must call it, and no other.
 *
 * In each round every second of the remaining lanes hands its value to the one before and leaves: a
 * set of lanes takes about log2 of its size.
 */
template <class Verb, class T>
__device__ __forceinline__ T pt_combine_lanes(unsigned lanes, T value) {
    typedef typename pt_word<sizeof(T)>::type Word;
    const unsigned lane = pt_lane();
    unsigned rank = __popc(lanes & ((1u << lane) - 1));
    unsigned above = lanes & (0xfffffffeu << lane);
    while (__any_sync(lanes, above != 0)) {
        const int next = __ffs(above) - 1;
        const Word bits = __shfl_sync(lanes, pt_bits_of<Word>(value), next < 0 ? (int)lane : next);
        if (next >= 0)
            value = Verb::of(value, pt_value_of<T>(bits));
        above &= ~__ballot_sync(lanes, rank & 1);
        rank >>= 1;
    }
    return value;
}

/** Combine a value into an element. Lanes of a warp that share an element, as in a dot product,
 * combine among themselves first. */
template <class Verb, class T, class V> __device__ __forceinline__ void pt_combine(T *at, V value) {
    static_assert(sizeof(T) <= 8 && (sizeof(T) & (sizeof(T) - 1)) == 0,
                  "elements that threads combine into have 1, 2, 4 or 8 bytes");
    const unsigned lanes = __activemask();
    int is_shared = 0;
    T combined = (T)value;
    __match_all_sync(lanes, (unsigned long long)at, &is_shared);
    if (is_shared)
        combined = pt_combine_lanes<Verb>(lanes, combined);
    if (!is_shared || pt_lane() == (unsigned)__ffs(lanes) - 1)
        pt_atomic(Verb(), at, combined);
}

#endif
