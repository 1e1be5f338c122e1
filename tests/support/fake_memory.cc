#include "support/fake_memory.h"

#include <algorithm>
#include <cstring>
#include <new>

namespace {

constexpr size_t page_bytes = 4096;
constexpr size_t guard_bytes = 256;
constexpr std::align_val_t alignment{FakeDeviceMemory::granule_bytes / 512};
constexpr unsigned char guard = 0xC5;
constexpr unsigned char rubbish = 0xA7;
constexpr size_t most_rubbish_bytes = size_t{16} << 20;

size_t rounded_up(size_t n_bytes, size_t unit_bytes) {
    return (n_bytes + unit_bytes - 1) / unit_bytes * unit_bytes;
}

size_t in_granules(size_t n_bytes) {
    return rounded_up(n_bytes, FakeDeviceMemory::granule_bytes);
}

/** Registering pins whole pages. */
ByteRange pages_of(const ByteRange &range) {
    const uintptr_t begin = range.begin / page_bytes * page_bytes;
    return {begin, rounded_up(range.end() - begin, page_bytes)};
}

bool is_guarded(const unsigned char *end) {
    return std::all_of(end, end + guard_bytes, [](unsigned char byte) { return byte == guard; });
}

} // namespace

FakeDeviceMemory::~FakeDeviceMemory() {
    for (const auto &allocation : allocations_)
        ::operator delete(reinterpret_cast<void *>(allocation.first), alignment);
}

void FakeDeviceMemory::take(size_t n_bytes) {
    taken_bytes_ += n_bytes;
    peak_bytes_ = std::max(peak_bytes_, taken_bytes_);
}

size_t FakeDeviceMemory::free_bytes() const {
    const size_t gone_bytes = taken_bytes_ + others_bytes;
    return total_bytes > gone_bytes ? total_bytes - gone_bytes : 0;
}

void *FakeDeviceMemory::allocate(size_t n_bytes) {
    if (is_fragmented || n_bytes > total_bytes || in_granules(n_bytes) > free_bytes())
        return nullptr;
    auto *bytes = static_cast<unsigned char *>(
        ::operator new(n_bytes + guard_bytes, alignment, std::nothrow));
    if (bytes == nullptr)
        return nullptr;
    std::memset(bytes, rubbish, std::min(n_bytes, most_rubbish_bytes));
    std::memset(bytes + n_bytes, guard, guard_bytes);
    allocations_[reinterpret_cast<uintptr_t>(bytes)] = n_bytes;
    take(in_granules(n_bytes));
    return bytes;
}

bool FakeDeviceMemory::release(void *memory, std::string *why) {
    const auto found = allocations_.find(reinterpret_cast<uintptr_t>(memory));
    if (found == allocations_.end())
        return false;
    if (!is_guarded(static_cast<unsigned char *>(memory) + found->second))
        *why = "something was written after an allocation of " + std::to_string(found->second) +
               " bytes";
    give_back(in_granules(found->second));
    allocations_.erase(found);
    ::operator delete(memory, alignment);
    return true;
}

bool FakeDeviceMemory::contains(const ByteRange &range) const {
    auto next = allocations_.upper_bound(range.begin);
    if (next == allocations_.begin())
        return false;
    --next;
    return ByteRange{next->first, next->second}.contains(range);
}

bool FakeDeviceMemory::overlaps(const ByteRange &range) const {
    return std::any_of(allocations_.begin(), allocations_.end(), [&](const auto &allocation) {
        return ByteRange{allocation.first, allocation.second}.overlaps(range);
    });
}

cudaError_t FakeHostMemory::add(const ByteRange &range) {
    if (range.n_bytes == 0 || range.begin == 0)
        return cudaErrorInvalidValue;
    const ByteRange pages = pages_of(range);
    for (const ByteRange &other : registered_) {
        if (pages_of(other).overlaps(pages))
            return cudaErrorHostMemoryAlreadyRegistered;
    }
    for (const Declared &declared : declared_) {
        if (declared.range.overlaps(range))
            return cudaErrorHostMemoryAlreadyRegistered;
    }
    registered_.push_back(range);
    return cudaSuccess;
}

cudaError_t FakeHostMemory::remove(const void *memory) {
    const auto found =
        std::find_if(registered_.begin(), registered_.end(), [&](const ByteRange &range) {
            return range.begin == byte_range(memory, 0).begin;
        });
    if (found == registered_.end())
        return cudaErrorHostMemoryNotRegistered;
    registered_.erase(found);
    return cudaSuccess;
}

cudaMemoryType FakeHostMemory::type_of(const void *memory) const {
    const ByteRange byte = byte_range(memory, 1);
    for (const Declared &declared : declared_) {
        if (declared.range.contains(byte))
            return declared.type;
    }
    for (const ByteRange &range : registered_) {
        if (range.contains(byte))
            return cudaMemoryTypeHost;
    }
    return cudaMemoryTypeUnregistered;
}

cudaError_t FakeHostMemory::find_pinned(const ByteRange &range, bool *is_pinned) const {
    bool touches = false;
    *is_pinned = false;
    auto look_at = [&](const ByteRange &pinned) {
        *is_pinned = *is_pinned || pinned.contains(range);
        touches = touches || pinned.overlaps(range);
    };
    for (const ByteRange &registered : registered_)
        look_at(registered);
    for (const Declared &declared : declared_)
        look_at(declared.range);
    return touches && !*is_pinned ? cudaErrorInvalidValue : cudaSuccess;
}
