#include "queue/queue_test.h"

#include "support/environment.h"
#include "support/random.h"
#include "support/scale.h"

#include <algorithm>
#include <chrono>
#include <set>

extern "C" {
#include "access/declare/kernel.h"
#include "queue/queue.h"
}

namespace {

/** Launches are prepared once for each thing that they depend on. */
class QueuePrepare : public QueueTest, public testing::WithParamInterface<const char *> {
  protected:
    void SetUp() override {
        QueueTest::SetUp();
        queue = open(GetParam());
        x = wrap("x", x_memory);
        y = wrap("y", y_memory);
        z = wrap("z", z_memory);
        adding = add();
        ASSERT_EQ(attach(queue, {x, y, z}), POLYTILE_OK) << error();
    }

    polytile_status launch_with(const polytile_launch_options &options) {
        return launch(queue, adding, all, {x, y, z}, &options);
    }

    const polytile_domain all = line(2000);
    std::vector<float> x_memory = std::vector<float>(2000, 1);
    std::vector<float> y_memory = std::vector<float>(2000, 1);
    std::vector<float> z_memory = std::vector<float>(2000, 1);
    polytile_queue *queue = nullptr;
    polytile_array *x = nullptr, *y = nullptr, *z = nullptr;
    polytile_kernel *adding = nullptr;
};

INSTANTIATE_TEST_SUITE_P(Devices, QueuePrepare, testing::Values("host", "host(memory=64KiB)"));

TEST_P(QueuePrepare, TheSameLaunchIsPreparedOnce) {
    for (int k = 0; k < 5; k++)
        ASSERT_EQ(launch(queue, adding, all, {x, y, z}), POLYTILE_OK) << error();
    EXPECT_EQ(queue->n_prepared, 1);
    ASSERT_EQ(polytile_queue_launch(queue, adding, &all, 0, nullptr, nullptr), POLYTILE_OK);
    EXPECT_EQ(queue->n_prepared, 1);
}

TEST_P(QueuePrepare, WhateverItDependsOnMakesAnother) {
    int n_different = 0;
    polytile_launch_options options = {};
    const auto expect_another = [&](polytile_status status) {
        EXPECT_EQ(status, POLYTILE_OK) << error();
        EXPECT_EQ(queue->n_prepared, ++n_different);
    };
    const auto expect_another_once = [&] {
        expect_another(launch_with(options));
        EXPECT_EQ(launch_with(options), POLYTILE_OK) << error();
        EXPECT_EQ(queue->n_prepared, n_different);
    };
    const int64_t block = 8, other_block = 16;
    polytile_link link = polytile_link_default;
    link.launch_latency_s *= 2;
    expect_another_once();
    expect_another(launch(queue, adding, line(999), {x, y, z}));
    expect_another(launch(queue, adding, all, {y, x, z}));
    expect_another(launch(queue, add(), all, {x, y, z}));
    options.plan.block = &block;
    expect_another_once();
    options.plan.block = &other_block;
    expect_another_once();
    options.plan.strategy = "min-traffic";
    expect_another_once();
    options.plan.n_buffers = 2;
    expect_another_once();
    options.plan.launches_per_pass = 4;
    expect_another_once();
    options.plan.link = &link;
    expect_another_once();
    adding->character.reuse = POLYTILE_LEVEL_HIGH;
    expect_another_once();
}

TEST_P(QueuePrepare, ParametersAreComparedByNameAndValue) {
    const polytile_parameter values[][2] = {
        {POLYTILE_PARAMETER("a", 1), POLYTILE_PARAMETER("b", 3)},
        {POLYTILE_PARAMETER("a", 1), POLYTILE_PARAMETER("b", 4)},
        {POLYTILE_PARAMETER("b", 1), POLYTILE_PARAMETER("a", 3)},
        {POLYTILE_PARAMETER("a", 1), POLYTILE_PARAMETER("b", 3)}};
    const int n_prepared[] = {1, 2, 3, 3};
    polytile_implementation nothing = {};
    nothing.host = [](const polytile_domain *, const polytile_view *, void *) {};
    polytile_kernel *shifting = create("shifting[i]: in x[i+a:i+b]; out y[i]", &nothing);
    for (int k = 0; k < 4; k++) {
        polytile_launch_options options = {};
        options.n_parameters = 2;
        options.parameters = values[k];
        ASSERT_EQ(launch(queue, shifting, line(1000), {x, y}, &options), POLYTILE_OK) << error();
        EXPECT_EQ(queue->n_prepared, n_prepared[k]);
    }
}

TEST_P(QueuePrepare, ValuesThatBodiesAloneNameMakeNoOther) {
    polytile_implementation nothing = {};
    nothing.host = [](const polytile_domain *, const polytile_view *, void *) {};
    polytile_kernel *scaling = create("scaling[i](f32 a): in x[i]; out y[i]", &nothing);
    for (int k = 1; k <= 4; k++) {
        const polytile_parameter value = POLYTILE_PARAMETER("a", static_cast<float>(k));
        polytile_launch_options options = {};
        options.n_parameters = 1;
        options.parameters = &value;
        ASSERT_EQ(launch(queue, scaling, line(1000), {x, y}, &options), POLYTILE_OK) << error();
        ASSERT_EQ(polytile_queue_wait(queue), POLYTILE_OK) << error();
        EXPECT_EQ(queue->n_prepared, 1);
    }
}

TEST_P(QueuePrepare, LaunchesOfAnArrayThatLeavesAreForgotten) {
    std::vector<float> w_memory(2000);
    polytile_array *w = wrap("w", w_memory);
    ASSERT_EQ(attach(queue, {w}), POLYTILE_OK) << error();
    ASSERT_EQ(launch(queue, adding, all, {x, y, z}), POLYTILE_OK) << error();
    ASSERT_EQ(launch(queue, adding, all, {x, y, w}), POLYTILE_OK) << error();
    EXPECT_EQ(queue->n_prepared, 2);
    ASSERT_EQ(detach(queue, {w}), POLYTILE_OK) << error();
    EXPECT_EQ(queue->n_prepared, 1);
    polytile_array_destroy(z);
    EXPECT_EQ(queue->n_prepared, 0);
}

TEST_P(QueuePrepare, TheOldestGoWhenThereAreTooMany) {
    for (int k = 0; k < PTI_MAX_PREPARED + 20; k++) {
        ASSERT_EQ(launch(queue, adding, line(100 + k), {x, y, z}), POLYTILE_OK) << error();
        ASSERT_EQ(launch(queue, adding, line(99), {x, y, z}), POLYTILE_OK) << error();
        ASSERT_EQ(polytile_queue_wait(queue), POLYTILE_OK) << error();
    }
    EXPECT_EQ(queue->n_prepared, PTI_MAX_PREPARED);
    ASSERT_EQ(launch(queue, adding, line(99), {x, y, z}), POLYTILE_OK) << error();
    ASSERT_EQ(launch(queue, adding, line(100 + PTI_MAX_PREPARED), {x, y, z}), POLYTILE_OK);
    EXPECT_EQ(queue->n_prepared, PTI_MAX_PREPARED);
}

/** Expect that the list by last use has each launch of the cache once, and the newest last. */
void expect_all_are_listed(const polytile_queue &queue, const pti_prepared *newest) {
    std::set<const pti_prepared *> kept, listed;
    for (const pti_prepared *bucket : queue.prepared)
        for (const pti_prepared *next = bucket; next != nullptr; next = next->next)
            kept.insert(next);
    const pti_prepared *before = nullptr;
    for (const pti_prepared *next = queue.oldest_used; next != nullptr; next = next->newer) {
        ASSERT_EQ(next->older, before);
        ASSERT_TRUE(listed.insert(next).second);
        before = next;
    }
    EXPECT_EQ(before, queue.newest_used);
    EXPECT_EQ(listed, kept);
    EXPECT_EQ(static_cast<size_t>(queue.n_prepared), kept.size());
    if (newest != nullptr)
        EXPECT_EQ(queue.newest_used, newest);
}

const pti_prepared *find_over(const polytile_queue &queue, int64_t n) {
    for (const pti_prepared *bucket : queue.prepared)
        for (const pti_prepared *next = bucket; next != nullptr; next = next->next)
            if (pti_range_count(next->domain.range[0]) == n)
                return next;
    return nullptr;
}

/** Launches that are queued, refused, thrown out, and come back when their arrays do. */
TEST_P(QueuePrepare, AllAreListedByTheirLastUse) {
    Random random(test_seed("QueuePrepare.AllAreListedByTheirLastUse"));
    for (int64_t step = 0; step < scaled(2000); step++) {
        const int64_t n = random.number(1, 2000), what = random.number(0, 99);
        bool is_queued = false;
        if (what < 80)
            is_queued = launch(queue, adding, line(random.chance(50) ? n : n % 16 + 1),
                               {x, y, z}) == POLYTILE_OK;
        else if (what < 85)
            EXPECT_NE(launch(queue, adding, line(2000 + n), {x, y, z}), POLYTILE_OK);
        else if (what < 95)
            ASSERT_EQ(polytile_queue_wait(queue), POLYTILE_OK) << error();
        else if (what < 97)
            polytile_queue_pause(queue);
        else if (what < 99)
            polytile_queue_resume(queue);
        else {
            ASSERT_EQ(detach(queue, {z}), POLYTILE_OK) << error();
            expect_all_are_listed(*queue, nullptr);
            ASSERT_EQ(attach(queue, {z}), POLYTILE_OK) << error();
        }
        EXPECT_EQ(is_queued, what < 80) << error();
        expect_all_are_listed(*queue, nullptr);
    }
    polytile_queue_resume(queue);
    for (const int64_t n : {5, 6, 5}) {
        ASSERT_EQ(launch(queue, adding, line(n), {x, y, z}), POLYTILE_OK) << error();
        expect_all_are_listed(*queue, find_over(*queue, n));
    }
}

/** A launch that the check of its accesses refuses is prepared, but not queued. */
TEST_F(QueueTest, WhatIsRefusedOnceItIsPreparedIsListed) {
    Environment environment;
    environment.set("POLYTILE_CHECK", "access");
    polytile_context *checking = nullptr;
    ASSERT_EQ(polytile_context_create(&checking), POLYTILE_OK);
    std::swap(ctx, checking);
    std::vector<float> x_memory(40, 1);
    polytile_implementation wrong = {};
    wrong.host = [](const polytile_domain *threads, const polytile_view *views, void *) {
        for (int64_t i = threads->range[0].lo; i <= threads->range[0].hi; i++)
            *reinterpret_cast<float *>(static_cast<char *>(views[0].origin) +
                                       (i + 1) * views[0].stride_bytes[0]) += 1;
    };
    polytile_kernel *bad = create("bad[i]: inout x[i]", &wrong), *scaling = scale();
    polytile_array *x = wrap("x", x_memory);
    polytile_queue *queue = open("host(memory=64KiB)");
    ASSERT_EQ(attach(queue, {x}), POLYTILE_OK) << error();
    for (int64_t k = 0; k < PTI_MAX_PREPARED + 20; k++) {
        const int64_t n = 1 + k % 30;
        EXPECT_NE(launch(queue, bad, line(n), {x}), POLYTILE_OK);
        expect_all_are_listed(*queue, nullptr);
        if (k % 8 == 0)
            EXPECT_EQ(launch(queue, scaling, line(n), {x}), POLYTILE_OK) << error();
        expect_all_are_listed(*queue, nullptr);
    }
    EXPECT_GT(queue->n_prepared, 30);
    polytile_queue_destroy(queue);
    std::swap(ctx, checking);
    polytile_context_destroy(checking);
}

TEST_P(QueuePrepare, WhatIsQueuedIsNeverThrownOut) {
    polytile_queue_pause(queue);
    for (int k = 0; k < PTI_MAX_PREPARED + 20; k++)
        ASSERT_EQ(launch(queue, adding, line(100 + k), {x, y, z}), POLYTILE_OK) << error();
    EXPECT_EQ(queue->n_prepared, PTI_MAX_PREPARED + 20);
    ASSERT_EQ(polytile_queue_wait(queue), POLYTILE_OK) << error();
    ASSERT_EQ(launch(queue, adding, line(99), {x, y, z}), POLYTILE_OK) << error();
    EXPECT_EQ(queue->n_prepared, PTI_MAX_PREPARED);
    ASSERT_EQ(detach(queue, {z}), POLYTILE_OK) << error();
    std::vector<float> expected(2000, 1);
    std::fill(expected.begin(), expected.begin() + 100 + PTI_MAX_PREPARED + 19, 2.0f);
    EXPECT_EQ(z_memory, expected);
}

/** The figure is 5 us; the median of many, so that other work on the machine does not count. */
TEST_P(QueuePrepare, ACachedLaunchIsQueuedInMicroseconds) {
    std::vector<double> taken_s;
    polytile_queue_pause(queue);
    for (int k = 0; k < 2001; k++) {
        const auto start = std::chrono::steady_clock::now();
        ASSERT_EQ(launch(queue, adding, all, {x, y, z}), POLYTILE_OK) << error();
        taken_s.push_back(
            std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    }
    std::nth_element(taken_s.begin(), taken_s.begin() + 1000, taken_s.end());
    RecordProperty("median_ns", static_cast<int>(1e9 * taken_s[1000]));
    const bool is_slow_build = scaled(100) < 100; /* a sanitizer's */
    EXPECT_LT(taken_s[1000], is_slow_build ? 50e-6 : 5e-6);
    ASSERT_EQ(polytile_queue_wait(queue), POLYTILE_OK) << error();
}

/** In pieces of 256 bytes: three operands would need 768, the two arrays that they are need 512. */
TEST_F(QueueTest, ALaunchWithOneArrayTwiceStaysWholeWhereOthersTakeTheRest) {
    std::vector<float> x_memory(10, 1), y_memory(10, 1), z_memory(10, 0);
    polytile_array *x = wrap("x", x_memory), *y = wrap("y", y_memory), *z = wrap("z", z_memory);
    polytile_kernel *adding = add(), *scaling = scale();
    polytile_queue *queue = open("host(memory=512B)");
    ASSERT_EQ(attach(queue, {x, y, z}), POLYTILE_OK) << error();
    for (int k = 0; k < 3; k++) {
        ASSERT_EQ(launch(queue, adding, line(10), {x, x, z}), POLYTILE_OK) << error();
        ASSERT_EQ(launch(queue, scaling, line(10), {y}), POLYTILE_OK) << error();
        ASSERT_EQ(polytile_queue_wait(queue), POLYTILE_OK) << error();
    }
    EXPECT_EQ(launch(queue, adding, line(10), {x, y, z}), POLYTILE_NO_FIT);
    ASSERT_EQ(detach(queue, {x, y, z}), POLYTILE_OK) << error();
    EXPECT_EQ(z_memory, std::vector<float>(10, 2));
    EXPECT_EQ(y_memory, std::vector<float>(10, 8));
}

} // namespace
