#include "support/generic_kernel.h"

#include "support/mixture.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace {

const char *const index_names[] = {"i", "j", "k"};

/** What an end of a window follows, such as "2*i+j+p0"; "" if nothing. */
std::string followed_by(const GenericWindow &window,
                        const std::vector<GenericParameter> &parameters) {
    if (window.index < 0)
        return "";
    std::string text = window.factor == 1    ? ""
                       : window.factor == -1 ? "-"
                                             : std::to_string(window.factor) + "*";
    text += index_names[window.index];
    text += window.added < 0 ? "" : "+" + std::string(index_names[window.added]);
    return text + (window.parameter < 0
                       ? ""
                       : "+" + std::string(parameters[static_cast<size_t>(window.parameter)].name));
}

std::string text_without_edge(const GenericWindow &window,
                              const std::vector<GenericParameter> &parameters) {
    const std::string followed = followed_by(window, parameters);
    const auto shifted = [&](int64_t by) {
        const bool has_number = by != 0 || followed.empty();
        return followed + (has_number && by >= 0 && !followed.empty() ? "+" : "") +
               (has_number ? std::to_string(by) : "");
    };
    if (window.index == GenericWindow::whole)
        return ":";
    if (window.lo == window.hi && !window.is_from_start)
        return shifted(window.lo);
    return (window.is_from_start ? "0" : shifted(window.lo)) + ":" + shifted(window.hi) +
           (window.step == 1 ? "" : ":" + std::to_string(window.step));
}

std::string text_of(const GenericWindow &window, const std::vector<GenericParameter> &parameters) {
    const std::string text = text_without_edge(window, parameters);
    return window.edge == GenericWindow::clip
               ? text
               : (window.edge == GenericWindow::wrap ? "wrap(" : "clamp(") + text + ")";
}

/** The index that stands for one with an edge. */
int64_t index_with_edge(const GenericWindow &window, int64_t index, int64_t first, int64_t last) {
    const int64_t extent = last - first + 1;
    if (window.edge == GenericWindow::clamp)
        return std::min(std::max(index, first), last);
    return window.edge == GenericWindow::wrap ? first + ((index - first) % extent + extent) % extent
                                              : index;
}

std::string role_of(const GenericAccess &access) {
    static const char *const names[] = {"in", "out", "inout", "sum", "prod", "min", "max"};
    static const polytile_role roles[] = {POLYTILE_IN,   POLYTILE_OUT, POLYTILE_INOUT, POLYTILE_SUM,
                                          POLYTILE_PROD, POLYTILE_MIN, POLYTILE_MAX};
    const size_t which = static_cast<size_t>(std::find(roles, roles + 7, access.role) - roles);
    return (access.is_fresh ? "out " : "") + std::string(names[which]);
}

/** All of an array in C order. */
polytile_view plain_view(const GenericAccess &access, unsigned char *memory) {
    polytile_view view = {};
    view.origin = memory;
    int64_t stride_bytes = access.element_bytes;
    for (size_t d = access.extents.size(); d-- > 0;) {
        view.array_last[d] = access.extents[d] - 1;
        view.stride_bytes[d] = stride_bytes;
        stride_bytes *= access.extents[d];
    }
    return view;
}

} // namespace

void shift_a_read(std::vector<FieldUse> *uses, std::vector<GenericParameter> *parameters,
                  int64_t most, Random *random) {
    std::vector<GenericWindow *> windows;
    for (FieldUse &use : *uses)
        for (GenericSection &section : use.sections)
            for (GenericWindow &window : section)
                if (use.role == POLYTILE_IN && window.index >= 0 && window.added < 0 &&
                    !window.is_from_start)
                    windows.push_back(&window);
    if (windows.empty())
        return;
    const auto last = static_cast<int64_t>(windows.size()) - 1;
    const auto p = random->number(0, static_cast<int64_t>(parameters->size()) - 1);
    windows[static_cast<size_t>(random->number(0, last))]->parameter = static_cast<int>(p);
    GenericParameter &of = (*parameters)[static_cast<size_t>(p)];
    of = {of.name, draw_integer_type(random), true, 0, most};
    of.least = of.type < POLYTILE_U8 ? -most : 0;
}

GenericKernel::GenericKernel(int n_indices, std::vector<GenericAccess> accesses,
                             std::vector<GenericParameter> parameters)
    : n_indices_(n_indices), accesses_(std::move(accesses)), parameters_(std::move(parameters)),
      taken_(body_parameters_of(parameters_)) {
    std::reverse(taken_.begin(), taken_.end());
    if (taken_.size() == 1)
        taken_[0].name = nullptr;
    for (const GenericAccess &access : accesses_)
        shapes_.push_back(
            {access.element_bytes, static_cast<int>(access.extents.size()), POLYTILE_ANY_NUMBER});
}

void GenericKernel::add_scratch(int64_t n_elements) {
    n_scratch_ = n_elements;
    shapes_.push_back({sizeof(uint32_t), n_indices_ + 1, POLYTILE_UNSIGNED_NUMBER});
}

std::string GenericKernel::declaration() const {
    std::string text = "generic[", separator = "]" + text_of(parameters_) + ": ";
    for (int d = 0; d < n_indices_; d++)
        text += (d == 0 ? "" : ", ") + std::string(index_names[d]);
    for (size_t a = 0; a < accesses_.size(); a++) {
        const char name = static_cast<char>('a' + a);
        text += separator + role_of(accesses_[a]);
        for (size_t s = 0; s < accesses_[a].sections.size(); s++) {
            text += (s == 0 ? " " : ", ") + std::string(1, name);
            for (size_t d = 0; d < accesses_[a].sections[s].size(); d++)
                text += (d == 0 ? "[" : ", ") + text_of(accesses_[a].sections[s][d], parameters_);
            text += "]";
        }
        separator = "; ";
    }
    if (n_scratch_ == 0)
        return text;
    text += "; scratch u32 scratch[";
    for (int d = 0; d < n_indices_; d++)
        text += std::string(index_names[d]) + ", ";
    return text + "0:" + std::to_string(n_scratch_ - 1) + "]";
}

polytile_implementation GenericKernel::implementation() const {
    polytile_implementation made = {};
    made.user = const_cast<GenericKernel *>(this);
    made.n_indices = n_indices_;
    made.n_views = static_cast<int>(shapes_.size());
    made.views = shapes_.data();
    made.n_parameters = static_cast<int>(taken_.size());
    made.parameters = taken_.empty() ? nullptr : taken_.data();
    made.host = [](const polytile_domain *threads, const polytile_view *views, void *user) {
        const auto *kernel = static_cast<const GenericKernel *>(user);
        if (kernel->n_scratch_ > 0)
            kernel->run_by_way_of_scratch(*threads, views);
        else
            kernel->run_box(*threads, views, kernel->values_in(views));
    };
    return made;
}

/** They are after the views of arrays as the body takes them: from the last on. */
GenericKernel::Values GenericKernel::values_in(const polytile_view *views) const {
    const std::vector<GenericParameter> taken(parameters_.rbegin(), parameters_.rend());
    Values values = read_values(views + shapes_.size(), taken);
    std::reverse(values.begin(), values.end());
    return values;
}

void GenericKernel::run_box(const polytile_domain &threads, const polytile_view *views,
                            const Values &values) const {
    Values mixed = values;
    for (size_t a = 0; mixes_ends_ && a < accesses_.size(); a++)
        for (size_t d = 0; d < accesses_[a].extents.size(); d++)
            mixed.insert(mixed.end(), {static_cast<uint64_t>(views[a].array_first[d]),
                                       static_cast<uint64_t>(views[a].array_last[d])});
    for_each_place(threads, [&](const int64_t *thread) {
        run_thread(thread, mixed, views, [&](int access, const int64_t *at) {
            const size_t a = static_cast<size_t>(access);
            return address_in(views[a], at, accesses_[a].extents.size());
        });
    });
}

/** Call with each element of scratch, and with what it is to hold. */
template <class Call>
void GenericKernel::for_each_scratch(const polytile_domain &threads, const polytile_view &view,
                                     const Call &call) const {
    polytile_domain all = threads;
    all.range[all.n_dims++] = {0, n_scratch_ - 1, 1};
    for_each_place(all, [&](const int64_t *at) {
        uint64_t value = 17;
        for (int d = 0; d < all.n_dims; d++)
            value = 31 * value + static_cast<uint64_t>(at[d]);
        call(address_in(view, at, static_cast<size_t>(all.n_dims)), value & UINT32_MAX);
    });
}

void GenericKernel::run_by_way_of_scratch(const polytile_domain &threads,
                                          const polytile_view *views) const {
    const polytile_view &scratch = views[accesses_.size()];
    bool is_kept = true;
    for_each_scratch(threads, scratch, [](void *element, uint64_t value) {
        store(element, sizeof(uint32_t), value);
    });
    run_box(threads, views, values_in(views));
    for_each_scratch(threads, scratch, [&](const void *element, uint64_t value) {
        is_kept = is_kept && load(element, sizeof(uint32_t)) == value;
    });
    if (!is_kept)
        ADD_FAILURE() << declaration() << ": something else was stored into scratch";
}

void GenericKernel::run(const polytile_domain &threads, const Find &find) const {
    for_each_place(threads, [&](const int64_t *thread) { run_thread(thread, {}, nullptr, find); });
}

/** The elements of one dimension that a thread touches, if all of them are there. */
polytile_range GenericKernel::range_of(const int64_t *thread, const GenericWindow &window,
                                       int64_t extent, const Values &values) const {
    if (window.index == GenericWindow::whole)
        return {0, extent - 1, 1};
    int64_t middle = window.index < 0 ? 0 : window.factor * thread[window.index];
    middle += window.added < 0 ? 0 : thread[window.added];
    const auto p = static_cast<size_t>(window.parameter);
    middle += window.parameter < 0 ? 0 : integer_of(parameters_[p].type, values[p]);
    return {window.is_from_start ? 0 : middle + window.lo, middle + window.hi, window.step};
}

/** What a thread touches of an array, as far as there is any. */
polytile_domain GenericKernel::touched_by(const int64_t *thread, size_t access,
                                          const GenericSection &section,
                                          const Values &values) const {
    polytile_domain box = {};
    box.n_dims = static_cast<int>(section.size());
    for (size_t d = 0; d < section.size(); d++) {
        polytile_range &range = box.range[d];
        const int64_t extent = accesses_[access].extents[d];
        range = range_of(thread, section[d], extent, values);
        if (section[d].edge != GenericWindow::clip)
            continue;
        if (range.lo < 0)
            range.lo += (range.step - 1 - range.lo) / range.step * range.step;
        range.hi = std::min(range.hi, extent - 1);
    }
    return box;
}

/** Edges are those of the views; without views, of whole arrays. */
template <class Call>
void GenericKernel::for_each_touched(const int64_t *thread, size_t access, const Values &values,
                                     const polytile_view *views, const Call &call) const {
    for (const GenericSection &section : accesses_[access].sections)
        for_each_place(touched_by(thread, access, section, values), [&](const int64_t *declared) {
            int64_t at[POLYTILE_MAX_DIMS];
            for (size_t d = 0; d < section.size(); d++)
                at[d] = index_with_edge(section[d], declared[d],
                                        views == nullptr ? 0 : views[access].array_first[d],
                                        views == nullptr ? accesses_[access].extents[d] - 1
                                                         : views[access].array_last[d]);
            call(at);
        });
}

template <class At>
void GenericKernel::run_thread(const int64_t *thread, const Values &values,
                               const polytile_view *views, const At &find) const {
    const auto each = [&](size_t a, const auto &call) {
        for_each_touched(thread, a, values, views, call);
    };
    mix(mixed_values(values), thread, n_indices_, accesses_, each, find);
}

/** What a launch does to fresh results before its threads run. */
void GenericKernel::start(const polytile_domain &threads, const polytile_view *views,
                          const Values &values) const {
    for_each_place(threads, [&](const int64_t *thread) {
        for (size_t a = 0; a < accesses_.size(); a++) {
            const GenericAccess &access = accesses_[a];
            if (access.is_fresh)
                for_each_place(
                    touched_by(thread, a, access.sections[0], values), [&](const int64_t *at) {
                        store(address_in(views[a], at, access.extents.size()), access.element_bytes,
                              identity_of(access.role, access.element_bytes));
                    });
        }
    });
}

void GenericKernel::run_plainly(const polytile_domain &threads,
                                const std::vector<unsigned char *> &memory,
                                const Values &values) const {
    std::vector<polytile_view> views;
    for (size_t a = 0; a < accesses_.size(); a++)
        views.push_back(plain_view(accesses_[a], memory[a]));
    start(threads, views.data(), values);
    run_box(threads, views.data(), values);
}

void GenericKernel::for_each_read(const polytile_domain &threads,
                                  const std::function<void(int access, int64_t position)> &call,
                                  const Values &values) const {
    for_each_place(threads, [&](const int64_t *thread) {
        for (size_t a = 0; a < accesses_.size(); a++) {
            const GenericAccess &access = accesses_[a];
            if (access.role == POLYTILE_OUT || access.is_fresh)
                continue;
            for_each_touched(thread, a, values, nullptr, [&](const int64_t *at) {
                int64_t position = 0;
                for (size_t d = 0; d < access.extents.size(); d++)
                    position = position * access.extents[d] + at[d];
                call(static_cast<int>(a), position);
            });
        }
    });
}

GenericKernel::Values GenericKernel::shifts_of(const Values &values) const {
    Values shifts;
    for (const GenericAccess &access : accesses_)
        for (const GenericSection &section : access.sections)
            for (const GenericWindow &window : section)
                if (window.parameter >= 0)
                    shifts.push_back(values[static_cast<size_t>(window.parameter)]);
    return shifts;
}

/** Threads of which a window stays in an array, or only meets it, whatever its parameter. */
polytile_range GenericKernel::allowed_by(GenericWindow window, int64_t extent,
                                         bool is_inside) const {
    if (window.parameter >= 0) {
        const GenericParameter &of = parameters_[static_cast<size_t>(window.parameter)];
        window.lo += is_inside ? of.least : of.most;
        window.hi += is_inside ? of.most : of.least;
    }
    const int64_t first = is_inside ? window.lo : window.hi;
    const int64_t last = is_inside ? window.hi : window.lo;
    if (window.is_from_start)
        return {std::max<int64_t>(0, -window.hi), extent - 1 - window.hi, 1};
    if (window.factor < 0)
        return {last - extent + 1, first, 1};
    return {std::max<int64_t>(0, -first + window.factor - 1) / window.factor,
            (extent - 1 - last) / window.factor, 1};
}

polytile_domain GenericKernel::widest() const {
    polytile_domain threads = {};
    threads.n_dims = n_indices_;
    for (int d = 0; d < n_indices_; d++)
        threads.range[d] = {0, INT64_MAX, 1};
    for (const GenericAccess &access : accesses_)
        for (const GenericSection &section : access.sections)
            for (size_t d = 0; d < section.size(); d++) {
                const GenericWindow &window = section[d];
                const bool is_empty = !window.is_from_start && window.hi < window.lo;
                if (window.index < 0 || window.added >= 0 || is_empty ||
                    window.edge != GenericWindow::clip)
                    continue;
                const polytile_range allowed = allowed_by(
                    window, access.extents[d], access.role != POLYTILE_IN || window.step > 1);
                polytile_range &range = threads.range[window.index];
                range.lo = std::max(range.lo, allowed.lo);
                range.hi = std::min(range.hi, allowed.hi);
            }
    return threads;
}
