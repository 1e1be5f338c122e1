#include "support/failing_api.h"
#include "support/fake_cuda.h"

#include <gtest/gtest.h>

#include <polytile/kernel.h>
#include <polytile/polytile.h>

#include <atomic>
#include <cstdlib>
#include <functional>
#include <memory>
#include <vector>

extern "C" {
#include "launch/device/device.h"
#include "launch/device/execution.h"
#include "partition/prove/check.h"
#include "partition/window/plan.h"
#include "queue/queue.h"
}

/* Chains of so many slabs that their schedules have a period: a queue runs these stretch by
 * stretch, and a plan of them is what it runs. */

namespace {

POLYTILE_KERNEL(spread, (i), (const float, A, 1), (float, B, 1)) {
    PT_AT(B, i) = 0.25f * PT_AT(A, i - 1) + 0.5f * PT_AT(A, i) + 0.25f * PT_AT(A, i + 1);
}

enum { N = 200000, N_STEPS = 20 };

/** Counts the stretches of chains that a queue's device runs, beside the first of each schedule:
 * flat lists have no others. */
class StretchCount {
  public:
    explicit StretchCount(const polytile_queue *queue) : device_(queue->device) {
        n_later = 0;
        before_ = device_->functions;
        functions_ = *before_;
        functions_.begin = [](polytile_device *device, pti_execution *execution) {
            const bool is_later =
                execution->first_superblock > 0 && execution->schedule->n_launches > 1;
            n_later += is_later;
            const polytile_status status = before_->begin(device, execution);
            if (is_later && look)
                look();
            return status;
        };
        device_->functions = &functions_;
    }
    ~StretchCount() {
        device_->functions = before_;
        look = nullptr;
    }
    StretchCount(const StretchCount &) = delete;
    StretchCount &operator=(const StretchCount &) = delete;

    static inline std::atomic<int64_t> n_later{0};
    static inline std::function<void()> look; /* called as each of these has begun */

  private:
    static inline const pti_device_functions *before_ = nullptr;
    polytile_device *device_;
    pti_device_functions functions_;
};

class QueuePeriod : public testing::Test {
  protected:
    void SetUp() override {
        ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
        for (size_t k = 0; k < N; k++)
            start.push_back(static_cast<float>(k * 2654435761u % 1000) / 8);
        memory[0] = memory[1] = start;
        polytile_implementation implementation = spread_kernel;
        implementation.cuda = reinterpret_cast<const void *>(spread_kernel.host);
        ASSERT_EQ(polytile_kernel_create(ctx, "spread[i]: in A[i-1:i+1]; out B[i]", &implementation,
                                         &kernel),
                  POLYTILE_OK)
            << polytile_last_error(ctx);
        for (size_t a = 0; a < 2; a++) {
            const int64_t extents[] = {N};
            ASSERT_EQ(polytile_array_wrap(ctx, a == 0 ? "A" : "B", POLYTILE_F32, 1, extents,
                                          memory[a].data(), &array[a]),
                      POLYTILE_OK);
        }
        const int64_t lo[] = {1}, hi[] = {N - 2};
        domain = polytile_domain_from_bounds(1, lo, hi);
    }
    void TearDown() override {
        for (polytile_array *made : array)
            polytile_array_destroy(made);
        polytile_kernel_destroy(kernel);
        polytile_context_destroy(ctx);
    }

    /** The steps one after the other, on vectors. */
    void RunPlainly(std::vector<float> *on) const {
        for (int step = 0; step < N_STEPS; step++) {
            const std::vector<float> &from = on[step % 2];
            std::vector<float> &to = on[1 - step % 2];
            for (size_t i = 1; i + 1 < N; i++)
                to[i] = 0.25f * from[i - 1] + 0.5f * from[i] + 0.25f * from[i + 1];
        }
    }

    /** Queue the steps, and bring home what they leave. */
    polytile_status RunOn(polytile_queue *queue) {
        EXPECT_EQ(polytile_queue_attach(queue, 2, array), POLYTILE_OK);
        for (int step = 0; step < N_STEPS; step++) {
            polytile_array *arrays[] = {array[step % 2], array[1 - step % 2]};
            EXPECT_EQ(polytile_queue_launch(queue, kernel, &domain, 2, arrays, nullptr),
                      POLYTILE_OK);
        }
        const polytile_status detached = polytile_queue_detach(queue, 2, array);
        return detached == POLYTILE_OK ? polytile_queue_wait(queue) : detached;
    }
    void ExpectPlainResults() const {
        std::vector<float> expected[2] = {start, start};
        RunPlainly(expected);
        EXPECT_TRUE(memory[0] == expected[0]);
        EXPECT_TRUE(memory[1] == expected[1]);
    }

    polytile_context *ctx = nullptr;
    polytile_kernel *kernel = nullptr;
    polytile_array *array[2] = {};
    polytile_domain domain;
    std::vector<float> start, memory[2];
};

TEST_F(QueuePeriod, ResultsAreThoseOfPlainLoops) {
    static const char *const text = "host(memory=4KiB,threads=1)";
    polytile_device *device = nullptr;
    polytile_queue *queue = nullptr;
    ASSERT_EQ(polytile_device_open(ctx, text, &device), POLYTILE_OK);
    std::vector<polytile_chain_launch> launches(N_STEPS);
    polytile_array *to_and_fro[2][2] = {{array[0], array[1]}, {array[1], array[0]}};
    for (int step = 0; step < N_STEPS; step++) {
        polytile_chain_launch *launch = &launches[static_cast<size_t>(step)];
        launch->kernel = kernel;
        launch->domain = domain;
        launch->n_arrays = 2;
        launch->arrays = to_and_fro[step % 2];
    }
    polytile_plan_options options = {};
    options.limit_bytes = 4096;
    options.link = polytile_device_get_link(device);
    polytile_plan *plan = nullptr;
    ASSERT_EQ(polytile_plan_create_chain(N_STEPS, launches.data(), 0, nullptr, &options, &plan),
              POLYTILE_OK)
        << polytile_last_error(ctx);
    polytile_plan_summary summary;
    polytile_plan_get_summary(plan, &summary);
    EXPECT_GT(plan->schedule->period.times, 0) << summary.n_kernels;
    pti_text why = {};
    EXPECT_TRUE(pti_schedule_check(plan->schedule, &why)) << (why.data ? why.data : "");
    pti_text_free(&why);
    ASSERT_EQ(polytile_queue_create(ctx, text, &queue), POLYTILE_OK);
    auto count = std::make_unique<StretchCount>(queue);
    ASSERT_EQ(RunOn(queue), POLYTILE_OK) << polytile_last_error(ctx);
    polytile_report report;
    polytile_queue_get_report(queue, false, &report);
    EXPECT_GE(report.n_kernels, summary.n_kernels);
    EXPECT_GT(StretchCount::n_later, 1) << "none of the chains had a period";
    count.reset();
    ExpectPlainResults();
    int64_t n_threads = 0;
    for (int64_t k = 0; k < summary.n_kernels; k++) {
        polytile_domain threads;
        ASSERT_EQ(polytile_plan_get_superblock(plan, k, &threads), POLYTILE_OK);
        n_threads += threads.range[0].hi - threads.range[0].lo + 1;
    }
    EXPECT_EQ(n_threads, static_cast<int64_t>(N_STEPS) * (N - 2));
    polytile_plan_destroy(plan);
    polytile_queue_destroy(queue);
    polytile_device_close(device);
}

/** The stand-in for a GPU: one thread copies to and from pageable memory, so that it pays to pin
 * arrays for the whole schedule. */
class QueuePeriodGpu : public QueuePeriod {
  protected:
    QueuePeriodGpu() {
        cuda.add_kernel(reinterpret_cast<const void *>(spread_kernel.host), spread_kernel);
    }
    void SetUp() override {
        QueuePeriod::SetUp();
        ASSERT_EQ(polytile_queue_create(ctx, "cuda:0(memory=8KiB,threads=1)", &queue), POLYTILE_OK)
            << polytile_last_error(ctx);
        queue->device->link = polytile_link_default;
    }
    void TearDown() override {
        polytile_queue_destroy(queue);
        QueuePeriod::TearDown();
        EXPECT_EQ(cuda.n_pending(), 0);
        EXPECT_EQ(cuda.host().n_registrations(), 0);
        EXPECT_EQ(cuda.violations(), "");
    }

    FakeCuda cuda{1};
    FailingApi api;
    polytile_queue *queue = nullptr;
};

TEST_F(QueuePeriodGpu, ArraysStayPinnedFromStretchToStretch) {
    StretchCount count(queue);
    std::atomic<int64_t> fewest{INT64_MAX};
    StretchCount::look = [this, &fewest] {
        fewest = std::min<int64_t>(fewest, cuda.host().n_registrations());
    };
    ASSERT_EQ(RunOn(queue), POLYTILE_OK) << polytile_last_error(ctx);
    EXPECT_GT(StretchCount::n_later, 1) << "none of the chains had a period";
    EXPECT_GE(fewest, 2) << "of a ring of buffers alone?";
    EXPECT_LE(cuda.n_calls("cudaHostRegister"), 2 * StretchCount::n_later);
    ExpectPlainResults();
}

TEST_F(QueuePeriodGpu, ArraysAreUnpinnedAfterAStretchFailed) {
    StretchCount count(queue);
    StretchCount::look = [this] {
        if (StretchCount::n_later == 2)
            api.let_fail(100, "cudaLaunchKernel", cudaErrorUnknown);
    };
    EXPECT_EQ(RunOn(queue), POLYTILE_DEVICE);
    EXPECT_EQ(api.failed(), "cudaLaunchKernel");
    EXPECT_EQ(StretchCount::n_later, 2);
    EXPECT_FALSE(polytile_array_is_complete(array[0]) && polytile_array_is_complete(array[1]));
}

} // namespace
