/* One step of a five-point stencil over 16 GiB: bound by the link both ways. */
#include "gpu/cases.h"
#include "gpu/duplex.h"
#include "gpu/gpu.h"
#include "gpu/problem.h"
#include "jacobi_kernels.h"

#include <math.h>

enum { EXTENT = 46340 };
static const int64_t n_elements = (int64_t)EXTENT * EXTENT;
static const int64_t array_bytes = (int64_t)EXTENT * EXTENT * (int64_t)sizeof(float);

typedef struct field_step {
    float *a, *b;
    problem launch;
    duplex copies;
} field_step;

/** What an element of b should be; the border is not written and keeps its poison. */
static inline bool is_right(const float *a, const float *b, int64_t i, int64_t j) {
    int64_t k = i * EXTENT + j;
    bool at_border = i == 0 || j == 0 || i == EXTENT - 1 || j == EXTENT - 1;
    return at_border ? isnan(b[k])
                     : b[k] == FIVE_POINT_MEAN(a[k], a[k - EXTENT], a[k + EXTENT], a[k - 1],
                                               a[k + 1], 0.2f);
}

static void check_step(const field_step *f) {
    const float *a = f->a, *b = f->b;
    int64_t first_wrong = n_elements;
#pragma omp parallel for reduction(min : first_wrong)
    for (int64_t i = 0; i < EXTENT; i++)
        for (int64_t j = 0; j < EXTENT; j++) {
            if (!is_right(a, b, i, j) && i * EXTENT + j < first_wrong)
                first_wrong = i * EXTENT + j;
        }
    gpu_require_all_right("B", b, first_wrong, n_elements);
}

static double time_library(void *subject) {
    field_step *f = subject;
    gpu_poison(f->b, n_elements);
    double taken_s = problem_run(&f->launch);
    check_step(f);
    return taken_s;
}

static double time_copies(void *subject) {
    return duplex_time(&((field_step *)subject)->copies);
}

static void create(field_step *f) {
    const int64_t extents[] = {EXTENT, EXTENT};
    const polytile_domain threads = polytile_domain_from_bounds(
        2, (const int64_t[]){1, 1}, (const int64_t[]){EXTENT - 2, EXTENT - 2});
    f->a = gpu_allocate_pinned(array_bytes);
    f->b = gpu_allocate_pinned(array_bytes);
    gpu_fill_random(f->a, n_elements, 6);
    gpu_poison(f->b, n_elements);
    problem_open(&f->launch, 2 * array_bytes / 16, JACOBI_DECLARATION, jacobi_f32_implementation());
    problem_wrap(&f->launch, 2, extents, f->a);
    problem_wrap(&f->launch, 2, extents, f->b);
    problem_plan(&f->launch, &threads, NULL);
}

/** As many bytes go in as come out: the ceiling is both arrays' bytes at the rate of both ways. */
void stencil(void) {
    field_step f = {0};
    bench_times library = {0}, copies = {0};
    gpu_begin(GPU_WAITS_AS_EVER);
    create(&f);
    f.copies = (duplex){.n_in = 1, .in = {f.a}, .out = f.b, .n_bytes = array_bytes};
    duplex_prepare(&f.copies);
    gpu_alternate(time_library, time_copies, &f, &library, &copies);
    gpu_report(&(gpu_comparison){"stencil 46340^2, limit 1/16", "plain copies both ways", &library,
                                 &copies, BENCH_AT_MOST, 1.05, f.launch.plan_s});
}

void stencil_overhead(void) {
    field_step f = {0};
    gpu_begin(GPU_WAITS_ASLEEP);
    create(&f);
    problem_report_overhead(&f.launch, "host overhead, stencil 1/16");
    check_step(&f);
}
