#include "outside/number.h"

#include "outside/model.h"

#include <cmath>
#include <cstdio>
#include <cstring>

namespace outside {

namespace {

/** An integer of 65 bits. */
struct Magnitude {
    bool is_negative = false;
    uint64_t size = 0;
};

template <class T> uint64_t raw_of(T value) {
    uint64_t raw = 0;
    memcpy(&raw, &value, sizeof value);
    return raw;
}

int bits_of(polytile_type type) {
    return static_cast<int>(type_bytes(type)) * 8;
}

/** The integer that a number is; false if it is none, or has more bits. */
bool to_magnitude(const Number &number, Magnitude &integer) {
    const double real = to_real(number);
    if (number.kind == POLYTILE_FLOAT_NUMBER) {
        if (!(std::fabs(real) < 0x1p64) || std::trunc(real) != real)
            return false;
        integer = {real < 0, static_cast<uint64_t>(std::fabs(real))};
        return true;
    }
    integer.is_negative =
        number.kind != POLYTILE_UNSIGNED_NUMBER && static_cast<int64_t>(number.bits) < 0;
    integer.size = integer.is_negative ? 0 - number.bits : number.bits;
    return true;
}

bool to_integer_type(polytile_type type, const Number &number, uint64_t &raw) {
    Magnitude integer;
    if (!to_magnitude(number, integer))
        return false;
    const int n_bits = bits_of(type);
    const uint64_t all = ~uint64_t{0} >> (64 - n_bits), half = all / 2;
    const uint64_t most = integer.is_negative ? (is_unsigned(type) ? 0 : half + 1)
                          : is_unsigned(type) ? all
                                              : half;
    raw = (integer.is_negative ? 0 - integer.size : integer.size) & all;
    return integer.size <= most;
}

/** The nearest f16, of two that are as near the even one; all units are powers of two. */
bool to_half(const Number &number, uint64_t &raw) {
    const double value = to_real(number), size = std::fabs(value);
    const uint64_t sign = std::signbit(value) ? 0x8000 : 0;
    if (std::isnan(value) || std::isinf(value)) {
        raw = std::isnan(value) ? 0x7e00 : sign | 0x7c00;
        return true;
    }
    const int exponent = size < 0x1p-14 ? -14 : std::ilogb(size);
    const double units = std::nearbyint(std::ldexp(size, 10 - exponent));
    raw = sign | ((static_cast<uint64_t>(exponent + 14) << 10) + static_cast<uint64_t>(units));
    return size < 65520;
}

/** All bits of a number. */
long double to_wide(const Number &number) {
    return number.kind == POLYTILE_FLOAT_NUMBER ? static_cast<long double>(to_real(number))
           : number.kind == POLYTILE_UNSIGNED_NUMBER
               ? static_cast<long double>(number.bits)
               : static_cast<long double>(static_cast<int64_t>(number.bits));
}

/** Likewise bf16, which has the exponents of f32. */
bool to_brain(const Number &number, uint64_t &raw) {
    const long double value = to_wide(number), size = std::fabs(value);
    const uint64_t sign = std::signbit(value) ? 0x8000 : 0;
    if (std::isnan(value) || std::isinf(value)) {
        raw = std::isnan(value) ? 0x7fc0 : sign | 0x7f80;
        return true;
    }
    const int exponent = size < 0x1p-126 ? -126 : std::ilogb(size);
    const long double units = std::nearbyint(std::ldexp(size, 7 - exponent));
    raw = sign | ((static_cast<uint64_t>(exponent + 126) << 7) + static_cast<uint64_t>(units));
    return size < 0x1.ffp127;
}

template <class T> bool to_float(const Number &number, uint64_t &raw) {
    const double real = to_real(number);
    const T value = number.kind == POLYTILE_FLOAT_NUMBER ? static_cast<T>(real)
                    : number.kind == POLYTILE_UNSIGNED_NUMBER
                        ? static_cast<T>(number.bits)
                        : static_cast<T>(static_cast<int64_t>(number.bits));
    raw = raw_of(value);
    return !std::isinf(value) || std::isinf(real);
}

} // namespace

Number signed_number(int64_t value) {
    return {POLYTILE_SIGNED_NUMBER, static_cast<uint64_t>(value)};
}

Number unsigned_number(uint64_t value) {
    return {POLYTILE_UNSIGNED_NUMBER, value};
}

Number real_number(double value) {
    return {POLYTILE_FLOAT_NUMBER, raw_of(value)};
}

double to_real(const Number &number) {
    double value;
    if (number.kind == POLYTILE_UNSIGNED_NUMBER)
        return static_cast<double>(number.bits);
    if (number.kind != POLYTILE_FLOAT_NUMBER)
        return static_cast<double>(static_cast<int64_t>(number.bits));
    memcpy(&value, &number.bits, sizeof value);
    return value;
}

bool is_integer(polytile_type type) {
    return type < POLYTILE_F16;
}

bool is_indexed(polytile_type type) {
    return type >= POLYTILE_INDEXED(POLYTILE_I8);
}

polytile_type value_type(polytile_type type) {
    return is_indexed(type) ? type - POLYTILE_INDEXED(POLYTILE_I8) : type;
}

double from_narrow(polytile_type type, uint16_t raw) {
    const int n_bits = type == POLYTILE_F16 ? 10 : 7, bias = type == POLYTILE_F16 ? 15 : 127;
    const int exponent = (raw & 0x7fff) >> n_bits, fraction = raw & ((1 << n_bits) - 1);
    const double sign = raw & 0x8000 ? -1 : 1;
    if (exponent == 2 * bias + 1)
        return fraction ? std::nan("") : sign * static_cast<double>(INFINITY);
    return sign * (exponent ? std::ldexp((1 << n_bits) + fraction, exponent - bias - n_bits)
                            : std::ldexp(fraction, 1 - bias - n_bits));
}

bool is_unsigned(polytile_type type) {
    return type >= POLYTILE_U8 && type <= POLYTILE_U64;
}

bool convert(polytile_type type, const Number &number, uint64_t &raw) {
    if (is_integer(type))
        return to_integer_type(type, number, raw);
    if (type == POLYTILE_F16)
        return to_half(number, raw);
    if (type == POLYTILE_BF16)
        return to_brain(number, raw);
    return type == POLYTILE_F32 ? to_float<float>(number, raw) : to_float<double>(number, raw);
}

uint64_t canonical(polytile_type type, uint64_t raw) {
    const uint64_t infinity = type == POLYTILE_F16    ? 0x7c00
                              : type == POLYTILE_BF16 ? 0x7f80
                              : type == POLYTILE_F32  ? 0x7f800000
                                                      : 0x7ff0000000000000;
    const uint64_t sign = uint64_t{1} << (bits_of(type) - 1);
    return !is_integer(type) && (raw & ~sign) > infinity ? infinity + 1 : raw;
}

int64_t to_integer(polytile_type type, uint64_t raw) {
    const int unused = 64 - bits_of(type);
    const auto shifted = static_cast<int64_t>(raw << unused);
    return is_unsigned(type) ? static_cast<int64_t>(raw) : shifted >> unused;
}

std::string number_text(const Number &number) {
    char text[64];
    if (number.kind == POLYTILE_FLOAT_NUMBER)
        snprintf(text, sizeof text, "%a", to_real(number));
    else if (number.kind == POLYTILE_UNSIGNED_NUMBER)
        snprintf(text, sizeof text, "%lluu", static_cast<unsigned long long>(number.bits));
    else
        snprintf(text, sizeof text, "%lld%s", static_cast<long long>(number.bits),
                 number.kind == POLYTILE_ANY_NUMBER ? " (any)" : "");
    return text;
}

} // namespace outside
