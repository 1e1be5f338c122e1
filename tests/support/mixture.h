#ifndef POLYTILE_TESTS_SUPPORT_MIXTURE_H
#define POLYTILE_TESTS_SUPPORT_MIXTURE_H

#include <polytile/polytile.h>

#include <cstdint>
#include <cstring>
#include <vector>

/* What bodies do that follow from their declaration: a thread mixes the values of parameters and
 * all elements that it reads or updates, in a fixed order, and puts the mixture where it writes.
 * Elements are unsigned, of 1, 2, 4 or 8 bytes, and wrap around, so that the order of combining
 * does not matter. */

/** Call with every point of a box, the last dimension fastest. */
template <class Call> void for_each_place(const polytile_domain &box, const Call &call) {
    int64_t at[POLYTILE_MAX_DIMS];
    for (int d = 0; d < box.n_dims; d++) {
        at[d] = box.range[d].lo;
        if (box.range[d].lo > box.range[d].hi)
            return;
    }
    for (int d = 0; d >= 0;) {
        call(at);
        for (d = box.n_dims - 1; d >= 0 && (at[d] += box.range[d].step) > box.range[d].hi; d--)
            at[d] = box.range[d].lo;
    }
}

inline void *address_in(const polytile_view &view, const int64_t *at, size_t n_dims) {
    auto address = reinterpret_cast<uint64_t>(view.origin);
    for (size_t d = 0; d < n_dims; d++)
        address += static_cast<uint64_t>(at[d]) * static_cast<uint64_t>(view.stride_bytes[d]);
    return reinterpret_cast<void *>(address);
}

inline uint64_t load(const void *from, int64_t n_bytes) {
    uint64_t value = 0;
    std::memcpy(&value, from, static_cast<size_t>(n_bytes));
    return value;
}

inline void store(void *to, int64_t n_bytes, uint64_t value) {
    std::memcpy(to, &value, static_cast<size_t>(n_bytes));
}

inline uint64_t largest(int64_t n_bytes) {
    return UINT64_MAX >> (64 - 8 * n_bytes);
}

uint64_t identity_of(polytile_role role, int64_t n_bytes);

/** What an element becomes. */
uint64_t written_by(polytile_role role, uint64_t before, uint64_t value);

/** What threads begin with: the bytes of a launch's parameters. */
inline uint64_t mixed_values(const std::vector<uint64_t> &values) {
    uint64_t value = 17;
    for (const uint64_t bits : values)
        value = (value ^ bits) * 0x9e3779b97f4a7c15U;
    return value;
}

/**
 * Run one thread, which begins with a value. An access has a role and element_bytes; each(a, call)
 * calls with every element that the thread touches by access a, find(a, at) says where such an
 * element lies.
 */
template <class Accesses, class Each, class Find>
void mix(uint64_t value, const int64_t *thread, int n_indices, const Accesses &accesses,
         const Each &each, const Find &find) {
    for (int d = 0; d < n_indices; d++)
        value = 31 * value + static_cast<uint64_t>(thread[d]);
    for (size_t a = 0; a < accesses.size(); a++)
        if (accesses[a].role == POLYTILE_IN || accesses[a].role == POLYTILE_INOUT)
            each(a, [&](const int64_t *at) {
                value = 31 * value + load(find(static_cast<int>(a), at), accesses[a].element_bytes);
            });
    for (size_t a = 0; a < accesses.size(); a++) {
        const polytile_role role = accesses[a].role;
        const int64_t n_bytes = accesses[a].element_bytes;
        if (role != POLYTILE_IN)
            each(a, [&](const int64_t *at) {
                void *element = find(static_cast<int>(a), at);
                const uint64_t before = role == POLYTILE_OUT ? 0 : load(element, n_bytes);
                const uint64_t fitting = (value >> 7) & largest(n_bytes);
                store(element, n_bytes, written_by(role, before, fitting));
            });
    }
}

#endif
