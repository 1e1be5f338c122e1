#include "launch/reduction.h"

#include "access/boxes.h"
#include "base/checked.h"
#include "launch/half.h"

#include <math.h>
#include <string.h>

/** What is known of one type; the tables are in the order sum, prod, min, max. */
typedef struct reduction {
    void (*identity)(int verb, unsigned char *element);
    void (*combine[4])(void *to, const void *from);
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
IDENTITY_FUNCTION(F32, float, 0, 1, INFINITY, -INFINITY)
IDENTITY_FUNCTION(F64, double, 0, 1, INFINITY, -INFINITY)

#define SUM_OF(a, b)  ((a) + (b))
#define PROD_OF(a, b) ((a) * (b))
#define MIN_OF(a, b)  ((b) < (a) ? (b) : (a))
#define MAX_OF(a, b)  ((b) > (a) ? (b) : (a))

#define AS_IS(value) (value)

/** T is the type in memory; READ and WRITE convert between it and the type W computed in. */
#define COMBINE_FUNCTION(name, verb, T, W, READ, WRITE, EXPRESSION)                                \
    static void verb##_##name(void *to, const void *from) {                                        \
        T stored[2];                                                                               \
        memcpy(&stored[0], to, sizeof(T));                                                         \
        memcpy(&stored[1], from, sizeof(T));                                                       \
        W a = (W)READ(stored[0]), b = (W)READ(stored[1]);                                          \
        stored[0] = (T)WRITE(EXPRESSION(a, b));                                                    \
        memcpy(to, &stored[0], sizeof(T));                                                         \
    }

/** Integers are added and multiplied as unsigned ones, which wrap around. */
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

static const reduction reductions[] = {
#define REDUCTION_ROW(name, text, bytes)                                                           \
    [POLYTILE_##name] = {identity_##name, {sum_##name, prod_##name, min_##name, max_##name}},
    POLYTILE_TYPES(REDUCTION_ROW)
#undef REDUCTION_ROW
};

enum { N_TYPES = sizeof reductions / sizeof *reductions };

bool pti_reduction_is_known(polytile_role role, polytile_type type) {
    return role >= POLYTILE_SUM && role <= POLYTILE_MAX && type >= 0 && type < (int)N_TYPES;
}

void pti_reduction_identity(polytile_role role, polytile_type type,
                            unsigned char element[PTI_MAX_SCALAR_BYTES]) {
    reductions[type].identity((int)role - (int)POLYTILE_SUM, element);
}

static int64_t offset_of(const pti_image *image, const int64_t *element) {
    return pti_layout_offset(image->layout, element);
}

/** Step to the next element of a box in C order; false behind the last. */
static bool next_element(const polytile_domain *box, int64_t *element) {
    for (int d = box->n_dims - 1; d >= 0; d--) {
        element[d] += box->range[d].step;
        if (element[d] <= box->range[d].hi)
            return true;
        element[d] = box->range[d].lo;
    }
    return false;
}

void pti_reduction_combine(polytile_role role, polytile_type type, const pti_move *move) {
    void (*combine)(void *, const void *) = reductions[type].combine[(int)role - (int)POLYTILE_SUM];
    int64_t element[POLYTILE_MAX_DIMS];
    if (pti_box_is_empty(move->box))
        return;
    for (int d = 0; d < move->box->n_dims; d++)
        element[d] = move->box->range[d].lo;
    do {
        combine((char *)move->to.base + offset_of(&move->to, element),
                (const char *)move->from.base + offset_of(&move->from, element));
    } while (next_element(move->box, element));
}
