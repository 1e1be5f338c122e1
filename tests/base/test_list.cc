#include <gtest/gtest.h>

extern "C" {
#include "base/list.h"
}

namespace {

TEST(List, GrowsRarelyAndKeepsItsElements) {
    int32_t *list = nullptr;
    int64_t capacity = 0, n_growths = 0;
    for (int32_t n = 0; n < 10000; n++) {
        const int64_t before = capacity;
        ASSERT_TRUE(PTI_GROW(list, n, &capacity));
        ASSERT_GT(capacity, n);
        n_growths += capacity != before;
        list[n] = n;
    }
    for (int32_t n = 0; n < 10000; n++)
        ASSERT_EQ(list[n], n);
    EXPECT_LE(n_growths, 12);
    free(list);
}

TEST(List, ResizesToWhatIsAsked) {
    double *list = nullptr;
    ASSERT_TRUE(PTI_RESIZE(list, 3));
    list[0] = 1, list[2] = 3;
    ASSERT_TRUE(PTI_RESIZE(list, 1000));
    list[999] = 4;
    EXPECT_EQ(list[0] + list[2], 4);
    ASSERT_TRUE(PTI_RESIZE(list, 1));
    EXPECT_EQ(list[0], 1);
    free(list);
}

TEST(List, BeginsWithZeros) {
    const int64_t n = 3 << 20;
    int64_t *list = nullptr;
    ASSERT_TRUE(PTI_BEGIN(list, n));
    for (int64_t k = 0; k < n; k += 511)
        ASSERT_EQ(list[k], 0);
    free(list);
}

} // namespace
