#include "support/launch.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

extern "C" {
#include "partition/choose/kept_cuts.h"
#include "partition/memory/residency.h"
}

/* How launches are cut as others that are as large, and which are not. */

namespace {

constexpr int64_t MiB = int64_t{1} << 20;

/** A product of which a member has some rows: that many from the first one on. */
class Rows {
  public:
    Rows(int64_t first, int64_t n, int64_t arena_bytes)
        : launch_("gemm[i, j, k]: in A[i, k], B[k, j]; out sum C[i, j]",
                  std::to_string(first) + ":" + std::to_string(first + n - 1) + ", 0:2047, 0:2047",
                  {{"A", "4096x2048"}, {"B", "2048x2048"}, {"C", "4096x2048"}}) {
        EXPECT_EQ(launch_.status(), POLYTILE_OK) << launch_.error();
        padded_ = *launch_.instance();
        padded_.piece_alignment_bytes = PTI_RESIDENT_ALIGNMENT;
        ways_ = pti_ways_of({&padded_, nullptr}, false);
        request = {&ways_, &options, arena_bytes, false, nullptr};
    }
    ~Rows() { pti_partition_free(&partition); }
    Rows(const Rows &) = delete;
    Rows &operator=(const Rows &) = delete;

    void cut() {
        int way = -1;
        ASSERT_EQ(pti_grain_choose(launch_.context(), &request, &partition, &way), POLYTILE_OK)
            << launch_.error();
        ASSERT_EQ(way, 0);
    }

    polytile_plan_options options = {};
    pti_grain_request request = {};
    pti_partition partition = {};

  private:
    Launch launch_;
    pti_instance padded_ = {};
    pti_ways ways_ = {};
};

class KeptCuts : public testing::Test {
  protected:
    void SetUp() override { ASSERT_NE(cuts_ = pti_kept_cuts_create(), nullptr); }
    void TearDown() override { pti_kept_cuts_free(cuts_); }

    /** The cut of rows 0 to 1023 in 4 MiB is kept. */
    void keep() {
        Rows first(0, 1024, 4 * MiB);
        first.cut();
        pti_kept_cuts_add(cuts_, &first.request, &first.partition);
    }

    bool finds(Rows *rows) { return pti_kept_cuts_find(cuts_, &rows->request, &rows->partition); }

    pti_kept_cuts *cuts_ = nullptr;
};

TEST_F(KeptCuts, AreThoseOfLaunchesAsLargeThatLieElsewhere) {
    keep();
    for (const int64_t first : {0, 1024, 3072}) {
        Rows wanted(first, 1024, 4 * MiB), found(first, 1024, 4 * MiB);
        wanted.cut();
        ASSERT_TRUE(finds(&found)) << first;
        EXPECT_EQ(found.partition.n_strips, wanted.partition.n_strips);
        EXPECT_EQ(found.partition.cut_lo, wanted.partition.cut_lo);
        ASSERT_EQ(found.partition.n_superblocks, wanted.partition.n_superblocks);
        for (int64_t k = 0; k < found.partition.n_superblocks; k++)
            for (int d = 0; d < 3; d++) {
                const polytile_range &range = found.partition.superblock[k].range[d];
                EXPECT_EQ(range.lo, wanted.partition.superblock[k].range[d].lo);
                EXPECT_EQ(range.hi, wanted.partition.superblock[k].range[d].hi);
            }
    }
}

TEST_F(KeptCuts, AreOfNoOtherLaunches) {
    Rows none(1024, 1024, 4 * MiB);
    EXPECT_FALSE(finds(&none)) << "none is kept";
    keep();
    Rows fewer(1024, 1023, 4 * MiB), in_less(1024, 1024, 3 * MiB);
    EXPECT_FALSE(finds(&fewer));
    EXPECT_FALSE(finds(&in_less));
    Rows otherwise(1024, 1024, 4 * MiB), slower(1024, 1024, 4 * MiB);
    otherwise.options.strategy = "min-traffic";
    EXPECT_FALSE(finds(&otherwise));
    polytile_link link = polytile_link_default;
    slower.options.link = &link;
    link.upload_bytes_per_s *= 0.95;
    EXPECT_TRUE(finds(&slower)) << "links that differ by what they are measured with are alike";
    pti_partition_free(&slower.partition);
    link.upload_bytes_per_s *= 0.5;
    EXPECT_FALSE(finds(&slower));
}

/** The oldest ones go. */
TEST_F(KeptCuts, AreNotMoreThanSome) {
    keep();
    Rows other(0, 512, 4 * MiB);
    other.cut();
    for (int k = 0; k < 64; k++)
        pti_kept_cuts_add(cuts_, &other.request, &other.partition);
    Rows first(0, 1024, 4 * MiB), found(2048, 512, 4 * MiB);
    EXPECT_FALSE(finds(&first));
    EXPECT_TRUE(finds(&found));
}

TEST_F(KeptCuts, EndWithoutAny) {
    pti_kept_cuts_free(nullptr);
}

} // namespace
