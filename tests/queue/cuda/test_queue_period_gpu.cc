#include "queue/queue_period.h"
#include "support/failing_api.h"
#include "support/fake_cuda.h"

#include <algorithm>

/* Chains with a period in a queue on a GPU. */

namespace {

using namespace queue_period;

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
