/* Products with sparse matrices on the host in place against plain OpenMP loops, run alternately: a
 * body a row, and a body an entry, where the loops add to y atomically. */
#include "common/bench.h"
#include "common/csr.h"
#include "common/csr_kernels.h"

#include <stdlib.h>
#include <string.h>

enum { N_ENTRIES = 100 * 1000 * 1000 };

/** One comparison. */
typedef struct contest {
    const char *name;
    const char *generator;
    bool by_entries;
} contest;

static const contest contests[] = {
    {"uniform, 10^8 entries, a body a row", "uniform", false},
    {"band, 10^8 entries, a body a row", "band", false},
    {"power law, 10^8 entries, a body an entry", "power", true},
};

/** What a contest has when its arrays exist. */
typedef struct product {
    bool by_entries;
    bench_csr matrix;
    float *expected;
    polytile_context *ctx;
    polytile_kernel *kernel;
    polytile_array *array[BENCH_CSR_ARRAYS];
} product;

static void open_product(const contest *c, product *p) {
    *p = (product){.by_entries = c->by_entries};
    bench_csr_create(&p->matrix, c->generator, N_ENTRIES, c->by_entries);
    p->expected = bench_allocate(p->matrix.n_rows * 4);
    bench_csr_multiply(&p->matrix, p->expected);
    bench_require(polytile_context_create(&p->ctx), NULL);
    bench_require(polytile_kernel_create(
                      p->ctx, p->by_entries ? CSR_ENTRIES_DECLARATION : CSR_ROWS_DECLARATION,
                      p->by_entries ? csr_entries() : csr_rows(), &p->kernel),
                  p->ctx);
    bench_csr_wrap(&p->matrix, p->ctx, p->kernel, p->array);
}

/** All but y stays with the queue. */
static void attach_inputs(const product *p, polytile_queue *queue) {
    const int y = p->by_entries ? 3 : 4;
    for (int a = 0; a < BENCH_CSR_ARRAYS; a++)
        if (a != y)
            bench_require(polytile_queue_attach(queue, 1, &p->array[a]), p->ctx);
}

static void close_product(product *p) {
    polytile_context_destroy(p->ctx);
    bench_free(p->expected, p->matrix.n_rows * 4);
    bench_csr_destroy(&p->matrix);
}

static void check(const product *p, const char *who) {
    if (memcmp(p->matrix.y, p->expected, (size_t)p->matrix.n_rows * 4) != 0) {
        fprintf(stderr, "sparse: a wrong product, %s\n", who);
        exit(EXIT_FAILURE);
    }
}

static double time_library(product *p, polytile_queue *queue) {
    const int64_t n_threads = p->by_entries ? p->matrix.n_entries : p->matrix.n_rows;
    polytile_array **y = &p->array[p->by_entries ? 3 : 4];
    bench_csr_clear(&p->matrix);
    const double start_s = bench_now_s();
    bench_require(polytile_queue_attach(queue, 1, y), p->ctx);
    bench_require(polytile_queue_launch(queue, p->kernel, POLYTILE_EXTENTS(n_threads),
                                        BENCH_CSR_ARRAYS, p->array, NULL),
                  p->ctx);
    bench_require(polytile_queue_detach(queue, 1, y), p->ctx);
    const double taken_s = bench_now_s() - start_s;
    check(p, "ours");
    return taken_s;
}

static void add_entries(const bench_csr *of) {
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < of->n_entries; e++) {
        const float value = of->V[e] * of->x[of->K[e]];
#pragma omp atomic
        of->y[of->R[e]] += value;
    }
}

static double time_plain(product *p) {
    bench_csr_clear(&p->matrix);
    const double start_s = bench_now_s();
    if (p->by_entries)
        add_entries(&p->matrix);
    else
        bench_csr_multiply(&p->matrix, p->matrix.y);
    const double taken_s = bench_now_s() - start_s;
    check(p, "the plain loop's");
    return taken_s;
}

/** Alternate the two, starting with either in turn, after one run of each that does not count: from
 * the second launch on, as index arrays are read for the first. */
static void measure(product *p, polytile_queue *queue, bench_times *library, bench_times *plain) {
    time_plain(p);
    time_library(p, queue);
    const double start_s = bench_now_s();
    while (!bench_is_enough(plain, bench_now_s() - start_s)) {
        const bool plain_first = plain->n_times % 2 == 0;
        if (plain_first)
            bench_add_time(plain, time_plain(p));
        bench_add_time(library, time_library(p, queue));
        if (!plain_first)
            bench_add_time(plain, time_plain(p));
    }
}

static void run_contest(bench *b, const contest *c) {
    product p;
    polytile_queue *queue;
    bench_times library = {0}, plain = {0};
    open_product(c, &p);
    bench_require(polytile_queue_create(p.ctx, "host", &queue), p.ctx);
    attach_inputs(&p, queue);
    measure(&p, queue, &library, &plain);
    const bench_figure figures[] = {
        {c->name, "plain_s", bench_least(&plain), BENCH_NO_TARGET, 0.0},
        {c->name, "in_place_s", bench_least(&library), BENCH_NO_TARGET, 0.0},
        {c->name, "ratio_of_least", bench_least(&library) / bench_least(&plain), BENCH_AT_MOST,
         1.05},
        {c->name, "ratio_of_medians", bench_median(&library) / bench_median(&plain),
         BENCH_NO_TARGET, 0.0},
    };
    for (int f = 0; f < (int)(sizeof(figures) / sizeof(figures[0])); f++)
        bench_report(b, &figures[f]);
    close_product(&p);
}

int main(int argc, char **argv) {
    bench b;
    if (!bench_begin(&b, "sparse", argc, argv))
        return 2;
    for (int c = 0; c < (int)(sizeof(contests) / sizeof(contests[0])); c++)
        run_contest(&b, &contests[c]);
    return bench_end(&b);
}
