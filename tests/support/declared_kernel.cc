#include "support/declared_kernel.h"

#include "support/mixture.h"

#include <algorithm>

namespace {

int64_t value_for(const polytile_affine &affine, int n_indices, const int64_t *thread,
                  int64_t parameter) {
    int64_t value = affine.constant + affine.parameter[0] * parameter;
    for (int k = 0; k < n_indices; k++)
        value += affine.index[k] * thread[k];
    return value;
}

} // namespace

DeclaredKernel::DeclaredKernel(const RandomLaunch *launch,
                               const std::vector<int64_t> &element_bytes,
                               const std::vector<GenericParameter> &parameters)
    : launch_(launch), parameters_(parameters), taken_(body_parameters_of(parameters)) {
    for (const pti_access &access : launch->accesses())
        accesses_.push_back(
            {access.role, element_bytes[static_cast<size_t>(access.array)], &access});
    for (size_t p = 0; p < element_bytes.size(); p++)
        shapes_.push_back(
            {element_bytes[p], launch->array_domains()[p].n_dims, POLYTILE_ANY_NUMBER});
}

/** The elements that one thread touches, before edges move them into the array; others are
 * clipped. */
polytile_domain DeclaredKernel::touched(const Access &access, const int64_t *thread) const {
    const polytile_domain &array =
        launch_->array_domains()[static_cast<size_t>(access.declared->array)];
    const int n_indices = launch_->threads().n_dims;
    const int64_t parameter = launch_->parameters()[0].value;
    polytile_domain box = {};
    box.n_dims = array.n_dims;
    for (int d = 0; d < array.n_dims; d++) {
        const polytile_subscript &subscript = access.declared->subscript[d];
        const polytile_range &all = array.range[d];
        polytile_range &range = box.range[d];
        range.step = subscript.step;
        range.lo =
            subscript.from_first ? all.lo : value_for(subscript.lo, n_indices, thread, parameter);
        range.hi =
            subscript.to_last ? all.hi : value_for(subscript.hi, n_indices, thread, parameter);
        if (subscript.edge != POLYTILE_EDGE_CLIP)
            continue;
        range.hi = std::min(range.hi, all.hi);
        if (range.lo < all.lo)
            range.lo += (all.lo - range.lo + range.step - 1) / range.step * range.step;
    }
    return box;
}

/** Call with each element that one thread touches; with some twice, where the thread goes round. */
template <class Call>
void DeclaredKernel::each_touched(const Access &access, const int64_t *thread,
                                  const Call &call) const {
    const polytile_domain &array =
        launch_->array_domains()[static_cast<size_t>(access.declared->array)];
    for_each_place(touched(access, thread), [&](const int64_t *beyond) {
        int64_t at[POLYTILE_MAX_DIMS];
        std::copy_n(beyond, array.n_dims, at);
        for (int d = 0; d < array.n_dims; d++) {
            const polytile_range &all = array.range[d];
            const int64_t extent = all.hi - all.lo + 1;
            if (access.declared->subscript[d].edge == POLYTILE_EDGE_WRAP)
                at[d] = all.lo + ((at[d] - all.lo) % extent + extent) % extent;
            if (access.declared->subscript[d].edge == POLYTILE_EDGE_CLAMP)
                at[d] = std::min(std::max(at[d], all.lo), all.hi);
        }
        call(static_cast<const int64_t *>(at));
    });
}

void DeclaredKernel::run(const polytile_domain &threads, const polytile_view *views,
                         const std::vector<uint64_t> &values) const {
    const uint64_t first = mixed_values(values);
    for_each_place(threads, [&](const int64_t *thread) {
        const auto each = [&](size_t a, const auto &call) {
            each_touched(accesses_[a], thread, call);
        };
        const auto find = [&](int a, const int64_t *at) {
            const pti_access *declared = accesses_[static_cast<size_t>(a)].declared;
            return address_in(views[declared->array], at, static_cast<size_t>(declared->n_dims));
        };
        mix(first, thread, threads.n_dims, accesses_, each, find);
    });
}

/** What reductions start from that begin anew. */
void DeclaredKernel::start(const polytile_view *views) const {
    for (const Access &access : accesses_) {
        if (!access.declared->fresh)
            continue;
        for_each_place(launch_->threads(), [&](const int64_t *thread) {
            each_touched(access, thread, [&](const int64_t *at) {
                store(address_in(views[access.declared->array], at,
                                 static_cast<size_t>(access.declared->n_dims)),
                      access.element_bytes, identity_of(access.role, access.element_bytes));
            });
        });
    }
}

polytile_view DeclaredKernel::plain_view(size_t array, unsigned char *memory) const {
    polytile_view view = {};
    view.resident = launch_->array_domains()[array];
    int64_t stride_bytes = shapes_[array].element_bytes, offset = 0;
    for (int d = view.resident.n_dims - 1; d >= 0; d--) {
        const polytile_range &range = view.resident.range[d];
        view.stride_bytes[d] = stride_bytes;
        offset += range.lo * stride_bytes;
        stride_bytes *= range.hi - range.lo + 1;
    }
    view.origin = memory - offset;
    return view;
}

void DeclaredKernel::run_plainly(const std::vector<unsigned char *> &memory,
                                 const std::vector<uint64_t> &values) const {
    std::vector<polytile_view> views;
    for (size_t p = 0; p < memory.size(); p++)
        views.push_back(plain_view(p, memory[p]));
    start(views.data());
    run(launch_->threads(), views.data(), values);
}

polytile_implementation DeclaredKernel::implementation() const {
    polytile_implementation made = {};
    made.user = const_cast<DeclaredKernel *>(this);
    made.n_indices = launch_->threads().n_dims;
    made.n_views = static_cast<int>(shapes_.size());
    made.views = shapes_.data();
    made.n_parameters = static_cast<int>(taken_.size());
    made.parameters = taken_.data();
    made.host = [](const polytile_domain *threads, const polytile_view *views, void *user) {
        const auto *kernel = static_cast<const DeclaredKernel *>(user);
        kernel->run(*threads, views,
                    read_values(views + kernel->shapes_.size(), kernel->parameters_));
    };
    return made;
}
