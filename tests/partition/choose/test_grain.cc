#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <polytile/size.h>

#include "support/environment.h"
#include "support/launch.h"
#include "support/scale.h"

extern "C" {
#include "access/footprint/footprint.h"
#include "access/set/boxes.h"
#include "partition/choose/choose.h"
#include "partition/choose/grain.h"
#include "partition/cut/candidate_time.h"
#include "partition/memory/residency.h"
}

namespace {

constexpr int64_t KiB = int64_t{1} << 10, MiB = int64_t{1} << 20;

struct Case {
    const char *name;
    const char *declaration;
    const char *threads;
    std::map<std::string, std::string> arrays;
};

const Case add = {"add",
                  "add[i]: in x[i], y[i]; out z[i]",
                  "67107840",
                  {{"x", "67107840"}, {"y", "67107840"}, {"z", "67107840"}}};
const Case scale = {"scale", "scale[i, j]: inout A[i, j]", "8192x8192", {{"A", "8192x8192"}}};
const Case update = {"update",
                     "update[i, j]: in A[i-1:i+1, j], A[i, j-1:j+1]; out B[i, j]",
                     "1:8190, 1:8190",
                     {{"A", "8192x8192"}, {"B", "8192x8192"}}};
const Case copy = {"copy",
                   "copy[i, j]: in B[i, j]; out A[i, j]",
                   "1:8190, 1:8190",
                   {{"A", "8192x8192"}, {"B", "8192x8192"}}};
const Case heat = {"heat",
                   "heat[i, j, k]: in A[i-1:i+1, j, k], A[i, j-1:j+1, k], A[i, j, k-1:k+1]; "
                   "out B[i, j, k]",
                   "1:510, 1:510, 1:510",
                   {{"A", "512x512x512"}, {"B", "512x512x512"}}};
const Case matmul = {"matmul",
                     "matmul[i, j]: in A[i, :], B[:, j]; out C[i, j]",
                     "4096x4096",
                     {{"A", "4096x4096"}, {"B", "4096x4096"}, {"C", "4096x4096"}}};
const Case gemm = {"gemm",
                   "gemm[i, j, k]: in A[i, k], B[k, j]; out sum C[i, j]",
                   "4096x4096x4096",
                   {{"A", "4096x4096"}, {"B", "4096x4096"}, {"C", "4096x4096"}}};
const Case dot = {"dot",
                  "dot[i]: in x[i], y[i]; out sum s[0]",
                  "67107840",
                  {{"x", "67107840"}, {"y", "67107840"}, {"s", "1"}}};
const Case rows = {"rows",
                   "rows[i, j]: in A[i, j]; out sum s[i]",
                   "8192x8192",
                   {{"A", "8192x8192"}, {"s", "8192"}}};
const Case lower = {"lower",
                    "lower[i]: in L[i, 0:i], x[0:i]; out y[i]",
                    "8192",
                    {{"L", "8192x8192"}, {"x", "8192"}, {"y", "8192"}}};

const std::vector<const Case *> all = {&add,    &scale, &update, &copy, &heat,
                                       &matmul, &gemm,  &dot,    &rows, &lower};
const std::vector<const Case *> streaming = {&add, &scale, &update, &copy, &heat, &dot, &rows};
const std::vector<int64_t> arenas = {24 * MiB, 64 * MiB, 130 * MiB};

/** A launch and its cut. */
class Cut {
  public:
    explicit Cut(const Case &of, int64_t arena_bytes, const Cut *former = nullptr,
                 polytile_plan_options options = {}, bool all_fit = false)
        : launch_(of.declaration, of.threads, of.arrays), arena_bytes_(arena_bytes) {
        EXPECT_EQ(launch_.status(), POLYTILE_OK) << launch_.error();
        pti_instance padded = *launch_.instance();
        padded.piece_alignment_bytes = PTI_RESIDENT_ALIGNMENT;
        pti_ways ways = pti_ways_of({&padded, nullptr}, false);
        const pti_grain_request request = {&ways, &options, arena_bytes, all_fit,
                                           former == nullptr ? nullptr : &former->partition_};
        int way = -1;
        status_ = pti_grain_choose(launch_.context(), &request, &partition_, &way);
    }
    ~Cut() { pti_partition_free(&partition_); }
    Cut(const Cut &) = delete;
    Cut &operator=(const Cut &) = delete;

    polytile_status status() const { return status_; }
    std::string error() const { return launch_.error(); }
    const pti_instance *instance() const { return launch_.instance(); }
    polytile_context *context() const { return launch_.context(); }
    int64_t n() const { return partition_.n_superblocks; }
    const polytile_domain &operator[](int64_t k) const { return partition_.superblock[k]; }

    /** The arena that the largest superblock takes. */
    int64_t padded_bytes() const {
        int64_t largest = 0;
        for (int64_t k = 0; k < n(); k++) {
            int64_t sum = 0;
            for (int a = 0; a < instance()->n_operands; a++) {
                const polytile_domain hull =
                    pti_footprint_hull(instance(), a, PTI_TOUCHES, &partition_.superblock[k]);
                if (pti_box_is_empty(&hull))
                    continue;
                const int64_t bytes =
                    pti_memory_layout_of(&hull, instance()->operand[a].element_bytes).size_bytes;
                sum += (bytes + PTI_RESIDENT_ALIGNMENT - 1) / PTI_RESIDENT_ALIGNMENT *
                       PTI_RESIDENT_ALIGNMENT;
            }
            largest = std::max(largest, sum);
        }
        return largest;
    }

    /** Disjoint boxes that cover the threads. */
    void ExpectSound() const {
        ASSERT_EQ(status_, POLYTILE_OK) << error();
        pti_boxes left = {};
        pti_boxes_append(&left, &instance()->threads);
        int64_t n_threads = 0;
        for (int64_t k = 0; k < n(); k++) {
            n_threads += pti_box_count(&partition_.superblock[k]);
            pti_boxes_subtract(&left, &partition_.superblock[k]);
        }
        EXPECT_EQ(left.n_boxes, 0);
        EXPECT_EQ(n_threads, pti_box_count(&instance()->threads));
        pti_boxes_free(&left);
        EXPECT_LE(padded_bytes(), arena_bytes_);
        EXPECT_EQ(error(), "");
    }

    void ExpectSameAs(const Cut &other) const {
        ASSERT_EQ(n(), other.n());
        for (int64_t k = 0; k < n(); k++)
            EXPECT_TRUE(pti_box_equals(&partition_.superblock[k], &other[k])) << k;
    }

  private:
    Launch launch_;
    int64_t arena_bytes_;
    pti_partition partition_ = {};
    polytile_status status_;
};

/** What the planner does with the whole arena. */
int64_t PlannedKernels(const Cut &cut, int64_t arena_bytes, int64_t fill_threads = 0) {
    polytile_plan_options options = {};
    options.limit_bytes = arena_bytes;
    options.fill_threads = fill_threads;
    pti_choice choice;
    EXPECT_EQ(
        pti_choose(cut.context(), cut.instance(), pti_strategy_find("min-time"), &options, &choice),
        POLYTILE_OK);
    const int64_t n = choice.schedule->n_superblocks;
    pti_schedule_free(choice.schedule);
    return n;
}

std::string Label(const Case &of, int64_t arena_bytes) {
    return std::string(of.name) + " in " + std::to_string(arena_bytes) + " bytes";
}

TEST(Grain, SuperblocksCoverTheThreadsAndFitPadded) {
    for (const Case *of : all)
        for (int64_t arena : arenas) {
            SCOPED_TRACE(Label(*of, arena));
            Cut(*of, arena).ExpectSound();
        }
}

TEST(Grain, StreamingKernelsRunInPiecesOfWhichManyFit) {
    for (const Case *of : streaming)
        for (int64_t arena : arenas) {
            SCOPED_TRACE(Label(*of, arena));
            EXPECT_LE(Cut(*of, arena).padded_bytes(), arena / 7);
        }
}

/** Of a link over which a piece of that size moves for longer than it is planned. */
TEST(Grain, PiecesAreA64thOfAnArenaThatIsLarge) {
    polytile_link slow = polytile_link_default;
    slow.duplex_bytes_per_s /= 8;
    polytile_plan_options options = {};
    options.link = &slow;
    for (const Case *of : {&add, &scale, &update, &dot}) {
        SCOPED_TRACE(of->name);
        const int64_t bytes = Cut(*of, 130 * MiB, nullptr, options).padded_bytes();
        EXPECT_LE(bytes, 130 * MiB / 64 + 4 * PTI_RESIDENT_ALIGNMENT);
        EXPECT_GE(bytes, 130 * MiB / 64 / 2);
    }
}

TEST(Grain, PiecesAreNotSoSmallThatLatencyCounts) {
    polytile_link slow = polytile_link_default;
    slow.transfer_latency_s *= 4;
    polytile_plan_options options = {};
    options.link = &slow;
    const double least = 8 * slow.transfer_latency_s * slow.duplex_bytes_per_s;
    EXPECT_GE(static_cast<double>(Cut(add, 130 * MiB, nullptr, options).padded_bytes()), least / 2);
    slow.transfer_latency_s *= 1000;
    const int64_t bytes = Cut(add, 130 * MiB, nullptr, options).padded_bytes();
    EXPECT_GE(bytes, 130 * MiB / 16);
    EXPECT_LE(bytes, 130 * MiB / 7);
}

TEST(Grain, PiecesAreNotSoSmallThatPlanningCounts) {
    const double least = 20 * pti_superblock_host_s * polytile_link_default.duplex_bytes_per_s;
    for (const Case *of : {&add, &scale, &update, &dot}) {
        SCOPED_TRACE(of->name);
        const int64_t bytes = Cut(*of, 130 * MiB).padded_bytes();
        EXPECT_GE(static_cast<double>(bytes), least / 2);
        EXPECT_LE(bytes, 130 * MiB / 7);
    }
}

/** A thread reads a row of 128 KiB, so that a 64th of the arena has 128 of them. */
TEST(Grain, PiecesHaveAsManyThreadsAsFillTheDevice) {
    const Case rows_alone = {"rows_alone",
                             "rows_alone[i]: in A[i, :]; out s[i]",
                             "65536",
                             {{"A", "65536x32768"}, {"s", "65536"}}};
    const int64_t arena = 1024 * MiB;
    const auto cut = [&](int64_t fill_threads) {
        polytile_plan_options options = {};
        options.fill_threads = fill_threads;
        const Cut made(rows_alone, arena, nullptr, options);
        made.ExpectSound();
        const int64_t own = PlannedKernels(made, arena, fill_threads);
        EXPECT_LE(made.n(), fill_threads > 0 ? std::max(own, 65536 / fill_threads) : INT64_MAX)
            << fill_threads;
        EXPECT_GE(made.n(), own) << fill_threads;
        return made.n();
    };
    const int64_t smallest = cut(0);
    EXPECT_GT(smallest, 400);
    EXPECT_EQ(cut(1), smallest);
    for (const int64_t fill_threads : {64, 200, 512, 1000, 4096, 1 << 20})
        EXPECT_LE(cut(fill_threads), smallest);
    EXPECT_GT(cut(512), cut(4096));
    EXPECT_LT(cut(1 << 20), 20);
}

TEST(Grain, PanelsThatWouldBeReadAgainAreAsLargeAsThePlannersOwn) {
    for (const Case *of : {&matmul, &gemm})
        for (int64_t arena : arenas) {
            SCOPED_TRACE(Label(*of, arena));
            const Cut cut(*of, arena);
            EXPECT_EQ(cut.n(), PlannedKernels(cut, arena));
        }
}

TEST(Grain, FewestKernelsAreWhatTheUserGetsWhereAskedFor) {
    polytile_plan_options options = {};
    options.strategy = "min-kernels";
    EXPECT_LT(Cut(add, 130 * MiB, nullptr, options).n(), 10);
}

TEST(Grain, OneSuperblockIsEnoughWhereEverythingFits) {
    for (const Case *of : all) {
        const Cut cut(*of, 1 << 30, nullptr, {}, true);
        SCOPED_TRACE(of->name);
        ASSERT_EQ(cut.status(), POLYTILE_OK);
        ASSERT_EQ(cut.n(), 1);
        EXPECT_TRUE(pti_box_equals(&cut[0], &cut.instance()->threads));
    }
}

TEST(Grain, UpdateAndCopyOfASweepUseTheSamePieces) {
    for (int64_t arena : arenas) {
        SCOPED_TRACE(arena);
        const Cut first(update, arena), second(copy, arena, &first), third(update, arena, &second);
        second.ExpectSound();
        second.ExpectSameAs(first);
        third.ExpectSameAs(first);
    }
}

TEST(Grain, FormerCutsAreClippedToFewerThreads) {
    Case inner = copy;
    inner.threads = "500:8000, 17:8190";
    const Cut former(update, 64 * MiB), cut(inner, 64 * MiB, &former);
    cut.ExpectSound();
    for (int64_t k = 0; k < cut.n(); k++) {
        bool found = false;
        for (int64_t f = 0; f < former.n(); f++) {
            polytile_domain common;
            found |= pti_box_intersect(&former[f], &cut.instance()->threads, &common) &&
                     pti_box_equals(&common, &cut[k]);
        }
        EXPECT_TRUE(found) << k;
    }
}

/** Launches after which another one is cut as if there had been none. */
TEST(Grain, FormerCutsThatDoNotServeAreNotTaken) {
    Case wider = copy, inner = update;
    wider.threads = "8192x8192";
    inner.threads = "500:600, 500:600";
    const Case small = {"small", "small[i, j]: inout C[i, j]", "4096x4096", {{"C", "4096x4096"}}};
    const struct {
        const char *why;
        const Case *former;
        const Case *of;
    } table[] = {
        {"other indices", &add, &update},
        {"more threads than before", &update, &wider},
        {"other threads", &inner, &copy},
        {"panels would be read again", &small, &matmul},
    };
    for (const auto &row : table) {
        SCOPED_TRACE(row.why);
        const Cut former(*row.former, 64 * MiB), cut(*row.of, 64 * MiB, &former);
        cut.ExpectSound();
        cut.ExpectSameAs(Cut(*row.of, 64 * MiB));
    }
}

TEST(Grain, FormerCutsWithoutRoomToLookAheadAreNotTaken) {
    polytile_plan_options options = {};
    options.strategy = "min-kernels";
    const Cut former(scale, 64 * MiB, nullptr, options), cut(scale, 64 * MiB, &former);
    EXPECT_GT(former.padded_bytes(), 64 * MiB / 3);
    cut.ExpectSameAs(Cut(scale, 64 * MiB));
}

TEST(Grain, TilesOfAProductServeTheKernelThatUsesItNext) {
    const Case next = {"next", "next[i, j]: inout C[i, j]", "4096x4096", {{"C", "4096x4096"}}};
    const Cut product(matmul, 64 * MiB), cut(next, 64 * MiB, &product);
    cut.ExpectSound();
    cut.ExpectSameAs(product);
}

TEST(Grain, WhatNeverFitsIsExplainedAsByThePlanner) {
    const Cut cut(matmul, 16 * KiB);
    EXPECT_EQ(cut.status(), POLYTILE_NO_FIT);
    EXPECT_EQ(cut.n(), 0);
    const std::string text = cut.error();
    for (const char *part : {"matmul: one ", "A ", "the limit is 16 KiB", "would let it be split"})
        EXPECT_NE(text.find(part), std::string::npos) << text;
}

/** An array in which threads look elements up is declared whole, and no index would follow it. */
TEST(Grain, AnArrayOfWhichAllMayBeTouchedIsToldToHaveToFit) {
    const Case gather = {"gather",
                         "gather[i]: in V[:], P[i]; out y[i]",
                         "1000",
                         {{"V", "100000"}, {"P", "1000"}, {"y", "1000"}}};
    const Cut cut(gather, 16 * KiB);
    EXPECT_EQ(cut.status(), POLYTILE_NO_FIT);
    EXPECT_NE(cut.error().find("every thread may touch all of V, so all of it has to fit"),
              std::string::npos)
        << cut.error();
    EXPECT_EQ(cut.error().find("index of its own"), std::string::npos) << cut.error();
}

/** The number that a certificate advises, which is the one after "a limit of about". */
int64_t advised_bytes(const std::string &text) {
    const std::string before = "a limit of about ", after = " would do";
    const size_t begin = text.find(before) + before.size(), end = text.find(after);
    std::string size = text.substr(begin, end - begin);
    size.erase(std::remove(size.begin(), size.end(), ' '), size.end());
    int64_t bytes = -1;
    EXPECT_TRUE(polytile_size_parse(size.c_str(), &bytes)) << text;
    return bytes;
}

TEST(Grain, WhatFitsOnlyUnpaddedNamesTheTrueLimitAndOneThatDoes) {
    Case few = add;
    few.threads = "1000";
    const Cut cut(few, 500);
    EXPECT_EQ(cut.status(), POLYTILE_NO_FIT);
    EXPECT_NE(cut.error().find("the limit is 500 B"), std::string::npos) << cut.error();
    EXPECT_EQ(advised_bytes(cut.error()), 768);
    Cut(few, 768).ExpectSound();
    EXPECT_EQ(Cut(few, 767).status(), POLYTILE_NO_FIT);
}

/** Pieces are tried in parts of the arena, where they need not fit. */
TEST(Grain, NothingIsLoggedOfLimitsThatNobodyGave) {
    Environment level;
    level.set("POLYTILE_LOG", "info");
    testing::internal::CaptureStderr();
    Cut(update, 64 * KiB).ExpectSound();
    Case few = update;
    few.threads = "1:62, 1:62";
    Cut(few, 1 * KiB).ExpectSound();
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(Grain, TheLimitThatACertificateNamesWouldDo) {
    const std::vector<std::pair<const Case *, const char *>> few = {
        {&add, "1000"},      {&update, "1:62, 1:62"}, {&matmul, "64x64"},
        {&gemm, "24x24x24"}, {&rows, "50x50"},        {&lower, "300"}};
    for (const auto &[of, threads] : few) {
        Case smaller = *of;
        smaller.threads = threads;
        for (int64_t block_threads : {0, 1, 7, 37}) {
            const std::vector<int64_t> block(3, block_threads);
            polytile_plan_options options = {};
            options.block = block_threads == 0 ? nullptr : block.data();
            const Cut cut(smaller, 100, nullptr, options);
            SCOPED_TRACE(cut.error());
            ASSERT_EQ(cut.status(), POLYTILE_NO_FIT);
            EXPECT_NE(cut.error().find("the limit is 100 B"), std::string::npos);
            Cut(smaller, advised_bytes(cut.error()), nullptr, options).ExpectSound();
        }
    }
}

/** What one thread touches lies so far apart that others fit between: one block at a time would be
 * more superblocks than are planned. */
TEST(Grain, TheLimitThatACertificateNamesIsEnoughForFewSuperblocks) {
    const Case far = {
        "far", "far[g, k]: inout x[8192*g+k], x[8192*g+k+4096]", "1024x4096", {{"x", "8388608"}}};
    const Cut cut(far, 4 * KiB);
    ASSERT_EQ(cut.status(), POLYTILE_NO_FIT);
    EXPECT_GT(advised_bytes(cut.error()), 4608) << cut.error();
    const Cut advised(far, advised_bytes(cut.error()));
    EXPECT_EQ(advised.status(), POLYTILE_OK) << cut.error() << "\n" << advised.error();
}

TEST(Grain, SizesThatWouldReadAlikeAreInBytes) {
    const Case three = {
        "three", "three[i]: inout x[2*i], x[2*i+1], x[2*i+1023]", "8", {{"x", "1038"}}};
    Launch launch(three.declaration, three.threads, three.arrays);
    ASSERT_EQ(launch.status(), POLYTILE_OK) << launch.error();
    const struct {
        int64_t limit_bytes;
        const char *says;
    } few[] = {
        {4 * KiB - 4, "needs 4096 B (x 4096 B); the limit is 4092 B; a limit of about 4 KiB"},
        {4 * KiB - 100, "needs 4 KiB (x 4 KiB); the limit is 3.90 KiB; a limit of about 4 KiB"},
        {3 * KiB, "needs 4 KiB (x 4 KiB); the limit is 3 KiB; a limit of about 4 KiB"},
    };
    for (const auto &row : few) {
        polytile_plan_options options = {};
        pti_choice choice;
        options.limit_bytes = row.limit_bytes;
        EXPECT_EQ(pti_choose(launch.context(), launch.instance(), pti_strategy_find("min-time"),
                             &options, &choice),
                  POLYTILE_NO_FIT);
        EXPECT_NE(launch.error().find(row.says), std::string::npos) << launch.error();
    }
}

TEST(Grain, PiecesThatFillTheArenaLeaveRoomForTheirPadding) {
    const Case tiny = {"tiny",
                       "tiny[i, j]: in A[i, :], B[:, j]; out C[i, j]",
                       "64x64",
                       {{"A", "64x64"}, {"B", "64x64"}, {"C", "64x64"}}};
    for (int64_t arena = 1 * KiB; arena < 60 * KiB; arena += 97) {
        if (is_left_out(arena / 97, 8))
            continue;
        SCOPED_TRACE(arena);
        for (int n_buffers = 0; n_buffers <= 2; n_buffers++) {
            polytile_plan_options options = {};
            options.n_buffers = n_buffers;
            const Cut cut(tiny, arena, nullptr, options);
            if (cut.status() == POLYTILE_OK) {
                cut.ExpectSound();
            } else {
                EXPECT_EQ(cut.status(), POLYTILE_NO_FIT);
            }
        }
    }
}

/** Strips whose estimates do not see how pieces are padded are tried under ever lower limits. */
TEST(Grain, SuperblocksThatNeedMoreThanEstimatedEndInSmallerOnes) {
    const Case windows = {"windows",
                          "windows[i, j, k]: in A[i-1:i, j:j+1, k-1:k+1:2]; min s[i]",
                          "0:7, 0:7, 1:6",
                          {{"A", "8x8x8"}, {"s", "8"}}};
    const int64_t block[] = {1, 4, 1};
    const polytile_link link = {
        1, 1e9, 1000, 2.6e-6, 6144, 1e-9, 1e6, 1e14, static_cast<double>(5 * MiB), 6e12, {}};
    polytile_plan_options options = {};
    options.block = block;
    options.link = &link;
    for (int64_t arena_bytes = 1024; arena_bytes <= 8192; arena_bytes += 32) {
        SCOPED_TRACE(arena_bytes);
        Cut(windows, arena_bytes, nullptr, options).ExpectSound();
    }
}

/** A superblock begins when the slowest thread of the one before it in its lane is done: a second
 * one in a lane only takes time. */
TEST(Grain, LaunchesThatFitHaveASuperblockALaneOfAboutAsManyBlocks) {
    const Case walk = {"walk", "walk[s]: in x[s]; out y[s]", "3:35", {{"x", "100"}, {"y", "100"}}};
    constexpr int64_t N_THREADS = 33;
    for (const int64_t n_lanes : {2, 3, 4, 8, 16, 32})
        for (const int64_t block : {1, 2, 5, 32, 33, 40}) {
            SCOPED_TRACE(std::to_string(n_lanes) + " lanes, blocks of " + std::to_string(block));
            polytile_plan_options options = {};
            options.n_streams = n_lanes;
            options.block = &block;
            const Cut cut(walk, MiB, nullptr, options, true);
            ASSERT_EQ(cut.status(), POLYTILE_OK) << cut.error();
            const int64_t n_blocks = (N_THREADS + block - 1) / block;
            EXPECT_EQ(cut.n(), std::min(n_lanes, n_blocks));
            int64_t next = 3;
            for (int64_t k = 0; k < cut.n(); k++) {
                const polytile_range range = cut[k].range[0];
                const int64_t n_threads = range.hi - range.lo + 1;
                const bool is_last = k + 1 == cut.n();
                EXPECT_EQ(range.lo, next);
                EXPECT_TRUE(is_last || n_threads % block == 0) << n_threads;
                EXPECT_GE(n_threads, is_last ? 1 : n_blocks / cut.n() * block);
                EXPECT_LE(n_threads, (n_blocks + cut.n() - 1) / cut.n() * block);
                next = range.hi + 1;
            }
            EXPECT_EQ(next, 3 + N_THREADS);
        }
}

} // namespace
