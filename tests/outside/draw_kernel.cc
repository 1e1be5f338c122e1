#include "outside/drawer.h"

#include <algorithm>

namespace outside {

enum { MAX_THREADS = 6000, MAX_OPERANDS = 6, MAX_TRIES = 1000 };

void Drawer::draw_other(polytile_role role, bool is_fresh, int operand) {
    Access access;
    access.role = role;
    access.is_fresh = is_fresh;
    access.operand = operand;
    for (const Range range : kernel.operands[static_cast<size_t>(operand)].box)
        access.subscripts.push_back(draw_subscript(dice, range, kernel.domain));
    kernel.accesses.push_back(access);
}

/** An operand that threads combine into anywhere, by one section or two. */
void Drawer::draw_reducing() {
    const bool is_fresh = dice.chance(50);
    const int operand = add_operand();
    const polytile_role role =
        draw_reduction(dice, kernel.operands[static_cast<size_t>(operand)].type, is_fresh);
    for (int k = dice.weighted({80, 15, 5}); k >= 0; k--)
        draw_other(role, is_fresh, operand);
}

void Drawer::draw_reads() {
    const bool is_one = kernel.operands.size() == 1;
    for (int k = is_one ? dice.weighted({15, 40, 22, 15, 8}) : dice.weighted({50, 25, 15, 7, 3});
         k > 0; k--) {
        const bool is_new = kernel.operands.size() < MAX_OPERANDS && dice.chance(70);
        const int operand = is_new ? add_operand()
                                   : static_cast<int>(dice.between(
                                         0, static_cast<int64_t>(kernel.operands.size()) - 1));
        draw_other(POLYTILE_IN, false, operand);
    }
}

void Drawer::shrink_domain() {
    while (count(kernel.domain) > MAX_THREADS) {
        Range &longest =
            *std::max_element(kernel.domain.begin(), kernel.domain.end(),
                              [](const Range &a, const Range &b) { return a.count() < b.count(); });
        longest.hi = longest.lo + longest.count() / 2 - 1;
    }
}

namespace {

/** Counts operands by their first mention. */
class Counter {
  public:
    explicit Counter(Kernel &drawn) : kernel(drawn), number(drawn.operands.size(), -1) {}

    void count(int &operand) {
        int &counted = number[static_cast<size_t>(operand)];
        if (counted < 0) {
            counted = static_cast<int>(ordered.size());
            ordered.push_back(kernel.operands[static_cast<size_t>(operand)]);
        }
        operand = counted;
    }

    void count(std::vector<Subscript> &subscripts) {
        for (Subscript &subscript : subscripts)
            for (auto *of : {&subscript.lo_of, &subscript.hi_of})
                for (LookUp &from : *of) {
                    count(from.operand);
                    count(from.subscripts);
                }
    }

    std::vector<Shape> ordered;

  private:
    Kernel &kernel;
    std::vector<int> number;
};

} // namespace

void number_operands(Kernel &kernel) {
    Counter counter(kernel);
    for (Access &access : kernel.accesses) {
        counter.count(access.operand);
        counter.count(access.subscripts);
    }
    kernel.operands = counter.ordered;
}

/** Put the accesses into any order, and count the operands by their first mention. */
void Drawer::shuffle() {
    for (size_t k = kernel.accesses.size(); k > 1; k--)
        std::swap(
            kernel.accesses[k - 1],
            kernel.accesses[static_cast<size_t>(dice.between(0, static_cast<int64_t>(k) - 1))]);
    number_operands(kernel);
}

Kernel Drawer::draw() {
    draw_first();
    shrink_domain();
    for (int k = dice.weighted({40, 40, 20}); k > 0; k--)
        draw_owned();
    if (dice.chance(20))
        draw_reducing();
    draw_reads();
    if (dice.chance(15))
        draw_look_ups();
    if (dice.chance(25))
        draw_edges();
    if (dice.chance(15))
        draw_scratch();
    shuffle();
    draw_manner(dice, kernel);
    return kernel;
}

namespace {

/** Move one end of one section, so that the kernel may well be wrong. */
void spoil(Dice &dice, Kernel &kernel) {
    Access &access = kernel.accesses[static_cast<size_t>(
        dice.between(0, static_cast<int64_t>(kernel.accesses.size()) - 1))];
    Subscript &subscript = access.subscripts[static_cast<size_t>(
        dice.between(0, static_cast<int64_t>(access.subscripts.size()) - 1))];
    if (access.role == POLYTILE_SCRATCH)
        return;
    (dice.chance(50) ? subscript.lo : subscript.hi).constant +=
        dice.pick<int64_t>({-40, -2, -1, 1, 2, 40});
}

} // namespace

/** Write some sections in braces, whose places need bounds. */
static void draw_relations(Dice &dice, Kernel &kernel) {
    for (Access &access : kernel.accesses)
        access.is_relation = dice.chance(60) &&
                             std::none_of(access.subscripts.begin(), access.subscripts.end(),
                                          [](const Subscript &value) {
                                              return value.from_first || value.to_last ||
                                                     has_look_up(value) ||
                                                     value.edge != POLYTILE_EDGE_CLIP;
                                          }) &&
                             access.role != POLYTILE_SCRATCH;
}

void draw_manner(Dice &dice, Kernel &kernel) {
    draw_parameters(dice, kernel);
    kernel.is_launcher = dice.chance(10);
    kernel.tells_shapes = dice.chance(30);
    kernel.is_built = dice.chance(10);
    if (!kernel.is_built && dice.chance(12))
        draw_relations(dice, kernel);
    kernel.style = dice.bits();
}

/** Often as many as an array has dimensions. */
static int draw_n_indices(Dice &dice, const std::vector<Shape> &shapes) {
    return dice.chance(50) ? static_cast<int>(dice.pick(shapes).box.size())
                           : dice.weighted({0, 35, 38, 18, 9});
}

Kernel draw_kernel(Dice &dice, const std::vector<Shape> &shapes, const Fixed &fixed,
                   Verdict &verdict) {
    Kernel kernel;
    const bool may_be_wrong = dice.chance(fixed.percent_wrong);
    for (int k = 0; k < MAX_TRIES; k++) {
        const int n_indices = draw_n_indices(dice, shapes);
        kernel = Drawer(dice, shapes, fixed.n_indices ? fixed.n_indices : n_indices).draw();
        if (may_be_wrong)
            spoil(dice, kernel);
        verdict = judge(kernel, drawn_values(kernel), kernel.domain);
        if (!verdict.is_unclear && verdict.is_right() != may_be_wrong &&
            !(verdict.is_mixed && (fixed.is_apart || !dice.chance(10))) &&
            !(verdict.is_beside && !dice.chance(5)))
            break;
    }
    return kernel;
}

} // namespace outside
