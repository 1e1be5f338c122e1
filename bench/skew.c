/* Steps of Jacobi in place on the host, through a queue, against a plain OpenMP sweep a step and
 * against slabs skewed in time by hand, run alternately. */
#include "common/bench.h"
#include "jacobi_kernels.h"

#include <omp.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { EXTENT = 16384, N_STEPS = 64, N_FIELDS = 2, N_REPETITIONS = 5 };
static const int64_t field_bytes = (int64_t)EXTENT * EXTENT * (int64_t)sizeof(float);
static const char subject[] = "jacobi 16384x16384, 64 steps";

/** Slabs of so many rows go through so many steps while they are in the cache. */
typedef struct slab_shape {
    int64_t n_rows;
    int n_steps; /* divides N_STEPS */
} slab_shape;

static const slab_shape shapes[] = {{8, 8}, {16, 16}, {32, 16}, {32, 32}, {64, 32}};
enum { N_SHAPES = sizeof shapes / sizeof *shapes, SHAPE_REPETITIONS = 2 };

/** The fields of the sweeps, and what the queue has. Each run's result is in the first field, or in
 * field. */
typedef struct contest {
    float *swept[N_FIELDS];
    float *field;
    polytile_context *ctx;
    polytile_queue *queue;
    polytile_kernel *update;
    polytile_kernel *copy;
    polytile_array *array;
    polytile_array *scratch;
} contest;

static void fill(float *field) {
#pragma omp parallel for
    for (int64_t i = 0; i < EXTENT; i++)
        for (int64_t j = 0; j < EXTENT; j++)
            field[i * EXTENT + j] = (float)((i * 31 + j * 17) % 1009);
}

/** A row by the function that the queue runs, too. */
static void update_row(float *from, float *to, int64_t i) {
    const polytile_domain field = *POLYTILE_EXTENTS(EXTENT, EXTENT);
    const polytile_domain threads = {2, {{i, i, 1}, {1, EXTENT - 2, 1}}};
    const int64_t pitch_bytes = EXTENT * (int64_t)sizeof(float);
    const polytile_view views[] = {
        {.origin = from, .stride_bytes = {pitch_bytes, sizeof(float)}, .resident = field},
        {.origin = to, .stride_bytes = {pitch_bytes, sizeof(float)}, .resident = field}};
    jacobi_f32_implementation()->host(&threads, views, NULL);
}

static void sweep(const contest *c) {
    for (int step = 0; step < N_STEPS; step++) {
        float *from = c->swept[step % 2];
        float *to = c->swept[1 - step % 2];
#pragma omp parallel for schedule(static)
        for (int64_t i = 1; i < EXTENT - 1; i++)
            update_row(from, to, i);
    }
}

/** Where threads wait for each other. They stay awake at first: to wake one takes about as long as
 * its share of a slab. */
typedef struct meeting {
    atomic_int n_arrived;
    atomic_int n_held;
} meeting;

enum { TRIES_BEFORE_YIELDING = 20000 };

static void meet(meeting *m, int n_threads) {
    int n_held = atomic_load(&m->n_held);
    if (atomic_fetch_add(&m->n_arrived, 1) == n_threads - 1) {
        atomic_store(&m->n_arrived, 0);
        atomic_store(&m->n_held, n_held + 1);
    }
    for (int tries = 0; atomic_load(&m->n_held) == n_held; tries++) {
        if (tries >= TRIES_BEFORE_YIELDING)
            sched_yield();
    }
}

/** Update a thread's share of rows, which may lie outside the interior. */
static void update_share(const contest *c, int step, int64_t first, int64_t last) {
    int64_t me = omp_get_thread_num(), n_threads = omp_get_num_threads();
    int64_t begin = first < 1 ? 1 : first, end = last > EXTENT - 2 ? EXTENT - 1 : last + 1;
    int64_t n_rows = end > begin ? end - begin : 0;
    for (int64_t i = n_rows * me / n_threads; i < n_rows * (me + 1) / n_threads; i++)
        update_row(c->swept[step % 2], c->swept[1 - step % 2], begin + i);
}

/** Each step is one row behind the one before, whose next row it reads. */
static void run_slab(const contest *c, const slab_shape *shape, int first_step, int64_t slab,
                     meeting *between_steps) {
    for (int behind = 0; behind < shape->n_steps; behind++) {
        int64_t first = slab * shape->n_rows - behind;
        update_share(c, first_step + behind, first, first + shape->n_rows - 1);
        meet(between_steps, omp_get_num_threads());
    }
}

static void skew(const contest *c, const slab_shape *shape) {
    meeting between_steps = {0};
#pragma omp parallel
    for (int step = 0; step < N_STEPS; step += shape->n_steps)
        for (int64_t slab = 0; slab * shape->n_rows < EXTENT + shape->n_steps; slab++)
            run_slab(c, shape, step, slab, &between_steps);
}

static void launch(const contest *c, const polytile_kernel *kernel, const polytile_domain *threads,
                   polytile_array *from, polytile_array *to) {
    bench_require(polytile_queue_launch(c->queue, kernel, threads, POLYTILE_ARRAYS(from, to), NULL),
                  c->ctx);
}

/** Copy all sides, which no step changes. */
static void launch_border(const contest *c, polytile_array *to) {
    for (int d = 0; d < 2; d++)
        for (int is_last = 0; is_last < 2; is_last++) {
            polytile_domain side = *POLYTILE_EXTENTS(EXTENT, EXTENT);
            int64_t at = is_last ? EXTENT - 1 : 0;
            side.range[d] = (polytile_range){at, at, 1};
            launch(c, c->copy, &side, c->array, to);
        }
}

static void run_queue(const contest *c) {
    bench_require(polytile_queue_attach(c->queue, POLYTILE_ARRAYS(c->array)), c->ctx);
    polytile_queue_pause(c->queue);
    launch_border(c, c->scratch);
    for (int step = 0; step < N_STEPS; step += 2) {
        launch(c, c->update, POLYTILE_INTERIOR(1, EXTENT, EXTENT), c->array, c->scratch);
        launch(c, c->update, POLYTILE_INTERIOR(1, EXTENT, EXTENT), c->scratch, c->array);
    }
    polytile_queue_resume(c->queue);
    bench_require(polytile_queue_detach(c->queue, POLYTILE_ARRAYS(c->array)), c->ctx);
}

static double time_queue(const contest *c) {
    fill(c->field);
    double start_s = bench_now_s();
    run_queue(c);
    return bench_now_s() - start_s;
}

/** With a shape skewed by hand, with NULL a sweep a step. */
static double time_by_hand(const contest *c, const slab_shape *shape) {
    for (int f = 0; f < N_FIELDS; f++)
        fill(c->swept[f]);
    double start_s = bench_now_s();
    if (shape != NULL)
        skew(c, shape);
    else
        sweep(c);
    return bench_now_s() - start_s;
}

static void check_same(const contest *c) {
    if (memcmp(c->field, c->swept[0], (size_t)field_bytes) == 0)
        return;
    fprintf(stderr, "skew: the queue's field is not that of the sweeps\n");
    exit(EXIT_FAILURE);
}

static void begin(contest *c) {
    *c = (contest){0};
    for (int f = 0; f < N_FIELDS; f++)
        c->swept[f] = bench_allocate(field_bytes);
    c->field = bench_allocate(field_bytes);
    bench_require(polytile_context_create(&c->ctx), NULL);
    bench_require(polytile_queue_create(c->ctx, "host", &c->queue), c->ctx);
    bench_require(
        polytile_kernel_create(c->ctx, JACOBI_DECLARATION, jacobi_f32_implementation(), &c->update),
        c->ctx);
    bench_require(
        polytile_kernel_create(c->ctx, COPY_DECLARATION, copy_f32_implementation(), &c->copy),
        c->ctx);
    bench_require(polytile_array_wrap(c->ctx, "field", POLYTILE_F32, 2,
                                      (const int64_t[]){EXTENT, EXTENT}, c->field, &c->array),
                  c->ctx);
    bench_require(polytile_queue_create_array(c->queue, "scratch", POLYTILE_F32, 2,
                                              (const int64_t[]){EXTENT, EXTENT}, &c->scratch),
                  c->ctx);
}

/** So that all memory is there, that of the queue's scratch array, too. */
static void warm_up(const contest *c) {
    time_queue(c);
}

static void end(contest *c) {
    polytile_context_destroy(c->ctx);
    bench_free(c->field, field_bytes);
    for (int f = 0; f < N_FIELDS; f++)
        bench_free(c->swept[f], field_bytes);
}

/** Which shape of slab is best, of few runs each. */
static const slab_shape *choose_shape(bench *b, const contest *c) {
    const slab_shape *best = shapes;
    double best_s = 0.0;
    for (const slab_shape *shape = shapes; shape < shapes + N_SHAPES; shape++) {
        char name[64];
        bench_times taken = {0};
        snprintf(name, sizeof name, "by hand, %lld rows, %d steps", (long long)shape->n_rows,
                 shape->n_steps);
        for (int r = 0; r < SHAPE_REPETITIONS; r++)
            bench_add_time(&taken, time_by_hand(c, shape));
        bench_report(b, &(bench_figure){name, "least_s", bench_least(&taken), BENCH_NO_TARGET, 0});
        if (shape == shapes || bench_least(&taken) < best_s) {
            best = shape;
            best_s = bench_least(&taken);
        }
    }
    return best;
}

/** Report a way's times, and how many times as fast as the sweeps it is. */
static void report(bench *b, const char *way, const bench_times *taken, const bench_times *swept,
                   bench_relation relation) {
    char name[64];
    snprintf(name, sizeof name, "%s, %s", subject, way);
    const bench_figure figures[] = {
        {name, "least_s", bench_least(taken), BENCH_NO_TARGET, 0.0},
        {name, "median_s", bench_median(taken), BENCH_NO_TARGET, 0.0},
        {name, "speed_of_least", bench_least(swept) / bench_least(taken), BENCH_NO_TARGET, 0.0},
        {name, "speed_of_medians", bench_median(swept) / bench_median(taken), relation, 1.5},
    };
    for (int f = 0; f < (int)(sizeof figures / sizeof *figures); f++)
        bench_report(b, &figures[f]);
}

int main(int argc, char **argv) {
    bench b;
    contest c;
    bench_times swept = {0}, skewed = {0}, queued = {0};
    if (!bench_begin(&b, "skew", argc, argv))
        return 2;
    begin(&c);
    warm_up(&c);
    const slab_shape *best = choose_shape(&b, &c);
    for (int r = 0; r < N_REPETITIONS; r++) {
        bench_add_time(&queued, time_queue(&c));
        bench_add_time(&swept, time_by_hand(&c, NULL));
        check_same(&c);
        bench_add_time(&skewed, time_by_hand(&c, best));
        check_same(&c);
    }
    report(&b, "sweeps", &swept, &swept, BENCH_NO_TARGET);
    report(&b, "by hand", &skewed, &swept, BENCH_NO_TARGET);
    report(&b, "queue", &queued, &swept, BENCH_AT_LEAST);
    end(&c);
    return bench_end(&b);
}
