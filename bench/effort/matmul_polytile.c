/* C = A B with polytile, one thread an element. */
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

POLYTILE_KERNEL(multiply, (i, j), (const int, A, 2), (const int, B, 2), (int, C, 2)) {
    int sum = 0;
    for (int64_t k = PT_FIRST(A, 1); k <= PT_LAST(A, 1); k++)
        sum += PT_AT(A, i, k) * PT_AT(B, k, j);
    PT_AT(C, i, j) = sum;
}

int main(int argc, char **argv) {
    study_begin(argc, argv, "N DEVICE");
    const int64_t n = study_number(argv[1]);
    const int64_t extents[] = {n, n};
    int *A = study_create_ints(n, 1);
    int *B = study_create_ints(n, 2);
    int *C = study_create_ints(n, 0);

    polytile_context *ctx;
    polytile_queue *queue;
    polytile_kernel *multiply;
    polytile_array *a, *b, *c;
    check(NULL, polytile_context_create(&ctx));
    check(ctx, polytile_queue_create(ctx, argv[2], &queue));
    check(ctx, polytile_kernel_create(ctx, "multiply[i, j]: in A[i, :], B[:, j]; out C[i, j]",
                                      &multiply_kernel, &multiply));
    check(ctx, polytile_array_wrap(ctx, "A", POLYTILE_I32, 2, extents, A, &a));
    check(ctx, polytile_array_wrap(ctx, "B", POLYTILE_I32, 2, extents, B, &b));
    check(ctx, polytile_array_wrap(ctx, "C", POLYTILE_I32, 2, extents, C, &c));

    check(ctx, polytile_queue_attach(queue, POLYTILE_ARRAYS(a, b, c)));
    check(ctx,
          polytile_queue_launch(queue, multiply, POLYTILE_EXTENTS(n, n), POLYTILE_BY_NAME, NULL));
    check(ctx, polytile_queue_detach(queue, POLYTILE_ARRAYS(a, b, c)));
    polytile_context_destroy(ctx);

    study_end(C, n);
    return 0;
}
