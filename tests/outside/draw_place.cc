#include "outside/draw.h"
#include "outside/wild_policy.h"

#include <algorithm>

namespace outside {

namespace {

/** Where each piece of an array begins in the memory of a queue's device: at a multiple of it. */
constexpr int64_t piece_bytes = 256;

/** Memory for a part of a launch; now and then hardly enough for one thread, or plenty, or for a
 * few pieces, however small. */
int64_t draw_memory(Dice &dice, const Verdict &most) {
    const int64_t launch = most.launch_bytes, thread = most.thread_bytes;
    const bool is_middling = launch >= 2 * piece_bytes && launch <= 32 * piece_bytes;
    switch (dice.weighted({3, 45, 20, 14, is_middling ? 120 : 10})) {
    case 0:
        return dice.between(thread / 2 + 1, 2 * thread + 64);
    case 1:
        return std::max(3 * thread + dice.pick<int64_t>({64, 256, 1024}),
                        launch / dice.pick<int64_t>({2, 3, 4, 6, 8}));
    case 2:
        return std::max(4 * thread + 2048, launch * dice.pick<int64_t>({1, 2, 3}));
    case 3:
        return dice.pick<int64_t>({4096, 16384, 65536, 1 << 20});
    default:
        return piece_bytes * dice.between(3, 14) + dice.between(0, 30);
    }
}

Device draw_device(Dice &dice, const Verdict &most, bool is_in_place) {
    Device device;
    if (!is_in_place && dice.chance(70))
        device.memory_bytes = draw_memory(dice, most);
    if (dice.chance(70))
        device.n_threads = static_cast<int>(dice.pick<int64_t>({1, 1, 2, 2, 3, 4}));
    return device;
}

std::string list(Dice &dice, size_t n, int64_t lo, int64_t hi) {
    std::string text;
    for (size_t k = 0; k < n; k++)
        text += (k ? "," : "") + std::to_string(dice.between(lo, hi));
    return text;
}

std::string draw_layout(Dice &dice, const Program &program) {
    size_t n_dims = MAX_DIMS;
    for (const Array &array : program.arrays)
        n_dims = std::min(n_dims, array.shape.box.size());
    switch (dice.weighted({12, 20, 22, 22, 3, 21})) {
    case 0:
        return "block";
    case 1:
        return "block(dim=" + std::to_string(dice.between(0, static_cast<int64_t>(n_dims) - 1)) +
               ")";
    case 2:
        return "cyclic(" + std::to_string(dice.pick<int64_t>({1, 2, 3, 4, 7, 16, 64})) + ")";
    case 3:
        return "weighted(" + list(dice, n_members(program), dice.chance(20) ? 0 : 1, 5) + ")";
    case 4:
        return "weighted";
    default:
        return "pool";
    }
}

std::string draw_policy(Dice &dice, const Program &program) {
    const size_t n_units = n_members(program);
    switch (dice.weighted({8, 4, 12, 8, 20, 16, 16, 12, 4})) {
    case 0:
        return "equal";
    case 1:
        return "equal(node)";
    case 2:
        return "weighted(" + list(dice, n_units, dice.chance(20) ? 0 : 1, 5) + ")";
    case 3:
        return "weighted";
    case 4:
        return "self(" + std::to_string(dice.pick<int64_t>({1, 2, 3, 7, 1000})) + ")";
    case 5:
        return "self(" + list(dice, n_units, 1, 9) + ")";
    case 6:
        return "guided";
    case 7:
        return WILD_POLICY;
    default:
        return WILD_WEIGHTS;
    }
}

/** Factors of the number of members, as many as an array has dimensions. */
std::string draw_grid(Dice &dice, const Program &program) {
    const size_t n_dims = dice.pick(program.arrays).shape.box.size();
    Integers factors(n_dims, 1);
    size_t left = n_members(program);
    for (size_t prime : {size_t{2}, size_t{3}, size_t{5}})
        for (; left % prime == 0; left /= prime)
            factors[static_cast<size_t>(dice.between(0, static_cast<int64_t>(n_dims) - 1))] *=
                static_cast<int64_t>(prime);
    std::string text;
    for (size_t d = 0; d < n_dims; d++)
        text += (d ? "x" : "") + std::to_string(factors[d]);
    return text;
}

void draw_share(Dice &dice, Program &program) {
    program.is_shared = dice.chance(n_members(program) == 1 ? 20 : 75);
    if (!program.is_shared)
        return;
    if (dice.chance(60))
        program.layout = draw_layout(dice, program);
    if (dice.chance(60))
        program.policy = draw_policy(dice, program);
    if (dice.chance(15))
        program.grid = draw_grid(dice, program);
    if (dice.chance(35))
        program.launches_per_exchange = dice.between(1, 4);
}

} // namespace

void draw_place(Dice &dice, const Fixed &fixed, const Verdict &most, Program &program) {
    program.n_ranks = fixed.n_ranks;
    int n_members = program.has_queue ? dice.weighted({0, 18, 36, 20, 10, 8, 8}) : 1;
    if (program.has_queue && fixed.n_members)
        n_members = fixed.n_members;
    const bool are_alike = dice.chance(35), are_in_place = dice.chance(15);
    for (int k = 0; k < n_members; k++)
        program.devices.push_back(k && are_alike ? program.devices[0]
                                                 : draw_device(dice, most, are_in_place));
    if (program.has_queue)
        draw_share(dice, program);
    program.check = dice.chance(35)  ? "plan"
                    : dice.chance(6) ? "attach,plan"
                    : dice.chance(2) ? "access"
                                     : "off";
    if (!fixed.layout.empty()) {
        program.is_shared = true;
        program.layout = fixed.layout == "none" ? "" : fixed.layout;
    }
    if (!fixed.policy.empty()) {
        program.is_shared = true;
        program.policy = fixed.policy == "none" ? "" : fixed.policy;
    }
    if (!fixed.check.empty())
        program.check = fixed.check;
    program.device = fixed.device;
}

Options draw_options(Dice &dice, const Program &program, const Kernel &kernel,
                     const Verdict &verdict) {
    static const char *const strategies[] = {"min-time", "min-traffic", "min-kernels", "paper"};
    Options options;
    if (!program.has_queue && dice.chance(40))
        options.limit_bytes = draw_memory(dice, verdict);
    if (dice.chance(30))
        options.strategy = strategies[dice.between(0, 3)];
    if (dice.chance(25))
        options.n_buffers = static_cast<int>(dice.between(1, 3));
    if (dice.chance(15))
        for (const Range &range : kernel.domain)
            options.block.push_back(dice.chance(60) ? dice.between(1, 4)
                                                    : dice.between(1, range.count() + 3));
    if (program.has_queue && dice.chance(20))
        options.launches_per_pass = dice.between(1, 3);
    return options;
}

} // namespace outside
