#ifndef POLYTILE_TESTS_QUEUE_BLEND_TEST_H
#define POLYTILE_TESTS_QUEUE_BLEND_TEST_H

#include "queue/queue_test.h"
#include "support/environment.h"

#include <polytile/kernel.h>

namespace blending {

POLYTILE_KERNEL(blend, (i), (const float, A, 1), (float, B, 1)) {
    PT_AT(B, i) = PT_AT(A, i - 1) + 2 * PT_AT(A, i) + PT_AT(A, i + 1);
}

/** Launches that take two fields in turn, with POLYTILE_CHECK as a test sets it. */
class BlendTest : public QueueTest {
  protected:
    explicit BlendTest(size_t n) : fields{std::vector<float>(n, 1), std::vector<float>(n, -1)} {}

    /** A new context, which reads the environment. */
    void set_check(const char *value) {
        environment.set("POLYTILE_CHECK", value);
        polytile_context_destroy(ctx);
        ctx = nullptr;
        ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
        kernel = create("blend[i]: in A[i-1:i+1]; out B[i]", &blend_kernel);
        arrays = {wrap("A", fields[0]), wrap("B", fields[1])};
    }

    void launch_in_turn(polytile_queue *queue, int n_launches) {
        for (size_t l = 0; l < static_cast<size_t>(n_launches); l++)
            EXPECT_EQ(launch(queue, kernel, domain, {arrays[l % 2], arrays[1 - l % 2]}),
                      POLYTILE_OK)
                << error();
    }

    Environment environment;
    std::vector<float> fields[2];
    polytile_kernel *kernel = nullptr;
    Arrays arrays;
    const polytile_domain domain = box({1}, {static_cast<int64_t>(fields[0].size()) - 2});
};

} // namespace blending

#endif
