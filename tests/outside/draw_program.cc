#include "outside/draw.h"

#include <algorithm>

namespace outside {

namespace {

enum { MAX_ELEMENTS = 6000, MANY_ELEMENTS = 60000 };

int64_t draw_extent(Dice &dice) {
    switch (dice.weighted({16, 10, 10, 20, 18, 20, 6})) {
    case 0:
        return 1;
    case 1:
        return 2;
    case 2:
        return 3;
    case 3:
        return dice.between(4, 10);
    case 4:
        return dice.pick<int64_t>({5, 7, 11, 13, 17, 23, 31});
    case 5:
        return dice.between(16, 64);
    default:
        return dice.between(65, 400);
    }
}

polytile_type draw_type(Dice &dice, const Fixed &fixed) {
    polytile_type type;
    if (!fixed.type.empty() && polytile_type_parse(fixed.type.c_str(), &type) == POLYTILE_OK)
        return type;
    if (dice.chance(20))
        return POLYTILE_INDEXED(dice.between(POLYTILE_I8, POLYTILE_BF16));
    return dice.pick<polytile_type>({POLYTILE_F32, POLYTILE_F32, POLYTILE_F64, POLYTILE_I8,
                                     POLYTILE_U8, POLYTILE_I16, POLYTILE_U16, POLYTILE_I32,
                                     POLYTILE_I32, POLYTILE_U32, POLYTILE_I64, POLYTILE_U64,
                                     POLYTILE_F16, POLYTILE_BF16, POLYTILE_BF16, POLYTILE_C64,
                                     POLYTILE_C64, POLYTILE_C128, POLYTILE_C128});
}

/** Of arrays that no grid cuts: their extents are short, or 1. */
Box draw_short_box(Dice &dice) {
    Box box;
    for (int n_dims = dice.weighted({0, 30, 45, 15, 10}); n_dims > 0; n_dims--)
        box.push_back({0, dice.chance(35) ? 0 : dice.between(1, 14)});
    if (dice.chance(50))
        box[0].hi = 0;
    return box;
}

/** Of arrays of a few hundred bytes to some thousand, of which a small memory holds a part. */
Box draw_middling_box(Dice &dice) {
    if (dice.chance(80))
        return {{0, dice.between(50, 400)}};
    return {{0, dice.between(5, 32)}, {0, dice.between(5, 32)}};
}

/** Of one kind of array or some; of middling ones mostly one, so that launches have several to
 * choose from. */
std::vector<Shape> draw_shapes(Dice &dice, const Fixed &fixed) {
    const int kind = dice.weighted({15, 45, 40});
    const bool is_middling = kind == 1, is_mixed = dice.chance(is_middling ? 10 : 50);
    std::vector<Box> boxes;
    std::vector<Shape> shapes;
    for (int k = is_middling ? dice.weighted({4, 1}) : dice.weighted({3, 4, 2}); k >= 0; k--)
        boxes.push_back(kind == 0     ? draw_short_box(dice)
                        : is_middling ? draw_middling_box(dice)
                                      : draw_box(dice));
    polytile_type type = draw_type(dice, fixed);
    if (is_middling && fixed.type.empty())
        type = dice.pick<polytile_type>({POLYTILE_F32, POLYTILE_F64, POLYTILE_I64, POLYTILE_U64,
                                         POLYTILE_C128, POLYTILE_INDEXED(POLYTILE_F32)});
    for (const Box &box : boxes)
        for (int k = is_mixed ? 2 : 1; k > 0; k--)
            shapes.push_back({is_mixed ? draw_type(dice, fixed) : type, box, {}, false});
    return shapes;
}

bool allows_internal(const Shape &shape) {
    return shape.versions.empty() && std::all_of(shape.box.begin(), shape.box.end(),
                                                 [](const Range &range) { return range.lo == 0; });
}

/** Rows with a pitch, Fortran order, or any other, with gaps or without. */
Memory draw_memory(Dice &dice, size_t n_dims) {
    Memory memory;
    for (size_t d = 0; d < n_dims; d++) {
        const int64_t place =
            dice.chance(50) ? dice.between(0, static_cast<int64_t>(d)) : static_cast<int64_t>(d);
        memory.order.insert(memory.order.begin() + place, d);
        memory.gaps.push_back(dice.chance(50) ? 0 : dice.between(0, 5));
    }
    return memory;
}

/** As many arrays of each shape as the kernel with the most of them needs, and some more. */
void draw_arrays(Dice &dice, Program &program) {
    std::vector<Shape> shapes;
    std::vector<int64_t> needed;
    for (const Kernel &kernel : program.kernels)
        for (const Shape &shape : kernel.operands) {
            if (shape.is_scratch)
                continue;
            const int64_t n = std::count(kernel.operands.begin(), kernel.operands.end(), shape);
            const auto found = std::find(shapes.begin(), shapes.end(), shape);
            const auto k = static_cast<size_t>(found - shapes.begin());
            if (found == shapes.end()) {
                shapes.push_back(shape);
                needed.push_back(n);
            }
            needed[k] = std::max(needed[k], n);
        }
    for (size_t k = 0; k < shapes.size(); k++)
        for (int64_t n = needed[k] + dice.between(0, 1); n > 0; n--) {
            Array array;
            array.name = operand_name(static_cast<int>(program.arrays.size()));
            array.shape = shapes[k];
            array.is_internal =
                program.has_queue && dice.chance(25) && allows_internal(array.shape);
            array.seed = dice.bits();
            if (!array.is_internal && dice.chance(15))
                array.memory = draw_memory(dice, array.shape.box.size());
            program.arrays.push_back(array);
        }
}

void draw_kernels(Dice &dice, const Fixed &fixed, std::vector<Verdict> &verdicts,
                  Program &program) {
    const std::vector<Shape> shapes = draw_shapes(dice, fixed);
    for (int k = dice.weighted({3, 4, 3, 1, 1}); k >= 0; k--) {
        Verdict verdict;
        Kernel kernel = draw_kernel(dice, shapes, fixed, verdict);
        if (verdict.is_unclear)
            continue;
        kernel.name = "k" + std::to_string(program.kernels.size());
        program.kernels.push_back(kernel);
        verdicts.push_back(verdict);
    }
}

/** One stencil or two over one kind of arrays. */
void draw_stencils(Dice &dice, const Fixed &fixed, std::vector<Verdict> &verdicts,
                   Program &program) {
    const Shape shape = {draw_type(dice, fixed), draw_field(dice), {}, false};
    for (int k = dice.weighted({3, 1}); k >= 0; k--) {
        Kernel kernel = draw_stencil(dice, shape);
        kernel.name = "k" + std::to_string(program.kernels.size());
        verdicts.push_back(judge(kernel, drawn_values(kernel), kernel.domain));
        program.kernels.push_back(kernel);
    }
}

} // namespace

Box draw_box(Dice &dice) {
    Box box;
    for (int n_dims = dice.weighted({0, 36, 40, 16, 8}); n_dims > 0; n_dims--)
        box.push_back({0, draw_extent(dice) - 1});
    if (dice.chance(3))
        box[0].hi += dice.between(1000, 20000);
    const int64_t most = dice.chance(97) ? MAX_ELEMENTS : MANY_ELEMENTS;
    while (count(box) > most) {
        Range &longest =
            *std::max_element(box.begin(), box.end(),
                              [](const Range &a, const Range &b) { return a.count() < b.count(); });
        longest.hi = longest.count() / 2;
    }
    if (dice.chance(12))
        for (Range &range : box) {
            const int64_t shift = dice.between(-6, 6);
            range.lo += shift;
            range.hi += shift;
        }
    return box;
}

Program draw_program(uint64_t seed, const Fixed &fixed) {
    Dice dice(seed);
    Program program;
    std::vector<Verdict> verdicts;
    program.seed = seed;
    program.has_queue = fixed.is_queue || (!fixed.is_run && dice.chance(80));
    const bool has_time_steps = program.has_queue && !fixed.n_indices && dice.chance(9);
    if (has_time_steps)
        draw_stencils(dice, fixed, verdicts, program);
    while (program.kernels.empty())
        draw_kernels(dice, fixed, verdicts, program);
    Verdict most;
    for (const Verdict &verdict : verdicts) {
        most.thread_bytes = std::max(most.thread_bytes, verdict.thread_bytes);
        most.launch_bytes = std::max(most.launch_bytes, verdict.launch_bytes);
    }
    draw_arrays(dice, program);
    draw_place(dice, fixed, most, program);
    if (has_time_steps)
        draw_time_steps(dice, verdicts, program);
    else if (program.has_queue)
        draw_queue_steps(dice, verdicts, program);
    else
        draw_run_steps(dice, verdicts, program);
    return program;
}

} // namespace outside
