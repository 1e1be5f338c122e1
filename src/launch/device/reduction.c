#include "launch/device/reduction.h"

#include "access/array/type.h"
#include "access/set/boxes.h"
#include "base/checked.h"
#include "base/half.h"
#include "launch/device/reduction_row.h"

#include <complex.h>
#include <math.h>
#include <string.h>

/** The functions of one type; the tables are in the order sum, prod, min, max. What has no order
 * has no combination for the last two. */
typedef struct reduction {
    void (*identity)(int verb, unsigned char *element);
    void (*combine[4])(const pti_element_row *row);
} reduction;

#define IDENTITY_FUNCTION(name, T, zero, one, largest, smallest)                                   \
    static void identity_##name(int verb, unsigned char *element) {                                \
        const T identities[] = {zero, one, largest, smallest};                                     \
        memcpy(element, &identities[verb], sizeof(T));                                             \
    }

IDENTITY_FUNCTION(I8, int8_t, 0, 1, INT8_MAX, INT8_MIN)
IDENTITY_FUNCTION(I16, int16_t, 0, 1, INT16_MAX, INT16_MIN)
IDENTITY_FUNCTION(I32, int32_t, 0, 1, INT32_MAX, INT32_MIN)
IDENTITY_FUNCTION(I64, int64_t, 0, 1, INT64_MAX, INT64_MIN)
IDENTITY_FUNCTION(U8, uint8_t, 0, 1, UINT8_MAX, 0)
IDENTITY_FUNCTION(U16, uint16_t, 0, 1, UINT16_MAX, 0)
IDENTITY_FUNCTION(U32, uint32_t, 0, 1, UINT32_MAX, 0)
IDENTITY_FUNCTION(U64, uint64_t, 0, 1, UINT64_MAX, 0)
IDENTITY_FUNCTION(F16, uint16_t, 0x0000, 0x3C00, 0x7C00, 0xFC00)
IDENTITY_FUNCTION(BF16, uint16_t, 0x0000, 0x3F80, 0x7F80, 0xFF80)
IDENTITY_FUNCTION(C64, float complex, 0, 1, 0, 0)
IDENTITY_FUNCTION(C128, double complex, 0, 1, 0, 0)
IDENTITY_FUNCTION(F32, float, 0, 1, INFINITY, -INFINITY)
IDENTITY_FUNCTION(F64, double, 0, 1, INFINITY, -INFINITY)

#define SUM_OF(a, b)  ((a) + (b))
#define PROD_OF(a, b) ((a) * (b))
#define MIN_OF(a, b)  ((b) < (a) ? (b) : (a))
#define MAX_OF(a, b)  ((b) > (a) ? (b) : (a))

#define AS_IS(value) (value)

/** T is the type in memory; READ and WRITE convert between it and the type W of computing. Rows
 * without gaps have a loop of their own, which compilers vectorise. */
#define COMBINE_FUNCTION(name, verb, T, W, READ, WRITE, EXPRESSION)                                \
    static inline void verb##_each_##name(pti_element_row row, int64_t to_step_bytes,              \
                                          int64_t from_step_bytes) {                               \
        for (int64_t k = 0; k < row.n; k++) {                                                      \
            T stored[2];                                                                           \
            memcpy(&stored[0], row.to + k * to_step_bytes, sizeof(T));                             \
            memcpy(&stored[1], row.from + k * from_step_bytes, sizeof(T));                         \
            W a = (W)READ(stored[0]), b = (W)READ(stored[1]);                                      \
            stored[0] = (T)WRITE(EXPRESSION(a, b));                                                \
            memcpy(row.to + k * to_step_bytes, &stored[0], sizeof(T));                             \
        }                                                                                          \
    }                                                                                              \
    static void verb##_##name(const pti_element_row *row) {                                        \
        if (row->to_step_bytes == sizeof(T) && row->from_step_bytes == sizeof(T))                  \
            verb##_each_##name(*row, sizeof(T), sizeof(T));                                        \
        else                                                                                       \
            verb##_each_##name(*row, row->to_step_bytes, row->from_step_bytes);                    \
    }

/** Add and multiply integers as unsigned ones, which wrap around. */
#define COMBINE_FUNCTIONS(name, T, W)                                                              \
    COMBINE_FUNCTION(name, sum, T, W, AS_IS, AS_IS, SUM_OF)                                        \
    COMBINE_FUNCTION(name, prod, T, W, AS_IS, AS_IS, PROD_OF)                                      \
    COMBINE_FUNCTION(name, min, T, T, AS_IS, AS_IS, MIN_OF)                                        \
    COMBINE_FUNCTION(name, max, T, T, AS_IS, AS_IS, MAX_OF)

COMBINE_FUNCTIONS(I8, int8_t, uint64_t)
COMBINE_FUNCTIONS(I16, int16_t, uint64_t)
COMBINE_FUNCTIONS(I32, int32_t, uint64_t)
COMBINE_FUNCTIONS(I64, int64_t, uint64_t)
COMBINE_FUNCTIONS(U8, uint8_t, uint64_t)
COMBINE_FUNCTIONS(U16, uint16_t, uint64_t)
COMBINE_FUNCTIONS(U32, uint32_t, uint64_t)
COMBINE_FUNCTIONS(U64, uint64_t, uint64_t)
COMBINE_FUNCTIONS(F32, float, float)
COMBINE_FUNCTIONS(F64, double, double)
COMBINE_FUNCTION(F16, sum, uint16_t, float, pti_half_to_float, pti_half_from_float, SUM_OF)
COMBINE_FUNCTION(F16, prod, uint16_t, float, pti_half_to_float, pti_half_from_float, PROD_OF)
COMBINE_FUNCTION(F16, min, uint16_t, float, pti_half_to_float, pti_half_from_float, MIN_OF)
COMBINE_FUNCTION(F16, max, uint16_t, float, pti_half_to_float, pti_half_from_float, MAX_OF)
COMBINE_FUNCTION(BF16, sum, uint16_t, float, pti_brain_to_float, pti_brain_from_float, SUM_OF)
COMBINE_FUNCTION(BF16, prod, uint16_t, float, pti_brain_to_float, pti_brain_from_float, PROD_OF)
COMBINE_FUNCTION(BF16, min, uint16_t, float, pti_brain_to_float, pti_brain_from_float, MIN_OF)
COMBINE_FUNCTION(BF16, max, uint16_t, float, pti_brain_to_float, pti_brain_from_float, MAX_OF)
COMBINE_FUNCTION(C64, sum, float complex, float complex, AS_IS, AS_IS, SUM_OF)
COMBINE_FUNCTION(C64, prod, float complex, float complex, AS_IS, AS_IS, PROD_OF)
COMBINE_FUNCTION(C128, sum, double complex, double complex, AS_IS, AS_IS, SUM_OF)
COMBINE_FUNCTION(C128, prod, double complex, double complex, AS_IS, AS_IS, PROD_OF)

#define REDUCTION_ROW(name)                                                                        \
    [POLYTILE_##name] = {identity_##name, {sum_##name, prod_##name, min_##name, max_##name}}
#define COMPLEX_ROW(name)                                                                          \
    [POLYTILE_##name] = {identity_##name, {sum_##name, prod_##name, NULL, NULL}}

static const reduction reductions[] = {REDUCTION_ROW(I8),   REDUCTION_ROW(I16), REDUCTION_ROW(I32),
                                       REDUCTION_ROW(I64),  REDUCTION_ROW(U8),  REDUCTION_ROW(U16),
                                       REDUCTION_ROW(U32),  REDUCTION_ROW(U64), REDUCTION_ROW(F16),
                                       REDUCTION_ROW(BF16), REDUCTION_ROW(F32), REDUCTION_ROW(F64),
                                       COMPLEX_ROW(C64),    COMPLEX_ROW(C128)};

enum { N_TYPES = sizeof reductions / sizeof *reductions };

bool pti_reduction_is_known(polytile_role role, polytile_type type) {
    if (role == POLYTILE_ARGMIN || role == POLYTILE_ARGMAX)
        return pti_type_indexed(type) >= 0;
    return role >= POLYTILE_SUM && role <= POLYTILE_MAX && type >= 0 && type < (int)N_TYPES &&
           reductions[type].combine[(int)role - (int)POLYTILE_SUM] != NULL;
}

void pti_reduction_identity(polytile_role role, polytile_type type,
                            unsigned char element[PTI_MAX_SCALAR_BYTES]) {
    if (pti_type_indexed(type) >= 0)
        pti_indexed_identity(role, pti_type_indexed(type), element);
    else
        reductions[type].identity((int)role - (int)POLYTILE_SUM, element);
}

static int64_t offset_of(const pti_memory_span *image, const int64_t *element) {
    return pti_memory_layout_offset(image->layout, element);
}

/** Go to the next row of a box in C order; false after the last. */
static bool next_row(const polytile_domain *box, int64_t *element) {
    for (int d = box->n_dims - 2; d >= 0; d--) {
        element[d] += box->range[d].step;
        if (element[d] <= box->range[d].hi)
            return true;
        element[d] = box->range[d].lo;
    }
    return false;
}

static void combine_row(polytile_role role, polytile_type type, const pti_element_row *row) {
    if (pti_type_indexed(type) >= 0)
        pti_indexed_combine(role, pti_type_indexed(type), row);
    else
        reductions[type].combine[(int)role - (int)POLYTILE_SUM](row);
}

void pti_reduction_combine(polytile_role role, polytile_type type, const pti_move *move) {
    const int last = move->box->n_dims - 1;
    const polytile_range *along = &move->box->range[last];
    int64_t element[POLYTILE_MAX_DIMS];
    if (pti_box_is_empty(move->box))
        return;
    for (int d = 0; d <= last; d++)
        element[d] = move->box->range[d].lo;
    pti_element_row row = {
        .n = pti_range_count(*along),
        .to_step_bytes = pti_mul_wrapped(along->step, move->to.layout->stride_bytes[last]),
        .from_step_bytes = pti_mul_wrapped(along->step, move->from.layout->stride_bytes[last])};
    do {
        row.to = (char *)move->to.base + offset_of(&move->to, element);
        row.from = (const char *)move->from.base + offset_of(&move->from, element);
        combine_row(role, type, &row);
    } while (next_row(move->box, element));
}
