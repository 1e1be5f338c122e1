#include "outside/draw.h"

#include <algorithm>

namespace outside {

namespace {

enum { MAX_THREADS = 3000, MAX_OPERANDS = 6, MAX_TRIES = 1000 };

/** Draws one kernel: the sections written first, which shape the domain, then all others. */
class Drawer {
  public:
    Drawer(Dice &source, const std::vector<Shape> &given, int n_indices)
        : dice(source), shapes(given) {
        kernel.n_indices = n_indices;
        kernel.domain.resize(static_cast<size_t>(n_indices));
        is_used.resize(static_cast<size_t>(n_indices));
    }

    Kernel draw();

  private:
    Dice &dice;
    const std::vector<Shape> &shapes;
    Kernel kernel;
    std::vector<bool> is_used; /* indices that the first written section names */

    int add_operand();
    void draw_range(size_t k, int64_t n);
    Subscript draw_own(const Range &range, size_t k);
    Subscript draw_digits(const Range &range, size_t high, size_t low);
    bool find_unused(size_t &k);
    void draw_first();
    void draw_owned();
    void draw_other(polytile_role role, bool is_fresh, int operand);
    void draw_reducing();
    void draw_reads();
    void shrink_domain();
    void shuffle();
};

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
    access.role =
        reduces ? dice.pick({POLYTILE_SUM, POLYTILE_SUM, POLYTILE_PROD, POLYTILE_MIN, POLYTILE_MAX})
                : dice.pick({POLYTILE_OUT, POLYTILE_OUT, POLYTILE_INOUT});
    access.is_fresh = reduces && dice.chance(50);
    kernel.accesses.push_back(access);
}

/** A further operand of which each thread writes elements of its own, where the shape allows it. */
void Drawer::draw_owned() {
    Access access;
    access.operand = add_operand();
    access.role = dice.pick({POLYTILE_OUT, POLYTILE_INOUT});
    const Box &box = kernel.operands[static_cast<size_t>(access.operand)].box;
    std::vector<size_t> left;
    for (size_t k = 0; k < kernel.domain.size(); k++)
        if (kernel.domain[k].count() > 1)
            left.push_back(k);
    for (const Range &range : box) {
        Subscript subscript;
        const auto fits = std::find_if(left.begin(), left.end(), [&](size_t k) {
            return kernel.domain[k].count() <= range.count();
        });
        subscript.lo.constant = range.lo;
        if (fits != left.end()) {
            const Range &along = kernel.domain[*fits];
            subscript.lo.index[*fits] = 1;
            subscript.lo.constant += dice.between(0, range.count() - along.count()) - along.lo;
            left.erase(fits);
        }
        access.subscripts.push_back(subscript);
    }
    if (!left.empty())
        access.role = dice.pick({POLYTILE_SUM, POLYTILE_MIN});
    kernel.accesses.push_back(access);
}

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
    const polytile_role role =
        dice.pick({POLYTILE_SUM, POLYTILE_SUM, POLYTILE_PROD, POLYTILE_MIN, POLYTILE_MAX});
    const bool is_fresh = dice.chance(50);
    const int operand = add_operand();
    for (int k = dice.weighted({80, 15, 5}); k >= 0; k--)
        draw_other(role, is_fresh, operand);
}

void Drawer::draw_reads() {
    for (int k = dice.weighted({8, 40, 25, 17, 10}); k > 0; k--) {
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

/** Put the accesses into any order, and count the operands by their first mention. */
void Drawer::shuffle() {
    for (size_t k = kernel.accesses.size(); k > 1; k--)
        std::swap(
            kernel.accesses[k - 1],
            kernel.accesses[static_cast<size_t>(dice.between(0, static_cast<int64_t>(k) - 1))]);
    std::vector<int> number(kernel.operands.size(), -1);
    std::vector<Shape> ordered;
    for (Access &access : kernel.accesses) {
        int &of_operand = number[static_cast<size_t>(access.operand)];
        if (of_operand < 0) {
            of_operand = static_cast<int>(ordered.size());
            ordered.push_back(kernel.operands[static_cast<size_t>(access.operand)]);
        }
        access.operand = of_operand;
    }
    kernel.operands = ordered;
}

Kernel Drawer::draw() {
    draw_first();
    shrink_domain();
    if (dice.chance(20))
        draw_owned();
    if (dice.chance(20))
        draw_reducing();
    draw_reads();
    shuffle();
    draw_parameters(dice, kernel);
    kernel.is_launcher = dice.chance(10);
    kernel.tells_shapes = dice.chance(30);
    kernel.is_built = dice.chance(10);
    kernel.style = dice.bits();
    return kernel;
}

/** Move one end of one section, so that the kernel may well be wrong. */
void spoil(Dice &dice, Kernel &kernel) {
    Access &access = kernel.accesses[static_cast<size_t>(
        dice.between(0, static_cast<int64_t>(kernel.accesses.size()) - 1))];
    Subscript &subscript = access.subscripts[static_cast<size_t>(
        dice.between(0, static_cast<int64_t>(access.subscripts.size()) - 1))];
    (dice.chance(50) ? subscript.lo : subscript.hi).constant +=
        dice.pick<int64_t>({-40, -2, -1, 1, 2, 40});
}

} // namespace

void draw_parameters(Dice &dice, Kernel &kernel) {
    if (!dice.chance(25))
        return;
    for (int k = dice.weighted({3, 1}); k >= 0; k--)
        kernel.parameters.push_back(dice.between(-2, 12));
    for (Access &access : kernel.accesses)
        for (Subscript &subscript : access.subscripts)
            for (Affine *affine : {&subscript.lo, &subscript.hi}) {
                const auto k = static_cast<size_t>(
                    dice.between(0, static_cast<int64_t>(kernel.parameters.size()) - 1));
                if (!dice.chance(30))
                    continue;
                affine->parameter[k] += dice.pick<int64_t>({1, 1, 1, -1, 2});
                affine->constant -= affine->parameter[k] * kernel.parameters[k];
            }
}

Kernel draw_kernel(Dice &dice, const std::vector<Shape> &shapes, const Fixed &fixed,
                   Verdict &verdict) {
    Kernel kernel;
    const bool may_be_wrong = dice.chance(fixed.percent_wrong);
    for (int k = 0; k < MAX_TRIES; k++) {
        const int n_indices = dice.weighted({0, 35, 38, 18, 9});
        kernel = Drawer(dice, shapes, fixed.n_indices ? fixed.n_indices : n_indices).draw();
        if (may_be_wrong)
            spoil(dice, kernel);
        verdict = judge(kernel, kernel.domain);
        if (!verdict.is_unclear && verdict.is_right() != may_be_wrong &&
            !(verdict.is_mixed && (fixed.is_apart || !dice.chance(10))) &&
            !(verdict.is_beside && !dice.chance(5)))
            break;
    }
    return kernel;
}

} // namespace outside
