/* Examples whose slots send messages while they run, on four ranks with a slot each, and the same
 * by hand: a kernel that returns after each round, MPI, and the kernel again; in turns. All
 * elements are compared: mpiexec -n 4 build/bench/rounds [--serialized] [--gpus N]. On two ranks
 * nbody alone runs. With --serialized slots may call MPI themselves. With --gpus mandelbrot alone
 * runs, by 128 slots a rank, on N GPUs. Lines are those with code of kernels and of what runs them;
 * with slots of what makes the queue and its arrays, too. */
#include "mpi/common/ranks.h"
#include "rounds/case.h"
#include "rounds/lines.h"

#include <stdlib.h>
#include <string.h>

/** The ways to do a case, which have memory of their own. */
enum { SLOTS, BY_HAND, OTHER, N_WAYS };

typedef struct contest {
    const rounds_case *of;
    int rank;
    rounds_slots slots;
    void *own[N_WAYS][ROUNDS_MOST_ARRAYS];
    rounds_master master;
    bench_times taken[N_WAYS];
} contest;

static void begin(contest *c, const rounds_case *of, int rank, const char *device) {
    *c = (contest){.of = of, .rank = rank};
    for (int w = 0; w < N_WAYS; w++)
        for (int a = 0; a < of->n_arrays; a++)
            c->own[w][a] = bench_allocate(of->n_bytes[a]);
    if (of->by_master)
        c->master =
            (rounds_master){of->launch.arrays[0].extents[1], (int)of->launch.arrays[0].extents[0],
                            c->own[SLOTS][of->n_arrays - 1]};
    if (of->begin_by_hand != NULL)
        of->begin_by_hand(rank);
    rounds_slots_begin(&c->slots, &of->launch, device);
}

static void end(contest *c) {
    rounds_slots_end(&c->slots);
    if (c->of->end_by_hand != NULL)
        c->of->end_by_hand(c->rank);
    for (int w = 0; w < N_WAYS; w++)
        for (int a = 0; a < c->of->n_arrays; a++)
            bench_free(c->own[w][a], c->of->n_bytes[a]);
}

static bool has_way(const contest *c, int way) {
    return way != OTHER || c->of->other != NULL;
}

static void run_way(contest *c, int way) {
    rounds_talk *talk = c->of->by_master && c->rank == 0 ? rounds_hand_out_rows : NULL;
    if (way == SLOTS)
        rounds_slots_run(&c->slots, &c->of->launch, talk, &c->master);
    else
        (way == BY_HAND ? c->of->by_hand : c->of->other)(c->of, c->own[way]);
}

/** Copy from or to the memory of this rank what it owns of the arrays of the slots. */
static void put_own(const contest *c) {
    for (int a = 0; a < c->of->launch.n_arrays; a++) {
        const polytile_domain box = polytile_mpi_array_get_box(c->slots.arrays[a], 0);
        bench_require(polytile_mpi_array_put(c->slots.arrays[a], &box, c->own[SLOTS][a]),
                      c->slots.ctx);
    }
}

static void get_own(const contest *c) {
    for (int a = 0; a < c->of->launch.n_arrays; a++) {
        const polytile_domain box = polytile_mpi_array_get_box(c->slots.arrays[a], 0);
        bench_require(polytile_mpi_array_get(c->slots.arrays[a], &box, c->own[SLOTS][a]),
                      c->slots.ctx);
    }
}

/** Seconds until the last rank is done. */
static double time_way(contest *c, int way) {
    c->of->fill(c->of, c->rank, c->own[way]);
    if (way == SLOTS)
        put_own(c);
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin_s = bench_now_s();
    run_way(c, way);
    MPI_Barrier(MPI_COMM_WORLD);
    const double taken_s = bench_now_s() - begin_s;
    if (way == SLOTS)
        get_own(c);
    return taken_s;
}

/** Compare what this rank has by one way with what it has by hand. A master has all results. */
static void check_way(const contest *c, int way) {
    const int first = c->of->by_master ? c->of->n_arrays - 1 : 0;
    for (int a = first; a < c->of->n_arrays && !(c->of->by_master && c->rank > 0); a++)
        if (memcmp(c->own[way][a], c->own[BY_HAND][a], (size_t)c->of->n_bytes[a]) != 0) {
            fprintf(stderr, "rounds: %s: array %d of rank %d is not what was computed by hand\n",
                    c->of->subject, a, c->rank);
            MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
        }
}

static int count_lines(const char *const *sources) {
    int n_lines = 0;
    for (int k = 0; k < ROUNDS_MOST_SOURCES && sources[k] != NULL; k++)
        n_lines += rounds_count_lines(sources[k]);
    return n_lines;
}

static void report(bench *b, const contest *c) {
    const rounds_case *of = c->of;
    const double slots_s = bench_median(&c->taken[SLOTS]);
    const double by_hand_s = bench_median(&c->taken[BY_HAND]);
    const double n_slots = count_lines(of->slots_sources);
    const double n_by_hand = count_lines(of->by_hand_sources);
    const bench_figure figures[] = {
        {of->subject, "slots_ms", slots_s * 1e3, BENCH_NO_TARGET, 0},
        {of->subject, "by_hand_ms", by_hand_s * 1e3, BENCH_NO_TARGET, 0},
        {of->subject, "of_speed_by_hand", by_hand_s / slots_s, BENCH_AT_LEAST, 0.98},
        {of->subject, "leasts_of_speed",
         bench_least(&c->taken[BY_HAND]) / bench_least(&c->taken[SLOTS]), BENCH_NO_TARGET, 0},
        {of->subject, "lines_by_hand", n_by_hand, BENCH_NO_TARGET, 0},
        {of->subject, "lines_of_slots_kernel", rounds_count_lines(of->slots_sources[0]),
         BENCH_NO_TARGET, 0},
        {of->subject, "lines_of_slots", n_slots, BENCH_NO_TARGET, 0},
        {of->subject, "of_lines_by_hand", n_slots / n_by_hand, BENCH_AT_MOST, 0.7},
    };
    for (size_t f = 0; f < sizeof figures / sizeof *figures; f++)
        bench_report(b, &figures[f]);
}

static void report_other(bench *b, const contest *c) {
    const double other_s = bench_median(&c->taken[OTHER]);
    const double slots_s = bench_median(&c->taken[SLOTS]);
    const bench_relation relation = c->of->other_target > 0 ? BENCH_AT_LEAST : BENCH_NO_TARGET;
    char names[2][64];
    snprintf(names[0], sizeof names[0], "%s_ms", c->of->other_name);
    snprintf(names[1], sizeof names[1], "of_speed_%s", c->of->other_name);
    const bench_figure figures[] = {
        {c->of->subject, names[0], other_s * 1e3, BENCH_NO_TARGET, 0},
        {c->of->subject, names[1], other_s / slots_s, relation, c->of->other_target},
    };
    for (size_t f = 0; f < sizeof figures / sizeof *figures; f++)
        bench_report(b, &figures[f]);
}

/** The first round, which touches all memory and plans, does not count. */
static void compete(bench *b, const rounds_case *of, int rank, const char *device) {
    contest c;
    begin(&c, of, rank, device);
    for (int k = -1; k < BENCH_REPETITIONS; k++) {
        for (int w = 0; w < N_WAYS; w++) {
            const double taken_s = has_way(&c, w) ? time_way(&c, w) : 0;
            if (k >= 0)
                bench_add_time(&c.taken[w], taken_s);
        }
        check_way(&c, SLOTS);
        if (has_way(&c, OTHER))
            check_way(&c, OTHER);
    }
    report(b, &c);
    if (has_way(&c, OTHER))
        report_other(b, &c);
    end(&c);
}

static void compete_on_hosts(bench *b, int rank) {
    const rounds_case cases[] = {rounds_cannon(), rounds_nbody(ROUNDS_RANKS, 1024),
                                 rounds_mandelbrot()};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        compete(b, &cases[k], rank, "host(threads=1)");
}

/** The fewer bodies, the more of the time is that of messages. */
static void compete_on_two_hosts(bench *b, int rank) {
    for (int n = 512; n <= 2048; n *= 2) {
        const rounds_case nbody = rounds_nbody(2, n);
        compete(b, &nbody, rank, "host(threads=1)");
    }
}

/** Rank 0, the master, has no GPU. */
static void compete_on_gpus(bench *b, int rank, int n_gpus) {
    char device[32] = "host(threads=1)";
    const rounds_case mandelbrot = rounds_mandelbrot_on_gpus(n_gpus);
    if (rank > 0)
        snprintf(device, sizeof device, "cuda:%d", (rank - 1) % n_gpus);
    compete(b, &mandelbrot, rank, device);
}

static int begin_mpi(int *argc, char ***argv) {
    const int wanted = bench_take_option("--serialized", 1, argc, argv) ? MPI_THREAD_SERIALIZED
                                                                        : MPI_THREAD_FUNNELED;
    int level, n_ranks;
    MPI_Init_thread(argc, argv, wanted, &level);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    return n_ranks;
}

int main(int argc, char **argv) {
    bench b;
    int n_gpus = 0;
    const int n_ranks = begin_mpi(&argc, &argv) == 2 ? 2 : ROUNDS_RANKS;
    if (bench_take_option("--gpus", 2, &argc, &argv))
        n_gpus = atoi(argv[0]);
    const int rank =
        bench_begin_ranks(&b, "rounds", n_ranks, "[--serialized] [--gpus N] ", argc, argv);
    if (n_ranks == 2)
        compete_on_two_hosts(&b, rank);
    else if (n_gpus > 0)
        compete_on_gpus(&b, rank, n_gpus);
    else
        compete_on_hosts(&b, rank);
    return bench_end_ranks(&b);
}
