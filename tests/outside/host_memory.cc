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

/** The order of the dimensions, the one whose neighbours lie nearest last. */
std::vector<size_t> order_of(const Memory &memory, size_t n_dims) {
    std::vector<size_t> order = memory.order;
    for (size_t d = order.size(); d < n_dims; d++)
        order.push_back(d);
    return order;
}

} // namespace

/** Find where each element lies, with the array's gaps between them. */
void HostMemory::place(const Memory &memory) {
    const std::vector<size_t> order = order_of(memory, shape.box.size());
    int64_t bytes_so_far = type_bytes(shape.type);
    strides.resize(shape.box.size());
    for (size_t k = order.size(); k > 0; k--) {
        const int64_t gap = k <= memory.gaps.size() ? memory.gaps[k - 1] : 0;
        strides[order[k - 1]] = bytes_so_far;
        bytes_so_far *= shape.box[order[k - 1]].count();
        bytes_so_far += gap * type_bytes(shape.type);
    }
    for (int64_t k = 0; k < count(shape.box); k++) {
        int64_t left = k, byte = 0;
        for (size_t d = shape.box.size(); d > 0; d--) {
            byte += left % shape.box[d - 1].count() * strides[d - 1];
            left /= shape.box[d - 1].count();
        }
        at.push_back(static_cast<size_t>(byte));
    }
    bytes.assign(static_cast<size_t>(bytes_so_far) + 2 * GUARD_BYTES + ALIGNMENT, GUARD);
}

HostMemory::HostMemory(const Array &array) : shape(array.shape) {
    place(array.memory);
    start = GUARD_BYTES;
    start += (ALIGNMENT - reinterpret_cast<uintptr_t>(&bytes[start]) % ALIGNMENT) % ALIGNMENT;
    change(contents(shape, array.seed));
}

void HostMemory::change(const Bytes &contents) {
    const auto n = static_cast<size_t>(type_bytes(shape.type));
    for (size_t k = 0; k < at.size(); k++)
        memcpy(&bytes[start + at[k]], &contents[k * n], n);
}

Bytes HostMemory::held() const {
    const auto n = static_cast<size_t>(type_bytes(shape.type));
    Bytes all(at.size() * n);
    for (size_t k = 0; k < at.size(); k++)
        memcpy(&all[k * n], &bytes[start + at[k]], n);
    return all;
}

/** Whether all bytes that no element has are as they were. */
bool HostMemory::is_guarded() const {
    std::vector<bool> is_element(bytes.size());
    for (size_t byte : at)
        std::fill_n(is_element.begin() + static_cast<int64_t>(start + byte), type_bytes(shape.type),
                    true);
    for (size_t k = 0; k < bytes.size(); k++)
        if (!is_element[k] && bytes[k] != GUARD)
            return false;
    return true;
}

std::string difference_of(const Array &array, const Bytes &held, const Bytes &expected) {
    const polytile_type type = array.shape.type;
    const auto n = static_cast<size_t>(type_bytes(type));
    size_t n_wrong = 0, first = 0;
    for (size_t k = held.size() / n; k > 0; k--)
        if (load(type, &held[(k - 1) * n]) != load(type, &expected[(k - 1) * n])) {
            n_wrong++;
            first = k - 1;
        }
    if (!n_wrong)
        return "";
    return array.name + index_text(array.shape.box, static_cast<int64_t>(first)) + " is " +
           to_text(type, &held[first * n]) + ", not " + to_text(type, &expected[first * n]) + " (" +
           std::to_string(n_wrong) + " of " + std::to_string(held.size() / n) + " elements differ)";
}

std::string HostMemory::difference(const Array &array, const Bytes &expected) const {
    return is_guarded() ? difference_of(array, held(), expected)
                        : array.name + ": memory beside its elements is overwritten";
}

} // namespace outside
