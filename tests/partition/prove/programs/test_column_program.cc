#include "partition/prove/extremes.h"
#include "partition/skew/skewed.h"
#include "support/scale.h"

extern "C" {
#include "partition/cache_blocking/in_place.h"
#include "partition/prove/programs/column_program.h"
}

namespace {

const char step[] = "step[i, j]: in x[i-1:i+1, j], x[i, j-1:j+1]; out y[i, j]";

/** Jacobi to and fro, in slabs and columns. */
class ColumnProgram : public ::testing::Test {
  protected:
    void SetUp() override {
        for (int k = 0; k < 4; k++)
            skewed_.Add(k % 2);
        ASSERT_EQ(skewed_.Find(), "");
        pti_text why = {};
        ASSERT_EQ(pti_chain_find_across(&skewed_.chain(), &across_, &why), POLYTILE_OK);
        pti_text_free(&why);
        ASSERT_EQ(across_.n_launches, 4);
        pti_skew_shape shape = {};
        shape.n_passes = 2;
        shape.n_per_pass = 2;
        shape.slab = 3;
        shape.n_per_lap = INT64_MAX;
        shape.column = 4;
        schedule_ = pti_blocking_build_in_place(&skewed_.chain(), &shape);
        ASSERT_NE(schedule_, nullptr);
        ASSERT_TRUE(pti_blocking_add_columns(&across_, &shape, schedule_));
    }

    void TearDown() override {
        pti_schedule_free(schedule_);
        pti_chain_free(&across_);
    }

    Skewed skewed_{
        {"12x14", "12x14"},
        {{step, "1:10,1:12", {{"x", 0}, {"y", 1}}}, {step, "1:10,1:12", {{"x", 1}, {"y", 0}}}}};
    pti_chain across_ = {};
    pti_schedule *schedule_ = nullptr;
};

TEST_F(ColumnProgram, HasEachThreadOnceColumnByColumn) {
    pti_schedule *program = pti_column_program_make(schedule_);
    ASSERT_NE(program, nullptr);
    int64_t n_threads = 0, n_all = 0;
    for (int64_t k = 0; k < program->n_ops; k++)
        n_threads += pti_box_count(&program->op[k].box);
    for (int64_t k = 0; k < schedule_->n_ops; k++)
        n_all += pti_box_count(&schedule_->op[k].box);
    EXPECT_EQ(n_threads, n_all);
    EXPECT_GT(program->n_ops, schedule_->n_ops);
    EXPECT_EQ(Objection(program), "");
    EXPECT_EQ(Objection(schedule_), "");
    pti_schedule_free(program);
}

TEST_F(ColumnProgram, LaunchesThatAreNotFarEnoughBehindAreFound) {
    EXPECT_EQ(across_.launch[1].offset, 1);
    for (int l = 1; l < 4; l++) {
        schedule_->columns.offset[l] -= 1;
        EXPECT_NE(Objection(schedule_).find("(column by column)"), std::string::npos);
        schedule_->columns.offset[l] += 1;
    }
    EXPECT_EQ(Objection(schedule_), "");
}

TEST_F(ColumnProgram, ColumnsThatLackThreadsAreFound) {
    schedule_->columns.n -= 1;
    EXPECT_NE(Objection(schedule_).find("(column by column)"), std::string::npos);
    schedule_->columns.n += 1;
    schedule_->columns.begin += 1;
    EXPECT_NE(Objection(schedule_).find("(column by column)"), std::string::npos);
}

TEST_F(ColumnProgram, NumbersThatAreAnythingAreRefused) {
    Random random(test_seed("ColumnProgram.NumbersThatAreAnythingAreRefused"));
    ExpectExtremesRefused(NumbersOf(schedule_), scaled(1000), &random,
                          [this] { return Objection(schedule_); });
}

TEST_F(ColumnProgram, ColumnsThatMeanNothingAreRefused) {
    schedule_->columns.width = 0;
    EXPECT_NE(Objection(schedule_).find("columns of 0 threads"), std::string::npos);
    schedule_->columns.width = 4;
    schedule_->columns.index[2] = 2;
    EXPECT_EQ(Objection(schedule_), "launch 2 has no index 2 for columns");
}

} // namespace
