#ifndef POLYTILE_TESTS_QUEUE_QUEUE_PERIOD_H
#define POLYTILE_TESTS_QUEUE_QUEUE_PERIOD_H

#include <gtest/gtest.h>

#include <polytile/kernel.h>
#include <polytile/polytile.h>

#include <atomic>
#include <functional>
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

namespace queue_period {

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

} // namespace queue_period

#endif
