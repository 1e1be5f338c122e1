#include <polytile/kernel.h>
#include <polytile/polytile.h>
#include <polytile/report.h>

#include "support/c_test.h"

enum { N = 64 };

POLYTILE_KERNEL(add_one, (i), (float, x, 1)) {
    PT_AT(x, i) += 1;
}

/* A run and a queue of the same launch on a device of its own memory. */
TEST_CASE(ApiReport, IsTheSameOfARunAndOfAQueueOfOneLaunch) {
    float memory[N] = {0};
    polytile_array *x = NULL;
    polytile_kernel *kernel = NULL;
    polytile_device *device = NULL;
    polytile_queue *queue = NULL;
    polytile_report run, queued;
    CHECK_OK(polytile_array_wrap(ctx, "x", POLYTILE_F32, 1, (int64_t[]){N}, memory, &x));
    CHECK_OK(polytile_kernel_create(ctx, "add_one[i]: inout x[i]", &add_one_kernel, &kernel));
    CHECK_OK(polytile_device_open(ctx, "host(memory=1MiB)", &device));
    CHECK_OK(polytile_run(device, kernel, POLYTILE_EXTENTS(N), POLYTILE_ARRAYS(x), NULL));
    polytile_device_get_report(device, &run);
    CHECK_OK(polytile_queue_create(ctx, "host(memory=1MiB)", &queue));
    CHECK_OK(polytile_queue_attach(queue, POLYTILE_ARRAYS(x)));
    CHECK_OK(polytile_queue_launch(queue, kernel, POLYTILE_EXTENTS(N), POLYTILE_ARRAYS(x), NULL));
    CHECK_OK(polytile_queue_detach(queue, POLYTILE_ARRAYS(x)));
    polytile_queue_get_report(queue, false, &queued);
    CHECK_EQUAL(run.n_launches, 1);
    CHECK_EQUAL(queued.n_launches, 1);
    CHECK_EQUAL(run.h2d_bytes, sizeof memory);
    CHECK_EQUAL(queued.h2d_bytes, sizeof memory);
    CHECK_EQUAL(queued.d2h_bytes, run.d2h_bytes);
    CHECK_EQUAL(run.lower_bound_bytes, 2 * sizeof memory);
    CHECK_EQUAL(queued.lower_bound_bytes, 0);
    CHECK_NEAR(run.enqueue_s, 0, 0);
    CHECK(queued.enqueue_s > 0);
    CHECK(run.run_s > 0 && queued.run_s > 0);
}
