#ifndef POLYTILE_KERNEL_COMBINE_H
#define POLYTILE_KERNEL_COMBINE_H

/* PT_SUM, PT_PROD, PT_MIN and PT_MAX combine a value, converted to the element's type, into an
 * element of a reducing role; PT_ARGMIN and PT_ARGMAX combine a value and its index. On the host
 * this is plain arithmetic, since each OpenMP thread has a private copy; on a GPU it is atomic. */

#include <polytile/kernel_pair.h>

#ifdef __CUDA_ARCH__

#include <polytile/kernel_atomic.h>

#define PT_SUM(element, value)  pt_combine<pt_sum>(&(element), value)
#define PT_PROD(element, value) pt_combine<pt_prod>(&(element), value)
#define PT_MIN(element, value)  pt_combine<pt_min>(&(element), value)
#define PT_MAX(element, value)  pt_combine<pt_max>(&(element), value)

#define PT_ARGMIN(element, value, index) pt_combine_indexed<pt_argmin>(&(element), value, index)
#define PT_ARGMAX(element, value, index) pt_combine_indexed<pt_argmax>(&(element), value, index)

#else

#define PT_SUM(element, value)  PT_ASSIGN(element, +, value)
#define PT_PROD(element, value) PT_ASSIGN(element, *, value)
#define PT_MIN(element, value)  PT_KEEP(element, value, <)
#define PT_MAX(element, value)  PT_KEEP(element, value, >)

#define PT_ARGMIN(element, value, index) PT_KEEP_INDEXED(element, value, index, <)
#define PT_ARGMAX(element, value, index) PT_KEEP_INDEXED(element, value, index, >)

#define PT_ASSIGN(element, verb, value)                                                            \
    ((element) = (__typeof__(element))((element)verb(__typeof__(element))(value)))

#define PT_KEEP(element, value, better)                                                            \
    do {                                                                                           \
        const __typeof__(element) pt_value = (__typeof__(element))(value);                         \
        if (pt_value better(element))                                                              \
            (element) = pt_value;                                                                  \
    } while (0)

/* Most values are worse than what is held, which the first comparison finds. After it are better
 * ones, equal ones, of which the lowest index wins, and what is not a number, over which any number
 * wins. */
#define PT_KEEP_INDEXED(element, new_value, new_index, better)                                     \
    do {                                                                                           \
        const __typeof__((element).value) pt_value = (__typeof__((element).value))(new_value);     \
        const int64_t pt_index = (int64_t)(new_index);                                             \
        if (__builtin_expect(!((element).value better pt_value), 0)) {                             \
            const int pt_is_number = pt_value == pt_value;                                         \
            const int pt_was_number = (element).value == (element).value;                          \
            if (pt_value better(element).value || pt_is_number > pt_was_number ||                  \
                ((pt_value == (element).value || !(pt_is_number | pt_was_number)) &&               \
                 pt_index < (element).index)) {                                                    \
                (element).value = pt_value;                                                        \
                (element).index = pt_index;                                                        \
            }                                                                                      \
        }                                                                                          \
    } while (0)

#endif

#endif
