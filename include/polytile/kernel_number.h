#ifndef POLYTILE_KERNEL_NUMBER_H
#define POLYTILE_KERNEL_NUMBER_H

/* PT_NUMBER_OF(T) is the polytile_number of a C type, const or not, for static initialisers. */
#include <polytile/implementation.h>
#include <polytile/kernel_pair.h>

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

#define PT_INDEXED_NUMBER(T, number) (POLYTILE_INDEXED_NUMBER + 16 * (int)(number) + (int)sizeof(T))

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
#define PT_INDEXED_FUNCTION(T, name, number)                                                       \
    PT_NUMBER_FUNCTION(pt_##name##_i64, (polytile_number)PT_INDEXED_NUMBER(T, number))
PT_EACH_NUMBER(PT_NUMBER_FUNCTION)
PT_EACH_INDEXED(PT_INDEXED_FUNCTION)
PT_NUMBER_FUNCTION(pt_c64, POLYTILE_COMPLEX_NUMBER)
PT_NUMBER_FUNCTION(pt_c128, POLYTILE_COMPLEX_NUMBER)
#undef PT_INDEXED_FUNCTION
#undef PT_NUMBER_FUNCTION
}

#else

#define PT_NUMBER_OF(T)                                                                            \
    _Generic(*(T *)0,                                                                              \
             PT_EACH_NUMBER(PT_NUMBER_ASSOCIATION) PT_EACH_INDEXED(PT_INDEXED_ASSOCIATION) pt_c64  \
             : POLYTILE_COMPLEX_NUMBER, pt_c128                                                    \
             : POLYTILE_COMPLEX_NUMBER, default                                                    \
             : POLYTILE_ANY_NUMBER)
#define PT_NUMBER_ASSOCIATION(T, number)                                                           \
    T:                                                                                             \
    number,

#define PT_INDEXED_ASSOCIATION(T, name, number)                                                    \
    PT_NUMBER_ASSOCIATION(pt_##name##_i64, (polytile_number)PT_INDEXED_NUMBER(T, number))

#endif

#endif
