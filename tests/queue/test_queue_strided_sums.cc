#include "queue/queue_test.h"
#include "support/environment.h"
#include "support/mixture.h"

/* Reductions that start from the identity, into elements with others between them. */

namespace {

class QueueStridedSums : public QueueTest {
  protected:
    void SetUp() override {
        environment_.set("POLYTILE_CHECK", "plan");
        QueueTest::SetUp();
    }

  private:
    Environment environment_;
};

/** Rows i and i + 2, of every fourth column from i and every third plane from k. */
const polytile_implementation body = [] {
    polytile_implementation made = {};
    made.host = [](const polytile_domain *threads, const polytile_view *views, void *) {
        const polytile_view &view = views[0];
        const auto add = [&](int64_t a, int64_t b, int64_t c) {
            const int64_t at[] = {a, b, c};
            *static_cast<float *>(address_in(view, at, 3)) += 1;
        };
        for (int64_t i = threads->range[0].lo; i <= threads->range[0].hi; i++)
            for (int64_t k = threads->range[1].lo; k <= threads->range[1].hi; k++)
                for (int64_t part = 0; part < 8; part++)
                    add(i + 2 * (part & 1), i + 4 * (part >> 1 & 1), k + 3 * (part >> 2));
    };
    return made;
}();

TEST_F(QueueStridedSums, WhatLiesBetweenIsNotBroughtAlong) {
    for (const int64_t memory_bytes : {512, 640, 768, 1280, 4096}) {
        const std::string device = "host(threads=1,memory=" + std::to_string(memory_bytes) + "B)";
        polytile_queue *queue = open(device.c_str());
        std::vector<float> memory(5 * 7 * 8, 9), expected(memory);
        polytile_array *A = wrap("A", memory, {5, 7, 8});
        polytile_kernel *kernel =
            create("strided[i, k]: out sum A[i:i+2:2, i:i+4:4, k:k+3:3]", &body);
        const polytile_domain threads = box({0, 0}, {2, 4});
        polytile_view view = {expected.data(), {56 * 4, 8 * 4, 4}, {}, {}, {}, 0, 0};
        ASSERT_EQ(attach(queue, {A}), POLYTILE_OK) << error();
        for (const auto &[first, last] : {std::pair<int64_t, int64_t>{2, 1}, {2, 2}, {1, 5}}) {
            const int64_t block[] = {first, last};
            polytile_launch_options options = {};
            options.plan.block = block;
            EXPECT_EQ(launch(queue, kernel, threads, {A}, &options), POLYTILE_OK) << error();
        }
        EXPECT_EQ(polytile_queue_wait(queue), POLYTILE_OK) << device << ": " << error();
        EXPECT_EQ(detach(queue, {A}), POLYTILE_OK) << error();
        for (int64_t i = 0; i <= 2; i++)
            for (int64_t k = 0; k <= 4; k++)
                for (int64_t part = 0; part < 8; part++)
                    expected[static_cast<size_t>((i + 2 * (part & 1)) * 56 +
                                                 (i + 4 * (part >> 1 & 1)) * 8 + k +
                                                 3 * (part >> 2))] = 0;
        body.host(&threads, &view, nullptr);
        EXPECT_EQ(memory, expected) << device;
        polytile_queue_destroy(queue);
    }
}

} // namespace
