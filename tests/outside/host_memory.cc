#include "outside/host_memory.h"

#include "outside/value.h"

#include <algorithm>
#include <cstring>

namespace outside {

namespace {

enum { GUARD_BYTES = 64, ALIGNMENT = 16, GUARD = 0xa5 };

std::string index_text(const Box &box, int64_t at) {
    std::string text;
    for (size_t d = box.size(); d > 0; d--) {
        const Range &range = box[d - 1];
        text = std::to_string(range.lo + at % range.count()) + (text.empty() ? "" : ",") + text;
        at /= range.count();
    }
    return "[" + text + "]";
}

} // namespace

HostMemory::HostMemory(const Shape &shape, uint64_t seed) {
    const Bytes first = contents(shape, seed);
    size = first.size();
    bytes.assign(size + 2 * GUARD_BYTES + ALIGNMENT, GUARD);
    start = GUARD_BYTES;
    start += (ALIGNMENT - reinterpret_cast<uintptr_t>(&bytes[start]) % ALIGNMENT) % ALIGNMENT;
    change(first);
}

void HostMemory::change(const Bytes &contents) {
    memcpy(&bytes[start], contents.data(), size);
}

bool HostMemory::is_guarded() const {
    const auto is_changed = [](unsigned char byte) { return byte != GUARD; };
    const auto first = bytes.begin() + static_cast<int64_t>(start);
    return std::none_of(bytes.begin(), first, is_changed) &&
           std::none_of(first + static_cast<int64_t>(size), bytes.end(), is_changed);
}

std::string HostMemory::difference(const Array &array, const Bytes &expected) const {
    if (!is_guarded())
        return array.name + ": memory beside the array is overwritten";
    const polytile_scalar type = array.shape.type;
    const auto n = static_cast<size_t>(type_bytes(type));
    size_t n_wrong = 0, first = 0;
    for (size_t k = size / n; k > 0; k--)
        if (load(type, &bytes[start + (k - 1) * n]) != load(type, &expected[(k - 1) * n])) {
            n_wrong++;
            first = k - 1;
        }
    if (!n_wrong)
        return "";
    return array.name + index_text(array.shape.box, static_cast<int64_t>(first)) + " is " +
           to_text(type, &bytes[start + first * n]) + ", not " +
           to_text(type, &expected[first * n]) + " (" + std::to_string(n_wrong) + " of " +
           std::to_string(size / n) + " elements differ)";
}

} // namespace outside
