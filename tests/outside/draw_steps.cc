#include "outside/draw.h"

#include <algorithm>

namespace outside {

namespace {

/** Draws what happens on a queue, and keeps track of which arrays it holds. */
class Sequence {
  public:
    Sequence(Dice &source, const std::vector<Verdict> &given, Program &drawn)
        : dice(source), verdicts(given), program(drawn), is_held(drawn.arrays.size()) {}

    void draw();
    void draw_time_steps();

  private:
    Dice &dice;
    const std::vector<Verdict> &verdicts;
    Program &program;
    std::vector<bool> is_held; /* attached, or an internal array that is there */

    std::vector<int> find(bool held, bool internal) const;
    std::vector<int> some(std::vector<int> arrays);
    void add(Act act, const std::vector<int> &arrays);
    void hold_all();
    void add_launch();
    void add_chain(bool is_plain);
    void add_between();
    void add_question();
    void lend(const std::vector<int> &arrays);
    void draw_end();
};

std::vector<int> Sequence::find(bool held, bool internal) const {
    std::vector<int> found;
    for (size_t k = 0; k < program.arrays.size(); k++)
        if (is_held[k] == held && program.arrays[k].is_internal == internal)
            found.push_back(static_cast<int>(k));
    return found;
}

/** One or more of the arrays, in any order. */
std::vector<int> Sequence::some(std::vector<int> arrays) {
    for (size_t k = arrays.size(); k > 1; k--)
        std::swap(arrays[k - 1],
                  arrays[static_cast<size_t>(dice.between(0, static_cast<int64_t>(k) - 1))]);
    arrays.resize(static_cast<size_t>(dice.between(1, static_cast<int64_t>(arrays.size()))));
    return arrays;
}

void Sequence::add(Act act, const std::vector<int> &arrays) {
    Step step;
    step.act = act;
    step.arrays = arrays;
    step.seed = dice.bits();
    for (int array : arrays)
        if (act == Act::attach || act == Act::create || act == Act::discard)
            is_held[static_cast<size_t>(array)] = true;
        else if (act == Act::detach || act == Act::destroy)
            is_held[static_cast<size_t>(array)] = false;
    program.steps.push_back(step);
}

void Sequence::hold_all() {
    for (int array : find(false, true))
        add(Act::create, {array});
    const std::vector<int> others = find(false, false);
    if (others.empty())
        return;
    if (dice.chance(70))
        add(Act::attach, others);
    else
        for (int array : others)
            add(Act::attach, {array});
}

void Sequence::add_launch() {
    Step step;
    step.act = dice.chance(4) ? Act::check : Act::launch;
    if (!draw_launch(dice, verdicts, program, is_held, step.launch))
        return;
    draw_mistake(dice, program.kernels[static_cast<size_t>(step.launch.kernel)], step);
    program.steps.push_back(step);
}

/** Exchange the arrays of an operand that is read and one that is written, as time steps do. */
void exchange(const Kernel &kernel, std::vector<int> &arrays) {
    for (size_t from = 0; from < arrays.size(); from++)
        for (size_t to = 0; to < arrays.size(); to++) {
            const int read = arrays[from], written = arrays[to];
            if (kernel.operands[from].is_scratch || is_written(kernel, static_cast<int>(from)) ||
                !is_written(kernel, static_cast<int>(to)) ||
                !(kernel.operands[from] == kernel.operands[to]))
                continue;
            for (int &array : arrays)
                array = array == read ? written : array == written ? read : array;
            return;
        }
}

/** Launches of one kernel in a row, whose values are the same, or change at each. */
void Sequence::add_chain(bool is_plain) {
    Step step;
    step.act = Act::launch;
    if (!draw_launch(dice, verdicts, program, is_held, step.launch))
        return;
    const Kernel &kernel = program.kernels[static_cast<size_t>(step.launch.kernel)];
    const bool are_equal = dice.chance(30);
    step.launch.by_name = false;
    if (is_plain)
        step.launch.options = Options();
    for (int64_t k = dice.between(2, 12); k > 0; k--) {
        program.steps.push_back(step);
        exchange(kernel, step.launch.arrays);
        step.launch.seed = dice.bits();
        if (!are_equal)
            step.launch.values = draw_values(dice, kernel, step.launch.domain, step.launch.values);
    }
}

/** Detach arrays, look at them or change them, and attach them again, perhaps later. */
void Sequence::lend(const std::vector<int> &arrays) {
    const bool is_discarded = dice.chance(20);
    if (is_discarded)
        add(Act::discard, arrays);
    add(Act::detach, arrays);
    if (!is_discarded && dice.chance(60))
        add(Act::look, arrays);
    if (is_discarded || dice.chance(50))
        add(Act::change, arrays);
    if (dice.chance(70))
        add(Act::attach, arrays);
}

/** Ask, or have oneself called, without waiting; now and then cancel all. */
void Sequence::add_question() {
    const std::vector<int> attached = find(true, false);
    switch (dice.weighted({25, 20, 35, 20})) {
    case 0:
        return attached.empty() || dice.chance(50) ? add(Act::test, {})
                                                   : add(Act::test, {dice.pick(attached)});
    case 1:
        return add(Act::progress, {});
    case 2:
        for (int64_t k = attached.empty() ? 0 : dice.between(1, 2); k > 0; k--)
            add(Act::notify, {dice.pick(attached)});
        return;
    default:
        add(Act::cancel, {});
    }
}

void Sequence::add_between() {
    const std::vector<int> attached = find(true, false), internal = find(true, true);
    switch (dice.weighted({30, 14, 14, 8, 8, 18, 8, 16})) {
    case 0:
        return add(Act::wait, {});
    case 1:
        if (!attached.empty())
            add(Act::wait_for, {dice.pick(attached)});
        return;
    case 2:
        return add(Act::pause, {});
    case 3:
        return add(Act::resume, {});
    case 4:
        return add(Act::report, {});
    case 5:
        if (!attached.empty())
            lend(some(attached));
        return;
    case 7:
        return program.n_ranks > 1 ? add(Act::progress, {}) : add_question();
    default:
        if (!internal.empty())
            add(Act::destroy, {dice.pick(internal)});
    }
}

void Sequence::draw() {
    if (dice.chance(30))
        add(Act::pause, {});
    hold_all();
    const int64_t n_launches = dice.chance(40) ? dice.between(1, 3) : dice.between(2, 12);
    const int percent_between = static_cast<int>(dice.pick<int64_t>({0, 10, 30}));
    const int64_t chain = dice.chance(15) ? dice.between(0, n_launches - 1) : n_launches;
    for (int64_t k = 0; k < n_launches; k++) {
        k == chain ? add_chain(false) : add_launch();
        if (dice.chance(percent_between))
            add_between();
        if (dice.chance(60))
            hold_all();
    }
    draw_end();
}

/** Chains that are queued while the queue rests, so that it has them all. */
void Sequence::draw_time_steps() {
    hold_all();
    for (int64_t k = dice.between(1, 2); k > 0; k--) {
        if (dice.chance(80))
            add(Act::pause, {});
        add_chain(dice.chance(70));
        if (dice.chance(30))
            add_between();
        hold_all();
    }
    draw_end();
}

void Sequence::draw_end() {
    program.end = dice.pick(
        {End::detach_all, End::detach_all, End::detach_each, End::destroy, End::destroy_context});
}

} // namespace

/** An array of the operand's shape that no operand of the launch forbids, often the first, so that
 * launches need each other's results; -1: there is none. */
static int draw_array(Dice &dice, const Program &program, const Kernel &kernel,
                      const std::vector<bool> &is_usable, const std::vector<int> &before,
                      int operand) {
    std::vector<int> fitting;
    for (size_t k = 0; k < program.arrays.size(); k++) {
        bool fits = is_usable[k] &&
                    program.arrays[k].shape == kernel.operands[static_cast<size_t>(operand)];
        for (size_t other = 0; other < before.size(); other++)
            if (before[other] == static_cast<int>(k))
                fits &= dice.chance(30) &&
                        (dice.chance(25) || (!is_written(kernel, operand) &&
                                             !is_written(kernel, static_cast<int>(other))));
        if (fits)
            fitting.push_back(static_cast<int>(k));
    }
    if (fitting.empty())
        return -1;
    return dice.chance(35) ? fitting.front() : dice.pick(fitting);
}

static Box draw_part(Dice &dice, Box domain) {
    for (Range &range : domain) {
        range.lo = dice.between(range.lo, dice.chance(50) ? range.lo : range.hi);
        range.hi = dice.between(dice.chance(50) ? range.hi : range.lo, range.hi);
    }
    return domain;
}

/** Whether names of one array touch different elements; seldom they need not. */
static bool takes_alias(Dice &dice, const Program &program, const Kernel &kernel,
                        const Launch &launch) {
    const Verdict verdict =
        judge(kernel, launch_values(kernel, launch.values), launch.domain, &launch.arrays);
    return !verdict.is_unclear && !(verdict.is_mixed && n_members(program) > 1) &&
           (verdict.is_right() || dice.chance(10));
}

bool draw_launch(Dice &dice, const std::vector<Verdict> &verdicts, const Program &program,
                 const std::vector<bool> &is_usable, Launch &launch) {
    launch.kernel =
        static_cast<int>(dice.between(0, static_cast<int64_t>(program.kernels.size()) - 1));
    const auto number = static_cast<size_t>(launch.kernel);
    const Kernel &kernel = program.kernels[number];
    launch.domain = dice.chance(12) ? draw_part(dice, kernel.domain) : kernel.domain;
    launch.options = draw_options(dice, program, kernel, verdicts[number]);
    launch.values = draw_values(dice, kernel, launch.domain, {});
    launch.seed = dice.bits();
    launch.arrays.clear();
    launch.by_name = program.has_queue;
    for (size_t k = 0; k < kernel.operands.size(); k++) {
        if (kernel.operands[k].is_scratch) {
            launch.arrays.push_back(NO_ARRAY);
            continue;
        }
        const int array =
            draw_array(dice, program, kernel, is_usable, launch.arrays, static_cast<int>(k));
        if (array < 0)
            return false;
        launch.by_name &= array == static_cast<int>(k);
        launch.arrays.push_back(array);
    }
    launch.by_name &= dice.chance(50);
    return !is_aliased(kernel, launch.arrays) || takes_alias(dice, program, kernel, launch);
}

void draw_time_steps(Dice &dice, const std::vector<Verdict> &verdicts, Program &program) {
    Sequence(dice, verdicts, program).draw_time_steps();
}

void draw_queue_steps(Dice &dice, const std::vector<Verdict> &verdicts, Program &program) {
    Sequence(dice, verdicts, program).draw();
}

/** The runs of a plan have the values of its subscripts, and any others. */
static void draw_later(Dice &dice, const Kernel &kernel, Step &step) {
    for (int k = 1; k < step.times; k++) {
        step.later.push_back(draw_values(dice, kernel, step.launch.domain, step.launch.values));
        for (size_t p = 0; p < kernel.parameters.size(); p++)
            if (is_mentioned(kernel, p))
                step.later.back()[p] = step.launch.values[p];
    }
}

void draw_run_steps(Dice &dice, const std::vector<Verdict> &verdicts, Program &program) {
    const std::vector<bool> all(program.arrays.size(), true);
    for (int64_t k = dice.between(1, 4); k > 0; k--) {
        Step step;
        step.act = static_cast<Act>(dice.weighted({55, 30, 9, 6}));
        step.times = step.act == Act::plan_run ? static_cast<int>(dice.between(1, 3)) : 1;
        if (!draw_launch(dice, verdicts, program, all, step.launch))
            continue;
        const Kernel &kernel = program.kernels[static_cast<size_t>(step.launch.kernel)];
        draw_later(dice, kernel, step);
        draw_mistake(dice, kernel, step);
        program.steps.push_back(step);
    }
}

} // namespace outside
