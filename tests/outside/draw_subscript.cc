#include "outside/draw.h"

#include <algorithm>

namespace outside {

namespace {

/** The least and the largest value of an expression over a domain. */
Range hull(const Affine &affine, const Box &domain) {
    Range range = {affine.constant, affine.constant};
    for (size_t k = 0; k < domain.size(); k++) {
        const int64_t a = affine.index[k] * domain[k].lo, b = affine.index[k] * domain[k].hi;
        range.lo += std::min(a, b);
        range.hi += std::max(a, b);
    }
    return range;
}

Affine shifted(Affine affine, int64_t by) {
    affine.constant += by;
    return affine;
}

Affine constant(int64_t value) {
    return shifted(Affine(), value);
}

/** A sum of one or two multiples of indices. */
Affine draw_indices(Dice &dice, const Box &domain) {
    Affine affine;
    const auto last = static_cast<int64_t>(domain.size()) - 1;
    const auto k = static_cast<size_t>(dice.between(0, last));
    affine.index[k] = dice.pick<int64_t>({1, 1, 1, 1, 1, -1, 2, -2, 3});
    if (dice.chance(25))
        affine.index[static_cast<size_t>(dice.between(0, last))] +=
            dice.pick<int64_t>({1, 1, -1, 2, -3});
    return affine;
}

/** A shift that puts values of the range into the wanted one; somewhere near if none does. */
int64_t draw_shift(Dice &dice, const Range &values, const Range &wanted) {
    const int64_t least = wanted.lo - values.lo, most = wanted.hi - values.hi;
    if (most < least)
        return dice.between(std::min(least, most), std::max(least, most));
    switch (dice.weighted({4, 2, 3})) {
    case 0:
        return least;
    case 1:
        return most;
    default:
        return dice.between(least, most);
    }
}

Subscript single(const Affine &value) {
    Subscript subscript;
    subscript.lo = subscript.hi = value;
    return subscript;
}

Subscript window(const Affine &lo, const Affine &hi, int64_t step) {
    Subscript subscript;
    subscript.is_single = false;
    subscript.lo = lo;
    subscript.hi = hi;
    subscript.step = step;
    return subscript;
}

int64_t draw_step(Dice &dice) {
    return dice.pick<int64_t>({1, 1, 1, 1, 2, 3, 5});
}

Subscript draw_constant(Dice &dice, const Range &range) {
    const int64_t a = dice.between(range.lo, range.hi);
    if (dice.chance(60))
        return single(constant(a));
    return window(constant(a - dice.between(0, 4)), constant(a + dice.between(0, 6)),
                  draw_step(dice));
}

Subscript draw_whole(Dice &dice, const Range &range) {
    Subscript subscript = window(Affine(), Affine(), draw_step(dice));
    subscript.from_first = subscript.to_last = true;
    if (dice.chance(20)) {
        subscript.from_first = false;
        subscript.lo = constant(dice.between(range.lo - 2, range.hi));
    }
    return subscript;
}

Subscript draw_window(Dice &dice, const Range &range, const Box &domain) {
    const Affine affine = draw_indices(dice, domain);
    const Range values = hull(affine, domain);
    const int64_t before = dice.between(0, 3), after = dice.between(0, 3);
    Range wanted = range;
    if (dice.chance(40))
        wanted = {range.lo - after, range.hi + before};
    const int64_t shift = draw_shift(dice, values, wanted);
    return window(shifted(affine, shift - before), shifted(affine, shift + after), draw_step(dice));
}

/** Between an index and an end: 0:i, i:n, :i, i: and sections that some threads have empty. */
Subscript draw_triangle(Dice &dice, const Range &range, const Box &domain) {
    const Affine affine = draw_indices(dice, domain);
    const Affine at = shifted(affine, draw_shift(dice, hull(affine, domain), range));
    Subscript subscript = window(at, at, draw_step(dice));
    const bool is_left_out = dice.chance(40);
    const int64_t beside = dice.between(-2, 3);
    if (dice.chance(50)) {
        subscript.from_first = is_left_out;
        subscript.lo = constant(range.lo + (dice.chance(60) ? 0 : beside));
    } else {
        subscript.to_last = is_left_out;
        subscript.hi = constant(range.hi + (dice.chance(60) ? 0 : beside));
    }
    return subscript;
}

Subscript draw_empty(Dice &dice, const Range &range, const Box &domain) {
    const Affine affine = draw_indices(dice, domain);
    const Affine at = shifted(affine, draw_shift(dice, hull(affine, domain), range));
    if (dice.chance(50))
        return window(shifted(at, 1), shifted(at, -1), draw_step(dice));
    return window(shifted(at, dice.between(range.count() / 2, range.count() + 20)),
                  constant(range.hi - dice.between(0, 1)), 1);
}

Subscript draw_single(Dice &dice, const Range &range, const Box &domain) {
    for (int k = 0; k < 4; k++) {
        const Affine affine = draw_indices(dice, domain);
        const Range values = hull(affine, domain);
        if (values.count() <= range.count())
            return single(shifted(affine, draw_shift(dice, values, range)));
    }
    return draw_constant(dice, range);
}

} // namespace

Subscript draw_subscript(Dice &dice, const Range &range, const Box &domain) {
    switch (dice.weighted({44, 24, 8, 10, 9, 5})) {
    case 0:
        return draw_single(dice, range, domain);
    case 1:
        return draw_window(dice, range, domain);
    case 2:
        return draw_constant(dice, range);
    case 3:
        return draw_whole(dice, range);
    case 4:
        return draw_triangle(dice, range, domain);
    default:
        return draw_empty(dice, range, domain);
    }
}

} // namespace outside
