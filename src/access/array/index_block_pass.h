#ifndef POLYTILE_ACCESS_ARRAY_INDEX_BLOCK_PASS_H
#define POLYTILE_ACCESS_ARRAY_INDEX_BLOCK_PASS_H

#include "access/array/index_block.h"

/* The pass over a block, written so that compilers turn its loops into a few instructions of the
 * width that the including function has. */

/* Drawn at random, so that no regular change of elements leaves their sum as it was; odd, so that
 * no change of one element does. */
static const uint32_t weights[PTI_INDEX_BLOCK] = {
    0xb65c1c29, 0x62032801, 0xd6fd1d9b, 0x9530fcd9, 0x2ebe5795, 0x37e06c7b, 0xff8f735d, 0x2ad61d55,
    0x31b03dd5, 0x2b5c138b, 0xabbf3b85, 0xae80b07b, 0x177f53c3, 0xb4b4e567, 0xc1fb0cf7, 0xffada063,
    0x26bb9d19, 0xce6f291b, 0xb4e16c75, 0x488b09ad, 0xb97582c7, 0xec13f9ab, 0xc414d39d, 0x0341123d,
    0x70fe21e5, 0x77bf23b9, 0xdda3426b, 0xb895579d, 0xfce799cd, 0xa29af483, 0x1d978d8d, 0x07362beb,
    0x84533247, 0x2b2cbd4d, 0xf54a0757, 0x7dc67e9f, 0xbd38e7e3, 0xd860055b, 0x71b791cd, 0xae8de429,
    0x4dfa5465, 0x7ff032fb, 0xf3f9daa1, 0xfec0ca1d, 0x15ca51af, 0xafee4ee3, 0xc2b3cb63, 0x410027c7,
    0xd7df8b33, 0x9c82b801, 0x285f0fcb, 0xae635d5f, 0x53adcaf5, 0xf5d1bfe3, 0x4e2bf47b, 0x13122e61,
    0x8ac6285b, 0xa623b919, 0x5df38a37, 0xa9275e4f, 0xe4c8ea33, 0x0883ad17, 0xecb4b275, 0x36b6eed9};

#define DEFINE_SUMMARISE(T, suffix)                                                                \
    static inline __attribute__((always_inline))                                                   \
    pti_index_block summarise_##suffix(const T *element, int n, bool asks_order) {                 \
        T least = element[0], most = element[0], n_descents = 0;                                   \
        uint64_t sum = 0;                                                                          \
        for (int k = 0; k < n; k++) {                                                              \
            least = element[k] < least ? element[k] : least;                                       \
            most = element[k] > most ? element[k] : most;                                          \
            sum += (uint64_t)(u##suffix)element[k] * weights[k];                                   \
        }                                                                                          \
        for (int k = 1; asks_order && k < n; k++)                                                  \
            n_descents += (T)(element[k] < element[k - 1]);                                        \
        return (pti_index_block){{least, most}, sum, n_descents == 0};                             \
    }                                                                                              \
    /* Whole blocks have loops of a length that is known. */                                       \
    static inline __attribute__((always_inline))                                                   \
    pti_index_block pass_##suffix(const T *element, int n, bool asks_order) {                      \
        return n == PTI_INDEX_BLOCK ? summarise_##suffix(element, PTI_INDEX_BLOCK, asks_order)     \
                                    : summarise_##suffix(element, n, asks_order);                  \
    }
typedef uint32_t unarrow;
typedef uint64_t uwide;
DEFINE_SUMMARISE(int32_t, narrow)
DEFINE_SUMMARISE(int64_t, wide)

#endif
