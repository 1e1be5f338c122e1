#include "fuzz/fuzz.h"

#include <vector>

extern "C" {
#include "access/array/npy_header.h"
}

/* Heads of .npy files: one that is accepted describes what it says, and is the same when it is
 * written and read back. */

namespace {

int64_t count_bytes(const pti_npy_header &header) {
    int64_t bytes = polytile_type_get_bytes(header.type);
    for (int d = 0; d < header.domain.n_dims; d++) {
        const polytile_range &range = header.domain.range[d];
        require(range.lo == 0 && range.hi >= 0 && range.step == 1, "indices count from 0");
        require(!__builtin_mul_overflow(bytes, range.hi + 1, &bytes), "sizes have 64 bits");
    }
    return bytes;
}

void compare(const pti_npy_header &first) {
    pti_npy_header again = first, second = {};
    char bytes[PTI_NPY_HEADER_CAPACITY];
    const char *reason = nullptr;
    pti_npy_header_write(&again, bytes);
    require(again.data_offset <= PTI_NPY_HEADER_CAPACITY && again.data_offset % 64 == 0,
            "a head fits and is aligned");
    const std::vector<unsigned char> exact(bytes, bytes + again.data_offset);
    require(pti_npy_header_read(exact.data(), again.data_offset, &second, &reason) == POLYTILE_OK,
            std::string("a head that was written is read: ") + (reason ? reason : ""));
    require(second.type == first.type && second.domain.n_dims == first.domain.n_dims &&
                second.data_bytes == first.data_bytes,
            "a head is the same when it is read back");
    for (int d = 0; d < first.domain.n_dims; d++)
        require(second.domain.range[d].hi == first.domain.range[d].hi, "extents are the same");
}

} // namespace

void fuzz_one(const uint8_t *bytes, size_t n_bytes) {
    pti_npy_header header = {};
    const char *reason = nullptr;
    const auto size = static_cast<int64_t>(n_bytes);
    const polytile_status status = pti_npy_header_read(bytes, size, &header, &reason);
    if (status != POLYTILE_OK) {
        require(status == POLYTILE_IO || status == POLYTILE_UNSUPPORTED ||
                    status == POLYTILE_OVERFLOW,
                "an error of those that the header lists");
        require(reason != nullptr && *reason != '\0', "a refusal says why");
        return;
    }
    require(header.domain.n_dims >= 1 && header.domain.n_dims <= POLYTILE_MAX_DIMS,
            "an array has 1 to 8 dimensions");
    require(header.data_offset >= 0 && header.data_offset <= size, "the data begins in the file");
    require(count_bytes(header) == header.data_bytes, "the bytes are those of the elements");
    compare(header);
}
