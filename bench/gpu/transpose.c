/* A transposition within a fraction of its data: narrow slices of rows cross the link. */
#include "gpu/cases.h"
#include "gpu/duplex.h"
#include "gpu/gpu.h"
#include "gpu/kernels.h"
#include "gpu/problem.h"

enum { EXTENT = 40000, TILE = 64 };
static const int64_t n_elements = (int64_t)EXTENT * EXTENT;
static const int64_t array_bytes = (int64_t)EXTENT * EXTENT * (int64_t)sizeof(float);

typedef struct contest {
    float *a, *b;
    problem launch;
    duplex copies;
} contest;

/** Return the first wrong element of a tile of b, or n_elements. */
static int64_t first_wrong_of(const contest *c, int64_t i0, int64_t j0) {
    for (int64_t i = i0; i < i0 + TILE; i++)
        for (int64_t j = j0; j < j0 + TILE; j++)
            if (c->b[i * EXTENT + j] != c->a[j * EXTENT + i])
                return i * EXTENT + j;
    return n_elements;
}

static void check(const contest *c) {
    int64_t first_wrong = n_elements;
#pragma omp parallel for reduction(min : first_wrong)
    for (int64_t i0 = 0; i0 < EXTENT; i0 += TILE)
        for (int64_t j0 = 0; j0 < EXTENT; j0 += TILE) {
            int64_t wrong = first_wrong_of(c, i0, j0);
            if (wrong < first_wrong)
                first_wrong = wrong;
        }
    gpu_require_all_right("B", c->b, first_wrong, n_elements);
}

static double time_library(void *subject) {
    contest *c = subject;
    gpu_poison(c->b, n_elements);
    double taken_s = problem_run(&c->launch);
    check(c);
    return taken_s;
}

static double time_copies(void *subject) {
    return duplex_time(&((contest *)subject)->copies);
}

static void create(contest *c, int64_t limit_bytes) {
    const int64_t extents[] = {EXTENT, EXTENT};
    const polytile_domain threads = polytile_domain_from_extents(2, extents);
    c->a = gpu_allocate_pinned(array_bytes);
    c->b = gpu_allocate_pinned(array_bytes);
    gpu_fill_random(c->a, n_elements, 6);
    problem_open(&c->launch, limit_bytes, TRANSPOSE_DECLARATION, gpu_transpose());
    problem_wrap(&c->launch, 2, extents, c->a);
    problem_wrap(&c->launch, 2, extents, c->b);
    problem_plan(&c->launch, &threads, NULL);
    c->copies = (duplex){.n_in = 1, .in = {c->a}, .out = c->b, .n_bytes = array_bytes};
    duplex_prepare(&c->copies);
}

static void compare(const char *name, int fraction, double target) {
    contest c = {0};
    bench_times library = {0}, copies = {0};
    gpu_begin(GPU_WAITS_AS_EVER);
    create(&c, 2 * array_bytes / fraction);
    gpu_alternate_few(3, time_library, time_copies, &c, &library, &copies);
    gpu_report(&(gpu_comparison){name, "plain copies both ways", &library, &copies, BENCH_AT_MOST,
                                 target, c.launch.plan_s});
}

void transpose_16th(void) {
    compare("transposition 40000^2, limit 1/16", 16, 1.20);
}

void transpose_64th(void) {
    compare("transposition 40000^2, limit 1/64", 64, 1.35);
}
