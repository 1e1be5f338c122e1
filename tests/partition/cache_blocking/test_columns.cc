#include "partition/skew/skewed.h"

extern "C" {
#include "partition/cache_blocking/in_place.h"
}

namespace {

const char five_points[] = "step[i, j]: in x[i-1:i+1, j], x[i, j-1:j+1]; out y[i, j]";
const std::vector<std::string> fields = {"512x4096", "512x4096"}; /* 16 MiB each */

/** Launches to and fro, and the same along another index. */
class SkewColumns : public ::testing::Test {
  protected:
    void Make(const char *declaration, const std::string &threads, int n_launches,
              const std::vector<std::string> &domains) {
        threads_ = threads;
        skewed_ = std::make_unique<Skewed>(
            domains, std::vector<Kernel>{{declaration, threads_.c_str(), {{"x", 0}, {"y", 1}}},
                                         {declaration, threads_.c_str(), {{"x", 1}, {"y", 0}}}});
        for (int l = 0; l < n_launches; l++)
            skewed_->Add(l % 2);
        ASSERT_EQ(skewed_->Find(), "");
        pti_text why = {};
        ASSERT_EQ(pti_chain_find_across(&skewed_->chain(), &across_, &why), POLYTILE_OK);
        why_ = why.data == nullptr ? "" : why.data;
        pti_text_free(&why);
    }

    void TearDown() override { pti_chain_free(&across_); }

    bool Choose(int64_t core_bytes, int64_t n_workers) {
        pti_skew_request request = skewed_->Request(1 << 20);
        request.core_bytes = core_bytes;
        request.n_workers = n_workers;
        pti_text why = {};
        const bool is = pti_blocking_choose_columns(&request, &across_, &shape_, &why);
        why_ = why.data == nullptr ? "" : why.data;
        pti_text_free(&why);
        return is;
    }

    std::string threads_;
    std::unique_ptr<Skewed> skewed_;
    pti_chain across_ = {};
    pti_skew_shape shape_ = {};
    std::string why_;
};

TEST_F(SkewColumns, GoAlongTheOtherIndexWithOffsetsOfItsOwn) {
    Make("step[i, j]: in x[i-1:i+1, j], x[i, j-2:j+2]; out y[i, j]", "2:509,2:4093", 4, fields);
    ASSERT_EQ(across_.n_launches, 4);
    for (int l = 0; l < 4; l++) {
        EXPECT_EQ(across_.launch[l].index, 1);
        EXPECT_EQ(across_.launch[l].offset, 2 * l);
        EXPECT_EQ(skewed_->chain().launch[l].offset, l);
    }
}

TEST_F(SkewColumns, NeedASecondIndexThatAllArraysFollow) {
    Make("step[i]: in x[i-1:i+1]; out y[i]", "1:510", 4, {"512", "512"});
    EXPECT_EQ(across_.n_launches, 0);
    EXPECT_EQ(why_, "step has one index");
    pti_chain_free(&across_);
    Make("step[i, j]: in x[i-1:i+1, :]; out y[i, j]", "1:510,0:4095", 4, fields);
    EXPECT_EQ(across_.n_launches, 0);
    EXPECT_NE(why_, "");
}

TEST_F(SkewColumns, TilesStayInTheCacheOfACoreAndEachWorkerHasAsMany) {
    for (int64_t n_workers = 1; n_workers <= 5; n_workers++) {
        pti_chain_free(&across_);
        Make(five_points, "1:510,1:4094", 32, fields);
        ASSERT_TRUE(Choose(512 << 10, n_workers)) << why_;
        const int64_t n_rows = shape_.slab + shape_.n_per_pass;
        const int64_t n_columns = shape_.column + shape_.n_per_pass;
        EXPECT_LE(2 * 8 * n_rows * n_columns, 512 << 10) << n_workers;
        EXPECT_GE(shape_.n_per_pass, 4) << n_workers;
        pti_schedule *schedule = pti_blocking_build_in_place(&skewed_->chain(), &shape_);
        ASSERT_NE(schedule, nullptr);
        ASSERT_TRUE(pti_blocking_add_columns(&across_, &shape_, schedule));
        EXPECT_LE(schedule->columns.n % n_workers, 1) << n_workers;
        EXPECT_EQ(Objection(schedule), "") << n_workers;
        pti_schedule_free(schedule);
    }
}

/** Without a second index launches stay whole, and columns go along their one. */
TEST_F(SkewColumns, OfOneIndexHoldAllLaunches) {
    for (int64_t n_workers = 1; n_workers <= 5; n_workers++) {
        pti_chain_free(&across_);
        Make("step[i]: in x[i-1:i+1]; out y[i]", "1:1048574", 8, {"1048576", "1048576"});
        pti_skew_request request = skewed_->Request(1 << 20);
        request.core_bytes = 64 << 10;
        request.n_workers = n_workers;
        pti_text why = {};
        ASSERT_TRUE(pti_blocking_choose_columns_alone(&request, &shape_, &why)) << why.data;
        EXPECT_LE(2 * 8 * (shape_.column + 8), 64 << 10) << n_workers;
        EXPECT_GE(2 * 8 * shape_.column, 20 << 10) << n_workers;
        pti_schedule *schedule = pti_blocking_build_in_place(&skewed_->chain(), &shape_);
        ASSERT_NE(schedule, nullptr);
        EXPECT_EQ(schedule->n_ops, 8);
        ASSERT_TRUE(pti_blocking_add_columns(&skewed_->chain(), &shape_, schedule));
        EXPECT_EQ(Objection(schedule), "") << n_workers;
        pti_schedule_free(schedule);
    }
}

/** A column has a tile for each launch at most, and as many columns run at once. */
TEST_F(SkewColumns, OfOneIndexAreNotForFewLaunchesOnManyWorkers) {
    for (const int64_t n_workers : {1, 4, 64}) {
        pti_chain_free(&across_);
        Make("step[i]: in x[i-1:i+1]; out y[i]", "1:1048574", 8, {"1048576", "1048576"});
        pti_skew_request request = skewed_->Request(1 << 20);
        request.core_bytes = 64 << 10;
        request.n_workers = n_workers;
        pti_text why = {};
        EXPECT_EQ(pti_blocking_choose_columns_alone(&request, &shape_, &why), n_workers < 64);
        EXPECT_EQ(why.data != nullptr &&
                      std::string(why.data).find("saves too little") != std::string::npos,
                  n_workers == 64)
            << (why.data == nullptr ? "" : why.data);
        pti_text_free(&why);
    }
}

/** The same of slabs: two rows have few. */
TEST_F(SkewColumns, OfFewRowsAreNotForManyWorkers) {
    for (const int64_t n_workers : {1, 2, 24}) {
        pti_chain_free(&across_);
        Make(five_points, "1:2,1:1048574", 4, {"4x1048576", "4x1048576"});
        EXPECT_EQ(Choose(512 << 10, n_workers), n_workers < 24) << why_;
        EXPECT_EQ(why_.find("saves too little") != std::string::npos, n_workers == 24) << why_;
    }
}

/** The check of a plan makes an operation of each tile. */
TEST_F(SkewColumns, OfOneIndexAreNoMoreThanCanBePlanned) {
    for (const int length_bits : {20, 31}) {
        const std::string length = std::to_string(int64_t{1} << length_bits);
        pti_chain_free(&across_);
        Make("step[i]: in x[i-1:i+1]; out y[i]",
             "1:" + std::to_string((int64_t{1} << length_bits) - 2), 8, {length, length});
        pti_skew_request request = skewed_->Request(1 << 20);
        request.core_bytes = 64 << 10;
        request.n_workers = 2;
        pti_text why = {};
        EXPECT_EQ(pti_blocking_choose_columns_alone(&request, &shape_, &why), length_bits == 20);
        why_ = why.data == nullptr ? "" : why.data;
        EXPECT_EQ(why_.find("tiles, of at most 2097152") != std::string::npos, length_bits == 31)
            << why_;
        pti_text_free(&why);
    }
}

TEST_F(SkewColumns, SayWhyThereAreNone) {
    Make(five_points, "1:510,1:4094", 32, fields);
    EXPECT_FALSE(Choose(64, 2));
    EXPECT_EQ(why_, "the cache of a core, 64 B, holds no tile of two launches of step");
    EXPECT_FALSE(Choose(16 << 10, 2));
    EXPECT_NE(why_.find("saves too little"), std::string::npos) << why_;
}

TEST_F(SkewColumns, AreNotLookedForInArraysThatCachesHold) {
    Make(five_points, "1:62,1:62", 32, {"64x64", "64x64"});
    EXPECT_FALSE(Choose(128 << 10, 2));
    EXPECT_EQ(why_, "");
}

} // namespace
