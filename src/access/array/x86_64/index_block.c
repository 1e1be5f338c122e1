#include "access/array/index_block_pass.h"

#include <immintrin.h>

#define AVX2 __attribute__((target("avx2")))

enum { LANES = 8 };

/** What eight lanes have found. Products of even and of odd elements need no shuffles. */
typedef struct lanes {
    __m256i least, most;
    __m256i sums[2];
    __m256i descents; /* all ones where an element is less than the one before it */
} lanes;

AVX2 static inline __m256i load_lanes(const void *from) {
    return _mm256_loadu_si256(from);
}

AVX2 static inline void include_lanes(lanes *of, __m256i element, __m256i before, int first) {
    const __m256i weight = load_lanes(weights + first);
    of->least = _mm256_min_epi32(of->least, element);
    of->most = _mm256_max_epi32(of->most, element);
    of->sums[0] = _mm256_add_epi64(of->sums[0], _mm256_mul_epu32(element, weight));
    of->sums[1] = _mm256_add_epi64(of->sums[1], _mm256_mul_epu32(_mm256_srli_epi64(element, 32),
                                                                 _mm256_srli_epi64(weight, 32)));
    of->descents = _mm256_or_si256(of->descents, _mm256_cmpgt_epi32(before, element));
}

/** Join what the lanes have found. */
AVX2 static inline pti_index_block join_lanes(const lanes *of) {
    __m128i least =
        _mm_min_epi32(_mm256_castsi256_si128(of->least), _mm256_extracti128_si256(of->least, 1));
    __m128i most =
        _mm_max_epi32(_mm256_castsi256_si128(of->most), _mm256_extracti128_si256(of->most, 1));
    const __m256i both = _mm256_add_epi64(of->sums[0], of->sums[1]);
    __m128i sum = _mm_add_epi64(_mm256_castsi256_si128(both), _mm256_extracti128_si256(both, 1));
    least = _mm_min_epi32(least, _mm_shuffle_epi32(least, 0x4e));
    least = _mm_min_epi32(least, _mm_shuffle_epi32(least, 0xb1));
    most = _mm_max_epi32(most, _mm_shuffle_epi32(most, 0x4e));
    most = _mm_max_epi32(most, _mm_shuffle_epi32(most, 0xb1));
    sum = _mm_add_epi64(sum, _mm_unpackhi_epi64(sum, sum));
    return (pti_index_block){{_mm_cvtsi128_si32(least), _mm_cvtsi128_si32(most)},
                             (uint64_t)_mm_cvtsi128_si64(sum),
                             _mm256_testz_si256(of->descents, of->descents) != 0};
}

/** A whole block. The first element has itself before it. */
AVX2 static pti_index_block narrow_by_lanes(const int32_t *element) {
    const __m256i zero = _mm256_setzero_si256(), first = load_lanes(element);
    const __m256i before =
        _mm256_permutevar8x32_epi32(first, _mm256_setr_epi32(0, 0, 1, 2, 3, 4, 5, 6));
    lanes of = {first, first, {zero, zero}, zero};
    include_lanes(&of, first, before, 0);
    for (int k = LANES; k < PTI_INDEX_BLOCK; k += LANES)
        include_lanes(&of, load_lanes(element + k), load_lanes(element + k - 1), k);
    return join_lanes(&of);
}

AVX2 static pti_index_block wide_by_lanes(const int64_t *element, int n) {
    return pass_wide(element, n, true);
}

pti_index_block pti_index_block_narrow(const int32_t *element, int n, bool asks_order) {
    return n == PTI_INDEX_BLOCK && __builtin_cpu_supports("avx2")
               ? narrow_by_lanes(element)
               : pass_narrow(element, n, asks_order);
}

pti_index_block pti_index_block_wide(const int64_t *element, int n, bool asks_order) {
    return __builtin_cpu_supports("avx2") ? wide_by_lanes(element, n)
                                          : pass_wide(element, n, asks_order);
}
