/* What the server of a team kernel costs while nobody says anything: the slots of two ranks have
 * asked the program of rank 0 for work, which sleeps. With A+B the first rank has device A, the
 * second one B: mpiexec -n 2 build/bench/idle [--serialized] [--device cuda:0+cuda:1]. */
#include "mandelbrot_kernels.h"
#include "mpi/common/ranks.h"

#include <polytile/message.h>
#include <polytile/mpi.h>
#include <sys/resource.h>
#include <time.h>

enum { N_SLOTS = 2, N_COLUMNS = 64, N_SECONDS = 2 };

typedef struct asked {
    polytile_context *ctx;
    polytile_queue *queue;
    polytile_kernel *kernel;
    polytile_array *arrays[2]; /* row, work */
} asked;

/** Work is that of row 0, of which each slot says that it has it. */
static void begin(asked *a, const char *device) {
    const polytile_share_options options = {.layout = "block(dim=0)"};
    static const int64_t extents[] = {N_SLOTS, N_COLUMNS};
    static const char *const names[] = {"row", "work"};
    bench_require(polytile_context_create(&a->ctx), NULL);
    bench_require(polytile_mpi_queue_create(a->ctx, MPI_COMM_WORLD, device, &options, &a->queue),
                  a->ctx);
    bench_require(polytile_kernel_create(a->ctx, MANDELBROT_ASK_DECLARATION,
                                         mandelbrot_ask_implementation(), &a->kernel),
                  a->ctx);
    for (int k = 0; k < 2; k++)
        bench_require(polytile_mpi_array_create(a->queue, names[k], POLYTILE_I32, 2 - k, extents,
                                                NULL, &a->arrays[k]),
                      a->ctx);
}

static void receive_from_both(const asked *a) {
    int32_t done, row[N_COLUMNS];
    for (int slot = 0; slot < N_SLOTS; slot++) {
        bench_require(polytile_message_recv(a->queue, &done, 4, slot, ASK_TAG, NULL), a->ctx);
        bench_require(polytile_message_recv(a->queue, row, sizeof row, slot, ROW_TAG, NULL),
                      a->ctx);
    }
}

static void send_to_both(const asked *a) {
    static const int32_t no_row = NO_ROW;
    for (int slot = 0; slot < N_SLOTS; slot++)
        bench_require(polytile_message_send(a->queue, &no_row, 4, slot, ANSWER_TAG), a->ctx);
}

/** Seconds that all threads of this process have had a core. */
static double used_s(void) {
    struct timespec used;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return (double)used.tv_sec + 1e-9 * (double)used.tv_nsec;
}

/** How often a thread of this process has gone to sleep. */
static double count_sleeps(void) {
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return (double)used.ru_nvcsw;
}

/** What a process had from the launch to its end, a second. */
typedef struct cost {
    double part_of_a_core;
    double n_sleeps;
} cost;

/** Launch, let slots wait for N_SECONDS, and end them. */
static cost wait_idly(const asked *a, int rank) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin_s = bench_now_s(), before_s = used_s();
    const double n_before = count_sleeps();
    bench_require(
        polytile_queue_launch(a->queue, a->kernel, POLYTILE_EXTENTS(N_SLOTS), 2, a->arrays, NULL),
        a->ctx);
    if (rank == 0) {
        receive_from_both(a);
        nanosleep(&(struct timespec){.tv_sec = N_SECONDS}, NULL);
        send_to_both(a);
    }
    bench_require(polytile_queue_wait(a->queue), a->ctx);
    const double taken_s = bench_now_s() - begin_s;
    return (cost){(used_s() - before_s) / taken_s, (count_sleeps() - n_before) / taken_s};
}

static void report(bench *b, int rank, const cost *of) {
    static const char *const subjects[] = {"the program sleeps: rank 0",
                                           "the program waits for the queue: rank 1"};
    const bench_figure figures[] = {
        {subjects[rank], "sleeps_a_second", of->n_sleeps, BENCH_NO_TARGET, 0},
        {subjects[rank], "part_of_a_core", of->part_of_a_core, BENCH_AT_MOST, 0.02},
    };
    for (size_t f = 0; f < sizeof figures / sizeof *figures; f++)
        bench_report(b, &figures[f]);
}

int main(int argc, char **argv) {
    bench b;
    asked a;
    char own[128];
    int level;
    cost costs[N_SLOTS];
    const char *device = "host(threads=1)";
    if (bench_take_option("--serialized", 1, &argc, &argv))
        MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
    if (bench_take_option("--device", 2, &argc, &argv))
        device = argv[0];
    const int rank = bench_begin_ranks(&b, "idle", N_SLOTS,
                                       "[--serialized] [--device DEVICE[+DEVICE]] ", argc, argv);
    begin(&a, bench_find_device(device, rank, own, sizeof own));
    const cost own_cost = wait_idly(&a, rank);
    MPI_Gather(&own_cost, 2, MPI_DOUBLE, costs, 2, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int k = 0; rank == 0 && k < N_SLOTS; k++)
        report(&b, k, &costs[k]);
    polytile_context_destroy(a.ctx);
    return bench_end_ranks(&b);
}
