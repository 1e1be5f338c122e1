#include "outside/body.h"

#include "outside/thread.h"

namespace outside {

namespace {

std::string describe(int operand, const int64_t *index, size_t n_dims, const char *what) {
    std::string text = "view of " + operand_name(operand) + "[";
    for (size_t d = 0; d < n_dims; d++)
        text += (d ? "," : "") + std::to_string(index[d]);
    return text + "]: " + what;
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

/** Where an element lies, or somewhere else, with a word of why, if its view is wrong. */
void *reach(Body &body, const polytile_view *views, int operand, const int64_t *index) {
    static thread_local int64_t elsewhere;
    const Shape &shape = body.kernel.operands[static_cast<size_t>(operand)];
    const polytile_view &view = views[operand];
    const char *what = nullptr;
    auto at = reinterpret_cast<uintptr_t>(view.origin);
    for (size_t d = 0; d < shape.box.size(); d++)
        at += static_cast<uintptr_t>(index[d] * view.stride_bytes[d]);
    if (!is_resident(view, index, shape.box.size()))
        what = "the element is not resident";
    else if (at % static_cast<uintptr_t>(type_bytes(shape.type)))
        what = "the element is not aligned";
    if (!what)
        return reinterpret_cast<void *>(at);
    const std::lock_guard<std::mutex> guard(body.mutex);
    if (body.wrong.empty())
        body.wrong = describe(operand, index, shape.box.size(), what);
    elsewhere = 0;
    return &elsewhere;
}

Box to_box(const polytile_domain &domain) {
    Box box;
    for (int d = 0; d < domain.n_dims; d++)
        box.push_back({domain.range[d].lo, domain.range[d].hi});
    return box;
}

void run_box(const polytile_domain *threads, const polytile_view *views, void *user) {
    Body &body = *static_cast<Body *>(user);
    for_each_thread(to_box(*threads), [&](const int64_t *thread) {
        run_thread(body.kernel, thread, [&](int operand, const int64_t *index) {
            return reach(body, views, operand, index);
        });
    });
}

/** As a library may that is told to overwrite (beta = 0): that must change nothing. */
void overwrite_accumulators(const polytile_sub_kernel *launch, Body &body) {
    for_each_thread(to_box(*launch->threads), [&](const int64_t *thread) {
        for (const Access &access : body.kernel.accesses)
            if (access.is_fresh)
                for_each_element(body.kernel, access, thread, [&](const int64_t *index) {
                    store_identity(body.kernel.operands[static_cast<size_t>(access.operand)].type,
                                   access.role, reach(body, launch->views, access.operand, index));
                });
    });
}

int run_launcher(const polytile_sub_kernel *launch) {
    Body &body = *static_cast<Body *>(launch->user);
    if (launch->n_views != static_cast<int>(body.kernel.operands.size()))
        return 1;
    if (launch->is_first)
        overwrite_accumulators(launch, body);
    run_box(launch->threads, launch->views, launch->user);
    return 0;
}

polytile_number number_of(polytile_scalar type) {
    if (type >= POLYTILE_F16)
        return POLYTILE_FLOAT_NUMBER;
    return type >= POLYTILE_U8 ? POLYTILE_UNSIGNED_NUMBER : POLYTILE_SIGNED_NUMBER;
}

} // namespace

Body::Body(const Kernel &drawn) : kernel(drawn), implementation() {
    for (const Shape &shape : kernel.operands)
        shapes.push_back({type_bytes(shape.type), static_cast<int>(shape.box.size()),
                          kernel.style % 3 ? number_of(shape.type) : POLYTILE_ANY_NUMBER});
    implementation.user = this;
    if (kernel.is_launcher)
        implementation.host_launcher = run_launcher;
    else
        implementation.host = run_box;
    if (kernel.tells_shapes) {
        implementation.n_indices = kernel.n_indices;
        implementation.n_views = static_cast<int>(shapes.size());
        implementation.views = shapes.data();
    }
}

} // namespace outside
