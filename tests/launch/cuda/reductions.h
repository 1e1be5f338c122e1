#ifndef POLYTILE_TESTS_LAUNCH_CUDA_REDUCTIONS_H
#define POLYTILE_TESTS_LAUNCH_CUDA_REDUCTIONS_H

#include <polytile/kernel.h>

/* A body for every verb and type. The threads of a warp meet in one element of rows, all of them,
 * and some of them combine into elements of columns side by side. Operands are such that no order
 * of combining rounds. */

/** X-macro: verb, its macro, name of the type, the type. */
#define REDUCTIONS_OF(X, verb, VERB)                                                               \
    X(verb, VERB, i8, int8_t)                                                                      \
    X(verb, VERB, i16, int16_t)                                                                    \
    X(verb, VERB, i32, int32_t)                                                                    \
    X(verb, VERB, i64, int64_t)                                                                    \
    X(verb, VERB, u8, uint8_t)                                                                     \
    X(verb, VERB, u16, uint16_t)                                                                   \
    X(verb, VERB, u32, uint32_t)                                                                   \
    X(verb, VERB, u64, uint64_t)                                                                   \
    X(verb, VERB, f32, float)                                                                      \
    X(verb, VERB, f64, double)

#define REDUCTIONS(X)                                                                              \
    REDUCTIONS_OF(X, sum, PT_SUM)                                                                  \
    REDUCTIONS_OF(X, prod, PT_PROD)                                                                \
    REDUCTIONS_OF(X, min, PT_MIN)                                                                  \
    REDUCTIONS_OF(X, max, PT_MAX)

#define OPERAND_sum(T, x) (T)(x)
/* Two numbers of 16 bits and no sign are multiplied as int, which has no room for large ones. */
#define OPERAND_prod(T, x) (T)((x) > 6 ? (sizeof(T) == 2 ? 2 : -2) : 1)
#define OPERAND_min(T, x)  (T)(50 - (x))
#define OPERAND_max(T, x)  (T)(50 + (x))

#define REDUCTION_BODY(verb, VERB, type, T)                                                        \
    POLYTILE_KERNEL(verb##_##type, (i, j), (const T, x, 2), (T, rows, 1), (T, columns, 1)) {       \
        const T operand = OPERAND_##verb(T, PT_AT(x, i, j));                                       \
        VERB(PT_AT(rows, i), operand);                                                             \
        if (PT_AT(x, i, j) > 2)                                                                    \
            VERB(PT_AT(columns, j), operand);                                                      \
    }

REDUCTIONS(REDUCTION_BODY)

#endif
