#include "support/launch.h"

#include <climits>
#include <gtest/gtest.h>
#include <string>

extern "C" {
#include "access/pieces/split.h"
#include "base/text.h"
#include "partition/memory/build.h"
#include "partition/prove/check.h"
}

/* Schedules of arrays in pieces: bodies find an element in the first piece around it. */

namespace {

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

    bool check(std::string *why) const {
        pti_text text = {};
        const bool holds = pti_schedule_check(schedule_, &text);
        *why = text.data == nullptr ? "" : text.data;
        pti_text_free(&text);
        return holds;
    }

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

} // namespace
