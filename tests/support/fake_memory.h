#ifndef POLYTILE_TESTS_SUPPORT_FAKE_MEMORY_H
#define POLYTILE_TESTS_SUPPORT_FAKE_MEMORY_H

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <cuda_runtime_api.h>

/** n_bytes from begin. */
struct ByteRange {
    uintptr_t begin;
    size_t n_bytes;

    uintptr_t end() const { return begin + n_bytes; }
    bool contains(const ByteRange &other) const {
        return begin <= other.begin && other.end() <= end();
    }
    bool overlaps(const ByteRange &other) const {
        return begin < other.end() && other.begin < end();
    }
};

inline ByteRange byte_range(const void *memory, size_t n_bytes) {
    return {reinterpret_cast<uintptr_t>(memory), n_bytes};
}

/** Memory of a GPU, of the heap really; taken in granules as CUDA takes it. */
class FakeDeviceMemory {
  public:
    static constexpr size_t granule_bytes = size_t{2} << 20;

    ~FakeDeviceMemory();
    /** NULL when that much is not free. */
    void *allocate(size_t n_bytes);
    /** False if nothing was allocated there; *why says what is wrong with it otherwise. */
    bool release(void *memory, std::string *why);

    bool contains(const ByteRange &range) const;
    bool overlaps(const ByteRange &range) const;
    size_t free_bytes() const;
    int64_t n_allocations() const { return static_cast<int64_t>(allocations_.size()); }
    size_t peak_bytes() const { return peak_bytes_; }

    /** What is not an allocation: of streams. */
    void take(size_t n_bytes);
    void give_back(size_t n_bytes) { taken_bytes_ -= n_bytes; }

    size_t total_bytes = size_t{80} << 30;
    size_t others_bytes = 0;    /* held by other processes */
    bool is_fragmented = false; /* no piece is large enough for any allocation */

  private:
    std::map<uintptr_t, size_t> allocations_;
    size_t taken_bytes_ = 0, peak_bytes_ = 0;
};

/** What CUDA knows of the host's memory. */
class FakeHostMemory {
  public:
    cudaError_t add(const ByteRange &range);
    cudaError_t remove(const void *memory);

    /** Memory that a test says is of a type (pinned by its user, managed, device). */
    void declare(const ByteRange &range, cudaMemoryType type) {
        declared_.push_back({range, type});
    }
    cudaMemoryType type_of(const void *memory) const;

    /** Whether all of a range is inside one pinned range; cudaErrorInvalidValue when only a part of
     * it is. */
    cudaError_t find_pinned(const ByteRange &range, bool *is_pinned) const;
    int64_t n_registrations() const { return static_cast<int64_t>(registered_.size()); }

  private:
    struct Declared {
        ByteRange range;
        cudaMemoryType type;
    };
    std::vector<ByteRange> registered_;
    std::vector<Declared> declared_;
};

#endif
