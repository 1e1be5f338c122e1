#include "support/launch.h"

#include <climits>
#include <gtest/gtest.h>
#include <string>
#include <vector>

extern "C" {
#include "access/pieces/split.h"
#include "base/text.h"
#include "partition/arena/build.h"
#include "partition/prove/check.h"
}

/* Schedules of arrays in pieces: bodies find an element in the first piece around it. */

namespace {

bool holds_for(const pti_schedule *schedule, std::string *why) {
    pti_text text = {};
    const bool holds = pti_schedule_check(schedule, &text);
    *why = text.data == nullptr ? "" : text.data;
    pti_text_free(&text);
    return holds;
}

/** Build a schedule of some superblocks, in which sums are in pieces. */
polytile_status build_sums(const Launch &launch, const std::vector<polytile_domain> &superblocks,
                           int n_buffers, pti_instance **split, pti_schedule **schedule) {
    EXPECT_EQ(pti_instance_split(launch.context(), launch.instance(), nullptr, INT_MAX, split),
              POLYTILE_OK);
    pti_partition partition = {};
    partition.n_buffers = n_buffers;
    for (const polytile_domain &superblock : superblocks)
        EXPECT_TRUE(pti_partition_add(&partition, &superblock));
    int64_t need_bytes = 0;
    const polytile_status status =
        pti_schedule_build(*split, &partition, nullptr, 1 << 20, &need_bytes, schedule);
    pti_partition_free(&partition);
    return status;
}

class CheckPieces : public ::testing::Test {
  protected:
    CheckPieces()
        : launch_("k[i, j]: in x[i], x[i+9], x[j]; out y[i, j]", "0:1, 4:6",
                  {{"x", "200"}, {"y", "100x100"}}) {}

    /** One superblock, whose x[i] and x[i+9] are a piece with all x[j] between them. */
    void SetUp() override {
        ASSERT_EQ(launch_.status(), POLYTILE_OK) << launch_.error();
        ASSERT_EQ(
            pti_instance_split(launch_.context(), launch_.instance(), nullptr, INT_MAX, &split_),
            POLYTILE_OK);
        ASSERT_NE(split_, nullptr);
        pti_partition partition = {};
        partition.n_buffers = 1;
        ASSERT_TRUE(pti_partition_add(&partition, &split_->threads));
        int64_t need_bytes = 0;
        ASSERT_EQ(pti_schedule_build(split_, &partition, nullptr, 1 << 20, &need_bytes, &schedule_),
                  POLYTILE_OK);
        pti_partition_free(&partition);
    }

    void TearDown() override {
        pti_schedule_free(schedule_);
        pti_instance_free(split_);
    }

    bool check(std::string *why) const { return holds_for(schedule_, why); }

    Launch launch_;
    pti_instance *split_ = nullptr;
    pti_schedule *schedule_ = nullptr;
};

TEST_F(CheckPieces, HaveWhatOtherPiecesTouchInTheirBoxes) {
    std::string why;
    EXPECT_TRUE(check(&why)) << why;
    int n_checked = 0;
    for (int64_t k = 0; k < schedule_->n_ops; k++) {
        pti_op *op = &schedule_->op[k];
        const pti_op before = *op;
        if (op->kind != PTI_UPLOAD)
            continue;
        ASSERT_GT(pti_box_count(&op->box), 1);
        op->box.range[0].hi--;
        op->bytes -= 4;
        EXPECT_FALSE(check(&why));
        EXPECT_NE(why.find("not all there"), std::string::npos) << why;
        *op = before;
        n_checked++;
    }
    EXPECT_GT(n_checked, 2);
}

/** The second superblock goes on with one piece where the first one left off with the other. */
TEST(CheckPiecesOfSums, AreOneArray) {
    for (const char *role : {"sum", "out sum"})
        for (int n_buffers = 1; n_buffers <= 3; n_buffers++) {
            const Launch launch(std::string("k[i]: in y[i]; ") + role + " x[i], x[i+20]", "0:39",
                                {{"x", "60"}, {"y", "40"}});
            ASSERT_EQ(launch.status(), POLYTILE_OK) << launch.error();
            pti_instance *split = nullptr;
            pti_schedule *schedule = nullptr;
            ASSERT_EQ(build_sums(launch, {domain_of("0:19"), domain_of("20:39")}, n_buffers, &split,
                                 &schedule),
                      POLYTILE_OK);
            std::string why;
            EXPECT_TRUE(holds_for(schedule, &why)) << why;
            int n_checked = 0;
            for (int64_t k = 0; k < schedule->n_ops; k++) {
                pti_op *op = &schedule->op[k];
                const pti_op before = *op;
                if (op->kind != PTI_DOWNLOAD || op->superblock > 0 || op->box.range[0].lo < 20)
                    continue;
                op->box.range[0].hi--;
                op->bytes -= 4;
                EXPECT_FALSE(holds_for(schedule, &why));
                EXPECT_NE(why.find("out of date"), std::string::npos) << why;
                *op = before;
                n_checked++;
            }
            EXPECT_EQ(n_checked, 1);
            pti_schedule_free(schedule);
            pti_instance_free(split);
        }
}

TEST(CheckPiecesOfSums, DoNotMeetInASuperblock) {
    const Launch launch("k[i]: in y[i]; sum x[i], x[i+20]", "0:39", {{"x", "60"}, {"y", "40"}});
    ASSERT_EQ(launch.status(), POLYTILE_OK) << launch.error();
    pti_instance *split = nullptr;
    pti_schedule *schedule = nullptr;
    EXPECT_EQ(build_sums(launch, {domain_of("0:20")}, 1, &split, &schedule), POLYTILE_NO_FIT);
    EXPECT_EQ(schedule, nullptr);
    pti_instance_free(split);
}

} // namespace
