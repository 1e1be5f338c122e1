#include "distribute/shared_program.h"

#include <algorithm>

extern "C" {
#include "access/array/array.h"
#include "access/declare/parse.h"
}

namespace {

const char *const index_names[] = {"i", "j", "k", "l"};

std::string number_text(int64_t number) {
    return (number < 0 ? " - " : " + ") + std::to_string(std::abs(number));
}

std::string term(int64_t factor, const std::string &index) {
    return (factor == 1 ? "" : std::to_string(factor) + "*") + index;
}

/** A kernel while it is drawn. */
struct Draft {
    int n_indices = 0;
    polytile_domain threads = {};
    std::string accesses;
    std::vector<int> arrays;
    int64_t parameter = 0;      /* the value of n, */
    bool has_parameter = false; /* which a subscript names */

    std::string name_of(int array) {
        if (std::find(arrays.begin(), arrays.end(), array) == arrays.end())
            arrays.push_back(array);
        return std::string(1, static_cast<char>('A' + array));
    }
    void add(const std::string &role, int array, const std::string &subscripts) {
        accesses +=
            (accesses.empty() ? "" : "; ") + role + " " + name_of(array) + "[" + subscripts + "]";
    }
    std::string text() const {
        std::string head = "draft[";
        for (int k = 0; k < n_indices; k++)
            head += std::string(k ? ", " : "") + index_names[k];
        return head + "]: " + accesses;
    }
    /** A number after an index, which now and then is n and a number. */
    std::string number(int64_t value, Random *random) {
        if (!random->chance(10))
            return number_text(value);
        has_parameter = true;
        return " + n" + number_text(value - parameter);
    }
    std::vector<polytile_parameter> parameters() const {
        if (!has_parameter)
            return {};
        return {POLYTILE_PARAMETER("n", parameter)};
    }
};

std::string any_index(Random *random, const Draft &draft) {
    return index_names[random->number(0, draft.n_indices - 1)];
}

/** What lies around an index. */
std::string draw_window(Random *random, Draft *draft, const std::string &index) {
    const int64_t radius = random->number(0, 3), above = random->number(0, radius);
    const std::string first = draft->number(-radius, random);
    return index + first + ":" + index + draft->number(above, random);
}

/** What a thread may read of one dimension, or reduce into. */
std::string draw_touched(Random *random, Draft *draft, int dim) {
    const std::string index = dim < draft->n_indices && random->chance(75)
                                  ? std::string(index_names[dim])
                                  : any_index(random, *draft);
    const int64_t shift = random->number(-2, 2);
    switch (random->number(0, 11)) {
    case 0:
        return ":";
    case 1:
        return "0:" + index;
    case 2:
        return index + ":";
    case 3:
        return std::to_string(random->number(0, 3));
    case 4:
        return index + " + " + any_index(random, *draft);
    case 5:
        return "2*" + index + draft->number(shift, random);
    case 6:
        return "2*" + index + ":2*" + index + " + 4:2";
    case 7:
        return index + draft->number(shift, random);
    case 8:
        return index;
    default:
        return draw_window(random, draft, index);
    }
}

/** All dimensions of an array; stencils of one radius are common. */
std::string draw_section(Random *random, Draft *draft, int n_dims) {
    std::string text;
    const bool is_stencil = random->chance(40) && n_dims <= draft->n_indices;
    const std::string radius = std::to_string(random->number(1, 2));
    const int64_t wide = random->number(0, n_dims - 1);
    for (int d = 0; d < n_dims; d++) {
        const std::string index = d < draft->n_indices ? index_names[d] : "";
        const std::string stencil =
            wide == d ? index + " - " + radius + ":" + index + " + " + radius : index;
        text += (d ? ", " : "") + (is_stencil ? stencil : draw_touched(random, draft, d));
    }
    return text;
}

polytile_range draw_part(Random *random, polytile_range whole) {
    if (random->chance(40))
        return whole;
    const int64_t lo = random->number(whole.lo, whole.hi);
    return {lo, random->number(lo, whole.hi), 1};
}

/** Elements that each thread writes alone: a dimension an index, each moving on by at least what is
 * written; the other dimensions are written whole, or at one place. */
std::string draw_alone(Random *random, const polytile_domain &array, Draft *draft) {
    std::vector<std::string> subscripts(static_cast<size_t>(array.n_dims));
    std::vector<int> dims;
    for (int d = 0; d < array.n_dims; d++)
        dims.insert(random->chance(70) ? dims.end() : dims.begin(), d);
    const int64_t n_left_out = random->chance(20) ? random->number(0, array.n_dims - 1) : 0;
    for (int64_t k = 0; k < n_left_out; k++) {
        subscripts[static_cast<size_t>(dims.back())] =
            random->chance(50) ? ":" : std::to_string(array.range[dims.back()].lo);
        dims.pop_back();
    }
    draft->n_indices = static_cast<int>(dims.size());
    draft->threads.n_dims = draft->n_indices;
    for (int k = 0; k < draft->n_indices; k++) {
        const polytile_range whole = array.range[dims[static_cast<size_t>(k)]];
        const int64_t factor = random->one_of({1, 1, 1, 1, 1, 2, 3, -1});
        const int64_t width = random->number(0, std::abs(factor) - 1);
        const int64_t shift = random->one_of({0, 0, 0, 1, -1, 2});
        const int64_t constant = shift + (factor < 0 ? whole.lo + whole.hi : 0);
        polytile_range range = whole;
        range.lo = factor > 1 ? whole.lo / factor : whole.lo;
        range.hi = factor > 1 ? whole.hi / factor : whole.hi;
        draft->threads.range[k] = draw_part(random, range);
        const std::string at = term(factor, index_names[k]) + draft->number(constant, random);
        subscripts[static_cast<size_t>(dims[static_cast<size_t>(k)])] =
            width == 0 ? at : at + ":" + at + " + " + std::to_string(width);
    }
    std::string text;
    for (size_t d = 0; d < subscripts.size(); d++)
        text += (d ? ", " : "") + subscripts[d];
    return text;
}

/** Two indices in a line: i counts rows of j. */
std::string draw_rows(Random *random, const polytile_domain &array, Draft *draft) {
    const int64_t width = random->number(2, 5), n = pti_box_count(&array);
    draft->n_indices = draft->threads.n_dims = 2;
    draft->threads.range[0] = draw_part(random, {0, std::max<int64_t>(1, n / width) - 1, 1});
    draft->threads.range[1] = {0, random->number(0, width - 1), 1};
    return std::to_string(width) + "*i + j" + number_text(array.range[0].lo);
}

void draw_threads(Random *random, const polytile_domain &array, Draft *draft) {
    draft->n_indices = draft->threads.n_dims = static_cast<int>(random->number(1, 2));
    for (int k = 0; k < draft->n_indices; k++)
        draft->threads.range[k] = draw_part(random, array.range[k < array.n_dims ? k : 0]);
}

/** Rows that grow: only a box around what is written is known. */
std::string draw_triangle(Random *random, const polytile_domain &array, Draft *draft) {
    draft->n_indices = draft->threads.n_dims = 1;
    draft->threads.range[0] = draw_part(random, array.range[0]);
    return random->chance(50) ? "i, 0:i" : "i, i:";
}

} // namespace

SharedProgram::~SharedProgram() {
    for (const auto &launch : made_)
        pti_instance_free(launch->instance);
    polytile_context_destroy(ctx_);
}

int SharedProgram::add_array(const polytile_domain &domain, int n_members,
                             const std::string &grid_text, const std::string &text) {
    const int number = static_cast<int>(arrays_.size());
    pti_distribution distribution = {};
    pti_member_grid grid = {};
    polytile_array *array = nullptr;
    const bool has_grid = pti_member_grid_parse(grid_text.c_str(), &grid);
    pti_distribution_parse(ctx_, text.c_str(), &distribution);
    polytile_array_describe(ctx_, "array", POLYTILE_F32, &domain, &array);
    arrays_.push_back(array);
    ownerships_.push_back(
        pti_ownership_of(&domain, n_members, has_grid ? &grid : nullptr, &distribution));
    placements_.push_back(text_of(domain) + " " + text + " " + grid_text + "\n");
    return number;
}

bool SharedProgram::add_launch(const std::string &text, const polytile_domain &threads,
                               const std::vector<int> &arrays, bool is_exact,
                               const std::vector<polytile_parameter> &parameters) {
    polytile_declaration *declaration = nullptr;
    if (pti_declaration_parse(ctx_, text.c_str(), &declaration) != POLYTILE_OK)
        return false;
    polytile_kernel kernel = {};
    kernel.object.context = ctx_;
    kernel.declaration = declaration;
    auto launch = std::make_unique<Launch>();
    launch->text = text + " over " + text_of(threads) + (is_exact ? "" : ", inexact");
    for (const polytile_parameter &parameter : parameters)
        launch->text +=
            std::string(", ") + parameter.name + " = " + std::to_string(parameter.value);
    for (int a = 0; a < declaration->n_accesses; a++)
        declaration->access[a].exact = is_exact;
    launch->arrays = arrays;
    std::vector<polytile_array *> operands;
    for (int array : arrays)
        operands.push_back(arrays_[static_cast<size_t>(array)]);
    const polytile_status status =
        pti_instance_create(&kernel, &threads, operands.data(), static_cast<int>(parameters.size()),
                            parameters.data(), &launch->instance);
    pti_declaration_free(declaration);
    if (status != POLYTILE_OK)
        return false;
    launches_.push_back({{launch->instance, launch->arrays.data()}, runs_once_});
    made_.push_back(std::move(launch));
    return true;
}

pti_superstep SharedProgram::superstep(size_t first, size_t n, int n_members) const {
    return {static_cast<int>(n), launches_.data() + first, static_cast<int>(ownerships_.size()),
            ownerships_.data(), n_members};
}

std::string SharedProgram::text() const {
    std::string text;
    for (size_t a = 0; a < placements_.size(); a++)
        text += std::string(1, static_cast<char>('A' + a)) + placements_[a];
    for (const pti_shared_launch &launch : launches_)
        for (const auto &made : made_)
            if (made->instance == launch.call.instance)
                text += made->text + "\n";
    return text;
}

void SharedProgram::draw_arrays(Random *random, int n_members) {
    const int most_dims = static_cast<int>(random->one_of({1, 2, 2, 3}));
    const int64_t most_extents[] = {0, 24, 9, 5};
    const bool is_uniform = random->chance(60);
    std::string weights = std::to_string(random->number(1, 5));
    for (int q = 1; q < n_members; q++)
        weights += "," + std::to_string(random->number(0, 5));
    const std::string texts[] = {
        "block",        "block",     "block",     "block(dim=0)",
        "block(dim=1)", "cyclic(1)", "cyclic(2)", "weighted(" + weights + ")"};
    const std::string common = texts[random->number(0, 7)];
    const std::string grids[] = {"", "", std::to_string(n_members),
                                 "1x" + std::to_string(n_members),
                                 n_members % 2 ? "" : "2x" + std::to_string(n_members / 2)};
    const std::string grid = grids[random->number(0, 4)];
    polytile_domain shape = {};
    for (int a = 0; a < 4; a++) {
        polytile_domain domain = {};
        domain.n_dims =
            random->chance(70) ? most_dims : static_cast<int>(random->number(1, most_dims));
        for (int d = 0; d < domain.n_dims; d++) {
            const int64_t lo = random->one_of({0, 0, 0, 0, 1});
            domain.range[d] = {lo, lo + random->number(0, most_extents[most_dims]), 1};
        }
        if (is_uniform && a > 0 && domain.n_dims == shape.n_dims)
            domain = shape;
        shape = a == 0 ? domain : shape;
        const bool is_other = random->chance(15);
        add_array(domain, n_members, grid, is_other ? texts[random->number(0, 7)] : common);
    }
}

bool SharedProgram::draw_launch(Random *random) {
    Draft draft;
    draft.parameter = random->number(-3, 3);
    const int n_arrays = static_cast<int>(arrays_.size());
    const int written = static_cast<int>(random->number(0, n_arrays - 1));
    const int other = (written + 1) % n_arrays;
    const polytile_domain &array = arrays_[static_cast<size_t>(written)]->domain;
    const polytile_domain &other_array = arrays_[static_cast<size_t>(other)]->domain;
    bool writes_other = false;
    const int64_t form = random->number(0, 19);
    if (form < 12) {
        const std::string subscripts = draw_alone(random, array, &draft);
        draft.add(random->chance(80) ? "out" : "inout", written, subscripts);
    } else if (form == 12 && array.n_dims == 1) {
        draft.add("out", written, draw_rows(random, array, &draft));
    } else if (form == 13 && array.n_dims == 2) {
        draft.add(random->chance(50) ? "out" : "inout", written,
                  draw_triangle(random, array, &draft));
    } else {
        draw_threads(random, array, &draft);
        draft.add(random->chance(50) ? "sum" : "out sum", written,
                  draw_section(random, &draft, array.n_dims));
    }
    if (random->chance(10)) {
        writes_other = true;
        draft.add(random->chance(50) ? "sum" : "out sum", other,
                  random->chance(50) && other_array.n_dims == 1
                      ? std::to_string(other_array.range[0].lo)
                      : draw_section(random, &draft, other_array.n_dims));
    }
    const int64_t n_reads = random->number(0, 3);
    for (int64_t r = 0; r < n_reads; r++) {
        const int read = static_cast<int>(random->number(0, n_arrays - 1));
        if (read != written && !(writes_other && read == other))
            draft.add(
                "in", read,
                draw_section(random, &draft, arrays_[static_cast<size_t>(read)]->domain.n_dims));
    }
    return add_launch(draft.text(), draft.threads, draft.arrays, !random->chance(12),
                      draft.parameters());
}

void SharedProgram::draw_launches(Random *random) {
    const int64_t n_kernels = random->number(1, 4), n_launches = random->number(1, 9);
    for (int64_t k = 0, n_tried = 0; k < n_kernels && n_tried < 30; n_tried++)
        k += draw_launch(random);
    const size_t n_drawn = launches_.size();
    for (int64_t l = 0; l < n_launches && n_drawn > 0; l++)
        repeat_launch(random->chance(70) ? launches_.size() - n_drawn
                                         : static_cast<size_t>(random->number(
                                               0, static_cast<int64_t>(n_drawn) - 1)));
}
