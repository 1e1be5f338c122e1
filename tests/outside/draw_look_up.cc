/* Subscripts that hold an element of an index array, and what such arrays hold. */
#include "outside/drawer.h"

#include <algorithm>

namespace outside {

namespace {

/** Of more threads an index array of two dimensions would take too long. */
enum { MOST_THREADS_OF_A_TABLE = 60 };

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

int64_t draw_index(Dice &dice, const Range &values, int64_t near) {
    if (dice.chance(60))
        return std::min(std::max(near + dice.between(-2, 2), values.lo), values.hi);
    return dice.between(values.lo, values.hi);
}

} // namespace

/** An index array of which no other kernel knows; its domain follows from the threads. */
int Drawer::add_index_operand(size_t n_dims) {
    Shape shape;
    shape.type = dice.pick<polytile_type>({POLYTILE_I32, POLYTILE_I64});
    shape.box.resize(n_dims);
    kernel.operands.push_back(shape);
    return static_cast<int>(kernel.operands.size()) - 1;
}

/** An element, or a range, of an index array, whose domain is made to hold it. */
LookUp Drawer::draw_index_section(int operand, bool is_one) {
    LookUp from;
    from.operand = operand;
    for (Range &range : kernel.operands[static_cast<size_t>(operand)].box) {
        Subscript subscript;
        const auto k =
            static_cast<size_t>(dice.between(0, static_cast<int64_t>(kernel.domain.size()) - 1));
        subscript.lo.index[k] = dice.pick<int64_t>({1, 1, 1, 1, 1, -1, 2});
        if (dice.chance(15))
            subscript.lo.index[static_cast<size_t>(
                dice.between(0, static_cast<int64_t>(kernel.domain.size()) - 1))] += 1;
        if (dice.chance(10))
            subscript.lo.index = {};
        subscript.hi = subscript.lo;
        subscript.is_single = is_one || dice.chance(40);
        subscript.hi.constant += subscript.is_single ? 0 : dice.between(0, 4);
        subscript.step = subscript.is_single || dice.chance(90) ? 1 : 2;
        const Range values = {hull(subscript.lo, kernel.domain).lo,
                              hull(subscript.hi, kernel.domain).hi};
        range.lo = range.count() ? std::min(range.lo, values.lo) : values.lo;
        range.hi = std::max(range.hi, values.hi);
        if (dice.chance(20))
            range.hi += dice.between(1, 3);
        from.subscripts.push_back(subscript);
    }
    return from;
}

/** Draw what an index array may hold: one version or two; seldom a wrong index. */
void Drawer::hold(int operand, const Range &values, bool is_ascending) {
    Shape &shape = kernel.operands[static_cast<size_t>(operand)];
    const int64_t n = count(shape.box);
    const int kind = dice.weighted({40, 30, 20, 10});
    for (int64_t version = dice.between(1, 2); version > 0; version--) {
        Integers held;
        for (int64_t k = 0; k < n; k++)
            held.push_back(
                kind == 0   ? dice.between(values.lo, values.hi)
                : kind == 1 ? draw_index(dice, values,
                                         values.lo + k * values.count() / std::max<int64_t>(n, 1))
                : kind == 2 ? std::min(values.hi, values.lo + k)
                            : std::max(values.lo, values.hi - k));
        if (is_ascending)
            std::sort(held.begin(), held.end());
        if (dice.chance(2) && n)
            held[static_cast<size_t>(dice.between(0, n - 1))] +=
                dice.pick<int64_t>({-1000, 1000, int64_t{1} << 30, -1, 1});
        shape.versions.push_back(held);
    }
}

/** An element of an index array which another index array says: K[L[e]+j]. */
LookUp Drawer::draw_chained(int operand) {
    const Range places = {0, dice.pick<int64_t>({0, 1, 6, 12, 30, 60})};
    kernel.operands[static_cast<size_t>(operand)].box[0] = places;
    LookUp from;
    from.operand = operand;
    from.subscripts.push_back(draw_gather(places, true));
    return from;
}

/** x[K[e]+j], or x[K[lo:hi]], or with the ends of rows x[K[P[i]:P[i+1]-1]], or x[K[L[e]]]. */
Subscript Drawer::draw_gather(const Range &range, bool is_one) {
    Subscript subscript;
    const bool is_line = dice.chance(75) || count(kernel.domain) > MOST_THREADS_OF_A_TABLE;
    const int operand = add_index_operand(is_line ? 1 : 2);
    const bool is_of_rows = is_line && !is_one && dice.chance(30);
    subscript.lo.constant = dice.chance(60) ? 0 : dice.between(-4, 4);
    if (dice.chance(25))
        subscript.lo.index[static_cast<size_t>(
            dice.between(0, static_cast<int64_t>(kernel.domain.size()) - 1))] =
            dice.pick<int64_t>({1, 1, -1, 2});
    const Range offsets = hull(subscript.lo, kernel.domain);
    Range values = {range.lo - offsets.lo, range.hi - offsets.hi};
    if (values.count() == 0) {
        subscript.lo = Affine();
        values = range;
    }
    LookUp from;
    if (is_of_rows) {
        const Range entries = {0, dice.pick<int64_t>({0, 1, 6, 12, 30, 60})};
        kernel.operands[static_cast<size_t>(operand)].box[0] = entries;
        from.operand = operand;
        from.subscripts.push_back(draw_rows(entries));
    } else if (is_line && dice.chance(25)) {
        from = draw_chained(operand);
    } else {
        from = draw_index_section(operand, is_one || dice.chance(70));
    }
    hold(operand, values, dice.chance(30));
    subscript.hi = subscript.lo;
    subscript.lo_of.push_back(from);
    return subscript;
}

/** V[P[i]:P[i+1]-1]: rows of any length, none included; or of rows that an index array says. */
Subscript Drawer::draw_rows(const Range &range) {
    Subscript subscript;
    const int operand = add_index_operand(1);
    LookUp from = dice.chance(25) ? draw_chained(operand) : draw_index_section(operand, true);
    subscript.is_single = false;
    subscript.lo_of.push_back(from);
    from.subscripts[0].lo.constant += 1;
    from.subscripts[0].hi.constant += 1;
    kernel.operands[static_cast<size_t>(operand)].box[0].hi += 1;
    subscript.hi_of.push_back(from);
    subscript.hi.constant = -1;
    hold(operand, {range.lo, range.hi + 1}, true);
    return subscript;
}

/** Between two elements of different arrays, or one and an expression, in any order of rows. */
Subscript Drawer::draw_between(const Range &range) {
    Subscript subscript;
    subscript.is_single = false;
    const int first = add_index_operand(1);
    const LookUp from = draw_index_section(first, true);
    const int64_t middle = dice.between(range.lo, range.hi);
    switch (dice.weighted({40, 20, 20, 20})) {
    case 0: {
        const int last = add_index_operand(1);
        subscript.lo_of.push_back(from);
        subscript.hi_of.push_back(draw_index_section(last, true));
        hold(first, {range.lo, middle}, false);
        hold(last, {std::max(range.lo, middle - (dice.chance(30) ? 1 : 0)), range.hi}, false);
        break;
    }
    case 1:
        subscript.lo.constant = range.lo;
        subscript.hi_of.push_back(from);
        hold(first, range, false);
        break;
    case 2:
        subscript.lo_of.push_back(from);
        subscript.hi.constant = range.hi;
        hold(first, range, false);
        break;
    default:
        subscript.lo_of.push_back(from);
        subscript.hi_of.push_back(from);
        subscript.hi.constant = range.hi - middle;
        hold(first, {range.lo, middle}, false);
    }
    return subscript;
}

void Drawer::draw_look_up(polytile_role role) {
    Access access;
    access.role = role;
    access.operand = add_operand();
    const Box box = kernel.operands[static_cast<size_t>(access.operand)].box;
    const auto looked_up =
        static_cast<size_t>(dice.between(0, static_cast<int64_t>(box.size()) - 1));
    if (role != POLYTILE_IN)
        access.role =
            draw_reduction(dice, kernel.operands[static_cast<size_t>(access.operand)].type, false);
    for (size_t d = 0; d < box.size(); d++)
        if (d != looked_up && dice.chance(90))
            access.subscripts.push_back(draw_subscript(dice, box[d], kernel.domain));
        else
            access.subscripts.push_back(dice.chance(50)   ? draw_gather(box[d])
                                        : dice.chance(60) ? draw_rows(box[d])
                                                          : draw_between(box[d]));
    kernel.accesses.push_back(access);
}

void Drawer::draw_look_ups() {
    draw_look_up(dice.chance(70) ? POLYTILE_IN : POLYTILE_SUM);
    if (dice.chance(30))
        draw_look_up(POLYTILE_IN);
}

} // namespace outside
