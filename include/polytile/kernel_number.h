#ifndef POLYTILE_KERNEL_NUMBER_H
#define POLYTILE_KERNEL_NUMBER_H

/* PT_NUMBER_OF(T) is the polytile_number of a C type, const or not, for static initialisers. */
#include <polytile/implementation.h>

/* The known types. The compiler decides whether a plain char has a sign. */
#define PT_EACH_NUMBER(X)                                                                          \
    X(float, POLYTILE_FLOAT_NUMBER)                                                                \
    X(double, POLYTILE_FLOAT_NUMBER)                                                               \
    X(char, ((char)-1 < (char)0 ? POLYTILE_SIGNED_NUMBER : POLYTILE_UNSIGNED_NUMBER))              \
    X(signed char, POLYTILE_SIGNED_NUMBER)                                                         \
    X(short, POLYTILE_SIGNED_NUMBER)                                                               \
    X(int, POLYTILE_SIGNED_NUMBER)                                                                 \
    X(long, POLYTILE_SIGNED_NUMBER)                                                                \
    X(long long, POLYTILE_SIGNED_NUMBER)                                                           \
    X(unsigned char, POLYTILE_UNSIGNED_NUMBER)                                                     \
    X(unsigned short, POLYTILE_UNSIGNED_NUMBER)                                                    \
    X(unsigned int, POLYTILE_UNSIGNED_NUMBER)                                                      \
    X(unsigned long, POLYTILE_UNSIGNED_NUMBER)                                                     \
    X(unsigned long long, POLYTILE_UNSIGNED_NUMBER)

#ifdef __cplusplus

#define PT_NUMBER_OF(T) pt_number_of((T *)0)

#ifdef __CUDACC__
#define PT_CONSTANT __host__ __device__ constexpr
#else
#define PT_CONSTANT constexpr
#endif

extern "C++" {
PT_CONSTANT polytile_number pt_number_of(const volatile void *) {
    return POLYTILE_ANY_NUMBER;
}

#define PT_NUMBER_FUNCTION(T, number)                                                              \
    PT_CONSTANT polytile_number pt_number_of(const volatile T *) {                                 \
        return number;                                                                             \
    }
PT_EACH_NUMBER(PT_NUMBER_FUNCTION)
#undef PT_NUMBER_FUNCTION
}

#else

#define PT_NUMBER_OF(T)                                                                            \
    _Generic(*(T *)0, PT_EACH_NUMBER(PT_NUMBER_ASSOCIATION) default : POLYTILE_ANY_NUMBER)
#define PT_NUMBER_ASSOCIATION(T, number)                                                           \
    T:                                                                                             \
    number,

#endif

#endif
