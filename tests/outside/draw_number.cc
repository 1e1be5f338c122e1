/* Numbers for parameters: at the ends of types, between two of their values, and any others. */
#include "outside/model.h"
#include "outside/number.h"

#include <cmath>
#include <cstdlib>
#include <limits>

namespace outside {

namespace {

/** A power of two, or one beside it. */
uint64_t draw_corner(Dice &dice, int n_bits) {
    const uint64_t power = uint64_t{1} << dice.between(0, n_bits - 1);
    return power * 2 - 1 + static_cast<uint64_t>(dice.between(-1, 1));
}

/** Just above the middle of two values of a float, so that rounding twice is wrong. */
uint64_t draw_above_middle(Dice &dice) {
    const int shift = static_cast<int>(dice.between(1, 8));
    const uint64_t middle = dice.chance(50) ? (uint64_t{1} << 62) + (uint64_t{1} << 38)
                                            : (uint64_t{1} << 62) + (uint64_t{1} << 9);
    return (middle >> shift) + static_cast<uint64_t>(dice.between(-1, 1));
}

int64_t draw_signed_corner(Dice &dice, int n_bits) {
    const uint64_t corner = draw_corner(dice, n_bits);
    return static_cast<int64_t>(dice.chance(50) ? 0 - corner : corner);
}

double draw_special(Dice &dice) {
    const double infinity = std::numeric_limits<double>::infinity();
    return dice.pick({0.0,
                      -0.0,
                      infinity,
                      -infinity,
                      std::nan(""),
                      0x1.fffffep127,
                      0x1.ffffffp127,
                      0x1.fffffefffffffp127,
                      0x1p128,
                      0x1p-149,
                      0x1p-150,
                      0x1.8p-150,
                      0x1p-126,
                      65504.0,
                      65519.0,
                      65519.99999,
                      65520.0,
                      0x1p-24,
                      0x1p-25,
                      0x1.000001p-25,
                      0x1.ffcp-15,
                      1 + 0x1p-11,
                      1 + 0x1p-11 + 0x1p-40,
                      1 + 0x1p-24 + 0x1p-50,
                      1 + 0x1p-24,
                      0x1p1023,
                      0x1p-1074,
                      std::numeric_limits<double>::max(),
                      0x1p63,
                      0x1p64,
                      -0x1p63,
                      0x1p53 + 1,
                      -0x1.000002p63,
                      0.5,
                      -0.25,
                      1.0 / 3});
}

double draw_real(Dice &dice) {
    switch (dice.weighted({30, 40, 15, 15})) {
    case 0:
        return static_cast<double>(dice.between(-40, 40)) / 8;
    case 1:
        return draw_special(dice) * (dice.chance(20) ? -1 : 1);
    case 2:
        return std::ldexp(static_cast<double>(dice.bits() >> 11),
                          static_cast<int>(dice.between(-80, 20))) *
               (dice.chance(50) ? -1 : 1);
    default:
        return std::ldexp(1.0 + 1.0 / static_cast<double>(dice.between(1, 4096)),
                          static_cast<int>(dice.between(-30, 130)));
    }
}

Number draw_any(Dice &dice, int n_bits, bool is_real) {
    switch (dice.weighted({20, 25, 20, 10, is_real ? 100 : 25})) {
    case 0:
        return draw_integer_number(dice, dice.between(-9, 9));
    case 1:
        return signed_number(draw_signed_corner(dice, n_bits));
    case 2:
        return unsigned_number(draw_corner(dice, n_bits));
    case 3:
        if (dice.chance(40))
            return unsigned_number(draw_above_middle(dice) << dice.between(0, 2));
        return dice.chance(50) ? unsigned_number(dice.bits() >> dice.between(0, 63))
                               : signed_number(static_cast<int64_t>(dice.bits()));
    default:
        return real_number(draw_real(dice));
    }
}

} // namespace

bool draw_number(Dice &dice, polytile_type type, bool is_refused, Number &number) {
    uint64_t raw;
    const int n_bits = is_integer(type) ? static_cast<int>(type_bytes(type)) * 8 : 64;
    for (int k = 0; k < 60; k++) {
        number = draw_any(dice, dice.chance(70) ? n_bits : 64, !is_integer(type));
        if (convert(type, number, raw) != is_refused)
            return true;
    }
    number = signed_number(1);
    return !is_refused;
}

Number draw_integer_number(Dice &dice, int64_t value) {
    switch (dice.weighted({30, 30, value < 0 ? 0 : 20, std::llabs(value) < (1ll << 53) ? 20 : 0})) {
    case 0:
        return {POLYTILE_ANY_NUMBER, static_cast<uint64_t>(value)};
    case 1:
        return signed_number(value);
    case 2:
        return unsigned_number(static_cast<uint64_t>(value));
    default:
        return real_number(static_cast<double>(value));
    }
}

} // namespace outside
