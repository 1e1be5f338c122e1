/* Steps of Jacobi on two ranks by a queue over them, against the same launches by queues that know
 * of no other rank and exchange nothing, and against MPI and OpenMP by hand, in turns:
 * mpiexec -n 2 build/bench/jacobi. */
#include "jacobi_by_hand.h"
#include "jacobi_kernels.h"
#include "mpi/common/ranks.h"

#include <polytile/mpi.h>
#include <stdlib.h>
#include <string.h>

enum { EXTENT = 4096, N_STEPS = 200, N_RANKS = 2, N_FIELDS = 2, N_REPETITIONS = 15 };
static const char subject[] = "jacobi 4096x4096, 200 steps, 2 ranks";

/** A queue and the two fields between which its launches go to and fro. */
typedef struct party {
    polytile_queue *queue;
    polytile_array *array[N_FIELDS];
    polytile_domain threads;
} party;

typedef struct contest contest;

/** One way to do the steps, and the times it took. */
typedef struct way {
    void (*fill)(contest *c);
    void (*run)(contest *c);
    void (*check)(contest *c);
    bench_times taken;
} way;

enum { OURS, ALONE, EACH, BY_HAND, N_WAYS };

/** The rows of this rank are the same in all ways. */
struct contest {
    int rank;
    polytile_context *ctx;
    polytile_kernel *update;
    party ours;            /* over the ranks */
    party each;            /* the same, an exchange a launch */
    party alone;           /* over this rank's rows alone */
    float *data[N_FIELDS]; /* of alone: this rank's rows and one of the neighbour's */
    jacobi_by_hand by_hand;
    float *result; /* this rank's rows */
    way ways[N_WAYS];
};

static float start(int64_t row, int64_t column) {
    return (float)((row * 31 + column * 17) % 1009);
}

static void set_start(const int64_t *index, void *element, void *user) {
    (void)user;
    *(float *)element = start(index[0], index[1]);
}

static int64_t first_row(const contest *c) {
    return c->by_hand.first_row;
}

static int64_t last_row(const contest *c) {
    return c->by_hand.first_row + c->by_hand.n_rows - 1;
}

/** The rows of alone: the neighbour's is that beyond the border between the ranks. */
static polytile_range alone_rows(const contest *c) {
    return (polytile_range){first_row(c) - (c->rank > 0), last_row(c) + (c->rank == 0), 1};
}

static void fill_party(contest *c, const party *p) {
    for (int f = 0; f < N_FIELDS; f++)
        bench_require(polytile_mpi_array_fill(p->array[f], set_start, NULL), c->ctx);
}

static void run_party(contest *c, const party *p) {
    polytile_queue_pause(p->queue);
    for (int s = 0; s < N_STEPS; s++) {
        polytile_array *from = p->array[s % 2], *to = p->array[1 - s % 2];
        bench_require(polytile_queue_launch(p->queue, c->update, &p->threads,
                                            POLYTILE_ARRAYS(from, to), NULL),
                      c->ctx);
    }
    polytile_queue_resume(p->queue);
    bench_require(polytile_queue_wait(p->queue), c->ctx);
}

/** Compare rows of this rank with those of the hand-written program. */
static void expect_rows(const contest *c, const char *name, const float *rows, int64_t first,
                        int64_t last) {
    const int64_t skipped = (first - first_row(c)) * EXTENT, n = (last - first + 1) * EXTENT;
    const float *expected = jacobi_by_hand_rows(&c->by_hand, N_STEPS % 2) + skipped;
    if (memcmp(rows, expected, (size_t)n * sizeof *rows) == 0)
        return;
    fprintf(stderr, "jacobi: %s of rank %d is not what was computed by hand\n", name, c->rank);
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
}

static void check_party(contest *c, const party *p, const char *name) {
    const polytile_domain box = {2, {{first_row(c), last_row(c), 1}, {0, EXTENT - 1, 1}}};
    bench_require(polytile_mpi_array_get(p->array[N_STEPS % 2], &box, c->result), c->ctx);
    expect_rows(c, name, c->result, first_row(c), last_row(c));
}

static void fill_ours(contest *c) {
    fill_party(c, &c->ours);
}

static void run_ours(contest *c) {
    run_party(c, &c->ours);
}

static void check_ours(contest *c) {
    check_party(c, &c->ours, "the queue's field");
}

static void fill_each(contest *c) {
    fill_party(c, &c->each);
}

static void run_each(contest *c) {
    run_party(c, &c->each);
}

static void check_each(contest *c) {
    check_party(c, &c->each, "the field with an exchange a launch");
}

static void fill_alone(contest *c) {
    const polytile_range rows = alone_rows(c);
    for (int f = 0; f < N_FIELDS; f++)
        for (int64_t i = rows.lo; i <= rows.hi; i++)
            for (int64_t j = 0; j < EXTENT; j++)
                c->data[f][(i - rows.lo) * EXTENT + j] = start(i, j);
    bench_require(polytile_queue_attach(c->alone.queue, N_FIELDS, c->alone.array), c->ctx);
}

static void run_alone(contest *c) {
    run_party(c, &c->alone);
}

/** Rows that no step brings the neighbour's to. */
static void check_alone(contest *c) {
    const int64_t first = first_row(c) + (c->rank > 0 ? N_STEPS : 0);
    const int64_t last = last_row(c) - (c->rank == 0 ? N_STEPS : 0);
    bench_require(polytile_queue_detach(c->alone.queue, N_FIELDS, c->alone.array), c->ctx);
    expect_rows(c, "the field without exchange",
                c->data[N_STEPS % 2] + (first - alone_rows(c).lo) * EXTENT, first, last);
}

static void fill_by_hand(contest *c) {
    jacobi_by_hand_fill(&c->by_hand, start);
}

static void run_by_hand(contest *c) {
    jacobi_by_hand_run(&c->by_hand, N_STEPS);
}

static void check_nothing(contest *c) {
    (void)c;
}

static void begin_party(contest *c, int64_t launches_per_exchange, party *p) {
    const polytile_share_options options = {.layout = "block(dim=0)",
                                            .launches_per_exchange = launches_per_exchange};
    p->threads = *POLYTILE_INTERIOR(1, EXTENT, EXTENT);
    bench_require(polytile_mpi_queue_create(c->ctx, MPI_COMM_WORLD, "host", &options, &p->queue),
                  c->ctx);
    for (int f = 0; f < N_FIELDS; f++)
        bench_require(polytile_mpi_array_create(p->queue, f == 0 ? "A" : "B", POLYTILE_F32, 2,
                                                (const int64_t[]){EXTENT, EXTENT}, NULL,
                                                &p->array[f]),
                      c->ctx);
}

static void begin_alone(contest *c) {
    const polytile_range rows = alone_rows(c);
    const polytile_domain field = {2, {rows, {0, EXTENT - 1, 1}}};
    const int64_t n_bytes = (rows.hi - rows.lo + 1) * EXTENT * (int64_t)sizeof(float);
    c->alone.threads = (polytile_domain){2, {{rows.lo + 1, rows.hi - 1, 1}, {1, EXTENT - 2, 1}}};
    bench_require(polytile_queue_create(c->ctx, "host", &c->alone.queue), c->ctx);
    for (int f = 0; f < N_FIELDS; f++) {
        c->data[f] = bench_allocate(n_bytes);
        bench_require(polytile_array_wrap_domain(c->ctx, f == 0 ? "A" : "B", POLYTILE_F32, &field,
                                                 c->data[f], &c->alone.array[f]),
                      c->ctx);
    }
}

static void begin(contest *c) {
    const way ways[N_WAYS] = {
        [OURS] = {fill_ours, run_ours, check_ours, {0}},
        [ALONE] = {fill_alone, run_alone, check_alone, {0}},
        [EACH] = {fill_each, run_each, check_each, {0}},
        [BY_HAND] = {fill_by_hand, run_by_hand, check_nothing, {0}},
    };
    memcpy(c->ways, ways, sizeof ways);
    jacobi_by_hand_begin(MPI_COMM_WORLD, EXTENT, &c->by_hand);
    c->result = malloc((size_t)(c->by_hand.n_rows * EXTENT) * sizeof *c->result);
    if (c->result == NULL)
        abort();
    bench_require(polytile_context_create(&c->ctx), NULL);
    bench_require(
        polytile_kernel_create(c->ctx, JACOBI_DECLARATION, jacobi_f32_implementation(), &c->update),
        c->ctx);
    begin_party(c, 0, &c->ours);
    begin_party(c, 1, &c->each);
    begin_alone(c);
}

static void end(contest *c) {
    const polytile_range rows = alone_rows(c);
    const int64_t n_bytes = (rows.hi - rows.lo + 1) * EXTENT * (int64_t)sizeof(float);
    polytile_context_destroy(c->ctx);
    for (int f = 0; f < N_FIELDS; f++)
        bench_free(c->data[f], n_bytes);
    jacobi_by_hand_end(&c->by_hand);
    free(c->result);
}

/** Seconds until the last rank is done. */
static double time_way(contest *c, const way *w) {
    w->fill(c);
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin_s = bench_now_s();
    w->run(c);
    MPI_Barrier(MPI_COMM_WORLD);
    const double taken_s = bench_now_s() - begin_s;
    w->check(c);
    return taken_s;
}

/** The hand-written program goes first, for the others are compared with its result. The first
 * round, which touches all memory and plans, does not count. */
static void run(contest *c) {
    for (int r = -1; r < N_REPETITIONS; r++)
        for (int k = 0; k < N_WAYS; k++) {
            way *w = &c->ways[k == 0 ? BY_HAND : r % 2 == 0 ? k - 1 : N_WAYS - 1 - k];
            const double taken_s = time_way(c, w);
            if (r >= 0)
                bench_add_time(&w->taken, taken_s);
        }
}

static void report(bench *b, const contest *c) {
    double median_s[N_WAYS];
    for (int k = 0; k < N_WAYS; k++)
        median_s[k] = bench_median(&c->ways[k].taken);
    const bench_figure figures[] = {
        {subject, "queue_s", median_s[OURS], BENCH_NO_TARGET, 0},
        {subject, "without_exchange_s", median_s[ALONE], BENCH_NO_TARGET, 0},
        {subject, "by_hand_s", median_s[BY_HAND], BENCH_NO_TARGET, 0},
        {subject, "exchange_a_launch_s", median_s[EACH], BENCH_NO_TARGET, 0},
        {subject, "leasts_against_without_exchange",
         bench_least(&c->ways[OURS].taken) / bench_least(&c->ways[ALONE].taken), BENCH_NO_TARGET,
         0},
        {subject, "against_without_exchange", median_s[OURS] / median_s[ALONE], BENCH_AT_MOST,
         1.05},
        {subject, "against_by_hand", median_s[OURS] / median_s[BY_HAND], BENCH_AT_MOST, 1.02},
    };
    for (size_t f = 0; f < sizeof figures / sizeof *figures; f++)
        bench_report(b, &figures[f]);
}

int main(int argc, char **argv) {
    static contest c;
    bench b;
    c.rank = bench_begin_ranks(&b, "jacobi", N_RANKS, "", argc, argv);
    begin(&c);
    run(&c);
    report(&b, &c);
    end(&c);
    return bench_end_ranks(&b);
}
