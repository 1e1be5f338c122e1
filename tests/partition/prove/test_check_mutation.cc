#include "partition/prove/extremes.h"
#include "partition/prove/hand_queue.h"
#include "partition/prove/interpreter.h"
#include "partition/prove/mutations.h"
#include "partition/skew/random_skew.h"
#include "partition/skew/skewed.h"

#include <gtest/gtest.h>
#include <polytile/polytile.h>

#include "support/scale.h"

extern "C" {
#include "partition/cache_blocking/in_place.h"
#include "partition/cache_blocking/resident.h"
#include "partition/window/plan.h"
}

/* Right schedules of every kind are accepted, and no mutant of one that is wrong: at least 20,000
 * of those at scale 1, all tests together. */

namespace {

struct Array {
    const char *name;
    std::vector<int64_t> extents;
};

struct Drawn {
    std::string declaration;
    std::vector<int64_t> lo, hi;
    std::vector<Array> arrays;
};

/** A small launch of one of the patterns that planners treat differently. */
Drawn DrawLaunch(Draw &draw) {
    const int64_t n = draw.Number(3, 24), m = draw.Number(2, 7), l = draw.Number(2, 6);
    const std::string r = std::to_string(draw.Number(1, 3));
    const Drawn launches[] = {
        {"add[i]: in x[i], y[i]; out z[i]", {0}, {n - 1}, {{"x", {n}}, {"y", {n}}, {"z", {n}}}},
        {"smooth[i]: in x[i-" + r + ":i+" + r + "]; out z[i]",
         {0},
         {n - 1},
         {{"x", {n}}, {"z", {n}}}},
        {"jacobi[i, j]: in A[i-1:i+1, j], A[i, j-1:j+1]; out B[i, j]",
         {1, 1},
         {m, l},
         {{"A", {m + 2, l + 2}}, {"B", {m + 2, l + 2}}}},
        {"matmul[i, j]: in A[i, :], B[:, j]; out C[i, j]",
         {0, 0},
         {m - 1, l - 1},
         {{"A", {m, 5}}, {"B", {5, l}}, {"C", {m, l}}}},
        {"gemm[i, j, k]: in A[i, k], B[k, j]; sum C[i, j]",
         {0, 0, 0},
         {m - 1, l - 1, 3},
         {{"A", {m, 4}}, {"B", {4, l}}, {"C", {m, l}}}},
        {"gemm0[i, j, k]: in A[i, k], B[k, j]; out sum C[i, j]",
         {0, 0, 0},
         {m - 1, l - 1, 3},
         {{"A", {m, 4}}, {"B", {4, l}}, {"C", {m, l}}}},
        {"total[i]: in x[i]; out sum s[0]", {0}, {n - 1}, {{"x", {n}}, {"s", {2}}}},
        {"largest[i, j]: in x[i, j]; out max s[j]",
         {0, 0},
         {m - 1, l - 1},
         {{"x", {m, l}}, {"s", {l}}}},
        {"coarsen[i]: in x[2*i:2*i+2]; out z[i]", {0}, {n - 1}, {{"x", {2 * n}}, {"z", {n}}}},
        {"spread[i]: in x[i]; out z[2*i]", {0}, {n - 1}, {{"x", {n}}, {"z", {2 * n}}}},
        {"pairs[i]: in x[4*i:4*i+1]; inout z[i]", {0}, {n - 1}, {{"x", {4 * n}}, {"z", {n}}}},
        {"lower[i, j]: in L[i, 0:i]; inout y[i, j]",
         {0, 0},
         {m - 1, l - 1},
         {{"L", {m, m}}, {"y", {m, l}}}},
        {"hankel[i, j]: in h[i+j]; out H[i, j]",
         {0, 0},
         {m - 1, l - 1},
         {{"h", {m + l}}, {"H", {m, l}}}},
        {"diagonal[i]: in A[i, i]; inout A[i, i]; out z[i]",
         {0},
         {m - 1},
         {{"A", {m, m}}, {"z", {m}}}},
        {"transpose[i, j]: in A[j, i]; out B[i, j]",
         {0, 0},
         {m - 1, l - 1},
         {{"A", {l, m}}, {"B", {m, l}}}},
        {"prefix[i]: in x[0:i]; out z[i]", {0}, {n - 1}, {{"x", {n}}, {"z", {n}}}},
    };
    return launches[draw.Below(std::size(launches))];
}

class Mutation : public ::testing::Test {
  protected:
    void SetUp() override { ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK); }
    void TearDown() override { polytile_context_destroy(ctx); }

    /** A random plan that fits, as its schedule. */
    bool Plan(Draw &draw, Handmade *made, std::string *text) {
        const Drawn launch = DrawLaunch(draw);
        polytile_kernel *kernel;
        EXPECT_EQ(polytile_kernel_create(ctx, launch.declaration.c_str(), nullptr, &kernel),
                  POLYTILE_OK)
            << polytile_last_error(ctx);
        std::vector<polytile_array *> arrays;
        int64_t all_bytes = 0;
        for (const Array &of : launch.arrays) {
            const polytile_type types[] = {POLYTILE_F32, POLYTILE_F64, POLYTILE_U8};
            const polytile_type type = types[draw.Below(3)];
            const polytile_domain domain = polytile_domain_from_extents(
                static_cast<int>(of.extents.size()), of.extents.data());
            arrays.push_back(nullptr);
            EXPECT_EQ(polytile_array_describe(ctx, of.name, type, &domain, &arrays.back()),
                      POLYTILE_OK);
            all_bytes += pti_box_count(&domain) * polytile_type_get_bytes(type);
        }
        const char *strategies[] = {"min-time", "min-traffic", "min-kernels"};
        int64_t block[POLYTILE_MAX_DIMS];
        for (size_t d = 0; d < launch.lo.size(); d++)
            block[d] = draw.Number(1, 3);
        polytile_launch_options options = {};
        options.plan.strategy = strategies[draw.Below(3)];
        options.plan.n_buffers = static_cast<int>(draw.Number(0, 3));
        options.plan.block = block;
        options.plan.n_streams = draw.Number(0, 6);
        const polytile_domain domain = polytile_domain_from_bounds(
            static_cast<int>(launch.lo.size()), launch.lo.data(), launch.hi.data());
        polytile_plan *plan = nullptr;
        polytile_status status = POLYTILE_NO_FIT;
        options.plan.limit_bytes = draw.Number(0, 9) == 0 ? 0 : draw.Number(1, all_bytes);
        for (; status == POLYTILE_NO_FIT && options.plan.limit_bytes < 64 * all_bytes;
             options.plan.limit_bytes += options.plan.limit_bytes / 2 + 1)
            status = polytile_plan_create(kernel, &domain, static_cast<int>(arrays.size()),
                                          arrays.data(), &options, &plan);
        EXPECT_EQ(status, POLYTILE_OK) << launch.declaration << ": " << polytile_last_error(ctx);
        if (status == POLYTILE_OK) {
            *made = Handmade::From(*plan->schedule);
            *text = launch.declaration + ", strategy " + options.plan.strategy + ", " +
                    std::to_string(made->superblocks.size()) + " superblocks, limit " +
                    std::to_string(made->limit_bytes) + ", streams " +
                    std::to_string(options.plan.n_streams);
        }
        polytile_plan_destroy(plan);
        for (polytile_array *array : arrays)
            polytile_array_destroy(array);
        polytile_kernel_destroy(kernel);
        return status == POLYTILE_OK;
    }

    polytile_context *ctx = nullptr;
};

/** A schedule that the checker and the interpreter find right. */
void ExpectAccepted(Handmade *right, const std::string &where) {
    ASSERT_TRUE(right->Holds()) << where << ": " << right->why;
    ASSERT_TRUE(Interpreter(*right).IsRight()) << where;
}

TEST_F(Mutation, BrokenSchedulesAreRejectedAndRightOnesAccepted) {
    Draw draw(test_seed("single launches"));
    Mutants mutants(&draw, false);
    for (int64_t round = 0; round < scaled(2200); round++) {
        Handmade right;
        std::string text;
        ASSERT_TRUE(Plan(draw, &right, &text));
        ASSERT_NO_FATAL_FAILURE(ExpectAccepted(&right, text));
        mutants.Try(right, 6);
    }
    mutants.ExpectRejected(7800);
    mutants.ExpectEveryKindRejected();
}

TEST_F(Mutation, BrokenSchedulesOfSeveralLaunchesAreRejectedAndRightOnesAccepted) {
    Draw draw(test_seed("several launches"));
    Mutants mutants(&draw, true);
    const int64_t n_rounds = scaled(1100);
    int64_t n_planned = 0;
    for (int64_t round = 0; round < n_rounds; round++) {
        HandQueue queue(static_cast<uint64_t>(draw.Number(0, INT64_MAX)));
        Handmade right;
        for (int window = 0; window < 3 && queue.Plan(&right); window++, n_planned++) {
            ASSERT_NO_FATAL_FAILURE(ExpectAccepted(&right, "window " + std::to_string(window)));
            mutants.Try(right, 8);
        }
    }
    EXPECT_GE(n_planned, least_count(n_rounds, 0.95));
    mutants.ExpectRejected(7700);
    mutants.ExpectEveryKindRejected();
}

/** Mutate a schedule of a planner for several launches, if the interpreter is quick with it. */
void TryPlanned(const pti_schedule *schedule, int64_t data_bytes, Mutants *mutants) {
    ASSERT_NE(schedule, nullptr);
    if (schedule->n_ops > 0 && schedule->n_ops <= 50 && data_bytes < 1500) {
        Handmade right = Handmade::From(*schedule);
        ASSERT_NO_FATAL_FAILURE(ExpectAccepted(&right, "planned"));
        mutants->Try(right, 20);
    }
}

void TryChain(Random *random, Mutants *through, Mutants *in_place) {
    RandomSkew skew(random);
    if (skew.chain().n_launches < 2)
        return;
    pti_skew_shape shape = AnyShape(skew.chain(), random);
    const pti_skew_request request = skew.Request(ArenaOf(skew.chain(), shape));
    pti_schedule *schedule = pti_skew_build(&request, &shape);
    TryPlanned(schedule, skew.data_bytes(), through);
    pti_schedule_free(schedule);
    shape.concurrent = false;
    schedule = pti_blocking_build_in_place(&skew.chain(), &shape);
    TryPlanned(schedule, skew.data_bytes(), in_place);
    pti_schedule_free(schedule);
}

TEST_F(Mutation, BrokenChainsAreRejectedAndRightOnesAccepted) {
    const uint64_t seed = test_seed("chains");
    Draw draw(seed);
    Mutants through(&draw, true), in_place(&draw, true);
    for (int64_t round = 0; round < scaled(1300) && !HasFailure(); round++) {
        Random random(seed + static_cast<uint64_t>(round));
        TryChain(&random, &through, &in_place);
    }
    through.ExpectRejected(1300);
    in_place.ExpectRejected(1200);
}

/** Some launches of a queue, one window after the other, on an arena that is rarely large
 * enough. */
void VisitWindows(Random *random,
                  const std::function<void(const pti_schedule *, int64_t need_bytes)> &visit) {
    std::vector<std::unique_ptr<CutLaunch>> launches;
    std::vector<bool> internal;
    int64_t need_bytes = 0;
    for (size_t a = 0; a < some_domains.size(); a++)
        internal.push_back(random->chance(25));
    for (int64_t n = random->number(1, 5); n > 0; n--) {
        const int64_t k = random->number(0, static_cast<int64_t>(some_kernels.size()) - 1);
        launches.push_back(
            std::make_unique<CutLaunch>(some_kernels[static_cast<size_t>(k)], some_domains));
        launches.back()->CutAtRandom(random);
        need_bytes = std::max(need_bytes, launches.back()->NeedBytes());
    }
    Resident resident(need_bytes + 256 * random->number(0, 16), some_domains, internal);
    for (int window = 0; window < 2; window++) {
        std::vector<pti_step> steps;
        for (const auto &launch : launches)
            steps.push_back(launch->Step());
        if (random->chance(30))
            steps.push_back(Flush(static_cast<int>(random->number(0, 7))));
        visit(resident.Plan(steps), need_bytes);
    }
}

TEST_F(Mutation, BrokenWindowsOfAQueueAreRejectedAndRightOnesAccepted) {
    const uint64_t seed = test_seed("windows");
    Draw draw(seed);
    Mutants mutants(&draw, true);
    for (int64_t round = 0; round < scaled(230) && !HasFailure(); round++) {
        Random random(seed + static_cast<uint64_t>(round));
        VisitWindows(&random, [&mutants](const pti_schedule *schedule, int64_t need_bytes) {
            TryPlanned(schedule, need_bytes, &mutants);
        });
    }
    mutants.ExpectRejected(2000);
}

TEST_F(Mutation, NumbersThatAreAnythingAreRefusedInWindowsOfAQueue) {
    const uint64_t seed = test_seed("numbers of windows");
    for (int64_t round = 0; round < scaled(300) && !HasFailure(); round++) {
        Random random(seed + static_cast<uint64_t>(round));
        VisitWindows(&random, [&random](const pti_schedule *schedule, int64_t) {
            ASSERT_NE(schedule, nullptr);
            pti_schedule *copy = pti_schedule_copy(schedule);
            ExpectExtremesRefused(NumbersOf(copy), 20, &random, [copy] { return Objection(copy); });
            pti_schedule_free(copy);
        });
    }
}

} // namespace
