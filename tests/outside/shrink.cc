#include "outside/shrink.h"

#include "outside/draw.h"
#include "outside/watch.h"

#include <functional>

namespace outside {

namespace {

/** One way to make a program smaller at its k-th place; false if there is no such place. */
using Cut = std::function<bool(Program &, size_t)>;

std::string kind_of(const std::string &failure) {
    return failure.substr(0, failure.find(':'));
}

std::string fails(const Program &program, int n_tries, int seconds, const std::string &kind) {
    std::string failure;
    Batch batch;
    batch.run = [&](uint64_t) { return run_program(program); };
    batch.n = 1;
    batch.seconds = seconds;
    for (int k = 0; k < n_tries && failure.empty(); k++)
        watch(batch, [&](uint64_t, const Outcome &outcome) {
            if (kind.empty() || kind_of(outcome.failure) == kind)
                failure = outcome.failure;
        });
    return failure;
}

template <class T> bool drop(std::vector<T> &list, size_t k) {
    if (k >= list.size())
        return false;
    list.erase(list.begin() + static_cast<int64_t>(k));
    return true;
}

bool drop_steps(Program &program, size_t k) {
    const size_t half = program.steps.size() / 2;
    if (k >= 2 || half < 2)
        return false;
    const auto first = program.steps.begin() + static_cast<int64_t>(k * half);
    program.steps.erase(first, first + static_cast<int64_t>(half));
    return true;
}

bool drop_step(Program &program, size_t k) {
    return drop(program.steps, k);
}

bool drop_device(Program &program, size_t k) {
    return program.devices.size() > 1 && drop(program.devices, k);
}

bool open_device(Program &program, size_t k) {
    if (k >= program.devices.size())
        return false;
    program.devices[k] = Device();
    return true;
}

bool leave_threads(Program &program, size_t k) {
    if (k >= program.devices.size())
        return false;
    program.devices[k].n_threads = 1;
    return true;
}

bool clear_place(Program &program, size_t k) {
    switch (k) {
    case 0:
        program.layout.clear();
        return true;
    case 1:
        program.policy.clear();
        return true;
    case 2:
        program.grid.clear();
        return true;
    case 3:
        program.launches_per_exchange = 0;
        return true;
    case 4:
        program.check = "off";
        return true;
    case 5:
        program.end = End::detach_all;
        return true;
    default:
        return false;
    }
}

/** Renumber the operands after one that nothing names any more. */
void drop_operand(Program &program, size_t kernel, int operand) {
    Kernel &model = program.kernels[kernel];
    model.operands.erase(model.operands.begin() + operand);
    for (Access &access : model.accesses)
        access.operand -= access.operand > operand ? 1 : 0;
    for (Step &step : program.steps)
        if (step.act <= Act::launch && step.launch.kernel == static_cast<int>(kernel))
            step.launch.arrays.erase(step.launch.arrays.begin() + operand);
}

/** Operands are counted by their first mention, which may have become another one. */
bool are_in_order(const Kernel &kernel) {
    int next = 0;
    for (const Access &access : kernel.accesses) {
        if (access.operand > next)
            return false;
        next += access.operand == next ? 1 : 0;
    }
    return true;
}

bool drop_access(Program &program, size_t k) {
    for (size_t number = 0; number < program.kernels.size(); number++) {
        Kernel &kernel = program.kernels[number];
        if (k >= kernel.accesses.size()) {
            k -= kernel.accesses.size();
            continue;
        }
        const int operand = kernel.accesses[k].operand;
        bool is_named = false;
        drop(kernel.accesses, k);
        for (const Access &access : kernel.accesses)
            is_named |= access.operand == operand;
        if (!is_named)
            drop_operand(program, number, operand);
        list_unnamed(kernel);
        if (!are_in_order(kernel) || kernel.accesses.empty())
            kernel.accesses.clear();
        return true;
    }
    return false;
}

bool clear_options(Program &program, size_t k) {
    if (k >= program.steps.size())
        return false;
    program.steps[k].launch.options = Options();
    program.steps[k].launch.by_name = false;
    program.steps[k].times = 1;
    program.steps[k].later.clear();
    program.steps[k].launch.mistake = Mistake::none;
    return true;
}

bool plain_kernel(Program &program, size_t k) {
    if (k >= program.kernels.size())
        return false;
    Kernel &kernel = program.kernels[k];
    kernel.is_built = kernel.is_launcher = kernel.tells_shapes = false;
    kernel.flaw = Flaw::none;
    for (Access &access : kernel.accesses)
        access.is_relation = false;
    return true;
}

void erase_value(std::vector<Number> &values, size_t parameter) {
    values.erase(values.begin() + static_cast<int64_t>(parameter));
}

/** Put the value of one of a kernel's parameters into its constants, and forget it. */
void fold_parameter(Kernel &kernel, size_t parameter) {
    for (Access &access : kernel.accesses)
        for (Subscript &subscript : access.subscripts)
            for (Affine *affine : {&subscript.lo, &subscript.hi}) {
                auto &factors = affine->parameter;
                affine->constant += factors[parameter] * kernel.parameters[parameter].value;
                std::copy(factors.begin() + parameter + 1, factors.end(),
                          factors.begin() + parameter);
                factors.back() = 0;
            }
    std::vector<int> taken;
    for (int number : kernel.taken)
        if (number != static_cast<int>(parameter))
            taken.push_back(number - (number > static_cast<int>(parameter) ? 1 : 0));
    kernel.taken = taken;
    drop(kernel.parameters, parameter);
}

bool drop_parameter(Program &program, size_t parameter) {
    size_t number = 0;
    for (; number < program.kernels.size(); number++) {
        if (parameter < program.kernels[number].parameters.size())
            break;
        parameter -= program.kernels[number].parameters.size();
    }
    if (number == program.kernels.size())
        return false;
    fold_parameter(program.kernels[number], parameter);
    for (Step &step : program.steps) {
        if (step.act > Act::launch || step.launch.kernel != static_cast<int>(number))
            continue;
        erase_value(step.launch.values, parameter);
        for (std::vector<Number> &values : step.later)
            erase_value(values, parameter);
        if (step.launch.mistaken == parameter && step.launch.mistake != Mistake::unknown)
            step.launch.mistake = Mistake::none;
        step.launch.mistaken -= step.launch.mistaken > parameter ? 1 : 0;
    }
    return true;
}

/** Halve a domain along one of its indices, or keep its first thread there. */
bool cut_domain(Program &program, size_t k) {
    const size_t number = k / (2 * MAX_INDICES), index = k / 2 % MAX_INDICES;
    if (number >= program.steps.size())
        return false;
    Box &domain = program.steps[number].launch.domain;
    if (index < domain.size())
        domain[index].hi = domain[index].lo + (k % 2 ? 0 : domain[index].count() / 2);
    return true;
}

bool is_runnable(const Program &program) {
    for (const Kernel &kernel : program.kernels)
        if (kernel.accesses.empty())
            return false;
    return true;
}

/** Try a cut at each of its places; whether one of them was kept. */
bool try_cut(const Cut &cut, Program &program, int n_tries, int seconds, std::string &failure) {
    bool has_cut = false;
    for (size_t k = 0;; k++) {
        Program smaller = program;
        if (!cut(smaller, k))
            return has_cut;
        if (!is_runnable(smaller))
            continue;
        const std::string found = fails(smaller, n_tries, seconds, kind_of(failure));
        if (found.empty())
            continue;
        const bool is_the_same = smaller.steps.size() == program.steps.size() &&
                                 smaller.devices.size() == program.devices.size();
        program = smaller;
        failure = found;
        has_cut = true;
        k -= is_the_same ? 0 : 1;
    }
}

/** Leave out what no step names. */
void drop_unused(Program &program) {
    std::vector<bool> is_used(program.kernels.size());
    for (const Step &step : program.steps)
        if (step.act <= Act::launch)
            is_used[static_cast<size_t>(step.launch.kernel)] = true;
    for (size_t k = program.kernels.size(); k > 0; k--)
        if (!is_used[k - 1]) {
            drop(program.kernels, k - 1);
            for (Step &step : program.steps)
                step.launch.kernel -= step.launch.kernel >= static_cast<int>(k) ? 1 : 0;
        }
}

} // namespace

Program shrink(Program program, int n_tries, int seconds, std::string &failure) {
    const Cut cuts[] = {drop_steps,    drop_step,      drop_device, open_device,
                        leave_threads, clear_place,    drop_access, clear_options,
                        plain_kernel,  drop_parameter, cut_domain};
    failure = fails(program, n_tries, seconds, "");
    for (bool is_smaller = !failure.empty(); is_smaller;) {
        const size_t before = program.steps.size() + program.devices.size();
        for (const Cut &cut : cuts)
            try_cut(cut, program, n_tries, seconds, failure);
        is_smaller = program.steps.size() + program.devices.size() < before;
    }
    if (!failure.empty())
        drop_unused(program);
    return program;
}

} // namespace outside
