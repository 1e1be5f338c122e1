#include <polytile/kernel.h>
#include <polytile/mpi.h>
#include <polytile/polytile.h>

#include "support/c_test.h"

#include <stdio.h>
#include <unistd.h>

/* polytile/mpi.h as its users have it; all ranks go through the same tests. */

enum { N = 60 };

static int rank(void) {
    int number;
    MPI_Comm_rank(MPI_COMM_WORLD, &number);
    return number;
}

static int n_ranks(void) {
    int number;
    MPI_Comm_size(MPI_COMM_WORLD, &number);
    return number;
}

POLYTILE_KERNEL(smooth, (i), (const int32_t, x, 1), (int32_t, y, 1)) {
    PT_AT(y, i) = PT_AT(x, i - 1) + PT_AT(x, i) + PT_AT(x, i + 1);
}

static polytile_queue *open_queue(polytile_context *ctx, const char *device) {
    polytile_queue *queue = NULL;
    CHECK_OK(polytile_mpi_queue_create(ctx, MPI_COMM_WORLD, device, NULL, &queue));
    return queue;
}

static polytile_array *make(polytile_context *ctx, polytile_queue *queue, const char *name) {
    polytile_array *array = NULL;
    CHECK_OK(polytile_mpi_array_create(queue, name, POLYTILE_I32, 1, (int64_t[]){N}, NULL, &array));
    return array;
}

static polytile_status launch(polytile_context *ctx, polytile_queue *queue, polytile_array *x,
                              polytile_array *y) {
    polytile_kernel *kernel = NULL;
    CHECK_OK(
        polytile_kernel_create(ctx, "smooth[i]: in x[i-1:i+1]; out y[i]", &smooth_kernel, &kernel));
    return polytile_queue_launch(queue, kernel, POLYTILE_INTERIOR(1, N), POLYTILE_ARRAYS(x, y),
                                 NULL);
}

static const char *const devices[] = {"host", "host(memory=4KiB)", "host,host(memory=4KiB)"};

TEST_TABLE(ApiMpi, AnAttachedArrayIsWholeOnEveryRankAgain, devices) {
    int32_t x[N], y[N] = {0};
    polytile_array *arrays[2] = {NULL};
    polytile_queue *queue = open_queue(ctx, *row);
    for (int k = 0; k < N; k++)
        x[k] = k;
    CHECK_OK(polytile_array_wrap(ctx, "x", POLYTILE_I32, 1, (int64_t[]){N}, x, &arrays[0]));
    CHECK_OK(polytile_array_wrap(ctx, "y", POLYTILE_I32, 1, (int64_t[]){N}, y, &arrays[1]));
    CHECK_OK(polytile_queue_attach(queue, 2, arrays));
    CHECK_OK(launch(ctx, queue, arrays[0], arrays[1]));
    CHECK_OK(polytile_queue_detach(queue, 2, arrays));
    for (int k = 1; k < N - 1; k++)
        CHECK_EQUAL(y[k], 3 * k);
    CHECK_EQUAL(y[0], 0);
}

TEST_CASE(ApiMpi, RanksOwnEachElementOfASpreadArrayOnce) {
    polytile_array *array = make(ctx, open_queue(ctx, "host"), "u");
    int owners[N] = {0}, n_owners[N];
    for (int k = 0; k < polytile_mpi_array_count_boxes(array); k++) {
        const polytile_domain box = polytile_mpi_array_get_box(array, k);
        CHECK_EQUAL(box.range[0].step, 1);
        for (int64_t i = box.range[0].lo; i <= box.range[0].hi; i++)
            owners[i]++;
    }
    MPI_Allreduce(owners, n_owners, N, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int k = 0; k < N; k++)
        CHECK_EQUAL(n_owners[k], 1);
    const polytile_domain none = polytile_mpi_array_get_box(array, N);
    CHECK(none.n_dims == 0 || none.range[0].hi < none.range[0].lo);
}

static void set_to_square(const int64_t *index, void *element, void *user) {
    *(int32_t *)element = (int32_t)(index[0] * index[0]) + *(const int32_t *)user;
}

TEST_TABLE(ApiMpi, ASpreadArrayIsZeroThenFilledAndGathered, devices) {
    int32_t all[N], plus = 7;
    const int root = n_ranks() - 1;
    polytile_array *array = make(ctx, open_queue(ctx, *row), "u");
    CHECK_OK(polytile_mpi_array_gather(array, root, rank() == root ? all : NULL));
    for (int k = 0; k < N && rank() == root; k++)
        CHECK_EQUAL(all[k], 0);
    CHECK_OK(polytile_mpi_array_fill(array, set_to_square, &plus));
    CHECK_OK(polytile_mpi_array_gather(array, root, rank() == root ? all : NULL));
    for (int k = 0; k < N && rank() == root; k++)
        CHECK_EQUAL(all[k], k * k + 7);
}

TEST_TABLE(ApiMpi, LaunchesUseSpreadArraysAsAnyOther, devices) {
    int32_t all[N];
    polytile_queue *queue = open_queue(ctx, *row);
    polytile_array *x = make(ctx, queue, "x"), *y = make(ctx, queue, "y");
    for (int k = 0; k < N; k++)
        all[k] = k;
    CHECK_OK(polytile_mpi_array_scatter(x, 0, rank() == 0 ? all : NULL));
    CHECK_OK(launch(ctx, queue, x, y));
    CHECK_OK(polytile_mpi_array_gather(y, 0, rank() == 0 ? all : NULL));
    for (int k = 1; k < N - 1 && rank() == 0; k++)
        CHECK_EQUAL(all[k], 3 * k);
}

TEST_CASE(ApiMpi, ARankPutsAndGetsWhatItOwns) {
    int32_t mine[N], back[N] = {0};
    polytile_array *array = make(ctx, open_queue(ctx, "host"), "u");
    const polytile_domain box = polytile_mpi_array_get_box(array, 0);
    const int64_t n = box.n_dims == 0 ? 0 : box.range[0].hi - box.range[0].lo + 1;
    for (int64_t k = 0; k < n; k++)
        mine[k] = (int32_t)(1000 * rank() + k);
    CHECK_OK(polytile_mpi_array_put(array, n > 0 ? &box : NULL, mine));
    CHECK_OK(polytile_mpi_array_get(array, n > 0 ? &box : NULL, back));
    for (int64_t k = 0; k < n; k++)
        CHECK_EQUAL(back[k], mine[k]);
    CHECK_REFUSED(polytile_mpi_array_get(array, POLYTILE_EXTENTS(N + 1), back), POLYTILE_INVALID,
                  "u");
}

/* The same name on all ranks, which may be processes of one number alone. */
static const char *shared_path(const char *ending) {
    static char path[64];
    long number = getpid();
    MPI_Bcast(&number, 1, MPI_LONG, 0, MPI_COMM_WORLD);
    snprintf(path, sizeof path, "/tmp/polytile-api-mpi-%ld%s", number, ending);
    return path;
}

static const char *const endings[] = {".npy", ".bin"};

TEST_TABLE(ApiMpi, ASpreadArrayIsWrittenAndReadAsOneFile, endings) {
    int32_t all[N], zero = 0;
    const char *path = shared_path(*row);
    polytile_queue *queue = open_queue(ctx, "host");
    polytile_array *array = make(ctx, queue, "u"), *other = NULL;
    CHECK_OK(polytile_mpi_array_fill(array, set_to_square, &zero));
    CHECK_OK(polytile_mpi_array_write(array, path));
    CHECK_OK(polytile_mpi_array_scatter(array, 0, rank() == 0 ? (int32_t[N]){0} : NULL));
    CHECK_OK(polytile_mpi_array_read(array, path));
    CHECK_OK(polytile_mpi_array_gather(array, 0, rank() == 0 ? all : NULL));
    for (int k = 0; k < N && rank() == 0; k++)
        CHECK_EQUAL(all[k], k * k);
    CHECK_OK(polytile_mpi_array_create(queue, "short", POLYTILE_I32, 1, (int64_t[]){N - 1}, NULL,
                                       &other));
    CHECK_REFUSED(polytile_mpi_array_read(other, path), POLYTILE_INVALID, path);
    CHECK(polytile_array_is_complete(array));
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank() == 0)
        remove(path);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_REFUSED(polytile_mpi_array_read(array, path), POLYTILE_IO, path);
}

TEST_CASE(ApiMpi, AFailureOfOneRankIsTheSameOnAll) {
    polytile_queue *queue = NULL;
    const char *device = rank() == n_ranks() - 1 ? "moon" : "host";
    CHECK_REFUSED(polytile_mpi_queue_create(ctx, MPI_COMM_WORLD, device, NULL, &queue),
                  POLYTILE_INVALID, "moon");
    CHECK(queue == NULL);
}

static const char *const wrong_layouts[] = {"spiral", "cyclic(0)"};

TEST_TABLE(ApiMpi, ALayoutThatCannotBeIsRefused, wrong_layouts) {
    polytile_array *array = NULL;
    CHECK_REFUSED(polytile_mpi_array_create(open_queue(ctx, "host"), "u", POLYTILE_I32, 1,
                                            (int64_t[]){N}, *row, &array),
                  POLYTILE_INVALID, *row);
    CHECK(array == NULL);
}

TEST_CASE(ApiMpi, WeightsAreForAsManyPartsAsThereAre) {
    polytile_array *array = NULL;
    CHECK_REFUSED(polytile_mpi_array_create(open_queue(ctx, "host"), "u", POLYTILE_I32, 1,
                                            (int64_t[]){N}, "weighted(1,2,3,4,5,6,7,8,9)", &array),
                  POLYTILE_INVALID, "weighted", "9");
}

TEST_CASE(ApiMpi, ARankHasSeveralDevices) {
    polytile_queue *queue = NULL;
    CHECK_OK(polytile_mpi_queue_create(ctx, MPI_COMM_WORLD, "host,host", NULL, &queue));
    CHECK_REFUSED(polytile_mpi_queue_create(ctx, MPI_COMM_WORLD, "host,", NULL, &queue),
                  POLYTILE_INVALID, "number 2 of 2");
}

TEST_CASE(ApiMpi, ASpreadArrayIsOfAQueueOverACommunicator) {
    int32_t memory[4];
    polytile_queue *queue = NULL;
    polytile_array *array = NULL;
    CHECK_OK(polytile_queue_create(ctx, "host", &queue));
    CHECK_STATUS(
        polytile_mpi_array_create(queue, "u", POLYTILE_I32, 1, (int64_t[]){N}, NULL, &array),
        POLYTILE_INVALID);
    CHECK_OK(polytile_array_wrap(ctx, "own", POLYTILE_I32, 1, (int64_t[]){4}, memory, &array));
    CHECK_REFUSED(polytile_mpi_array_fill(array, set_to_square, memory), POLYTILE_INVALID, "own");
    CHECK_REFUSED(polytile_mpi_array_gather(array, 0, memory), POLYTILE_INVALID, "own");
    CHECK_EQUAL(polytile_mpi_array_count_boxes(array), 0);
}

TEST_CASE(ApiMpi, ARootIsOneOfTheRanks) {
    int32_t all[N];
    polytile_array *array = make(ctx, open_queue(ctx, "host"), "u");
    CHECK_REFUSED(polytile_mpi_array_scatter(array, n_ranks(), all), POLYTILE_INVALID, "u");
    CHECK_REFUSED(polytile_mpi_array_gather(array, -1, all), POLYTILE_INVALID, "u", "-1");
    CHECK_REFUSED(polytile_mpi_array_gather(array, 0, NULL), POLYTILE_INVALID, "u");
}
