#include "queue/queue_test.h"

#include <algorithm>

#include "support/environment.h"

extern "C" {
#include "queue/queue.h"
}

namespace {

POLYTILE_KERNEL(looked_up_gather, (e), (const float, x, 1), (const int32_t, K, 1), (float, z, 1)) {
    PT_AT(z, e) = PT_AT(x, PT_AT(K, e));
}

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

/** Launches whose result goes to the host after each. */
class QueuePlansWithResults : public QueuePlans {
  protected:
    static constexpr int64_t n = 4096;
    /** How often a result comes and goes until what is resident comes back, too. */
    static constexpr int n_first = 8;

    QueuePlansWithResults() {
        environment.set("POLYTILE_CHECK", "plan");
        for (int32_t k = 0; k < n; k++)
            K_memory[static_cast<size_t>(k)] = k / 2;
    }

    void SetUp() override {
        QueuePlans::SetUp();
        queue = open("host(memory=12KiB,threads=1)");
        x = wrap("x", x_memory);
        y = wrap("y", y_memory);
        const int64_t extent = n;
        ASSERT_EQ(polytile_array_wrap(ctx, "K", POLYTILE_I32, 1, &extent, K_memory.data(), &K),
                  POLYTILE_OK);
        gather = create("gather[e]: in x[K[e]]; out z[e]", &looked_up_gather_kernel);
        ASSERT_EQ(attach(queue, {x, K}), POLYTILE_OK) << error();
    }

    /** Make a result and take it to the host; whether the launch was planned before. */
    bool is_result_hit(polytile_array *result) {
        EXPECT_EQ(attach(queue, {result}), POLYTILE_OK) << error();
        const bool is = is_hit(queue, gather, line(n), {x, K, result});
        EXPECT_EQ(detach(queue, {result}), POLYTILE_OK) << error();
        return is;
    }

    void expect_gathered(const std::vector<float> &result) {
        for (size_t k = 0; k < n; k++)
            ASSERT_EQ(result[k], x_memory[static_cast<size_t>(K_memory[k])]) << k;
    }

    /** Change the index array, which the queue does not have meanwhile. */
    void change_indices() {
        EXPECT_EQ(detach(queue, {K}), POLYTILE_OK) << error();
        std::reverse(K_memory.begin(), K_memory.end());
        EXPECT_EQ(attach(queue, {K}), POLYTILE_OK) << error();
    }

    Environment environment;
    std::vector<float> x_memory = std::vector<float>(n, 1);
    std::vector<float> y_memory = std::vector<float>(n, 0);
    std::vector<int32_t> K_memory = std::vector<int32_t>(n);
    polytile_queue *queue = nullptr;
    polytile_array *x = nullptr, *y = nullptr, *K = nullptr;
    polytile_kernel *gather = nullptr;
};

TEST_F(QueuePlansWithResults, AreFoundAgainWhenTheResultComesAgain) {
    for (size_t k = 0; k < n; k++)
        x_memory[k] = static_cast<float>(k);
    for (int k = 0; k < n_first; k++)
        is_result_hit(y);
    const int64_t n_cut = queue->n_cut;
    for (int k = 0; k < 4; k++) {
        std::fill(y_memory.begin(), y_memory.end(), -1.0f);
        EXPECT_TRUE(is_result_hit(y));
        expect_gathered(y_memory);
    }
    EXPECT_EQ(queue->n_cut, n_cut) << "nothing was cut";
}

TEST_F(QueuePlansWithResults, AreMadeAnewForOtherIndices) {
    for (int k = 0; k < n_first; k++)
        is_result_hit(y);
    for (int k = 0; k < 2; k++) {
        const int64_t n_cut = queue->n_cut;
        change_indices();
        is_result_hit(y);
        EXPECT_GT(queue->n_cut, n_cut);
        expect_gathered(y_memory);
    }
}

/** Plans say nothing of memory, and the other array is at the place of the first one; but it is
 * another launch. */
TEST_F(QueuePlansWithResults, AreOfOneArrayAmongThoseThatComeAndGo) {
    std::vector<float> w_memory(n, 0);
    polytile_array *w = wrap("w", w_memory);
    for (int k = 0; k < 2 * n_first; k++) {
        is_result_hit(y);
        is_result_hit(w);
    }
    std::fill(w_memory.begin(), w_memory.end(), -1.0f);
    std::fill(y_memory.begin(), y_memory.end(), -1.0f);
    EXPECT_TRUE(is_result_hit(y));
    expect_gathered(y_memory);
    EXPECT_EQ(w_memory, std::vector<float>(n, -1.0f));
    EXPECT_TRUE(is_result_hit(w));
    expect_gathered(w_memory);
}

/** Each comes back at the position of the other one. */
TEST_F(QueuePlansWithResults, AreNotThoseOfOtherPositions) {
    for (int k = 0; k < n_first; k++)
        is_result_hit(y);
    ASSERT_EQ(detach(queue, {x}), POLYTILE_OK) << error();
    for (size_t k = 0; k < n; k++)
        x_memory[k] = static_cast<float>(2 * k + 1);
    ASSERT_EQ(attach(queue, {y, x}), POLYTILE_OK) << error();
    EXPECT_FALSE(is_hit(queue, gather, line(n), {x, K, y}));
    ASSERT_EQ(detach(queue, {y}), POLYTILE_OK) << error();
    expect_gathered(y_memory);
}

} // namespace
