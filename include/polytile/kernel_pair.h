#ifndef POLYTILE_KERNEL_PAIR_H
#define POLYTILE_KERNEL_PAIR_H

/*
 * Elements of two numbers, with one layout in C, in C++ and on GPUs.
 *
 * pt_c64 and pt_c128 are complex numbers of two float and of two double, in C the types that it has
 * (float _Complex), in C++ a struct with the same operators. PT_C64(re, im) and PT_C128(re, im)
 * make one, PT_RE(z) and PT_IM(z) are its parts, PT_CONJ(z) its conjugate.
 *
 * pt_f32_i64 and its like, one for each real C type, are the elements of argmin and argmax: a
 * value, and at byte 8 of 16 the index.
 */
#include <stdint.h>

/* The C types of values with an index: type, name of it, and what number it is. */
#define PT_EACH_INDEXED(X)                                                                         \
    X(int8_t, i8, POLYTILE_SIGNED_NUMBER)                                                          \
    X(int16_t, i16, POLYTILE_SIGNED_NUMBER)                                                        \
    X(int32_t, i32, POLYTILE_SIGNED_NUMBER)                                                        \
    X(int64_t, i64, POLYTILE_SIGNED_NUMBER)                                                        \
    X(uint8_t, u8, POLYTILE_UNSIGNED_NUMBER)                                                       \
    X(uint16_t, u16, POLYTILE_UNSIGNED_NUMBER)                                                     \
    X(uint32_t, u32, POLYTILE_UNSIGNED_NUMBER)                                                     \
    X(uint64_t, u64, POLYTILE_UNSIGNED_NUMBER)                                                     \
    X(float, f32, POLYTILE_FLOAT_NUMBER)                                                           \
    X(double, f64, POLYTILE_FLOAT_NUMBER)

#ifdef __cplusplus

#ifdef __CUDACC__
#define PT_PAIR_FUNCTION __host__ __device__
#else
#define PT_PAIR_FUNCTION
#endif

extern "C++" {
/** A complex number. Products are the plain formula: C's differ where a part is infinite or NaN. */
template <class R> struct pt_complex {
    R re, im;

    pt_complex() = default;
    PT_PAIR_FUNCTION constexpr pt_complex(R real, R imaginary = R(0)) : re(real), im(imaginary) {}
    PT_PAIR_FUNCTION pt_complex &operator+=(pt_complex b) { return *this = *this + b; }
    PT_PAIR_FUNCTION pt_complex &operator-=(pt_complex b) { return *this = *this - b; }
    PT_PAIR_FUNCTION pt_complex &operator*=(pt_complex b) { return *this = *this * b; }
    PT_PAIR_FUNCTION pt_complex &operator/=(pt_complex b) { return *this = *this / b; }
};

/* The same type, from which none is deduced: any number may stand beside a complex one. */
template <class R> struct pt_plain { typedef R type; };

#define PT_COMPLEX_OPERATOR(verb, A, B, real, imaginary)                                           \
    template <class R> PT_PAIR_FUNCTION constexpr pt_complex<R> operator verb(A a, B b) {          \
        return pt_complex<R>(real, imaginary);                                                     \
    }
#define PT_REAL typename pt_plain<R>::type

PT_COMPLEX_OPERATOR(+, pt_complex<R>, pt_complex<R>, a.re + b.re, a.im + b.im)
PT_COMPLEX_OPERATOR(+, pt_complex<R>, PT_REAL, a.re + b, a.im)
PT_COMPLEX_OPERATOR(+, PT_REAL, pt_complex<R>, a + b.re, b.im)
PT_COMPLEX_OPERATOR(-, pt_complex<R>, pt_complex<R>, a.re - b.re, a.im - b.im)
PT_COMPLEX_OPERATOR(-, pt_complex<R>, PT_REAL, a.re - b, a.im)
PT_COMPLEX_OPERATOR(-, PT_REAL, pt_complex<R>, a - b.re, -b.im)
PT_COMPLEX_OPERATOR(*, pt_complex<R>, pt_complex<R>, a.re *b.re - a.im * b.im,
                    a.re *b.im + a.im * b.re)
PT_COMPLEX_OPERATOR(*, pt_complex<R>, PT_REAL, a.re *b, a.im *b)
PT_COMPLEX_OPERATOR(*, PT_REAL, pt_complex<R>, a *b.re, a *b.im)
PT_COMPLEX_OPERATOR(/, pt_complex<R>, PT_REAL, a.re / b, a.im / b)

#undef PT_COMPLEX_OPERATOR

template <class R> PT_PAIR_FUNCTION constexpr pt_complex<R> pt_conjugate(pt_complex<R> z) {
    return pt_complex<R>(z.re, -z.im);
}

template <class R> PT_PAIR_FUNCTION constexpr pt_complex<R> operator-(pt_complex<R> a) {
    return pt_complex<R>(-a.re, -a.im);
}

template <class R>
PT_PAIR_FUNCTION constexpr pt_complex<R> operator/(pt_complex<R> a, pt_complex<R> b) {
    return a * pt_conjugate(b) / (b.re * b.re + b.im * b.im);
}

template <class R> PT_PAIR_FUNCTION constexpr pt_complex<R> operator/(PT_REAL a, pt_complex<R> b) {
    return a * pt_conjugate(b) / (b.re * b.re + b.im * b.im);
}

template <class R> PT_PAIR_FUNCTION constexpr bool operator==(pt_complex<R> a, pt_complex<R> b) {
    return a.re == b.re && a.im == b.im;
}

template <class R> PT_PAIR_FUNCTION constexpr bool operator!=(pt_complex<R> a, pt_complex<R> b) {
    return !(a == b);
}

#undef PT_REAL

/** A value of argmin and argmax. */
template <class T> struct alignas(8) pt_indexed {
    T value;
    alignas(8) int64_t index;
};
}

typedef pt_complex<float> pt_c64;
typedef pt_complex<double> pt_c128;

#define PT_C64(re, im)  pt_c64((float)(re), (float)(im))
#define PT_C128(re, im) pt_c128((double)(re), (double)(im))
#define PT_RE(z)        ((z).re)
#define PT_IM(z)        ((z).im)
#define PT_CONJ(z)      pt_conjugate(z)

#define PT_INDEXED_TYPE(T, name, number) typedef pt_indexed<T> pt_##name##_i64;

#else

typedef float _Complex pt_c64;
typedef double _Complex pt_c128;

#define PT_C64(re, im)  __builtin_complex((float)(re), (float)(im))
#define PT_C128(re, im) __builtin_complex((double)(re), (double)(im))
#define PT_RE(z)        __real__(z)
#define PT_IM(z)        __imag__(z)
#define PT_CONJ(z)      (__extension__ ~(z))

#define PT_INDEXED_TYPE(T, name, number)                                                           \
    typedef struct pt_##name##_i64 {                                                               \
        T value;                                                                                   \
        _Alignas(8) int64_t index;                                                                 \
    } pt_##name##_i64;

#endif

PT_EACH_INDEXED(PT_INDEXED_TYPE)
#undef PT_INDEXED_TYPE

#endif
