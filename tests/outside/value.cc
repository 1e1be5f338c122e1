#include "outside/value.h"

#include "outside/dice.h"
#include "outside/scalar.h"

#include <complex>
#include <cstring>

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

/** What is done to elements of a scalar type. */
template <class T> struct Plain {
    static T value_of(uint64_t bits) { return any<T>(bits); }

    static T identity_of(polytile_role role) {
        if (role == POLYTILE_SUM)
            return number<T>(0);
        if (role == POLYTILE_PROD)
            return number<T>(1);
        return role == POLYTILE_MIN ? highest<T>() : lowest<T>();
    }

    static T combined(polytile_role role, T held, uint64_t bits) {
        if (role == POLYTILE_SUM)
            return added(held, summand<T>(bits));
        if (role == POLYTILE_PROD)
            return multiplied(held, factor<T>(bits));
        const T value = any<T>(bits);
        if (role == POLYTILE_MIN)
            return value < held ? value : held;
        return held < value ? value : held;
    }

    static uint64_t bits_of(T value) { return outside::bits_of(value); }
    static std::string text(T value) { return outside::text(value); }
};

/** Of complex numbers: products are by 1, i, -1 and -i. */
template <class R> struct Complex {
    using T = std::complex<R>;

    static T value_of(uint64_t bits) { return T(any<R>(bits), any<R>(bits >> 20)); }

    static T identity_of(polytile_role role) { return T(role == POLYTILE_PROD ? R(1) : R(0)); }

    static T combined(polytile_role role, T held, uint64_t bits) {
        if (role == POLYTILE_SUM)
            return held + T(summand<R>(bits), summand<R>(bits >> 20));
        const R sign = bits % 2 ? R(-1) : R(1);
        return bits / 2 % 2 ? T(-sign * held.imag(), sign * held.real()) : sign * held;
    }

    static uint64_t bits_of(T value) {
        return mix(outside::bits_of(value.real()), outside::bits_of(value.imag()));
    }

    static std::string text(T value) {
        return outside::text(value.real()) + (value.imag() < 0 ? "" : "+") +
               outside::text(value.imag()) + "i";
    }
};

/** A value, and at byte 8 its index. */
template <class V> struct Indexed {
    V value;
    alignas(8) int64_t index;
};

/** Of values with an index: few, so that many are equal, and such at the ends of the type. */
template <class V> struct Best {
    using T = Indexed<V>;

    static T make(V value, int64_t index) {
        T element;
        memset(static_cast<void *>(&element), 0, sizeof element);
        element.value = value;
        element.index = index;
        return element;
    }

    /** Elements may hold NaN from the beginning. */
    static T value_of(uint64_t bits) {
        const uint64_t kind = bits % 29, place = bits >> 8;
        const V value = kind == 0   ? lowest<V>()
                        : kind == 1 ? highest<V>()
                        : kind == 4 ? minus_zero<V>()
                        : kind == 6 ? not_a_number_or<V>(3)
                                    : number<V>(static_cast<int>(kind % 5));
        const int64_t index = place % 13 == 0   ? INT64_MAX
                              : place % 13 == 1 ? -INT64_MAX
                                                : static_cast<int64_t>(place % 2001) - 1000;
        return make(value, index);
    }

    static T identity_of(polytile_role role) {
        const V worst = role == POLYTILE_ARGMIN ? highest<V>() : lowest<V>();
        return make(has_not_a_number<V>() ? not_a_number<V>() : worst, INT64_MAX);
    }

    /** What a thread gives may be no number. */
    static T given(uint64_t bits) {
        const T element = value_of(bits);
        return has_not_a_number<V>() && bits % 23 < 3 ? make(not_a_number<V>(), element.index)
                                                      : element;
    }

    /** No NaN wins over anything but another NaN with a higher index. */
    static T combined(polytile_role role, T held, uint64_t bits) {
        const T other = given(bits);
        const bool is_better =
            role == POLYTILE_ARGMIN ? other.value < held.value : held.value < other.value;
        const bool is_tie =
            other.value == held.value || (is_nan(other.value) && is_nan(held.value));
        if (is_better || (is_nan(held.value) && !is_nan(other.value)))
            return other;
        return is_tie && other.index < held.index ? make(held.value, other.index) : held;
    }

    static uint64_t bits_of(T element) {
        return mix(outside::bits_of(element.value), static_cast<uint64_t>(element.index));
    }

    static std::string text(T element) {
        return "{" + outside::text(element.value) + ", " + std::to_string(element.index) + "}";
    }
};

template <template <class> class Of, class F> auto with_scalar(polytile_type type, F f) {
    switch (type) {
    case POLYTILE_I8:
        return f(Of<int8_t>());
    case POLYTILE_I16:
        return f(Of<int16_t>());
    case POLYTILE_I32:
        return f(Of<int32_t>());
    case POLYTILE_I64:
        return f(Of<int64_t>());
    case POLYTILE_U8:
        return f(Of<uint8_t>());
    case POLYTILE_U16:
        return f(Of<uint16_t>());
    case POLYTILE_U32:
        return f(Of<uint32_t>());
    case POLYTILE_U64:
        return f(Of<uint64_t>());
    case POLYTILE_F16:
        return f(Of<Narrow<POLYTILE_F16>>());
    case POLYTILE_BF16:
        return f(Of<Narrow<POLYTILE_BF16>>());
    case POLYTILE_F32:
        return f(Of<float>());
    default:
        return f(Of<double>());
    }
}

/** Call f with what is done to elements of the type. */
template <class F> auto with_type(polytile_type type, F f) {
    if (type == POLYTILE_C64)
        return f(Complex<float>());
    if (type == POLYTILE_C128)
        return f(Complex<double>());
    return is_indexed(type) ? with_scalar<Best>(value_type(type), f) : with_scalar<Plain>(type, f);
}

template <class Elements> using Held = decltype(Elements::value_of(0));

} // namespace

bool is_narrow(polytile_type type) {
    return type == POLYTILE_F16 || type == POLYTILE_BF16;
}

uint64_t load(polytile_type type, const void *element) {
    return with_type(type, [&](auto of) { return of.bits_of(get<Held<decltype(of)>>(element)); });
}

void store(polytile_type type, void *element, uint64_t bits) {
    with_type(type, [&](auto of) { put(element, of.value_of(bits)); });
}

void combine(polytile_type type, polytile_role role, void *element, uint64_t bits) {
    with_type(type, [&](auto of) {
        put(element, of.combined(role, get<Held<decltype(of)>>(element), bits));
    });
}

void store_identity(polytile_type type, polytile_role role, void *element) {
    with_type(type, [&](auto of) { put(element, of.identity_of(role)); });
}

int64_t load_index(polytile_type type, const void *element) {
    return type == POLYTILE_I32 ? get<int32_t>(element) : get<int64_t>(element);
}

void store_index(polytile_type type, void *element, int64_t index) {
    if (type == POLYTILE_I32)
        put(element, static_cast<int32_t>(index));
    else
        put(element, index);
}

std::string to_text(polytile_type type, const void *element) {
    return with_type(type, [&](auto of) { return of.text(get<Held<decltype(of)>>(element)); });
}

} // namespace outside
