#include "support/generic_kernel.h"

#include <algorithm>
#include <cstring>

namespace {

using Place = int64_t[POLYTILE_MAX_DIMS];

const char *const index_names[] = {"i", "j", "k"};

/** Call with every point of a box, the last dimension fastest. */
template <class Call> void for_each_point(const polytile_domain &box, const Call &call) {
    Place at;
    for (int d = 0; d < box.n_dims; d++) {
        at[d] = box.range[d].lo;
        if (box.range[d].lo > box.range[d].hi)
            return;
    }
    for (int d = 0; d >= 0;) {
        call(at);
        for (d = box.n_dims - 1; d >= 0 && ++at[d] > box.range[d].hi; d--)
            at[d] = box.range[d].lo;
    }
}

/** What a thread touches of an array, as far as there is any. */
polytile_domain touched_by(const int64_t *thread, const GenericAccess &access,
                           const GenericSection &section) {
    polytile_domain box = {};
    box.n_dims = static_cast<int>(section.size());
    for (size_t d = 0; d < section.size(); d++) {
        const GenericWindow &window = section[d];
        const int64_t last = access.extents[d] - 1;
        const int64_t middle = window.index < 0 ? 0 : thread[window.index];
        box.range[d] = window.index < 0 ? polytile_range{0, last, 1}
                                        : polytile_range{std::max<int64_t>(0, middle + window.lo),
                                                         std::min(last, middle + window.hi), 1};
    }
    return box;
}

void *address(const polytile_view &view, const int64_t *at, size_t n_dims) {
    char *address = static_cast<char *>(view.origin);
    for (size_t d = 0; d < n_dims; d++)
        address += at[d] * view.stride_bytes[d];
    return address;
}

uint64_t load(const void *from, int64_t n_bytes) {
    uint64_t value = 0;
    std::memcpy(&value, from, static_cast<size_t>(n_bytes));
    return value;
}

void store(void *to, int64_t n_bytes, uint64_t value) {
    std::memcpy(to, &value, static_cast<size_t>(n_bytes));
}

uint64_t largest(int64_t n_bytes) {
    return UINT64_MAX >> (64 - 8 * n_bytes);
}

uint64_t identity_of(polytile_role role, int64_t n_bytes) {
    return role == POLYTILE_PROD ? 1 : role == POLYTILE_MIN ? largest(n_bytes) : 0;
}

/** What an element becomes. */
uint64_t written(polytile_role role, uint64_t before, uint64_t value) {
    switch (role) {
    case POLYTILE_SUM:
        return before + value;
    case POLYTILE_PROD:
        return before * (value | 1);
    case POLYTILE_MIN:
        return std::min(before, value);
    case POLYTILE_MAX:
        return std::max(before, value);
    case POLYTILE_INOUT:
        return 5 * before + value;
    default:
        return value;
    }
}

std::string text_of(const GenericWindow &window) {
    const auto shifted = [&](int64_t by) {
        const std::string index = index_names[window.index];
        return by == 0 ? index : index + (by > 0 ? "+" : "") + std::to_string(by);
    };
    if (window.index < 0)
        return ":";
    return window.lo == window.hi ? shifted(window.lo)
                                  : shifted(window.lo) + ":" + shifted(window.hi);
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
        view.stride_bytes[d] = stride_bytes;
        stride_bytes *= access.extents[d];
    }
    return view;
}

} // namespace

std::string GenericKernel::declaration() const {
    std::string text = "generic[", separator = "]: ";
    for (int d = 0; d < n_indices_; d++)
        text += (d == 0 ? "" : ", ") + std::string(index_names[d]);
    for (size_t a = 0; a < accesses_.size(); a++) {
        const char name = static_cast<char>('a' + a);
        text += separator + role_of(accesses_[a]);
        for (size_t s = 0; s < accesses_[a].sections.size(); s++) {
            text += (s == 0 ? " " : ", ") + std::string(1, name);
            for (size_t d = 0; d < accesses_[a].sections[s].size(); d++)
                text += (d == 0 ? "[" : ", ") + text_of(accesses_[a].sections[s][d]);
            text += "]";
        }
        separator = "; ";
    }
    return text;
}

polytile_implementation GenericKernel::implementation() const {
    polytile_implementation made = {};
    made.user = const_cast<GenericKernel *>(this);
    made.host = [](const polytile_domain *threads, const polytile_view *views, void *user) {
        const auto *kernel = static_cast<const GenericKernel *>(user);
        for_each_point(*threads, [&](const int64_t *thread) { kernel->run_thread(thread, views); });
    };
    return made;
}

void GenericKernel::run_thread(const int64_t *thread, const polytile_view *views) const {
    uint64_t value = 17;
    for (int d = 0; d < n_indices_; d++)
        value = 31 * value + static_cast<uint64_t>(thread[d]);
    for (size_t a = 0; a < accesses_.size(); a++) {
        const GenericAccess &access = accesses_[a];
        for (const GenericSection &section : access.sections)
            if (access.role == POLYTILE_IN)
                for_each_point(touched_by(thread, access, section), [&](const int64_t *at) {
                    value = 31 * value +
                            load(address(views[a], at, section.size()), access.element_bytes);
                });
    }
    for (size_t a = 0; a < accesses_.size(); a++) {
        const GenericAccess &access = accesses_[a];
        for (const GenericSection &section : access.sections)
            if (access.role != POLYTILE_IN)
                for_each_point(touched_by(thread, access, section), [&](const int64_t *at) {
                    void *element = address(views[a], at, section.size());
                    const uint64_t before =
                        access.role == POLYTILE_OUT ? 0 : load(element, access.element_bytes);
                    const uint64_t fitting = (value >> 7) & largest(access.element_bytes);
                    store(element, access.element_bytes, written(access.role, before, fitting));
                });
    }
}

/** What a launch does to fresh results before its threads run. */
void GenericKernel::start(const polytile_domain &threads, const polytile_view *views) const {
    for_each_point(threads, [&](const int64_t *thread) {
        for (size_t a = 0; a < accesses_.size(); a++) {
            const GenericAccess &access = accesses_[a];
            if (access.is_fresh)
                for_each_point(
                    touched_by(thread, access, access.sections[0]), [&](const int64_t *at) {
                        store(address(views[a], at, access.extents.size()), access.element_bytes,
                              identity_of(access.role, access.element_bytes));
                    });
        }
    });
}

void GenericKernel::run_plainly(const polytile_domain &threads,
                                const std::vector<unsigned char *> &memory) const {
    std::vector<polytile_view> views;
    for (size_t a = 0; a < accesses_.size(); a++)
        views.push_back(plain_view(accesses_[a], memory[a]));
    start(threads, views.data());
    for_each_point(threads, [&](const int64_t *thread) { run_thread(thread, views.data()); });
}

void GenericKernel::for_each_read(
    const polytile_domain &threads,
    const std::function<void(int access, int64_t position)> &call) const {
    for_each_point(threads, [&](const int64_t *thread) {
        for (size_t a = 0; a < accesses_.size(); a++) {
            const GenericAccess &access = accesses_[a];
            const bool reads = access.role != POLYTILE_OUT && !access.is_fresh;
            for (size_t s = 0; reads && s < access.sections.size(); s++)
                for_each_point(touched_by(thread, access, access.sections[s]),
                               [&](const int64_t *at) {
                                   int64_t position = 0;
                                   for (size_t d = 0; d < access.extents.size(); d++)
                                       position = position * access.extents[d] + at[d];
                                   call(static_cast<int>(a), position);
                               });
        }
    });
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
                if (window.index < 0)
                    continue;
                const bool is_whole = access.role != POLYTILE_IN;
                const int64_t first = is_whole ? window.lo : window.hi;
                const int64_t last = is_whole ? window.hi : window.lo;
                polytile_range &range = threads.range[window.index];
                range.lo = std::max(range.lo, -first);
                range.hi = std::min(range.hi, access.extents[d] - 1 - last);
            }
    return threads;
}
