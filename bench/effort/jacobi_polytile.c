/* Jacobi's method on a plate with fixed edges, with polytile: B from A, then A from B. */
#include "study.h"

#include <polytile/kernel.h>
#include <polytile/polytile.h>
#include <polytile/queue.h>

#include <stdio.h>
#include <stdlib.h>

static void check(const polytile_context *ctx, polytile_status status) {
    if (status == POLYTILE_OK)
        return;
    fprintf(stderr, "%s\n", polytile_last_error(ctx));
    exit(1);
}

POLYTILE_KERNEL(update, (i, j), (const float, A, 2), (float, B, 2)) {
    PT_AT(B, i, j) =
        (PT_AT(A, i, j - 1) + PT_AT(A, i, j + 1) + PT_AT(A, i - 1, j) + PT_AT(A, i + 1, j)) / 4;
}

POLYTILE_KERNEL(copy, (i, j), (const float, B, 2), (float, A, 2)) {
    PT_AT(A, i, j) = PT_AT(B, i, j);
}

int main(int argc, char **argv) {
    study_begin(argc, argv, "N STEPS DEVICE");
    const int64_t n = study_number(argv[1]);
    const int64_t n_steps = study_number(argv[2]);
    const int64_t extents[] = {n, n};
    const polytile_domain interior = {2, {{1, n - 2, 1}, {1, n - 2, 1}}};
    float *A = study_create_floats(n, 1);

    polytile_context *ctx;
    polytile_queue *queue;
    polytile_kernel *update, *copy;
    polytile_array *a, *b;
    check(NULL, polytile_context_create(&ctx));
    check(ctx, polytile_queue_create(ctx, argv[3], &queue));
    check(ctx,
          polytile_kernel_create(ctx, "update[i, j]: in A[i-1:i+1, j], A[i, j-1:j+1]; out B[i, j]",
                                 &update_kernel, &update));
    check(ctx,
          polytile_kernel_create(ctx, "copy[i, j]: in B[i, j]; out A[i, j]", &copy_kernel, &copy));
    check(ctx, polytile_array_wrap(ctx, "A", POLYTILE_F32, 2, extents, A, &a));
    check(ctx, polytile_queue_create_array(queue, "B", POLYTILE_F32, 2, extents, &b));

    check(ctx, polytile_queue_attach(queue, POLYTILE_ARRAYS(a)));
    for (int64_t step = 0; step < n_steps; step++) {
        check(ctx, polytile_queue_launch(queue, update, &interior, POLYTILE_BY_NAME, NULL));
        check(ctx, polytile_queue_launch(queue, copy, &interior, POLYTILE_BY_NAME, NULL));
    }
    check(ctx, polytile_queue_detach(queue, POLYTILE_ARRAYS(a)));
    polytile_context_destroy(ctx);

    study_end(A, n);
    return 0;
}
