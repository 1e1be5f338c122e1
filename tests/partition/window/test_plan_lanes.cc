#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include <polytile/polytile.h>

#include "support/scale.h"

extern "C" {
#include "base/text.h"
#include "partition/cost/demand.h"
#include "partition/prove/check.h"
#include "partition/window/plan.h"
}

/* Plans whose superblocks are dealt to lanes: how they divide the memory. */

namespace {

constexpr int64_t KiB = 1 << 10, MiB = KiB << 10, GiB = MiB << 10;

struct Array {
    std::string name;
    std::vector<int64_t> extents;
};

/** A declaration, as many threads as rows of its arrays. */
struct Launch {
    std::string declaration;
    int64_t n_threads;
    std::vector<Array> arrays;
};

/** Each thread reads a row of every input, and writes one element. */
Launch launch_of(int n_inputs, int64_t n_threads, int64_t width) {
    Launch made = {"gather[s]: ", n_threads, {}};
    for (int a = 0; a < n_inputs; a++) {
        const std::string name = "a" + std::to_string(a);
        made.declaration += "in " + name + "[s, :]; ";
        made.arrays.push_back({name, {n_threads, width}});
    }
    made.declaration += "out y[s]";
    made.arrays.push_back({"y", {n_threads}});
    return made;
}

class PlanLanes : public ::testing::Test {
  protected:
    void SetUp() override { ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK); }
    void TearDown() override { polytile_context_destroy(ctx); }

    /** All but the plan is the context's. */
    polytile_status make(const Launch &launch, int64_t n_streams, int64_t limit_bytes,
                         polytile_plan **plan) {
        polytile_kernel *kernel;
        std::vector<polytile_array *> arrays;
        polytile_status status =
            polytile_kernel_create(ctx, launch.declaration.c_str(), nullptr, &kernel);
        for (const Array &array : launch.arrays) {
            const polytile_domain indices = polytile_domain_from_extents(
                static_cast<int>(array.extents.size()), array.extents.data());
            arrays.push_back(nullptr);
            if (status == POLYTILE_OK)
                status = polytile_array_describe(ctx, array.name.c_str(), POLYTILE_F32, &indices,
                                                 &arrays.back());
        }
        if (status != POLYTILE_OK)
            return status;
        const polytile_domain threads = polytile_domain_from_extents(1, &launch.n_threads);
        polytile_launch_options options{};
        options.plan.n_streams = n_streams;
        options.plan.limit_bytes = limit_bytes;
        return polytile_plan_create(kernel, &threads, static_cast<int>(arrays.size()),
                                    arrays.data(), &options, plan);
    }

    static void expect_right(const polytile_plan *plan) {
        pti_text why{};
        EXPECT_TRUE(pti_schedule_check(plan->schedule, &why)) << (why.data ? why.data : "");
        pti_text_free(&why);
        EXPECT_LE(plan->summary.peak_device_bytes, plan->summary.limit_bytes);
    }

    polytile_context *ctx = nullptr;
};

TEST_F(PlanLanes, OfMoreOperandsTimesLanesThanThereAreCellsHaveRegions) {
    const int numbers[][2] = {{15, 32}, {16, 32}, {63, 8}, {63, 9}, {63, 32}};
    for (const auto &[n_inputs, n_lanes] : numbers) {
        SCOPED_TRACE(std::to_string(n_inputs) + " inputs, " + std::to_string(n_lanes) + " lanes");
        polytile_plan *plan;
        ASSERT_EQ(make(launch_of(n_inputs, 512, 64), n_lanes, 64 * MiB, &plan), POLYTILE_OK)
            << polytile_last_error(ctx);
        expect_right(plan);
        EXPECT_EQ(plan->schedule->n_lanes, n_lanes);
    }
}

/** Scratch of 1 MiB a thread. */
const Launch walk = {
    "walk[s]: in a[s]; out y[s]; scratch f32 w[s, 0:262143]", 256, {{"a", {256}}, {"y", {256}}}};

TEST_F(PlanLanes, HaveScratchOfTheirOwnAndDoNotWaitForEachOther) {
    polytile_plan *plan;
    ASSERT_EQ(make(walk, 4, GiB, &plan), POLYTILE_OK) << polytile_last_error(ctx);
    expect_right(plan);
    const pti_schedule *schedule = plan->schedule;
    EXPECT_EQ(schedule->n_lanes, 4);
    EXPECT_GE(schedule->arena_bytes, 64 * MiB);
    for (int64_t k = 0; k < schedule->n_ops; k++) {
        const pti_op *op = &schedule->op[k];
        for (int w = 0; op->kind == PTI_LAUNCH && w < op->n_waits; w++) {
            const pti_op *before = &schedule->op[schedule->wait[op->first_wait + w]];
            EXPECT_TRUE(before->kind != PTI_LAUNCH || before->lane == op->lane)
                << "superblock " << op->superblock << " waits for " << before->superblock;
        }
    }
}

TEST_F(PlanLanes, HaveSmallerSuperblocksWhereTwoDoNotFit) {
    const struct {
        int64_t limit_bytes;
        int n_lanes;
    } cases[] = {{65 * MiB, 4}, {34 * MiB, 2}, {5 * MiB, 2}, {3 * MiB, 2}, {3 * MiB / 2, 0}};
    for (const auto &c : cases) {
        SCOPED_TRACE(c.limit_bytes);
        polytile_plan *plan;
        ASSERT_EQ(make(walk, 4, c.limit_bytes, &plan), POLYTILE_OK) << polytile_last_error(ctx);
        expect_right(plan);
        EXPECT_EQ(plan->schedule->n_lanes > 1 ? plan->schedule->n_lanes : 0, c.n_lanes);
    }
}

TEST_F(PlanLanes, OfRandomOperandsLanesAndLimitsPassTheChecker) {
    const char *given = std::getenv("POLYTILE_TEST_SEED");
    const uint64_t seed =
        given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
    std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
    std::mt19937_64 random(seed);
    const auto draw = [&](int64_t lo, int64_t hi) {
        return std::uniform_int_distribution<int64_t>(lo, hi)(random);
    };
    const int64_t n_rounds = scaled(400);
    int64_t n_in_regions = 0;
    for (int64_t k = 0; k < n_rounds; k++) {
        const auto n_inputs = static_cast<int>(draw(1, 63));
        const int64_t n_lanes = draw(2, 32);
        Launch launch = launch_of(n_inputs, draw(1, 300), draw(1, 20));
        if (n_inputs < 63 && draw(0, 1) != 0)
            launch.declaration += "; scratch f32 w[s, 0:" + std::to_string(draw(0, 99)) + "]";
        SCOPED_TRACE("case " + std::to_string(k) + ": " + launch.declaration + ", " +
                     std::to_string(n_lanes) + " lanes, " + std::to_string(launch.n_threads) +
                     " threads");
        polytile_plan *plan;
        const polytile_status status =
            make(launch, n_lanes, draw(0, 1) != 0 ? GiB : draw(4 * KiB, MiB), &plan);
        if (status == POLYTILE_NO_FIT)
            continue;
        ASSERT_EQ(status, POLYTILE_OK) << polytile_last_error(ctx);
        expect_right(plan);
        n_in_regions += (n_inputs + 1) * plan->schedule->n_lanes > PTI_MOST_CELLS;
    }
    EXPECT_GE(n_in_regions, least_count(n_rounds, 0.25));
}

} // namespace
