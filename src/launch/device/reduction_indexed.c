#include "access/array/type.h"
#include "base/half.h"
#include "launch/device/reduction_row.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

/** The functions of values of one type. */
typedef struct indexed {
    void (*worst)(bool is_most, unsigned char *value);
    void (*combine)(bool is_most, const pti_element_row *row);
} indexed;

static int64_t index_of(const char *element) {
    int64_t index;
    memcpy(&index, element + PTI_INDEX_OFFSET, sizeof index);
    return index;
}

#define AS_IS(value)    (value)
#define BETTER(a, b)    (is_most ? (a) > (b) : (a) < (b))
#define IS_NAN(value)   ((value) != (value))
#define SAME_RANK(a, b) ((a) == (b) || (IS_NAN(a) && IS_NAN(b)))

/** T is the type in memory; READ converts it to the type W in which values are compared. The worst
 * of floats is NaN, over which any number wins. */
#define INDEXED_FUNCTIONS(name, T, W, READ, largest, smallest)                                     \
    static void worst_##name(bool is_most, unsigned char *value) {                                 \
        const T worst = is_most ? smallest : largest;                                              \
        memcpy(value, &worst, sizeof worst);                                                       \
    }                                                                                              \
    static void combine_##name(bool is_most, const pti_element_row *row) {                         \
        for (int64_t k = 0; k < row->n; k++) {                                                     \
            char *to = row->to + k * row->to_step_bytes;                                           \
            const char *from = row->from + k * row->from_step_bytes;                               \
            T stored[2];                                                                           \
            memcpy(&stored[0], to, sizeof(T));                                                     \
            memcpy(&stored[1], from, sizeof(T));                                                   \
            const W held = READ(stored[0]), value = READ(stored[1]);                               \
            if (BETTER(value, held) || (IS_NAN(held) && !IS_NAN(value)) ||                         \
                (SAME_RANK(value, held) && index_of(from) < index_of(to))) {                       \
                memcpy(to, from, sizeof(T));                                                       \
                memcpy(to + PTI_INDEX_OFFSET, from + PTI_INDEX_OFFSET, sizeof(int64_t));           \
            }                                                                                      \
        }                                                                                          \
    }

INDEXED_FUNCTIONS(I8, int8_t, int8_t, AS_IS, INT8_MAX, INT8_MIN)
INDEXED_FUNCTIONS(I16, int16_t, int16_t, AS_IS, INT16_MAX, INT16_MIN)
INDEXED_FUNCTIONS(I32, int32_t, int32_t, AS_IS, INT32_MAX, INT32_MIN)
INDEXED_FUNCTIONS(I64, int64_t, int64_t, AS_IS, INT64_MAX, INT64_MIN)
INDEXED_FUNCTIONS(U8, uint8_t, uint8_t, AS_IS, UINT8_MAX, 0)
INDEXED_FUNCTIONS(U16, uint16_t, uint16_t, AS_IS, UINT16_MAX, 0)
INDEXED_FUNCTIONS(U32, uint32_t, uint32_t, AS_IS, UINT32_MAX, 0)
INDEXED_FUNCTIONS(U64, uint64_t, uint64_t, AS_IS, UINT64_MAX, 0)
INDEXED_FUNCTIONS(F16, uint16_t, float, pti_half_to_float, 0x7E00, 0x7E00)
INDEXED_FUNCTIONS(BF16, uint16_t, float, pti_brain_to_float, 0x7FC0, 0x7FC0)
INDEXED_FUNCTIONS(F32, float, float, AS_IS, NAN, NAN)
INDEXED_FUNCTIONS(F64, double, double, AS_IS, NAN, NAN)

#define INDEXED_ROW(name) [POLYTILE_##name] = {worst_##name, combine_##name}

static const indexed indexeds[] = {INDEXED_ROW(I8),   INDEXED_ROW(I16), INDEXED_ROW(I32),
                                   INDEXED_ROW(I64),  INDEXED_ROW(U8),  INDEXED_ROW(U16),
                                   INDEXED_ROW(U32),  INDEXED_ROW(U64), INDEXED_ROW(F16),
                                   INDEXED_ROW(BF16), INDEXED_ROW(F32), INDEXED_ROW(F64)};

void pti_indexed_identity(polytile_role role, int scalar, unsigned char *element) {
    const int64_t no_index = INT64_MAX;
    memset(element, 0, PTI_INDEXED_BYTES);
    indexeds[scalar].worst(role == POLYTILE_ARGMAX, element);
    memcpy(element + PTI_INDEX_OFFSET, &no_index, sizeof no_index);
}

void pti_indexed_combine(polytile_role role, int scalar, const pti_element_row *row) {
    indexeds[scalar].combine(role == POLYTILE_ARGMAX, row);
}
