/* Chains in place on the host, cut into columns, against plain OpenMP loops of the same arithmetic;
 * with one thread and with all, on cores that have nothing else to do and on busy ones. All ways
 * run alternately. BENCH_EXTENT and BENCH_STEPS change the size. */
#include "common/bench.h"
#include "jacobi_kernels.h"

#include <omp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { EXTENT = 16384, N_STEPS = 64, N_REPETITIONS = 3, MOST_CORES = 256 };

/** What is run: a queue with one thread, and one with all, that each have the first field. */
typedef struct contest {
    int64_t extent;
    int n_steps;
    int64_t field_bytes;
    float *field[2]; /* the queues' is the first; plain loops go to and fro */
    polytile_context *ctx;
    polytile_queue *one, *all;
    polytile_kernel *update;
    polytile_array *array;
    polytile_array *other; /* of the second field */
} contest;

static int64_t number_of(const char *name, int64_t usual) {
    const char *text = getenv(name);
    return text == NULL ? usual : strtoll(text, NULL, 10);
}

static void fill(const contest *c) {
#pragma omp parallel for
    for (int64_t i = 0; i < c->extent; i++)
        for (int64_t j = 0; j < c->extent; j++)
            c->field[0][i * c->extent + j] = c->field[1][i * c->extent + j] =
                (float)((i * 31 + j * 17) % 1009);
}

static void step_plainly(int64_t n, const float *restrict from, float *restrict to) {
#pragma omp parallel for schedule(static)
    for (int64_t i = 1; i < n - 1; i++)
        for (int64_t j = 1; j < n - 1; j++) {
            const float *at = from + i * n + j;
            to[i * n + j] = FIVE_POINT_MEAN(at[0], at[-n], at[n], at[-1], at[1], 0.2f);
        }
}

static double time_plain(const contest *c) {
    fill(c);
    const double start_s = bench_now_s();
    for (int step = 0; step < c->n_steps; step++)
        step_plainly(c->extent, c->field[step % 2], c->field[1 - step % 2]);
    return bench_now_s() - start_s;
}

static double time_queue(const contest *c, polytile_queue *queue) {
    const polytile_domain *inside = POLYTILE_INTERIOR(1, c->extent, c->extent);
    polytile_array *const arrays[] = {c->array, c->other, c->array};
    fill(c);
    const double start_s = bench_now_s();
    bench_require(polytile_queue_attach(queue, POLYTILE_ARRAYS(c->array, c->other)), c->ctx);
    polytile_queue_pause(queue);
    for (int step = 0; step < c->n_steps; step++)
        bench_require(polytile_queue_launch(queue, c->update, inside, 2, &arrays[step % 2], NULL),
                      c->ctx);
    polytile_queue_resume(queue);
    bench_require(polytile_queue_detach(queue, POLYTILE_ARRAYS(c->array, c->other)), c->ctx);
    return bench_now_s() - start_s;
}

static uint64_t sum_bits(const contest *c) {
    const float *field = c->field[c->n_steps % 2];
    uint64_t sum = 0;
    for (int64_t k = 0; k < c->extent * c->extent; k++) {
        uint32_t bits;
        memcpy(&bits, &field[k], sizeof bits);
        sum = sum * 1099511628211u + bits;
    }
    return sum;
}

static void check_same(const contest *c, uint64_t right) {
    if (sum_bits(c) == right)
        return;
    fprintf(stderr, "columns: the queue's field is not that of the plain loops\n");
    exit(EXIT_FAILURE);
}

static void wrap(const contest *c, const char *name, float *field, polytile_array **array) {
    bench_require(polytile_array_wrap(c->ctx, name, POLYTILE_F32, 2,
                                      (const int64_t[]){c->extent, c->extent}, field, array),
                  c->ctx);
}

static void begin(contest *c, int64_t extent) {
    *c = (contest){.extent = extent, .n_steps = (int)number_of("BENCH_STEPS", N_STEPS)};
    c->field_bytes = c->extent * c->extent * (int64_t)sizeof(float);
    for (int f = 0; f < 2; f++)
        c->field[f] = bench_allocate(c->field_bytes);
    bench_require(polytile_context_create(&c->ctx), NULL);
    bench_require(polytile_queue_create(c->ctx, "host(threads=1)", &c->one), c->ctx);
    bench_require(polytile_queue_create(c->ctx, "host", &c->all), c->ctx);
    bench_require(
        polytile_kernel_create(c->ctx, JACOBI_DECLARATION, jacobi_f32_implementation(), &c->update),
        c->ctx);
    wrap(c, "field", c->field[0], &c->array);
    wrap(c, "other", c->field[1], &c->other);
}

static void end(contest *c) {
    polytile_context_destroy(c->ctx);
    for (int f = 0; f < 2; f++)
        bench_free(c->field[f], c->field_bytes);
}

/** Programs that compute without end, one a core. */
static int begin_others(pid_t *other) {
    const int n = omp_get_num_procs() < MOST_CORES ? omp_get_num_procs() : MOST_CORES;
    for (int k = 0; k < n; k++) {
        other[k] = fork();
        if (other[k] == 0)
            for (volatile uint64_t count = 0;; count++)
                continue;
    }
    return n;
}

static void end_others(const pid_t *other, int n) {
    for (int k = 0; k < n; k++) {
        if (other[k] <= 0)
            continue;
        kill(other[k], SIGKILL);
        waitpid(other[k], NULL, 0);
    }
}

static void measure(bench *b, const contest *c, const char *where, bench_relation faster) {
    bench_times plain = {0}, one = {0}, all = {0};
    char name[80];
    for (int r = 0; r < N_REPETITIONS; r++) {
        bench_add_time(&plain, time_plain(c));
        const uint64_t right = sum_bits(c);
        bench_add_time(&all, time_queue(c, c->all));
        check_same(c, right);
        bench_add_time(&one, time_queue(c, c->one));
        check_same(c, right);
    }
    snprintf(name, sizeof name, "jacobi %lld^2, %d steps, %s", (long long)c->extent, c->n_steps,
             where);
    const bench_figure figures[] = {
        {name, "plain_s", bench_median(&plain), BENCH_NO_TARGET, 0},
        {name, "one_thread_s", bench_median(&one), BENCH_NO_TARGET, 0},
        {name, "all_threads_s", bench_median(&all), BENCH_NO_TARGET, 0},
        {name, "speed_over_plain", bench_median(&plain) / bench_median(&all), faster, 3},
        {name, "all_over_one_thread", bench_median(&all) / bench_median(&one), BENCH_AT_MOST, 1},
    };
    for (int f = 0; f < (int)(sizeof figures / sizeof *figures); f++)
        bench_report(b, &figures[f]);
}

/* One step of a field in the caches of a core, by one thread. */

enum { SMALL = 256, SMALL_STEPS = 2000 };

static void repeat_plainly(float *one, float *other) {
    for (int step = 0; step < SMALL_STEPS; step++) {
        const float *restrict from = step % 2 == 0 ? one : other;
        float *restrict to = step % 2 == 0 ? other : one;
        for (int64_t i = 1; i < SMALL - 1; i++)
            for (int64_t j = 1; j < SMALL - 1; j++) {
                const float *at = from + i * SMALL + j;
                to[i * SMALL + j] =
                    FIVE_POINT_MEAN(at[0], at[-SMALL], at[SMALL], at[-1], at[1], 0.2f);
            }
    }
}

static void repeat_body(float *one, float *other) {
    const polytile_domain field = *POLYTILE_EXTENTS(SMALL, SMALL);
    const polytile_domain *inside = POLYTILE_INTERIOR(1, SMALL, SMALL);
    const int64_t pitch_bytes = SMALL * (int64_t)sizeof(float);
    polytile_view views[3] = {
        {.origin = one, .stride_bytes = {pitch_bytes, sizeof(float)}, .resident = field},
        {.origin = other, .stride_bytes = {pitch_bytes, sizeof(float)}, .resident = field}};
    views[2] = views[0];
    for (int step = 0; step < SMALL_STEPS; step++)
        jacobi_f32_implementation()->host(inside, &views[step % 2], NULL);
}

static void measure_body(bench *b) {
    float *one = bench_allocate(SMALL * SMALL * (int64_t)sizeof(float));
    float *other = bench_allocate(SMALL * SMALL * (int64_t)sizeof(float));
    bench_times plain = {0}, body = {0};
    for (int r = 0; r < BENCH_REPETITIONS; r++) {
        double start_s = bench_now_s();
        repeat_plainly(one, other);
        bench_add_time(&plain, bench_now_s() - start_s);
        start_s = bench_now_s();
        repeat_body(one, other);
        bench_add_time(&body, bench_now_s() - start_s);
    }
    bench_report(b, &(bench_figure){"jacobi 256^2 in cache, body over plain loop", "ratio_of_least",
                                    bench_least(&body) / bench_least(&plain), BENCH_AT_MOST, 1.05});
    bench_free(one, SMALL * SMALL * (int64_t)sizeof(float));
    bench_free(other, SMALL * SMALL * (int64_t)sizeof(float));
}

static void measure_at(bench *b, int64_t extent, const char *where, bench_relation faster) {
    contest c;
    begin(&c, extent);
    time_queue(&c, c.all);
    measure(b, &c, where, faster);
    end(&c);
}

/** Busy cores get a quarter of the field. */
int main(int argc, char **argv) {
    bench b;
    pid_t other[MOST_CORES];
    const int64_t extent = number_of("BENCH_EXTENT", EXTENT);
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (!bench_begin(&b, "columns", argc, argv))
        return 2;
    measure_body(&b);
    measure_at(&b, extent, "as it is", BENCH_AT_LEAST);
    const int n_others = begin_others(other);
    measure_at(&b, extent / 2, "busy cores", BENCH_NO_TARGET);
    end_others(other, n_others);
    return bench_end(&b);
}
