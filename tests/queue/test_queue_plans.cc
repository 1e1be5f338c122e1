#include "queue/queue_test.h"

extern "C" {
#include "queue/queue.h"
}

namespace {

/** Launches that are planned once and run many times. */
class QueuePlans : public QueueTest {
  protected:
    static constexpr int64_t n = 32 * 1024;
    static constexpr const char *half = "host(memory=64KiB)"; /* of one array */

    /** Run a launch and wait; whether it was planned before. */
    bool is_hit(polytile_queue *queue, polytile_kernel *kernel, const polytile_domain &domain,
                std::initializer_list<polytile_array *> arrays) {
        const int64_t n_hits = pti_residency_n_hits(queue->residency);
        EXPECT_EQ(launch(queue, kernel, domain, arrays), POLYTILE_OK) << error();
        EXPECT_EQ(polytile_queue_wait(queue), POLYTILE_OK) << error();
        return pti_residency_n_hits(queue->residency) > n_hits;
    }

    /** The hits of launches of one kernel, each alone. */
    int count_hits(polytile_queue *queue, polytile_kernel *kernel, polytile_array *x,
                   int n_launches) {
        int n_hits = 0;
        for (int k = 0; k < n_launches; k++)
            n_hits += is_hit(queue, kernel, line(n), {x});
        return n_hits;
    }

    float doubled(int times) const { return static_cast<float>(int64_t{1} << times); }

    std::vector<float> x_memory = std::vector<float>(n, 1);
};

TEST_F(QueuePlans, AreFoundAgainWhenDataDoNotFit) {
    polytile_queue *queue = open(half);
    polytile_array *x = wrap("x", x_memory);
    polytile_kernel *doubling = scale();
    ASSERT_EQ(attach(queue, {x}), POLYTILE_OK) << error();
    EXPECT_GE(count_hits(queue, doubling, x, 20), 16);
    ASSERT_EQ(detach(queue, {x}), POLYTILE_OK) << error();
    EXPECT_EQ(x_memory, std::vector<float>(n, doubled(20)));
}

/** An array that is attached and not used takes nothing from one that is; once it is used, both are
 * cut so that they share the device. */
TEST_F(QueuePlans, AreForTheArraysThatLaunchesUse) {
    polytile_queue *queue = open("host(memory=192KiB)");
    std::vector<float> y_memory(n, 1);
    polytile_array *x = wrap("x", x_memory), *y = wrap("y", y_memory);
    polytile_kernel *doubling = scale();
    ASSERT_EQ(attach(queue, {x, y}), POLYTILE_OK) << error();
    for (int k = 1; k <= 6; k++) {
        is_hit(queue, doubling, line(n), {x});
        EXPECT_EQ(report(queue).n_kernels, k);
    }
    EXPECT_TRUE(is_hit(queue, doubling, line(n), {x}));
    EXPECT_FALSE(is_hit(queue, doubling, line(n), {y}));
    EXPECT_GT(report(queue, true).n_kernels, 8);
    EXPECT_FALSE(is_hit(queue, doubling, line(n), {x})) << "it is cut anew";
    EXPECT_GT(report(queue).n_kernels, 1);
    ASSERT_EQ(detach(queue, {x, y}), POLYTILE_OK) << error();
    EXPECT_EQ(x_memory, std::vector<float>(n, doubled(8)));
    EXPECT_EQ(y_memory, std::vector<float>(n, doubled(1)));
    ASSERT_EQ(attach(queue, {x, y}), POLYTILE_OK) << error();
    report(queue, true);
    is_hit(queue, doubling, line(n), {y});
    EXPECT_EQ(report(queue).n_kernels, 1) << "attached again, they are new";
    ASSERT_EQ(detach(queue, {x, y}), POLYTILE_OK) << error();
}

TEST_F(QueuePlans, AreOfOneKernelAndOneArray) {
    polytile_queue *queue = open(half);
    polytile_kernel *doubling = scale(), *again = scale();
    polytile_array *x = wrap("x", x_memory);
    ASSERT_EQ(attach(queue, {x}), POLYTILE_OK) << error();
    count_hits(queue, doubling, x, 8);
    EXPECT_FALSE(is_hit(queue, again, line(n), {x}));
    EXPECT_FALSE(is_hit(queue, doubling, line(n - 1), {x}));
    ASSERT_EQ(detach(queue, {x}), POLYTILE_OK) << error();
    EXPECT_EQ(x_memory[0], doubled(10));
    EXPECT_EQ(x_memory[n - 1], doubled(9));

    std::vector<float> y_memory(n, 1);
    polytile_array *y = wrap("y", y_memory);
    ASSERT_EQ(attach(queue, {y}), POLYTILE_OK) << error();
    EXPECT_FALSE(is_hit(queue, doubling, line(n), {y})) << "at the same position";
    count_hits(queue, doubling, y, 9);
    ASSERT_EQ(detach(queue, {y}), POLYTILE_OK) << error();
    EXPECT_EQ(y_memory, std::vector<float>(n, doubled(10)));
}

/** More launches than are kept prepared: those that are prepared anew have other plans. */
TEST_F(QueuePlans, EndWithThePreparedLaunch) {
    polytile_queue *queue = open(half);
    polytile_kernel *doubling = scale();
    polytile_array *x = wrap("x", x_memory);
    ASSERT_EQ(attach(queue, {x}), POLYTILE_OK) << error();
    for (int round = 0; round < 3; round++)
        for (int64_t k = 1; k <= PTI_MAX_PREPARED + 8; k++)
            is_hit(queue, doubling, line(k), {x});
    ASSERT_EQ(detach(queue, {x}), POLYTILE_OK) << error();
    EXPECT_EQ(x_memory[PTI_MAX_PREPARED + 7], doubled(3));
    EXPECT_EQ(x_memory[PTI_MAX_PREPARED + 8], 1);
}

TEST_F(QueuePlans, AreForgottenAfterAFailure) {
    Gate gate;
    polytile_queue *queue = open(half);
    polytile_kernel *doubling = scale();
    std::vector<float> z_memory(n, 1);
    polytile_array *x = wrap("x", x_memory), *z = wrap("z", z_memory);
    ASSERT_EQ(attach(queue, {x, z}), POLYTILE_OK) << error();
    count_hits(queue, doubling, x, 8);
    gate.let_return(3);
    ASSERT_EQ(launch(queue, gated(gate), line(8), {z}), POLYTILE_OK) << error();
    EXPECT_EQ(polytile_queue_wait(queue), POLYTILE_DEVICE);
    EXPECT_FALSE(is_hit(queue, doubling, line(n), {x}));
    EXPECT_GE(count_hits(queue, doubling, x, 8), 4);
}

} // namespace
