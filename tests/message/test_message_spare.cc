#include <gtest/gtest.h>

#include <cstring>
#include <vector>

extern "C" {
#include "message/spare.h"
}

/* Memory of packets. */

TEST(MessageSpare, MemoryOfLongPacketsIsUsedAgain) {
    void *first = pti_spare_allocate(40000);
    std::memset(first, 1, 40000);
    pti_spare_release(first);
    void *second = pti_spare_allocate(256 << 10);
    std::memset(second, 2, 256 << 10);
    EXPECT_EQ(second, first);
    pti_spare_release(second);
}

TEST(MessageSpare, AnyNumberOfPacketsOfAnyLengthHasMemoryOfItsOwn) {
    const std::vector<int64_t> sizes = {0, 1, 88, 32768, 32769, 262144, 262400, 262401, 3000000};
    std::vector<char *> packets;
    for (size_t k = 0; k < 40; k++) {
        const size_t n_bytes = static_cast<size_t>(sizes[k % sizes.size()]);
        packets.push_back(static_cast<char *>(pti_spare_allocate(sizes[k % sizes.size()])));
        std::memset(packets.back(), static_cast<int>(k), n_bytes);
    }
    for (size_t k = 0; k < packets.size(); k++) {
        const size_t n_bytes = static_cast<size_t>(sizes[k % sizes.size()]);
        EXPECT_EQ(std::vector<char>(packets[k], packets[k] + n_bytes),
                  std::vector<char>(n_bytes, static_cast<char>(k)));
        pti_spare_release(packets[k]);
    }
    pti_spare_release(nullptr);
}
