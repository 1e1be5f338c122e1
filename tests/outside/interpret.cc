#include "outside/interpret.h"

#include "outside/thread.h"

namespace outside {

namespace {

/** Elements of "out sum" and so on hold the identity before the first thread. */
template <class At>
void start_afresh(const Kernel &kernel, const Values &values, const Box &domain, At at) {
    for_each_thread(domain, [&](const int64_t *thread) {
        for (const Access &access : kernel.accesses)
            if (access.is_fresh)
                for_each_element(kernel, access, values, thread, [&](const int64_t *index) {
                    store_identity(kernel.operands[static_cast<size_t>(access.operand)].type,
                                   access.role, at(access.operand, index));
                });
    });
}

} // namespace

Bytes contents(const Shape &shape, uint64_t seed) {
    Bytes bytes = zeros(shape);
    const auto size = static_cast<size_t>(type_bytes(shape.type));
    for (size_t k = 0; k < bytes.size() / size; k++)
        store(shape.type, &bytes[k * size], mix(seed, k));
    return bytes;
}

Bytes zeros(const Shape &shape) {
    return Bytes(static_cast<size_t>(count(shape.box) * type_bytes(shape.type)));
}

void interpret(const Kernel &kernel, const Launch &launch, const std::vector<Number> &numbers,
               std::vector<Bytes> &memories) {
    const Values values = launch_values(kernel, numbers);
    const auto at = [&](int operand, const int64_t *index) -> void * {
        const Shape &shape = kernel.operands[static_cast<size_t>(operand)];
        Bytes &memory = memories[static_cast<size_t>(launch.arrays[static_cast<size_t>(operand)])];
        return &memory[static_cast<size_t>(position(shape.box, index) * type_bytes(shape.type))];
    };
    start_afresh(kernel, values, launch.domain, at);
    for_each_thread(launch.domain,
                    [&](const int64_t *thread) { run_thread(kernel, values, thread, at); });
}

} // namespace outside
