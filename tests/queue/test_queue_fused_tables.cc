#include "queue/queue_test.h"

#include <polytile/kernel.h>

#include <cstring>

/* Steps that also read a table, which stays on the device as a whole. */

namespace {

POLYTILE_KERNEL(weighted, (i, j), (const float, A, 2), (const float, W, 2), (float, B, 2)) {
    PT_AT(B, i, j) =
        (PT_AT(A, i - 1, j) + PT_AT(A, i + 1, j)) * 0.5f + PT_AT(W, 1, 0) + PT_AT(W, 5, 5);
}

POLYTILE_KERNEL(shifted, (i, j), (const float, A, 2), (const float, W, 2), (float, B, 2)) {
    PT_AT(B, i, j) = (PT_AT(A, i - 1, j) + PT_AT(A, i + 1, j)) * 0.5f + PT_AT(W, 1, 7);
}

POLYTILE_KERNEL(number, (i, j), (float, W, 2)) {
    PT_AT(W, i, j) = static_cast<float>(1 + i + 10 * j);
}

constexpr int64_t n = 64;
const polytile_domain inside = {2, {{1, n - 2, 1}, {1, n - 2, 1}}};

class QueueFusedTables : public QueueTest {
  protected:
    void launch_steps(polytile_queue *queue, const polytile_kernel *kernel, int n_steps,
                      const std::vector<polytile_array *> &fields, polytile_array *table) {
        for (int step = 0; step < n_steps; step++)
            ASSERT_EQ(launch(queue, kernel, inside,
                             {fields[static_cast<size_t>(step % 2)], table,
                              fields[static_cast<size_t>(1 - step % 2)]}),
                      POLYTILE_OK)
                << error();
    }

    /** The field after steps that read one part of a table, a part of which nobody wrote, and steps
     * that read another. */
    std::vector<float> run_table(const char *device) {
        std::vector<float> a(n * n), b(n * n);
        for (size_t k = 0; k < a.size(); k++)
            a[k] = b[k] = static_cast<float>(k % 7);
        polytile_queue *queue = open(device);
        const std::vector<polytile_array *> fields = {wrap("A", a, {n, n}), wrap("B", b, {n, n})};
        polytile_kernel *first = create("weighted[i, j]: in A[i-1:i+1, j]; in W[0:3, 0:1], "
                                        "W[4:7, 0:9]; out B[i, j]",
                                        &weighted_kernel);
        polytile_kernel *second =
            create("shifted[i, j]: in A[i-1:i+1, j]; in W[0:3, 5:9]; out B[i, j]", &shifted_kernel);
        polytile_kernel *numbering = create("number[i, j]: out W[i, j]", &number_kernel);
        EXPECT_EQ(attach(queue, fields), POLYTILE_OK) << error();
        polytile_array *table = make_internal(queue, "W", {8, 10});
        for (const polytile_domain &part : {polytile_domain{2, {{0, 3, 1}, {5, 9, 1}}},
                                            polytile_domain{2, {{4, 7, 1}, {0, 9, 1}}}})
            EXPECT_EQ(launch(queue, numbering, part, {table}), POLYTILE_OK) << error();
        EXPECT_EQ(polytile_queue_wait(queue), POLYTILE_OK) << error();
        polytile_queue_pause(queue);
        launch_steps(queue, first, 8, fields, table);
        launch_steps(queue, second, 8, fields, table);
        polytile_queue_resume(queue);
        EXPECT_EQ(detach(queue, fields), POLYTILE_OK) << error();
        polytile_queue_destroy(queue);
        for (polytile_array *array : fields)
            polytile_array_destroy(array);
        return a;
    }
};

TEST_F(QueueFusedTables, PartlyUnwrittenOnesAreWholeForEveryStep) {
    const std::vector<float> right = run_table("host");
    for (const char *device : {"host(memory=6KiB)", "host(memory=9KiB)", "host(memory=16KiB)"})
        EXPECT_EQ(run_table(device), right) << device;
}

} // namespace
