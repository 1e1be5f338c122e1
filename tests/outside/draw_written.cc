/* What threads write: sections of which each element is one thread's, unless they reduce. */
#include "outside/drawer.h"

#include "outside/value.h"

#include <algorithm>

namespace outside {

int Drawer::add_operand() {
    kernel.operands.push_back(dice.pick(shapes));
    return static_cast<int>(kernel.operands.size()) - 1;
}

void Drawer::draw_range(size_t k, int64_t n) {
    const int64_t lo = dice.chance(75) ? 0 : dice.between(-5, 9);
    kernel.domain[k] = {lo, lo + n - 1};
    is_used[k] = true;
}

/** c*i + o, or a window of at most |c| elements: each element belongs to one value of i. */
Subscript Drawer::draw_own(const Range &range, size_t k) {
    int64_t factor = dice.pick<int64_t>({1, 1, 1, 1, 1, 1, 1, -1, 2, 3, -2, 4});
    const int64_t size = factor < 0 ? -factor : factor, extent = range.count();
    const int64_t width = dice.chance(50) ? 1 : dice.between(1, size);
    if (extent < width)
        factor = 1;
    const int64_t most = std::max<int64_t>(1, (extent - width) / size + 1);
    const int shape = dice.weighted({50, 20, 10, 20});
    draw_range(k, shape == 0   ? most
                  : shape == 1 ? std::max<int64_t>(1, most - dice.between(1, 2))
                  : shape == 2 ? 1
                               : dice.between(1, most));
    const Range &along = kernel.domain[k];
    const int64_t left = extent - ((along.count() - 1) * size + width);
    Subscript subscript;
    subscript.lo.index[k] = factor;
    subscript.lo.constant = range.lo - (factor > 0 ? factor * along.lo : factor * along.hi) +
                            dice.between(0, dice.chance(50) ? left : 0);
    subscript.hi = subscript.lo;
    subscript.hi.constant += width - 1;
    subscript.is_single = width == 1 && dice.chance(90);
    return subscript;
}

/** n*i + j with n values of j: two indices in one subscript, and still an element a thread. */
Subscript Drawer::draw_digits(const Range &range, size_t high, size_t low) {
    const int64_t n = dice.between(1, std::min<int64_t>(7, range.count()));
    draw_range(low, n);
    draw_range(high, dice.between(1, range.count() / n));
    Subscript subscript;
    subscript.lo.index[high] = n;
    subscript.lo.index[low] = 1;
    subscript.lo.constant = range.lo - n * kernel.domain[high].lo - kernel.domain[low].lo;
    subscript.hi = subscript.lo;
    return subscript;
}

bool Drawer::find_unused(size_t &k) {
    std::vector<size_t> unused;
    for (size_t index = 0; index < is_used.size(); index++)
        if (!is_used[index])
            unused.push_back(index);
    if (unused.empty())
        return false;
    k = dice.pick(unused);
    return true;
}

/** A role that combines, and now and then one that the elements do not suit. */
polytile_role draw_reduction(Dice &dice, polytile_type type, bool is_fresh) {
    const std::vector<polytile_role> all = {POLYTILE_SUM,   POLYTILE_SUM, POLYTILE_PROD,
                                            POLYTILE_MIN,   POLYTILE_MAX, POLYTILE_ARGMIN,
                                            POLYTILE_ARGMAX};
    const bool is_any = dice.chance(1);
    std::vector<polytile_role> suited;
    for (polytile_role role : all)
        if ((suits(role, type) || is_any) && (is_fresh || role != POLYTILE_SUM || !is_narrow(type)))
            suited.push_back(role);
    return dice.pick(suited);
}

/** The first written section; indices that it does not name have one value, or it reduces. */
void Drawer::draw_first() {
    Access access;
    access.operand = add_operand();
    for (const Range range : kernel.operands[0].box) {
        size_t k = 0, low = 0;
        if (!dice.chance(88) || !find_unused(k)) {
            access.subscripts.push_back(draw_subscript(dice, range, {{0, 0}}));
            access.subscripts.back().lo.index = access.subscripts.back().hi.index = {};
            continue;
        }
        is_used[k] = true;
        access.subscripts.push_back(dice.chance(15) && find_unused(low) ? draw_digits(range, k, low)
                                                                        : draw_own(range, k));
    }
    bool reduces = dice.chance(20);
    for (size_t k = 0; find_unused(k);) {
        reduces |= dice.chance(60);
        draw_range(k, reduces ? dice.pick<int64_t>({1, 2, 3, 5, 8, 13, 20, 37}) : 1);
    }
    access.is_fresh = reduces && dice.chance(50);
    access.role = reduces ? draw_reduction(dice, kernel.operands[0].type, access.is_fresh)
                          : dice.pick({POLYTILE_OUT, POLYTILE_OUT, POLYTILE_INOUT});
    kernel.accesses.push_back(access);
}

/** An element, or a window, of its own for each value of an index; shifted, in steps, reversed. */
Subscript Drawer::draw_apart(const Range &range, const Range &along, size_t k) {
    const int64_t most = along.count() < 2 ? 3 : (range.count() - 1) / (along.count() - 1);
    const int64_t size = std::min(most, dice.pick<int64_t>({1, 1, 1, 2, 3}));
    const int64_t factor = dice.chance(40) ? -size : size, span = size * (along.count() - 1);
    const int64_t width =
        std::min(range.count() - span, dice.chance(70) ? 1 : dice.between(1, size));
    const int64_t left = range.count() - span - width;
    Subscript subscript;
    subscript.lo.index[k] = factor;
    subscript.lo.constant = range.lo - (factor > 0 ? factor * along.lo : factor * along.hi) +
                            dice.pick<int64_t>({0, left, dice.between(0, left)});
    subscript.hi = subscript.lo;
    subscript.hi.constant += width - 1;
    subscript.is_single = width == 1;
    return subscript;
}

/** A dimension that no index separates: an element, or anything, which may follow the indices. */
Subscript Drawer::draw_along(const Range &range) {
    if (dice.chance(50))
        return draw_subscript(dice, range, kernel.domain);
    Subscript subscript;
    subscript.lo.constant = subscript.hi.constant = dice.chance(70) ? range.lo : range.hi;
    return subscript;
}

/** A further operand of which each thread writes elements of its own, where the shape allows it. */
void Drawer::draw_owned() {
    Access access;
    access.operand = add_operand();
    access.role = dice.pick({POLYTILE_OUT, POLYTILE_OUT, POLYTILE_INOUT});
    std::vector<size_t> left;
    for (size_t k = 0; k < kernel.domain.size(); k++)
        if (kernel.domain[k].count() > 1)
            left.insert(left.begin() + dice.between(0, static_cast<int64_t>(left.size())), k);
    for (const Range range : kernel.operands[static_cast<size_t>(access.operand)].box) {
        const auto fits = std::find_if(left.begin(), left.end(), [&](size_t k) {
            return kernel.domain[k].count() <= range.count();
        });
        const bool is_apart = fits != left.end() && dice.chance(90);
        access.subscripts.push_back(is_apart ? draw_apart(range, kernel.domain[*fits], *fits)
                                             : draw_along(range));
        if (is_apart)
            left.erase(fits);
    }
    if (!left.empty())
        access.role =
            draw_reduction(dice, kernel.operands[static_cast<size_t>(access.operand)].type, false);
    kernel.accesses.push_back(access);
}

} // namespace outside
