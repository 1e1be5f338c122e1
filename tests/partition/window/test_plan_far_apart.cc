extern "C" {
#include "partition/choose/grain.h"
#include "partition/memory/residency.h"
#include "partition/schedule/builder.h"
}

#include <polytile/polytile.h>

#include "support/chain_launch.h"
#include "support/launch.h"
#include "support/random.h"
#include "support/scale.h"

#include <algorithm>
#include <ctime>
#include <gtest/gtest.h>
#include <string>
#include <vector>

/* Threads that touch elements of one array which lie far apart. Where the array is held in one
 * piece, as a view or for a launcher, a superblock of one thread has a small one, stored without
 * its gaps, and one of two threads has all that lies between. */

namespace {

constexpr int64_t KiB = int64_t{1} << 10, MiB = int64_t{1} << 20;

struct Kernel {
    std::string declaration;
    std::string threads;
};

/** Halves of stretches of 2 h elements together, as one step of a butterfly. */
Kernel Butterfly(int64_t n, int64_t h) {
    const std::string stretch = std::to_string(2 * h) + "*g+k", half = std::to_string(h);
    return {"w[g, k]: inout x[" + stretch + "], x[" + stretch + "+" + half + "]",
            std::to_string(n / (2 * h)) + "x" + half};
}

enum class Hold { whole, whole_view, in_pieces };

/** What becomes of launches over one array of n floats, in turn, a number of times. */
class Planned {
  public:
    Planned(int64_t n, int64_t limit_bytes, const std::vector<Kernel> &kernels, int n_steps,
            Hold hold = Hold::whole) {
        polytile_implementation body = {};
        body.host_launcher = [](const polytile_sub_kernel *) { return 0; };
        polytile_context_create(&ctx_);
        polytile_array *x = nullptr;
        describe(n, hold, &x);
        std::vector<polytile_chain_launch> launches;
        for (const Kernel &of : kernels) {
            polytile_kernel *kernel = nullptr;
            EXPECT_EQ(polytile_kernel_create(ctx_, of.declaration.c_str(),
                                             hold == Hold::whole ? &body : nullptr, &kernel),
                      POLYTILE_OK)
                << error();
            launches.push_back(chain_launch(kernel, domain_of(of.threads), &x));
        }
        for (int step = 1; step < n_steps; step++)
            launches.insert(launches.end(), launches.begin(),
                            launches.begin() + static_cast<int64_t>(kernels.size()));
        polytile_launch_options options = {};
        options.plan.limit_bytes = limit_bytes;
        polytile_plan *plan = nullptr;
        const std::clock_t begin = std::clock();
        status =
            launches.size() == 1
                ? polytile_plan_create(launches[0].kernel, &launches[0].domain,
                                       polytile_kernel_get_n_arrays(launches[0].kernel), &x,
                                       &options, &plan)
                : polytile_plan_create_chain(static_cast<int>(launches.size()), launches.data(), 0,
                                             nullptr, &options.plan, &plan);
        seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
        polytile_plan_get_summary(plan, &summary);
    }
    ~Planned() { polytile_context_destroy(ctx_); }
    Planned(const Planned &) = delete;
    Planned &operator=(const Planned &) = delete;

    std::string error() const { return polytile_last_error(ctx_); }

    polytile_status status;
    polytile_plan_summary summary = {};
    double seconds = 0; /* of the processor */

  private:
    /** Describe an array of n elements, which as a view is all but the last of one more. */
    void describe(int64_t n, Hold hold, polytile_array **x) {
        const polytile_domain all = domain_of(std::to_string(n));
        const polytile_domain base = domain_of(std::to_string(n + 1));
        if (hold != Hold::whole_view) {
            polytile_array_describe(ctx_, "x", POLYTILE_F32, &all, x);
            return;
        }
        polytile_array *more = nullptr;
        polytile_array_describe(ctx_, "more", POLYTILE_F32, &base, &more);
        EXPECT_EQ(polytile_array_select(more, "x", &all, x), POLYTILE_OK) << error();
    }

    polytile_context *ctx_ = nullptr;
};

TEST(FarApart, SeveralLaunchesAreCutAsOneAlone) {
    const struct {
        int64_t n, h, limit_bytes;
    } cases[] = {{16384, 4096, 48 * KiB},
                 {1 << 20, 1 << 18, 3 * MiB},
                 {1 << 22, 1 << 20, 12 * MiB},
                 {1 << 18, 1 << 14, 384 * KiB}};
    for (const auto &of : cases) {
        SCOPED_TRACE(of.n);
        const std::vector<Kernel> kernels = {Butterfly(of.n, of.h)};
        const Planned alone(of.n, of.limit_bytes, kernels, 1);
        const Planned two(of.n, of.limit_bytes, kernels, 2);
        ASSERT_EQ(alone.status, POLYTILE_OK) << alone.error();
        ASSERT_EQ(two.status, POLYTILE_OK) << two.error();
        EXPECT_LE(two.summary.n_kernels, 64);
        EXPECT_LE(two.summary.n_kernels, 2 * alone.summary.n_kernels);
    }
}

TEST(FarApart, FormerCutsInTooManyPiecesAreNotTaken) {
    const Kernel of = Butterfly(1 << 15, 1 << 14);
    const Launch launch(of.declaration, of.threads, {{"x", std::to_string(1 << 15)}});
    pti_partition threads = {}, cut = {};
    const polytile_domain &all = launch.instance()->threads;
    for (int64_t k = 0; k <= all.range[1].hi; k++) {
        polytile_domain one = all;
        one.range[1].lo = one.range[1].hi = k;
        ASSERT_TRUE(pti_partition_add(&threads, &one));
    }
    const polytile_plan_options options = {};
    pti_ways ways = pti_ways_of({launch.instance(), nullptr}, false);
    const pti_grain_request request = {&ways, &options, 160 * KiB, false, &threads};
    int way = -1;
    EXPECT_EQ(pti_grain_choose(launch.context(), &request, &cut, &way), POLYTILE_OK)
        << launch.error();
    EXPECT_EQ(cut.n_superblocks, 1);
    pti_partition_free(&threads);
    pti_partition_free(&cut);
}

TEST(FarApart, MoreSubKernelsThanArePlannedAreRefusedWithTheReason) {
    const std::vector<Kernel> kernels = {Butterfly(1 << 23, 1 << 22)};
    const std::string advice =
        "sections of x lie far apart, or move apart, and a function by hand or a launcher gets one "
        "box around them: name it twice in the declaration, and give the array for both names";
    const Planned alone(1 << 23, 5 * MiB, kernels, 1);
    EXPECT_EQ(alone.status, POLYTILE_NO_FIT);
    EXPECT_EQ(alone.error(), "w: 4194304 sub-kernels with each array in one piece, 13 with "
                             "sections that lie apart by themselves; " +
                                 advice);
    EXPECT_LT(alone.seconds, 2);
    const Planned several(1 << 23, 5 * MiB, kernels, 2);
    EXPECT_EQ(several.status, POLYTILE_UNSUPPORTED);
    EXPECT_EQ(several.error(),
              "w: a limit of 5 MiB takes 4194304 sub-kernels; at most 262144 are planned; raise "
              "the limit, or declare what sections touch far apart in one array as two arrays; " +
                  advice);
    EXPECT_LT(several.seconds, 2);
}

TEST(FarApart, InPiecesLaunchesTakeAsManySubKernelsAsTheirBytesDo) {
    for (const int64_t h : {1 << 22, 1 << 20, 1 << 16, 1 << 13}) {
        const std::vector<Kernel> kernels = {Butterfly(1 << 23, h)};
        for (int n_steps : {1, 4}) {
            const Planned of(1 << 23, 5 * MiB, kernels, n_steps, Hold::in_pieces);
            SCOPED_TRACE(h);
            ASSERT_EQ(of.status, POLYTILE_OK) << of.error();
            EXPECT_LE(of.summary.n_kernels, 64 * n_steps);
            EXPECT_LE(of.summary.h2d_bytes, n_steps * 32 * MiB);
            EXPECT_LT(of.seconds, 2);
        }
    }
}

TEST(FarApart, LaunchesThatTakeTooManySubKernelsTogetherAreRefusedWithTheReason) {
    const Planned of(1 << 18, 160 * KiB, {Butterfly(1 << 18, 1 << 17), {"v[i]: inout x[i]", "7"}},
                     3, Hold::whole_view);
    EXPECT_EQ(of.status, POLYTILE_UNSUPPORTED);
    EXPECT_NE(of.error().find("launches take more than 262144 sub-kernels within 160 KiB, which is "
                              "the most that are planned together; plan fewer launches, or raise "
                              "the limit"),
              std::string::npos)
        << of.error();
}

TEST(FarApart, PiecesBetweenEachOtherTakeSecondsToPlan) {
    const int64_t h = scaled(100) < 100 ? 1 << 12 : 1 << 16, n = 2 * h;
    const Planned of(n, h + h / 4, {Butterfly(n, h)}, 2, Hold::whole_view);
    ASSERT_EQ(of.status, POLYTILE_OK) << of.error();
    EXPECT_EQ(of.summary.n_kernels, 2 * h);
    EXPECT_LT(of.seconds, 10);
}

/** A launcher gets the box around both halves, which leaves room for a few threads at once. */
TEST(FarApart, LaunchersThatWouldRunAFewThreadsAtATimeAreRefusedWithTheReason) {
    const int64_t h = 1 << 12, n = 2 * h;
    for (int n_steps : {1, 2}) {
        const Planned of(n, h + h / 4, {Butterfly(n, h)}, n_steps);
        EXPECT_EQ(of.status, POLYTILE_NO_FIT);
        EXPECT_NE(of.error().find("w: 4096 sub-kernels with each array in one piece"),
                  std::string::npos)
            << of.error();
        EXPECT_NE(of.error().find("name it twice in the declaration"), std::string::npos)
            << of.error();
    }
}

TEST(FarApart, PiecesAreAsFewForAQueueAsForALaunchAlone) {
    constexpr int64_t n = 1 << 18;
    const Kernel of = Butterfly(n, 1 << 16);
    polytile_context *ctx = nullptr;
    polytile_context_create(&ctx);
    polytile_queue *queue = nullptr;
    ASSERT_EQ(polytile_queue_create(ctx, "host(memory=768KiB)", &queue), POLYTILE_OK);
    std::vector<float> data(n);
    polytile_array *x = nullptr;
    polytile_array_wrap(ctx, "x", POLYTILE_F32, 1, &n, data.data(), &x);
    polytile_implementation body = {};
    body.host_launcher = [](const polytile_sub_kernel *) { return 0; };
    polytile_kernel *kernel = nullptr;
    polytile_kernel_create(ctx, of.declaration.c_str(), &body, &kernel);
    polytile_queue_attach(queue, 1, &x);
    const polytile_domain threads = domain_of(of.threads);
    for (int step = 0; step < 4; step++)
        ASSERT_EQ(polytile_queue_launch(queue, kernel, &threads, 1, &x, nullptr), POLYTILE_OK);
    ASSERT_EQ(polytile_queue_detach(queue, 1, &x), POLYTILE_OK) << polytile_last_error(ctx);
    polytile_report report = {};
    polytile_queue_get_report(queue, false, &report);
    EXPECT_LE(report.n_kernels, 4 * 64);
    polytile_context_destroy(ctx);
}

TEST(FarApart, SumsThatAreTooScatteredAreRefusedWithTheReason) {
    if (scaled(100) < 100)
        GTEST_SKIP() << "it takes as many boxes as there may be";
    const Launch launch("w[p, k, i]: in x[i, p+32768*k]; out sum s[p+32768*k]", "32768x16x8",
                        {{"x", "8x524288"}, {"s", "524288"}});
    const polytile_plan_options options = {};
    pti_ways ways = pti_ways_of({launch.instance(), nullptr}, false);
    const pti_grain_request request = {&ways, &options, 3465554, false, nullptr};
    pti_partition cut = {};
    int way = -1;
    EXPECT_EQ(pti_grain_choose(launch.context(), &request, &cut, &way), POLYTILE_UNSUPPORTED);
    EXPECT_NE(launch.error().find("their transfers are too many, or too scattered, to be planned: "
                                  "there may be 4194304 operations, which may go through 268435456 "
                                  "boxes; raise the limit"),
              std::string::npos)
        << launch.error();
    pti_partition_free(&cut);
}

Kernel DrawKernel(Random *random, int64_t n) {
    const int64_t h = random->number(1, n / 2), s = std::min<int64_t>(n, random->number(2, 4096));
    const std::string stride = std::to_string(s);
    switch (random->number(0, 3)) {
    case 0:
        return Butterfly(n, int64_t{1} << random->number(0, 9));
    case 1:
        return {"w[k]: inout x[k], x[k+" + std::to_string(h) + "]",
                std::to_string(std::min(h, n - h))};
    case 2:
        return {"w[k]: inout x[k], x[" + std::to_string(n - 1) + "-k]", std::to_string(n / 2)};
    default:
        return {"w[p, k]: inout x[p+" + stride + "*k]", stride + "x" + std::to_string(n / s)};
    }
}

/** None takes a minute: the slowest found took 34 s. Seconds are those of a build for use: where
 * tests are shortened, arrays are too. */
TEST(FarApart, RandomLaunchesArePlannedInSecondsOrRefused) {
    Random random(test_seed("FarApart"));
    const int64_t most = scaled(100) < 100 ? 15 : 20;
    for (int64_t round = scaled(60); round > 0; round--) {
        const int64_t n = int64_t{1} << random.number(10, most);
        const int64_t limit_bytes = 4 * n / random.number(2, 64);
        std::vector<Kernel> kernels;
        for (int64_t k = random.number(1, 2); k > 0; k--)
            kernels.push_back(DrawKernel(&random, n));
        const Planned of(n, limit_bytes, kernels, static_cast<int>(random.number(1, 8)));
        SCOPED_TRACE(kernels[0].declaration + " over " + kernels[0].threads + "; " +
                     kernels.back().declaration + " over " + kernels.back().threads + ": " +
                     std::to_string(n) + " floats, " + std::to_string(limit_bytes) + " bytes");
        EXPECT_LT(of.seconds, 60);
        EXPECT_LE(of.summary.n_kernels, 8 * PTI_MAX_SUPERBLOCKS);
        if (of.status != POLYTILE_OK) {
            EXPECT_TRUE(of.status == POLYTILE_NO_FIT || of.status == POLYTILE_UNSUPPORTED);
            EXPECT_TRUE(of.error().find("limit") != std::string::npos ||
                        of.error().find("name it twice") != std::string::npos)
                << of.error();
        }
    }
}

} // namespace
