#ifndef POLYTILE_KERNEL_COMBINE_H
#define POLYTILE_KERNEL_COMBINE_H

/* PT_SUM, PT_PROD, PT_MIN and PT_MAX combine a value, converted to the element's type, into an
 * element of a reducing role. On the host this is plain arithmetic, since each OpenMP thread has a
 * private copy; on a GPU it is atomic. */

#ifdef __CUDA_ARCH__

#include <polytile/kernel_atomic.h>

#define PT_SUM(element, value)  pt_combine<pt_sum>(&(element), value)
#define PT_PROD(element, value) pt_combine<pt_prod>(&(element), value)
#define PT_MIN(element, value)  pt_combine<pt_min>(&(element), value)
#define PT_MAX(element, value)  pt_combine<pt_max>(&(element), value)

#else

#define PT_SUM(element, value)  PT_ASSIGN(element, +, value)
#define PT_PROD(element, value) PT_ASSIGN(element, *, value)
#define PT_MIN(element, value)  PT_KEEP(element, value, <)
#define PT_MAX(element, value)  PT_KEEP(element, value, >)

#define PT_ASSIGN(element, verb, value)                                                            \
    ((element) = (__typeof__(element))((element)verb(__typeof__(element))(value)))

#define PT_KEEP(element, value, better)                                                            \
    do {                                                                                           \
        const __typeof__(element) pt_value = (__typeof__(element))(value);                         \
        if (pt_value better(element))                                                              \
            (element) = pt_value;                                                                  \
    } while (0)

#endif

#endif
