#ifndef OUTSIDE_SCALAR_H
#define OUTSIDE_SCALAR_H

/* Real numbers of each type: what is drawn of them, and how they are added and compared. */
#include "outside/number.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

namespace outside {

/** A real number of two bytes, which C has no type for. */
template <int type> struct Narrow {
    uint16_t raw;

    explicit operator double() const { return from_narrow(type, raw); }
    bool operator<(Narrow other) const { return double(*this) < double(other); }
    bool operator==(Narrow other) const { return double(*this) == double(other); }
};

template <class T> constexpr bool is_real() {
    return !std::is_integral<T>::value;
}

template <class T> T real(double value) {
    return static_cast<T>(value);
}

template <> inline Narrow<POLYTILE_F16> real(double value) {
    uint64_t raw = 0;
    convert(POLYTILE_F16, real_number(value), raw);
    return {static_cast<uint16_t>(raw)};
}

template <> inline Narrow<POLYTILE_BF16> real(double value) {
    uint64_t raw = 0;
    convert(POLYTILE_BF16, real_number(value), raw);
    return {static_cast<uint16_t>(raw)};
}

/** A small number of the type. */
template <class T> T number(int value) {
    if constexpr (is_real<T>())
        return real<T>(value);
    else
        return static_cast<T>(value);
}

template <class T> T highest() {
    if constexpr (is_real<T>())
        return real<T>(std::numeric_limits<double>::infinity());
    else
        return std::numeric_limits<T>::max();
}

template <class T> T lowest() {
    if constexpr (is_real<T>())
        return real<T>(-std::numeric_limits<double>::infinity());
    else
        return std::numeric_limits<T>::min();
}

template <class T> constexpr bool has_not_a_number() {
    return is_real<T>();
}

template <class T> T not_a_number() {
    if constexpr (is_real<T>())
        return real<T>(std::nan(""));
    else
        return 0;
}

/** NaN, or a number of a type that has none. */
template <class T> T not_a_number_or(int value) {
    return has_not_a_number<T>() ? not_a_number<T>() : number<T>(value);
}

template <class T> T minus_zero() {
    if constexpr (is_real<T>())
        return real<T>(-0.0);
    else
        return 0;
}

template <class T> bool is_nan(T value) {
    if constexpr (is_real<T>())
        return std::isnan(static_cast<double>(value));
    else
        return false;
}

/** Whether all bits of values may be used, since sums and products wrap around. */
template <class T> constexpr bool wraps() {
    return std::is_integral<T>::value && (std::is_unsigned<T>::value || sizeof(T) <= 2);
}

/** Whole numbers between -most and most, or any that wrap around. */
template <class T> T drawn(uint64_t bits, int most) {
    if constexpr (wraps<T>())
        return static_cast<T>(bits >> 13);
    else
        return number<T>(static_cast<int>(bits % static_cast<uint64_t>(2 * most + 1)) - most);
}

template <class T> T any(uint64_t bits) {
    return drawn<T>(bits, 100);
}

template <class T> T summand(uint64_t bits) {
    return drawn<T>(bits, is_real<T>() && sizeof(T) == 2 ? 1 : 15);
}

template <class T> T factor(uint64_t bits) {
    if constexpr (wraps<T>())
        return static_cast<T>((bits >> 13) | 1);
    else
        return number<T>(bits % 2 ? 1 : -1);
}

template <class T> T added(T a, T b) {
    if constexpr (wraps<T>())
        return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
    else if constexpr (is_real<T>())
        return real<T>(static_cast<double>(a) + static_cast<double>(b));
    else
        return a + b;
}

template <class T> T multiplied(T a, T b) {
    if constexpr (wraps<T>())
        return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
    else if constexpr (is_real<T>())
        return real<T>(static_cast<double>(a) * static_cast<double>(b));
    else
        return a * b;
}

/** Of real numbers those of a double, which are 0 of either zero, and one NaN's of each. */
template <class T> uint64_t bits_of(T value) {
    if constexpr (std::is_integral<T>::value)
        return static_cast<uint64_t>(value);
    else {
        const double number = static_cast<double>(value);
        uint64_t bits;
        memcpy(&bits, &number, sizeof bits);
        return number == 0 ? 0 : std::isnan(number) ? ~uint64_t{0} : bits;
    }
}

template <class T> std::string text(T value) {
    if constexpr (std::is_integral<T>::value)
        return std::to_string(value);
    else
        return std::to_string(static_cast<double>(value));
}

} // namespace outside

#endif
