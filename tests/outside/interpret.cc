#include "outside/interpret.h"

#include "outside/thread.h"

#include <map>

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
        if (shape.versions.empty())
            store(shape.type, &bytes[k * size], mix(seed, k));
        else
            store_index(shape.type, &bytes[k * size],
                        shape.versions[static_cast<size_t>(seed % shape.versions.size())][k]);
    return bytes;
}

Bytes zeros(const Shape &shape) {
    return Bytes(static_cast<size_t>(count(shape.box) * type_bytes(shape.type)));
}

Values values_in(const Kernel &kernel, const Launch &launch, const std::vector<Number> &numbers,
                 const std::vector<Bytes> &memories) {
    Values values = launch_values(kernel, numbers);
    values.look = [&](int operand, const int64_t *index) {
        const auto k = static_cast<size_t>(operand);
        const Shape &shape = kernel.operands[k];
        const Bytes &memory = memories[static_cast<size_t>(launch.arrays[k])];
        return load_index(
            shape.type,
            &memory[static_cast<size_t>(position(shape.box, index) * type_bytes(shape.type))]);
    };
    return values;
}

void interpret(const Kernel &kernel, const Launch &launch, const std::vector<Number> &numbers,
               std::vector<Bytes> &memories) {
    const Values values = values_in(kernel, launch, numbers, memories);
    std::map<std::pair<int, int64_t>, std::array<unsigned char, 16>> scratch;
    const auto at = [&](int operand, const int64_t *index) -> void * {
        const Shape &shape = kernel.operands[static_cast<size_t>(operand)];
        if (shape.is_scratch)
            return scratch[{operand, position(shape.box, index)}].data();
        Bytes &memory = memories[static_cast<size_t>(launch.arrays[static_cast<size_t>(operand)])];
        return &memory[static_cast<size_t>(position(shape.box, index) * type_bytes(shape.type))];
    };
    start_afresh(kernel, values, launch.domain, at);
    for_each_thread(launch.domain,
                    [&](const int64_t *thread) { run_thread(kernel, values, thread, at); });
}

} // namespace outside
