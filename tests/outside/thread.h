#ifndef OUTSIDE_THREAD_H
#define OUTSIDE_THREAD_H

/* What one thread does: it mixes all that it may read, in a fixed order, and writes all that it may
 * write, so that a wrong, missing or old element shows. */
#include "outside/dice.h"
#include "outside/touch.h"
#include "outside/value.h"

namespace outside {

/** Write each element of a thread's scratch, and then read them all. */
template <class At>
void use_scratch(const Kernel &kernel, const Values &values, const int64_t *thread, At at,
                 uint64_t &seen) {
    const uint64_t before = seen;
    for (const bool is_written : {false, true})
        for (const Access &access : kernel.accesses) {
            const Shape &shape = kernel.operands[static_cast<size_t>(access.operand)];
            if (access.role != POLYTILE_SCRATCH)
                continue;
            for_each_element(kernel, access, values, thread, [&](const int64_t *index) {
                void *element = at(access.operand, index);
                if (is_written)
                    seen = mix(seen, load(shape.type, element));
                else
                    store(shape.type, element,
                          mix(before, static_cast<uint64_t>(position(shape.box, index))));
            });
        }
}

/** Run one thread; at(operand, index) is where an element lies. */
template <class At>
void run_thread(const Kernel &kernel, const Values &values, const int64_t *thread, At at) {
    uint64_t seen = mix(kernel.style + values.mixed, kernel.accesses.size());
    for (size_t k = 0; k < static_cast<size_t>(kernel.n_indices); k++)
        seen = mix(seen, static_cast<uint64_t>(thread[k]));
    for (const Access &access : kernel.accesses)
        if (is_reading(access.role))
            for_each_element(kernel, access, values, thread, [&](const int64_t *index) {
                const auto &shape = kernel.operands[static_cast<size_t>(access.operand)];
                seen = mix(seen, load(shape.type, at(access.operand, index)));
            });
    use_scratch(kernel, values, thread, at, seen);
    for (const Access &access : kernel.accesses) {
        const auto &shape = kernel.operands[static_cast<size_t>(access.operand)];
        if (access.role == POLYTILE_IN || access.role == POLYTILE_SCRATCH)
            continue;
        for_each_element(kernel, access, values, thread, [&](const int64_t *index) {
            void *element = at(access.operand, index);
            const uint64_t bits =
                mix(seen, static_cast<uint64_t>(position(shape.box, index) + access.operand));
            if (is_reducing(access.role))
                combine(shape.type, access.role, element, bits);
            else
                store(shape.type, element, bits);
        });
    }
}

} // namespace outside

#endif
