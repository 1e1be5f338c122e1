#include <gtest/gtest.h>

#include <vector>

extern "C" {
#include "partition/window/not_fused.h"
}

namespace {

/** Launches of serials, one after the other. */
std::vector<pti_step> row_of(const std::vector<int64_t> &serials) {
    std::vector<pti_step> row(serials.size());
    for (size_t l = 0; l < row.size(); l++)
        row[l].serial = serials[l];
    return row;
}

int find(const pti_not_fused &of, const std::vector<int64_t> &serials) {
    return pti_not_fused_find(&of, static_cast<int>(serials.size()), row_of(serials).data());
}

void keep(pti_not_fused *of, const std::vector<int64_t> &serials, int n_single) {
    pti_not_fused_keep(of, static_cast<int>(serials.size()), row_of(serials).data(), n_single);
}

TEST(NotFused, ARowIsKnownByItsLaunchesInOrder) {
    pti_not_fused of = {};
    EXPECT_EQ(find(of, {1, 2, 1, 2}), 0);
    keep(&of, {1, 2, 1, 2}, 3);
    EXPECT_EQ(find(of, {1, 2, 1, 2}), 3);
    for (const std::vector<int64_t> &other :
         {std::vector<int64_t>{2, 1, 2, 1}, {1, 2, 1}, {1, 2, 1, 2, 1}, {1, 2, 1, 3}})
        EXPECT_EQ(find(of, other), 0);
}

TEST(NotFused, TheNewestRowsStay) {
    pti_not_fused of = {};
    for (int64_t k = 0; k <= PTI_NOT_FUSED_ROWS; k++)
        keep(&of, {k, k + 1}, 1);
    EXPECT_EQ(find(of, {0, 1}), 0);
    for (int64_t k = 1; k <= PTI_NOT_FUSED_ROWS; k++)
        EXPECT_EQ(find(of, {k, k + 1}), 1) << k;
}

} // namespace
