/* Reductions on the host in place against OpenMP's reduction of the same loop with the same flags,
 * run alternately. Results are compared. */
#include "common/bench.h"
#include <polytile/kernel.h>

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ARRAYS = 4, N = 1 << 25, N_BINS = 4096 };

/** Memory of a contest: what is read, and where results go. */
typedef struct memory {
    const double *x, *y;
    const int32_t *key;
    double result[4];
    int64_t bins[N_BINS];
    pt_f64_i64 end;
} memory;

/** One comparison: a launch of the library, and the same by hand. */
typedef struct contest {
    const char *name;
    const char *declaration;
    const polytile_implementation *implementation;
    const char *operands; /* one character an operand: x, y, key (k), bins (b), an end (e), a
                             result (0 to 3) */
    void (*run_plain)(memory *m);
} contest;

POLYTILE_KERNEL(sum, (i), (const double, x, 1), (double, s, 1)) {
    PT_SUM(PT_AT(s, 0), PT_AT(x, i));
}

static void sum_plain(memory *m) {
    const double *x = m->x;
    double s = 0;
#pragma omp parallel for reduction(+ : s)
    for (int64_t i = 0; i < N; i++)
        s += x[i];
    m->result[0] = s;
}

POLYTILE_KERNEL(least, (i), (const double, x, 1), (double, lo, 1)) {
    PT_MIN(PT_AT(lo, 0), PT_AT(x, i));
}

static void least_plain(memory *m) {
    const double *x = m->x;
    double lo = INFINITY;
#pragma omp parallel for reduction(min : lo)
    for (int64_t i = 0; i < N; i++)
        lo = x[i] < lo ? x[i] : lo;
    m->result[0] = lo;
}

POLYTILE_KERNEL(most, (i), (const double, x, 1), (double, hi, 1)) {
    PT_MAX(PT_AT(hi, 0), PT_AT(x, i));
}

static void most_plain(memory *m) {
    const double *x = m->x;
    double hi = -INFINITY;
#pragma omp parallel for reduction(max : hi)
    for (int64_t i = 0; i < N; i++)
        hi = x[i] > hi ? x[i] : hi;
    m->result[0] = hi;
}

POLYTILE_KERNEL(peak, (i), (const double, x, 1), (pt_f64_i64, end, 1)) {
    PT_ARGMAX(PT_AT(end, 0), PT_AT(x, i), i);
}

static pt_f64_i64 larger(pt_f64_i64 a, pt_f64_i64 b) {
    return b.value > a.value || (b.value == a.value && b.index < a.index) ? b : a;
}

#pragma omp declare reduction(larger:pt_f64_i64                                                    \
                              : omp_out = larger(omp_out, omp_in))                                 \
    initializer(omp_priv = (pt_f64_i64){-INFINITY, INT64_MAX})

static void peak_plain(memory *m) {
    const double *x = m->x;
    pt_f64_i64 end = {-INFINITY, INT64_MAX};
#pragma omp parallel for reduction(larger : end)
    for (int64_t i = 0; i < N; i++)
        if (x[i] > end.value)
            end = (pt_f64_i64){x[i], i};
    m->end = end;
}

POLYTILE_KERNEL(dot, (i), (const double, x, 1), (const double, y, 1), (double, s, 1)) {
    PT_SUM(PT_AT(s, 0), PT_AT(x, i) * PT_AT(y, i));
}

static void dot_plain(memory *m) {
    const double *x = m->x, *y = m->y;
    double s = 0;
#pragma omp parallel for reduction(+ : s)
    for (int64_t i = 0; i < N; i++)
        s += x[i] * y[i];
    m->result[0] = s;
}

POLYTILE_KERNEL(several, (i), (const double, x, 1), (double, s, 1), (double, lo, 1),
                (double, hi, 1)) {
    PT_SUM(PT_AT(s, 0), PT_AT(x, i));
    PT_MIN(PT_AT(lo, 0), PT_AT(x, i));
    PT_MAX(PT_AT(hi, 0), PT_AT(x, i));
}

static void several_plain(memory *m) {
    const double *x = m->x;
    double s = 0, lo = INFINITY, hi = -INFINITY;
#pragma omp parallel for reduction(+ : s) reduction(min : lo) reduction(max : hi)
    for (int64_t i = 0; i < N; i++) {
        s += x[i];
        lo = x[i] < lo ? x[i] : lo;
        hi = x[i] > hi ? x[i] : hi;
    }
    m->result[0] = s;
    m->result[1] = lo;
    m->result[2] = hi;
}

POLYTILE_KERNEL(histogram, (i), (const int32_t, key, 1), (int64_t, bins, 1)) {
    PT_SUM(PT_AT(bins, PT_AT(key, i)), 1);
}

static void histogram_plain(memory *m) {
    const int32_t *key = m->key;
    int64_t *bins = m->bins;
    memset(bins, 0, sizeof m->bins);
#pragma omp parallel for reduction(+ : bins[:N_BINS])
    for (int64_t i = 0; i < N; i++)
        bins[key[i]]++;
}

static const contest contests[] = {
    {"sum", "sum[i]: in x[i]; out sum s[0]", &sum_kernel, "x0", sum_plain},
    {"min", "least[i]: in x[i]; out min lo[0]", &least_kernel, "x0", least_plain},
    {"max", "most[i]: in x[i]; out max hi[0]", &most_kernel, "x0", most_plain},
    {"argmax", "peak[i]: in x[i]; out argmax end[0]", &peak_kernel, "xe", peak_plain},
    {"dot", "dot[i]: in x[i], y[i]; out sum s[0]", &dot_kernel, "xy0", dot_plain},
    {"sum, min and max", "several[i]: in x[i]; out sum s[0]; out min lo[0]; out max hi[0]",
     &several_kernel, "x012", several_plain},
    {"histogram", "histogram[i]: in key[i]; out sum bins[:]", &histogram_kernel, "kb",
     histogram_plain},
};
enum { N_CONTESTS = sizeof contests / sizeof *contests };

/** What a contest has when its arrays exist. */
typedef struct stage {
    polytile_context *ctx;
    polytile_device *device;
    polytile_kernel *kernel;
    int n_arrays;
    polytile_array *arrays[MOST_ARRAYS];
    double result[MOST_ARRAYS];
    int64_t bins[N_BINS];
    pt_f64_i64 end;
} stage;

static void wrap(stage *s, polytile_type type, int64_t n, void *data) {
    const char *name = polytile_kernel_get_array_name(s->kernel, s->n_arrays);
    bench_require(polytile_array_wrap(s->ctx, name, type, 1, &n, data, &s->arrays[s->n_arrays]),
                  s->ctx);
    s->n_arrays++;
}

static void wrap_operand(stage *s, const memory *m, char operand) {
    if (operand == 'k')
        wrap(s, POLYTILE_I32, N, (void *)(uintptr_t)m->key);
    else if (operand == 'e')
        wrap(s, POLYTILE_INDEXED(POLYTILE_F64), 1, &s->end);
    else if (operand == 'b')
        wrap(s, POLYTILE_I64, N_BINS, s->bins);
    else if (operand == 'x' || operand == 'y')
        wrap(s, POLYTILE_F64, N, (void *)(uintptr_t)(operand == 'x' ? m->x : m->y));
    else
        wrap(s, POLYTILE_F64, 1, &s->result[operand - '0']);
}

static void begin_contest(const contest *c, const memory *m, stage *s) {
    *s = (stage){0};
    bench_require(polytile_context_create(&s->ctx), NULL);
    bench_require(polytile_device_open(s->ctx, "host", &s->device), s->ctx);
    bench_require(polytile_kernel_create(s->ctx, c->declaration, c->implementation, &s->kernel),
                  s->ctx);
    for (const char *operand = c->operands; *operand != '\0'; operand++)
        wrap_operand(s, m, *operand);
}

static double time_library(const stage *s) {
    double start_s = bench_now_s();
    bench_require(
        polytile_run(s->device, s->kernel, POLYTILE_EXTENTS(N), s->n_arrays, s->arrays, NULL),
        s->ctx);
    return bench_now_s() - start_s;
}

static double time_plain(const contest *c, memory *m) {
    double start_s = bench_now_s();
    c->run_plain(m);
    return bench_now_s() - start_s;
}

/** Sums of so many numbers differ by their order. */
static bool are_close(double a, double b) {
    return fabs(a - b) <= 1e-9 * fmax(fabs(a), fabs(b));
}

static void compare_results(const contest *c, const memory *m, const stage *s) {
    bool is_same = true;
    for (const char *operand = c->operands; *operand != '\0'; operand++) {
        if (*operand >= '0' && *operand <= '3')
            is_same &= are_close(m->result[*operand - '0'], s->result[*operand - '0']);
        if (*operand == 'e')
            is_same &= m->end.value == s->end.value && m->end.index == s->end.index;
        if (*operand == 'b')
            is_same &= memcmp(m->bins, s->bins, sizeof m->bins) == 0;
    }
    if (is_same)
        return;
    fprintf(stderr, "%s: results differ\n", c->name);
    exit(1);
}

/** Alternate the two, starting with either in turn, after one run of each that does not count. */
static void run_contest(bench *b, const contest *c, memory *m) {
    stage s;
    bench_times library = {0}, plain = {0};
    begin_contest(c, m, &s);
    time_plain(c, m);
    time_library(&s);
    compare_results(c, m, &s);
    double start_s = bench_now_s();
    while (!bench_is_enough(&plain, bench_now_s() - start_s)) {
        bool plain_first = plain.n_times % 2 == 0;
        if (plain_first)
            bench_add_time(&plain, time_plain(c, m));
        bench_add_time(&library, time_library(&s));
        if (!plain_first)
            bench_add_time(&plain, time_plain(c, m));
    }
    polytile_context_destroy(s.ctx);
    const bench_figure figures[] = {
        {c->name, "openmp_s", bench_least(&plain), BENCH_NO_TARGET, 0.0},
        {c->name, "in_place_s", bench_least(&library), BENCH_NO_TARGET, 0.0},
        {c->name, "ratio_of_least", bench_least(&library) / bench_least(&plain), BENCH_AT_MOST,
         1.05},
        {c->name, "ratio_of_medians", bench_median(&library) / bench_median(&plain),
         BENCH_NO_TARGET, 0.0},
    };
    for (int f = 0; f < (int)(sizeof figures / sizeof *figures); f++)
        bench_report(b, &figures[f]);
}

static void fill_memory(double *x, double *y, int32_t *key) {
    uint32_t random = 1;
    for (int64_t k = 0; k < N; k++) {
        random = random * 1664525 + 1013904223;
        x[k] = (double)(random >> 8) / (1 << 24);
        y[k] = (double)(k % 7) / 8;
        key[k] = (int32_t)(random >> 16) % N_BINS;
    }
}

int main(int argc, char **argv) {
    static memory m;
    bench b;
    const int64_t n_bytes = (int64_t)N * 4;
    double *x = bench_allocate(2 * n_bytes), *y = bench_allocate(2 * n_bytes);
    int32_t *key = bench_allocate(n_bytes);
    fill_memory(x, y, key);
    m.x = x;
    m.y = y;
    m.key = key;
    if (!bench_begin(&b, "reduce", argc, argv))
        return 2;
    for (int c = 0; c < N_CONTESTS; c++)
        run_contest(&b, &contests[c], &m);
    bench_free(x, 2 * n_bytes);
    bench_free(y, 2 * n_bytes);
    bench_free(key, n_bytes);
    return bench_end(&b);
}
