#ifndef POLYTILE_KERNEL_ATOMIC_H
#define POLYTILE_KERNEL_ATOMIC_H

/* Atomic combining on NVIDIA GPUs of compute capability 7.0 and newer, of any type of 1, 2, 4 or 8
 * bytes that has the operators: the integers, float, double, and __half and __nv_bfloat16 for those
 * who include cuda_fp16.h or cuda_bf16.h; and of the pairs of kernel_pair.h. Only compiled for the
 * device. */
#include <polytile/kernel_pair.h>

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

/* A total order: the better value wins, of equal ones the lower index, and any number over what is
 * none. */
struct pt_argmin {
    template <class T> static __device__ __forceinline__ bool is_worse(T value, T held) {
        return held < value;
    }
    template <class E> static __device__ __forceinline__ E of(E a, E b) {
        const bool a_is_number = a.value == a.value, b_is_number = b.value == b.value;
        const bool is_tie = a.value == b.value || !(a_is_number || b_is_number);
        return b.value < a.value || b_is_number > a_is_number || (is_tie && b.index < a.index) ? b
                                                                                               : a;
    }
};

struct pt_argmax {
    template <class T> static __device__ __forceinline__ bool is_worse(T value, T held) {
        return held > value;
    }
    template <class E> static __device__ __forceinline__ E of(E a, E b) {
        const bool a_is_number = a.value == a.value, b_is_number = b.value == b.value;
        const bool is_tie = a.value == b.value || !(a_is_number || b_is_number);
        return b.value > a.value || b_is_number > a_is_number || (is_tie && b.index < a.index) ? b
                                                                                               : a;
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

/* Elements of two words of 8 bytes. The second one is a lock: who finds `locked` there waits, since
 * somebody else changes the element. Threads of a warp go on one by one, so that none waits for one
 * that cannot go on. */
template <class Verb, class T>
__device__ __forceinline__ void pt_atomic_locked(Verb, T *at, T value, unsigned long long locked) {
    static_assert(sizeof(T) == 16, "an element of two words");
    unsigned long long *const words = (unsigned long long *)at;
    bool is_done = false;
    while (!is_done) {
        unsigned long long held[2];
        held[1] = atomicExch(&words[1], locked);
        if (held[1] == locked)
            continue;
        __threadfence();
        held[0] = *(volatile unsigned long long *)&words[0];
        T element;
        __builtin_memcpy(&element, held, sizeof element);
        element = Verb::of(element, value);
        __builtin_memcpy(held, &element, sizeof element);
        *(volatile unsigned long long *)&words[0] = held[0];
        __threadfence();
        atomicExch(&words[1], held[1]);
        is_done = true;
    }
}

/** No index is the least one, which is the lock. A value that is worse than what is held stays so,
 * since values become better alone, and needs no lock. */
template <class Verb, class T>
__device__ __forceinline__ void pt_atomic(Verb verb, pt_indexed<T> *at, pt_indexed<T> value) {
    typedef typename pt_word<sizeof(T)>::type Word;
    const unsigned long long word = *(volatile unsigned long long *)at;
    const T held = pt_value_of<T>((Word)word);
    if (!Verb::is_worse(value.value, held))
        pt_atomic_locked(verb, at, value, 1ull << 63);
}

/** Parts add up by themselves. */
template <class R>
__device__ __forceinline__ void pt_atomic(pt_sum verb, pt_complex<R> *at, pt_complex<R> value) {
    pt_atomic(verb, &at->re, value.re);
    pt_atomic(verb, &at->im, value.im);
}

/** The imaginary part is never this NaN, which no arithmetic makes. */
__device__ __forceinline__ void pt_atomic(pt_prod verb, pt_c128 *at, pt_c128 value) {
    pt_atomic_locked(verb, at, value, 0xfff4706f6c79746cull);
}

/** Return the number of the calling thread in its warp. */
__device__ __forceinline__ unsigned pt_lane(void) {
    unsigned lane;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    return lane;
}

/** Return the value that another lane has. */
template <int n_bytes> struct pt_shuffle {
    template <class T> static __device__ __forceinline__ T of(unsigned lanes, T value, int from) {
        typedef typename pt_word<n_bytes>::type Word;
        return pt_value_of<T>((Word)__shfl_sync(lanes, pt_bits_of<Word>(value), from));
    }
};

template <> struct pt_shuffle<16> {
    template <class T> static __device__ __forceinline__ T of(unsigned lanes, T value, int from) {
        unsigned long long words[2];
        __builtin_memcpy(words, &value, sizeof value);
        words[0] = __shfl_sync(lanes, words[0], from);
        words[1] = __shfl_sync(lanes, words[1], from);
        __builtin_memcpy(&value, words, sizeof value);
        return value;
    }
};

/**
 * Combine the values of some lanes of a warp. Only the lowest lane's result counts. Every lane in
 * `lanes` must call it, and no other.
 *
 * In each round every second of the remaining lanes hands its value to the one before and leaves: a
 * set of lanes takes about log2 of its size.
 */
template <class Verb, class T>
__device__ __forceinline__ T pt_combine_lanes(unsigned lanes, T value) {
    const unsigned lane = pt_lane();
    unsigned rank = __popc(lanes & ((1u << lane) - 1));
    unsigned above = lanes & (0xfffffffeu << lane);
    while (__any_sync(lanes, above != 0)) {
        const int next = __ffs(above) - 1;
        const T other = pt_shuffle<sizeof(T)>::of(lanes, value, next < 0 ? (int)lane : next);
        if (next >= 0)
            value = Verb::of(value, other);
        above &= ~__ballot_sync(lanes, rank & 1);
        rank >>= 1;
    }
    return value;
}

/** Combine a value into an element. Lanes of a warp that share an element, as in a dot product,
 * combine among themselves first. */
template <class Verb, class T, class V> __device__ __forceinline__ void pt_combine(T *at, V value) {
    static_assert(sizeof(T) <= 16 && (sizeof(T) & (sizeof(T) - 1)) == 0,
                  "elements that threads combine into have 1, 2, 4, 8 or 16 bytes");
    const unsigned lanes = __activemask();
    int is_shared = 0;
    T combined = (T)value;
    __match_all_sync(lanes, (unsigned long long)at, &is_shared);
    if (is_shared)
        combined = pt_combine_lanes<Verb>(lanes, combined);
    if (!is_shared || pt_lane() == (unsigned)__ffs(lanes) - 1)
        pt_atomic(Verb(), at, combined);
}

/** Combine a value with its index. */
template <class Verb, class T, class V>
__device__ __forceinline__ void pt_combine_indexed(pt_indexed<T> *at, V value, int64_t index) {
    pt_indexed<T> element;
    element.value = (T)value;
    element.index = index;
    pt_combine<Verb>(at, element);
}

#endif
