/* Edges of arrays, and memory that threads have of their own. */
#include "outside/drawer.h"

#include <algorithm>

namespace outside {

namespace {

/** Beyond an end, by a few elements, by rounds, or by more rounds than plans go. */
int64_t draw_beyond(Dice &dice, int64_t extent) {
    switch (dice.weighted({50, 25, 20, 5})) {
    case 0:
        return dice.between(-3, 3);
    case 1:
        return dice.between(-extent, extent);
    case 2:
        return extent * dice.between(-2, 2) + dice.between(-1, 1);
    default:
        return extent * dice.between(-12, 12);
    }
}

bool takes_edge(const Subscript &subscript) {
    return !subscript.from_first && !subscript.to_last && !has_look_up(subscript);
}

} // namespace

void Drawer::draw_edges() {
    for (Access &access : kernel.accesses)
        for (size_t d = 0; d < access.subscripts.size(); d++) {
            Subscript &subscript = access.subscripts[d];
            if (!takes_edge(subscript) || access.role == POLYTILE_SCRATCH || !dice.chance(45))
                continue;
            const Range &range = kernel.operands[static_cast<size_t>(access.operand)].box[d];
            const int64_t beyond = draw_beyond(dice, range.count());
            subscript.edge = access.role == POLYTILE_IN && dice.chance(50) ? POLYTILE_EDGE_CLAMP
                                                                           : POLYTILE_EDGE_WRAP;
            subscript.lo.constant += beyond;
            subscript.hi.constant += beyond;
        }
}

/** A dimension of scratch: an index, which tells threads apart. */
Subscript Drawer::draw_scratch_subscript(size_t k) {
    Subscript subscript;
    const int64_t factor = dice.pick<int64_t>({1, 1, 1, 1, -1, 2});
    subscript.lo.index[k] = factor;
    subscript.lo.constant = dice.chance(70) ? 0 : dice.between(-9, 9);
    subscript.hi = subscript.lo;
    subscript.is_single = factor != 2 || dice.chance(50);
    subscript.hi.constant += subscript.is_single ? 0 : 1;
    return subscript;
}

void Drawer::draw_scratch() {
    constexpr Range unbounded = {-100000, 100000};
    for (int n = dice.weighted({70, 30}); n >= 0; n--) {
        Access access;
        Shape shape = dice.pick(shapes);
        access.role = POLYTILE_SCRATCH;
        for (size_t k = 0; k < kernel.domain.size(); k++)
            if (kernel.domain[k].count() > 1 || dice.chance(20))
                access.subscripts.insert(
                    access.subscripts.begin() +
                        dice.between(0, static_cast<int64_t>(access.subscripts.size())),
                    draw_scratch_subscript(k));
        if (access.subscripts.size() < MAX_DIMS && (access.subscripts.empty() || dice.chance(70))) {
            Subscript own;
            own.is_single = false;
            own.lo.constant = dice.chance(70) ? 0 : dice.between(-5, 5);
            own.hi.constant = own.lo.constant + dice.pick<int64_t>({0, 1, 2, 6, 12});
            access.subscripts.push_back(own);
        }
        shape.is_scratch = true;
        shape.versions.clear();
        shape.box.assign(access.subscripts.size(), unbounded);
        access.operand = static_cast<int>(kernel.operands.size());
        kernel.operands.push_back(shape);
        kernel.accesses.push_back(access);
    }
}

} // namespace outside
