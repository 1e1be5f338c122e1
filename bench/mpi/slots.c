/* A message from a slot on one rank to one on the other and back, the same without slots: a kernel
 * that ends, a message of MPI, and a kernel there; and by MPI alone, without kernels; in turns.
 * With A+B the first rank has device A, the second one B: mpiexec -n 2 build/bench/slots [--device
 * cuda:0+cuda:1] [--rounds 50] [--shift 0]. With --serialized slots may call MPI themselves. Of a
 * few rounds the launch is a good part. Each rank's row begins a page; that of the second one
 * --shift bytes further on: a few bytes make straight copies slow. */
#include "mpi/common/ranks.h"
#include "pingpong_kernels.h"
#include "slots_by_hand.h"

#include <polytile/mpi.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { N_SLOTS = 2 };

/** One rank's side of both ways. */
typedef struct contest {
    polytile_context *ctx;
    polytile_queue *queue;
    polytile_device *device;
    polytile_kernel *pingpong;
    polytile_kernel *copy;
    int rank;
    int n_rounds;
    int64_t n_bytes;
    int shift;         /* of the second rank's row in its page, from the first one's */
    uint8_t *block[2]; /* of the slots: N_SLOTS rows of n_bytes + 1, from some byte on */
    uint8_t *row[2];   /* of the way by hand */
    polytile_array *slots[2];
    polytile_array *rows[2];
    bench_times ours;
    bench_times theirs;
    bench_times alone; /* MPI */
    double n_switches; /* of our way: how often a thread of this rank has waited, a message */
} contest;

static void open_contest(contest *c, const char *device) {
    const polytile_share_options options = {.layout = "block(dim=0)"};
    bench_require(polytile_context_create(&c->ctx), NULL);
    bench_require(polytile_mpi_queue_create(c->ctx, MPI_COMM_WORLD, device, &options, &c->queue),
                  c->ctx);
    bench_require(polytile_device_open(c->ctx, device, &c->device), c->ctx);
    bench_require(polytile_kernel_create(c->ctx, PINGPONG_DECLARATION, pingpong_implementation(),
                                         &c->pingpong),
                  c->ctx);
    bench_require(polytile_kernel_create(c->ctx, SLOTS_COPY_DECLARATION,
                                         slots_copy_implementation(), &c->copy),
                  c->ctx);
}

enum { PAGE_BYTES = 4096 };

static uint8_t *allocate_pages(int64_t n_bytes) {
    const size_t n_pages = (size_t)n_bytes / PAGE_BYTES + 1;
    uint8_t *made = aligned_alloc(PAGE_BYTES, n_pages * PAGE_BYTES);
    if (made == NULL)
        abort();
    memset(made, 0, n_pages * PAGE_BYTES);
    return made;
}

/** Where the rows begin in their block, so that the own one begins where it should in its page. */
static int64_t find_begin(const contest *c) {
    const int64_t own = c->rank * (c->n_bytes + 1) % PAGE_BYTES;
    return (c->rank * c->shift - own + PAGE_BYTES) % PAGE_BYTES;
}

static void make_arrays(contest *c, int64_t n_bytes) {
    const int64_t extents[] = {N_SLOTS, n_bytes + 1};
    static const char *const names[] = {"A", "B"};
    c->n_bytes = n_bytes;
    for (int a = 0; a < 2; a++) {
        c->block[a] = allocate_pages(N_SLOTS * (n_bytes + 1) + PAGE_BYTES);
        c->row[a] = allocate_pages(n_bytes);
        bench_require(polytile_array_wrap(c->ctx, names[a], POLYTILE_U8, 2, extents,
                                          c->block[a] + find_begin(c), &c->slots[a]),
                      c->ctx);
        bench_require(
            polytile_array_wrap(c->ctx, names[a], POLYTILE_U8, 1, &n_bytes, c->row[a], &c->rows[a]),
            c->ctx);
    }
    bench_require(polytile_queue_attach(c->queue, 2, c->slots), c->ctx);
}

static void free_arrays(contest *c) {
    bench_require(polytile_queue_detach(c->queue, 2, c->slots), c->ctx);
    for (int a = 0; a < 2; a++) {
        polytile_array_destroy(c->slots[a]);
        polytile_array_destroy(c->rows[a]);
        free(c->block[a]);
        free(c->row[a]);
    }
}

/** All rounds in one launch. */
static void go_by_slots(contest *c) {
    const polytile_parameter rounds = POLYTILE_PARAMETER("rounds", c->n_rounds);
    const polytile_launch_options options = {.n_parameters = 1, .parameters = &rounds};
    bench_require(polytile_queue_launch(c->queue, c->pingpong, POLYTILE_EXTENTS(N_SLOTS), 2,
                                        c->slots, &options),
                  c->ctx);
    bench_require(polytile_queue_wait(c->queue), c->ctx);
}

static void run_copy(contest *c) {
    bench_require(polytile_run(c->device, c->copy, POLYTILE_EXTENTS(c->n_bytes), 2, c->rows, NULL),
                  c->ctx);
}

/** Two launches, one a rank, for each round. */
static void go_by_hand(contest *c) {
    const int n = (int)c->n_bytes, other = 1 - c->rank;
    for (int round = 0; round < c->n_rounds; round++) {
        if (c->rank == 1)
            MPI_Recv(c->row[0], n, MPI_BYTE, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        run_copy(c);
        MPI_Send(c->row[1], n, MPI_BYTE, other, 0, MPI_COMM_WORLD);
        if (c->rank == 0)
            MPI_Recv(c->row[0], n, MPI_BYTE, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

/** Messages of MPI there and back, in a program of one thread. */
static void go_by_mpi(contest *c) {
    const int n = (int)c->n_bytes, other = 1 - c->rank;
    for (int round = 0; round < c->n_rounds; round++) {
        if (c->rank == 0)
            MPI_Send(c->row[1], n, MPI_BYTE, other, 0, MPI_COMM_WORLD);
        MPI_Recv(c->row[0], n, MPI_BYTE, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (c->rank == 1)
            MPI_Send(c->row[1], n, MPI_BYTE, other, 0, MPI_COMM_WORLD);
    }
}

static double count_switches(void) {
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return (double)used.ru_nvcsw;
}

/** Seconds of one message. */
static double time_way(contest *c, void (*go)(contest *)) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin_s = bench_now_s();
    go(c);
    MPI_Barrier(MPI_COMM_WORLD);
    return (bench_now_s() - begin_s) / (2 * c->n_rounds);
}

static void compete(bench *b, contest *c, int64_t n_bytes) {
    char subject[64];
    c->ours.n_times = c->theirs.n_times = c->alone.n_times = 0;
    c->n_switches = 0;
    make_arrays(c, n_bytes);
    for (int k = 0; k < BENCH_REPETITIONS; k++) {
        const double n_before = count_switches();
        bench_add_time(&c->ours, time_way(c, go_by_slots));
        c->n_switches += (count_switches() - n_before) / (2 * c->n_rounds * BENCH_REPETITIONS);
        bench_add_time(&c->theirs, time_way(c, go_by_hand));
        bench_add_time(&c->alone, time_way(c, go_by_mpi));
    }
    free_arrays(c);
    const double ours_us = bench_median(&c->ours) * 1e6;
    const double theirs_us = bench_median(&c->theirs) * 1e6;
    snprintf(subject, sizeof subject, "%lld B between two ranks", (long long)n_bytes);
    const bench_figure figures[] = {
        {subject, "slots_us", ours_us, BENCH_NO_TARGET, 0},
        {subject, "slots_least_us", bench_least(&c->ours) * 1e6, BENCH_NO_TARGET, 0},
        {subject, "switches", c->n_switches, BENCH_NO_TARGET, 0},
        {subject, "mpi_us", bench_median(&c->alone) * 1e6, BENCH_NO_TARGET, 0},
        {subject, "mpi_least_us", bench_least(&c->alone) * 1e6, BENCH_NO_TARGET, 0},
        {subject, "by_hand_us", theirs_us, BENCH_NO_TARGET, 0},
        {subject, "times_faster", theirs_us / ours_us, BENCH_AT_LEAST, 2},
    };
    for (size_t f = 0; f < sizeof figures / sizeof *figures; f++)
        bench_report(b, &figures[f]);
}

int main(int argc, char **argv) {
    static const int64_t sizes[] = {8, 4096, 1 << 20};
    bench b;
    contest c = {0};
    char own[128];
    int level;
    const char *device = "host(threads=1)";
    c.n_rounds = 50;
    if (bench_take_option("--serialized", 1, &argc, &argv))
        MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
    if (bench_take_option("--device", 2, &argc, &argv))
        device = argv[0];
    if (bench_take_option("--rounds", 2, &argc, &argv))
        c.n_rounds = atoi(argv[0]);
    if (bench_take_option("--shift", 2, &argc, &argv))
        c.shift = atoi(argv[0]) % PAGE_BYTES;
    c.rank = bench_begin_ranks(
        &b, "slots", 2, "[--serialized] [--device DEVICE[+DEVICE]] [--rounds N] [--shift BYTES] ",
        argc, argv);
    open_contest(&c, bench_find_device(device, c.rank, own, sizeof own));
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
        compete(&b, &c, sizes[k]);
    polytile_context_destroy(c.ctx);
    return bench_end_ranks(&b);
}
