#include "outside/body.h"

#include "outside/thread.h"

#include <cstring>

namespace outside {

namespace {

std::string describe(int operand, const int64_t *index, size_t n_dims, const char *what) {
    std::string text = "view of " + operand_name(operand) + "[";
    for (size_t d = 0; d < n_dims; d++)
        text += (d ? "," : "") + std::to_string(index[d]);
    return text + "]: " + what;
}

/** Of pairs that of a part. */
uintptr_t alignment(polytile_type type) {
    const bool is_pair = is_indexed(type) || type == POLYTILE_C64 || type == POLYTILE_C128;
    return static_cast<uintptr_t>(type_bytes(type) / (is_pair ? 2 : 1));
}

bool is_resident(const polytile_view &view, const int64_t *index, size_t n_dims) {
    for (size_t d = 0; d < n_dims; d++) {
        const polytile_range &range = view.resident.range[d];
        if (index[d] < range.lo || index[d] > range.hi ||
            (index[d] - range.lo) % (range.step > 0 ? range.step : 1))
            return false;
    }
    return true;
}

void note(Body &body, const std::string &what) {
    const std::lock_guard<std::mutex> guard(body.mutex);
    if (body.wrong.empty())
        body.wrong = what;
}

/** Where an element lies, or somewhere else, with a word of why, if its view is wrong. */
void *reach(Body &body, const polytile_view *views, int operand, const int64_t *index) {
    alignas(16) static thread_local int64_t elsewhere[2];
    const Shape &shape = body.kernel.operands[static_cast<size_t>(operand)];
    const polytile_view &view = views[operand];
    const char *what = nullptr;
    auto at = reinterpret_cast<uintptr_t>(view.origin);
    for (size_t d = 0; d < shape.box.size(); d++)
        at += static_cast<uintptr_t>(index[d]) * static_cast<uintptr_t>(view.stride_bytes[d]);
    if (!is_resident(view, index, shape.box.size()))
        what = "the element is not resident";
    else if (at % alignment(shape.type))
        what = "the element is not aligned";
    if (!what)
        return reinterpret_cast<void *>(at);
    note(body, describe(operand, index, shape.box.size(), what));
    elsewhere[0] = elsewhere[1] = 0;
    return elsewhere;
}

Box to_box(const polytile_domain &domain) {
    Box box;
    for (int d = 0; d < domain.n_dims; d++)
        box.push_back({domain.range[d].lo, domain.range[d].hi});
    return box;
}

/** The parameters' values as the views after those of the arrays have them. */
Values read_values(Body &body, const polytile_view *views) {
    std::vector<uint64_t> raw(body.kernel.parameters.size());
    for (size_t k = 0; k < body.taken.size(); k++) {
        const auto number = static_cast<size_t>(body.taken[k]);
        const Parameter &parameter = body.kernel.parameters[number];
        const auto size = static_cast<size_t>(type_bytes(parameter.type));
        const polytile_view &view = views[body.kernel.operands.size() + k];
        if (!view.origin || reinterpret_cast<uintptr_t>(view.origin) % size)
            note(body, "view of " + parameter.name + ": the value is not aligned");
        else if (view.resident.n_dims)
            note(body, "view of " + parameter.name + ": it has dimensions");
        else
            memcpy(&raw[number], view.origin, size);
    }
    return to_values(body.kernel, raw);
}

/** What a body reads of index arrays, to find its elements. */
Look look_in(Body &body, const polytile_view *views) {
    return [&body, views](int operand, const int64_t *index) {
        return load_index(body.kernel.operands[static_cast<size_t>(operand)].type,
                          reach(body, views, operand, index));
    };
}

void run_box(const polytile_domain *threads, const polytile_view *views, void *user) {
    Body &body = *static_cast<Body *>(user);
    Values values = read_values(body, views);
    values.look = look_in(body, views);
    for_each_thread(to_box(*threads), [&](const int64_t *thread) {
        run_thread(body.kernel, values, thread, [&](int operand, const int64_t *index) {
            return reach(body, views, operand, index);
        });
    });
}

/** As a library may that is told to overwrite (beta = 0): that must change nothing. */
void overwrite_accumulators(const polytile_sub_kernel *launch, Body &body) {
    Values values = read_values(body, launch->views);
    values.look = look_in(body, launch->views);
    for_each_thread(to_box(*launch->threads), [&](const int64_t *thread) {
        for (const Access &access : body.kernel.accesses)
            if (access.is_fresh)
                for_each_element(body.kernel, access, values, thread, [&](const int64_t *index) {
                    store_identity(body.kernel.operands[static_cast<size_t>(access.operand)].type,
                                   access.role, reach(body, launch->views, access.operand, index));
                });
    });
}

int run_launcher(const polytile_sub_kernel *launch) {
    Body &body = *static_cast<Body *>(launch->user);
    if (launch->n_views != static_cast<int>(body.kernel.operands.size()) ||
        launch->n_parameters != static_cast<int>(body.taken.size()))
        return 1;
    if (launch->is_first)
        overwrite_accumulators(launch, body);
    run_box(launch->threads, launch->views, launch->user);
    return 0;
}

polytile_number number_of(polytile_type type) {
    if (is_indexed(type))
        return static_cast<polytile_number>(POLYTILE_INDEXED_NUMBER +
                                            16 * number_of(value_type(type)) +
                                            type_bytes(value_type(type)));
    if (type == POLYTILE_C64 || type == POLYTILE_C128)
        return POLYTILE_COMPLEX_NUMBER;
    if (type >= POLYTILE_F16)
        return POLYTILE_FLOAT_NUMBER;
    return type >= POLYTILE_U8 ? POLYTILE_UNSIGNED_NUMBER : POLYTILE_SIGNED_NUMBER;
}

/** For f16 and bf16 a body may take uint16_t, and there is no other way to tell of bf16; some tell
 * no more than bytes. */
polytile_number body_number(Dice &dice, polytile_type type) {
    if (dice.chance(20) || type == POLYTILE_INDEXED(POLYTILE_BF16))
        return POLYTILE_ANY_NUMBER;
    return type == POLYTILE_BF16 || (type == POLYTILE_F16 && dice.chance(50))
               ? POLYTILE_UNSIGNED_NUMBER
               : number_of(type);
}

/** What the body takes: by name, or, if that is all in the declaration's order, perhaps without. */
void name_parameters(Body &body) {
    const Kernel &kernel = body.kernel;
    Dice dice(mix(kernel.style, 11));
    const bool is_nameless = body.taken == declared_parameters(kernel) && dice.chance(50);
    for (int k : body.taken)
        body.names.push_back(kernel.parameters[static_cast<size_t>(k)].name);
    body.parameters.reserve(body.taken.size() + 1);
    for (size_t k = 0; k < body.taken.size(); k++) {
        const polytile_type type = kernel.parameters[static_cast<size_t>(body.taken[k])].type;
        body.parameters.push_back({is_nameless ? nullptr : body.names[k].c_str(), type_bytes(type),
                                   body_number(dice, type)});
    }
    body.implementation.parameters = body.parameters.data();
    body.implementation.n_parameters = static_cast<int>(body.parameters.size());
}

} // namespace

Body::Body(const Kernel &drawn) : kernel(drawn), taken(taken_parameters(drawn)), implementation() {
    Dice dice(mix(kernel.style, 17));
    for (const Shape &shape : kernel.operands)
        shapes.push_back({type_bytes(shape.type), static_cast<int>(shape.box.size()),
                          body_number(dice, shape.type)});
    implementation.user = this;
    if (kernel.is_launcher)
        implementation.host_launcher = run_launcher;
    else
        implementation.host = run_box;
    if (kernel.names_taken)
        name_parameters(*this);
    if (kernel.tells_shapes) {
        implementation.n_indices = kernel.n_indices;
        implementation.n_views = static_cast<int>(shapes.size());
        implementation.views = shapes.data();
    }
}

} // namespace outside
