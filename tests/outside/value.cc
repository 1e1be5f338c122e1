#include "outside/value.h"

#include <cstring>
#include <limits>
#include <type_traits>

namespace outside {

namespace {

template <class T> T get(const void *element) {
    T value;
    memcpy(&value, element, sizeof value);
    return value;
}

template <class T> void put(void *element, T value) {
    memcpy(element, &value, sizeof value);
}

/** Whether all bits of values may be used, since sums and products wrap around. */
template <class T> constexpr bool wraps() {
    return std::is_integral<T>::value && (std::is_unsigned<T>::value || sizeof(T) <= 2);
}

template <class T> T value_of(uint64_t bits) {
    if constexpr (wraps<T>())
        return static_cast<T>(bits >> 13);
    return static_cast<T>(static_cast<int64_t>(bits % 201) - 100);
}

template <class T> T summand_of(uint64_t bits) {
    if constexpr (wraps<T>())
        return static_cast<T>(bits >> 13);
    return static_cast<T>(static_cast<int64_t>(bits % 31) - 15);
}

template <class T> T factor_of(uint64_t bits) {
    if constexpr (wraps<T>())
        return static_cast<T>((bits >> 13) | 1);
    return static_cast<T>(bits % 2 ? 1 : -1);
}

template <class T> T identity_of(polytile_role role) {
    using Limits = std::numeric_limits<T>;
    if (role == POLYTILE_SUM)
        return 0;
    if (role == POLYTILE_PROD)
        return 1;
    if (role == POLYTILE_MIN)
        return Limits::has_infinity ? Limits::infinity() : Limits::max();
    return Limits::has_infinity ? static_cast<T>(-Limits::infinity()) : Limits::lowest();
}

template <class T> T added(T a, T b) {
    if constexpr (wraps<T>())
        return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
    return static_cast<T>(a + b);
}

template <class T> T multiplied(T a, T b) {
    if constexpr (wraps<T>())
        return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
    return static_cast<T>(a * b);
}

template <class T> T combined(polytile_role role, T held, uint64_t bits) {
    if (role == POLYTILE_SUM)
        return added(held, summand_of<T>(bits));
    if (role == POLYTILE_PROD)
        return multiplied(held, factor_of<T>(bits));
    const T value = value_of<T>(bits);
    if (role == POLYTILE_MIN)
        return value < held ? value : held;
    return value > held ? value : held;
}

template <class T> uint64_t bits_of(T value) {
    if constexpr (std::is_integral<T>::value)
        return static_cast<uint64_t>(value);
    const double number = static_cast<double>(value);
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    return value == static_cast<T>(0) ? 0 : bits;
}

/** Call f with a value of the type. */
template <class F> auto with_type(polytile_scalar type, F f) {
    switch (type) {
    case POLYTILE_I8:
        return f(int8_t());
    case POLYTILE_I16:
        return f(int16_t());
    case POLYTILE_I32:
        return f(int32_t());
    case POLYTILE_I64:
        return f(int64_t());
    case POLYTILE_U8:
        return f(uint8_t());
    case POLYTILE_U16:
        return f(uint16_t());
    case POLYTILE_U32:
        return f(uint32_t());
    case POLYTILE_U64:
        return f(uint64_t());
    case POLYTILE_F32:
        return f(float());
    default:
        return f(double());
    }
}

} // namespace

uint64_t load(polytile_scalar type, const void *element) {
    return with_type(type, [&](auto zero) { return bits_of(get<decltype(zero)>(element)); });
}

void store(polytile_scalar type, void *element, uint64_t bits) {
    with_type(type, [&](auto zero) { put(element, value_of<decltype(zero)>(bits)); });
}

void combine(polytile_scalar type, polytile_role role, void *element, uint64_t bits) {
    with_type(type,
              [&](auto zero) { put(element, combined(role, get<decltype(zero)>(element), bits)); });
}

void store_identity(polytile_scalar type, polytile_role role, void *element) {
    with_type(type, [&](auto zero) { put(element, identity_of<decltype(zero)>(role)); });
}

std::string to_text(polytile_scalar type, const void *element) {
    return with_type(type, [&](auto zero) { return std::to_string(get<decltype(zero)>(element)); });
}

} // namespace outside
