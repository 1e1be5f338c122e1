#include <polytile/kernel.h>
#include <polytile/mpi.h>
#include <polytile/polytile.h>
#include <stdio.h>
#include <stdlib.h>

/* An outside project's program, in C and in C++: adds two vectors on the ranks it is started on. */

enum { N = 100000 };

static float x[N], y[N], z[N];

POLYTILE_KERNEL(add, (i), (const float, X, 1), (const float, Y, 1), (float, Z, 1)) {
    PT_AT(Z, i) = PT_AT(X, i) + PT_AT(Y, i);
}

static void fail_unless(polytile_context *ctx, polytile_status status) {
    if (status == POLYTILE_OK)
        return;
    fprintf(stderr, "outside: %s\n", polytile_last_error(ctx));
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static polytile_array *wrap(polytile_context *ctx, const char *name, float *data) {
    const int64_t extent = N;
    polytile_array *array;
    fail_unless(ctx, polytile_array_wrap(ctx, name, POLYTILE_F32, 1, &extent, data, &array));
    return array;
}

/** By a queue of all ranks; all of them have the result. */
static void add_on_ranks(polytile_context *ctx) {
    polytile_queue *queue;
    polytile_kernel *kernel;
    polytile_array *arrays[3];
    const polytile_domain domain = {1, {{0, N - 1, 1}}};
    fail_unless(ctx, polytile_mpi_queue_create(ctx, MPI_COMM_WORLD, "host(memory=64KiB)", NULL,
                                               &queue));
    fail_unless(
        ctx, polytile_kernel_create(ctx, "add[i]: in x[i], y[i]; out z[i]", &add_kernel, &kernel));
    arrays[0] = wrap(ctx, "x", x);
    arrays[1] = wrap(ctx, "y", y);
    arrays[2] = wrap(ctx, "z", z);
    fail_unless(ctx, polytile_queue_attach(queue, 3, arrays));
    fail_unless(ctx, polytile_queue_launch(queue, kernel, &domain, 3, arrays, NULL));
    fail_unless(ctx, polytile_queue_detach(queue, 3, arrays));
}

static int count_errors(void) {
    int n_errors = 0;
    for (int i = 0; i < N; i++)
        n_errors += z[i] != (float)(3 * i);
    return n_errors;
}

int main(int argc, char **argv) {
    polytile_context *ctx;
    int level, rank, n_ranks;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    for (int i = 0; i < N; i++) {
        x[i] = (float)i;
        y[i] = (float)(2 * i);
    }
    if (polytile_context_create(&ctx))
        return 1;
    add_on_ranks(ctx);
    polytile_context_destroy(ctx);
    printf("polytile %s: %d elements on rank %d of %d, %d errors\n", polytile_version(), N, rank,
           n_ranks, count_errors());
    MPI_Finalize();
    return count_errors() != 0;
}
