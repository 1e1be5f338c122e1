/* Stencils that a queue runs many times over arrays that change places: what may be fused. */
#include "outside/drawer.h"

namespace outside {

namespace {

/** i, or i-a:i+b. */
Subscript draw_around(Dice &dice, size_t k, bool is_written) {
    Subscript subscript;
    subscript.lo.index[k] = subscript.hi.index[k] = 1;
    subscript.is_single = is_written || dice.chance(30);
    if (subscript.is_single)
        return subscript;
    subscript.lo.constant = -dice.between(0, 2);
    subscript.hi.constant = dice.between(0, 2);
    return subscript;
}

Access draw_around(Dice &dice, const Box &box, int operand, polytile_role role) {
    Access access;
    access.operand = operand;
    access.role = role;
    for (size_t k = 0; k < box.size(); k++)
        access.subscripts.push_back(draw_around(dice, k, role != POLYTILE_IN));
    return access;
}

} // namespace

Box draw_field(Dice &dice) {
    if (dice.chance(50))
        return {{0, dice.between(300, 2000)}};
    return {{0, dice.between(20, 100)}, {0, dice.between(3, 20)}};
}

Kernel draw_stencil(Dice &dice, const Shape &shape) {
    Kernel kernel;
    kernel.n_indices = static_cast<int>(shape.box.size());
    kernel.domain = shape.box;
    if (dice.chance(40))
        for (Range &range : kernel.domain) {
            range.lo += 1;
            range.hi -= 1;
        }
    kernel.operands = {shape, shape};
    kernel.accesses.push_back(draw_around(dice, shape.box, 0, POLYTILE_IN));
    if (dice.chance(30))
        kernel.accesses.push_back(draw_around(dice, shape.box, 0, POLYTILE_IN));
    kernel.accesses.push_back(
        draw_around(dice, shape.box, 1, dice.chance(70) ? POLYTILE_OUT : POLYTILE_INOUT));
    draw_manner(dice, kernel);
    return kernel;
}

} // namespace outside
