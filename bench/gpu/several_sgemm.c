/* A matrix product out of core on several GPUs of one host, through one queue, against one of them;
 * and on GPUs of different limits, by policy. */
#include "gpu/cases.h"
#include "gpu/cublas.h"
#include "gpu/gpu.h"
#include "gpu/several.h"

enum { EXTENT = 32768, N_REPETITIONS = 3, PART = 8, N_SAMPLES = 1024 };

#define GEMM_DECLARATION "gemm[i, j, k]: in A[i, k], B[k, j]; out sum C[i, j]"

typedef struct products {
    int n_gpus;
    cublasHandle_t blas[SEVERAL_MOST_GPUS];
    float *a, *b, *one, *all; /* pinned; the last two are results */
    queue_stage on_one;
    queue_stage on_all; /* n_gpus of them */
} products;

static int n_of(const polytile_range *range) {
    return (int)(range->hi - range->lo + 1);
}

static float *element(const polytile_view *view, int64_t i, int64_t j) {
    uintptr_t address = (uintptr_t)view->origin;
    return (float *)(address + (uintptr_t)(i * view->stride_bytes[0] + j * view->stride_bytes[1]));
}

static int leading(const polytile_view *view) {
    return (int)(view->stride_bytes[0] / (int64_t)sizeof(float));
}

/** C = A B + beta C in C order is, in the order of Fortran that cuBLAS knows, C' = B' A' + beta C';
 * on the GPU that the calling thread uses. */
static int multiply_box(const polytile_sub_kernel *launch) {
    const polytile_view *a = &launch->views[0], *b = &launch->views[1], *c = &launch->views[2];
    const polytile_range *i = &launch->threads->range[0], *j = &launch->threads->range[1],
                         *k = &launch->threads->range[2];
    const products *p = launch->user;
    const float alpha = 1.0f, beta = launch->is_first ? 0.0f : 1.0f;
    int gpu = 0;
    if (cudaGetDevice(&gpu) != cudaSuccess)
        return -1;
    cublasHandle_t blas = p->blas[gpu];
    cublasStatus_t status = cublasSetStream(blas, launch->stream);
    if (status == CUBLAS_STATUS_SUCCESS)
        status = cublasSgemm(blas, CUBLAS_OP_N, CUBLAS_OP_N, n_of(j), n_of(i), n_of(k), &alpha,
                             element(b, k->lo, j->lo), leading(b), element(a, i->lo, k->lo),
                             leading(a), &beta, element(c, i->lo, j->lo), leading(c));
    return (int)status;
}

static double time_product(const queue_stage *s, float *result) {
    gpu_poison(result, (int64_t)EXTENT * EXTENT);
    double start_s = bench_now_s();
    queue_stage_attach(s);
    queue_stage_launch(s, POLYTILE_EXTENTS(EXTENT, EXTENT, EXTENT), NULL);
    queue_stage_detach(s);
    return bench_now_s() - start_s;
}

static double time_one(void *subject) {
    const products *p = subject;
    return time_product(&p->on_one, p->one);
}

static double time_all(void *subject) {
    const products *p = subject;
    return time_product(&p->on_all, p->all);
}

static const int64_t matrix_bytes = (int64_t)EXTENT * EXTENT * (int64_t)sizeof(float);

static void open_stage(const products *p, queue_stage *s, const char *devices,
                       const polytile_share_options *share, float *result) {
    const int64_t extents[] = {EXTENT, EXTENT};
    const polytile_implementation implementation = {.cuda_launcher = multiply_box,
                                                    .user = (void *)(uintptr_t)p};
    queue_stage_open_shared(s, devices, share, GEMM_DECLARATION, &implementation);
    queue_stage_wrap(s, 2, extents, p->a);
    queue_stage_wrap(s, 2, extents, p->b);
    queue_stage_wrap(s, 2, extents, result);
}

/** part: of all three arrays, that each GPU may hold. */
static void open_alike(const products *p, queue_stage *s, int n_gpus, int part, float *result) {
    char devices[SEVERAL_DEVICES_BYTES];
    several_write_devices(n_gpus, 3 * matrix_bytes / part, devices);
    open_stage(p, s, devices, NULL, result);
}

static void create(products *p) {
    const int64_t n = (int64_t)EXTENT * EXTENT;
    p->a = gpu_allocate_pinned(matrix_bytes);
    p->b = gpu_allocate_pinned(matrix_bytes);
    p->one = gpu_allocate_pinned(matrix_bytes);
    p->all = gpu_allocate_pinned(matrix_bytes);
    gpu_fill_whole_numbers(p->a, n, 1);
    gpu_fill_whole_numbers(p->b, n, 2);
    for (int g = 0; g < several_count(); g++) {
        GPU_CALL(cudaSetDevice(g));
        GPU_CUBLAS(cublasCreate(&p->blas[g]));
    }
}

/** Sums in whole numbers for some elements, on the host; all others against one GPU's. */
static void check(const products *p) {
    const int64_t n = (int64_t)EXTENT * EXTENT;
    int64_t first_wrong = n;
#pragma omp parallel for reduction(min : first_wrong)
    for (int64_t s = 0; s < N_SAMPLES; s++) {
        int64_t i = s * 7919 % EXTENT, j = s * 104729 % EXTENT, sum = 0;
        for (int64_t k = 0; k < EXTENT; k++)
            sum += (int64_t)p->a[i * EXTENT + k] * (int64_t)p->b[k * EXTENT + j];
        if (!(p->one[i * EXTENT + j] == (float)sum))
            first_wrong = i * EXTENT + j < first_wrong ? i * EXTENT + j : first_wrong;
    }
    gpu_require_all_right("C on one GPU", p->one, first_wrong, n);
    gpu_require_equal("C", p->all, p->one, n);
}

/** What one more product moves: uploads against each input once, and what came from other GPUs. */
static void report_moved(products *p, const char *limit) {
    const double inputs_gb = 2e-9 * EXTENT * EXTENT * (double)sizeof(float);
    bench_times up = {0}, between = {0};
    char name[56];
    queue_stage_report(&p->on_all);
    time_all(p);
    polytile_report report = queue_stage_report(&p->on_all);
    bench_add_time(&up, 1e-9 * (double)report.h2d_bytes);
    bench_add_time(&between, 1e-9 * (double)report.p2p_bytes);
    snprintf(name, sizeof name, "sgemm, %s, uploads of %d GPUs", limit, p->n_gpus);
    gpu_report_fixed("GB", &(gpu_comparison){.name = name, .against = "A and B once", .ours = &up},
                     inputs_gb);
    snprintf(name, sizeof name, "sgemm, %s, between %d GPUs", limit, p->n_gpus);
    gpu_report_fixed("GB",
                     &(gpu_comparison){.name = name, .against = "A and B once", .ours = &between},
                     inputs_gb);
}

/** Compare so many GPUs with one, each within a part of the data. target: 0: none. */
static void compare(products *p, int n_gpus, int part, const char *limit, double target) {
    bench_times one = {0}, all = {0};
    char name[56];
    p->n_gpus = n_gpus;
    open_alike(p, &p->on_one, 1, part, p->one);
    open_alike(p, &p->on_all, n_gpus, part, p->all);
    gpu_alternate_few(N_REPETITIONS, time_all, time_one, p, &all, &one);
    check(p);
    snprintf(name, sizeof name, "sgemm fp32 32768, %s, %d GPUs", limit, n_gpus);
    gpu_report(&(gpu_comparison){name, "one GPU", &all, &one,
                                 target > 0 ? BENCH_AT_LEAST : BENCH_NO_TARGET, target, 0.0});
    report_moved(p, limit);
    queue_stage_close(&p->on_one);
    queue_stage_close(&p->on_all);
}

void several_sgemm(void) {
    static products p;
    if (several_next(1) == 0)
        return;
    gpu_begin(GPU_WAITS_AS_EVER);
    create(&p);
    for (int n = several_next(1); n > 0; n = several_next(n))
        compare(&p, n, PART, "limit 1/8", n <= 2 ? 1.9 : 3.7);
}

void several_panels(void) {
    static products p;
    if (several_next(1) == 0)
        return;
    gpu_begin(GPU_WAITS_AS_EVER);
    create(&p);
    compare(&p, several_count(), 1, "all fits", 0);
}

/* GPUs of different limits. */

enum { N_WEIGHTS = 4 };

/** What rows are dealt out to. */
typedef struct different_gpus {
    int n_gpus;
    const char *limits;
    int64_t parts[SEVERAL_MOST_GPUS]; /* of all three arrays, that each GPU may hold */
    const char *weights[N_WEIGHTS];   /* of which the best is the rival */
} different_gpus;

/** Those for the most GPUs come first. */
static const different_gpus all_different[] = {
    {4,
     "1/8, 1/8, 1/16, 1",
     {8, 8, 16, 1},
     {"weighted(1,1,1,1)", "weighted(9,9,9,10)", "weighted(4,4,3,5)", "weighted"}},
    {2, "1/8, 1/16", {8, 16}, {"weighted(1,1)", "weighted(10,9)", "weighted(4,3)", "weighted"}},
};
enum { N_ALL_DIFFERENT = sizeof all_different / sizeof *all_different };

static const different_gpus *find_different(int n_gpus) {
    const different_gpus *found = NULL;
    for (int k = N_ALL_DIFFERENT - 1; k >= 0; k--)
        if (all_different[k].n_gpus <= n_gpus)
            found = &all_different[k];
    return found;
}

static void write_different(const different_gpus *of, char text[SEVERAL_DEVICES_BYTES]) {
    size_t used = 0;
    for (int g = 0; g < of->n_gpus; g++)
        used +=
            (size_t)snprintf(text + used, SEVERAL_DEVICES_BYTES - used, "%scuda:%d(memory=%lldB)",
                             g == 0 ? "" : ",", g, (long long)(3 * matrix_bytes / of->parts[g]));
}

/** The times of a product as a policy shares it out, after two that do not count: guided has
 * measured all GPUs then, with one piece each. */
static bench_times time_policy(products *p, const different_gpus *of, const char *policy) {
    const polytile_share_options share = {.policy = policy};
    char devices[SEVERAL_DEVICES_BYTES];
    bench_times times = {0};
    write_different(of, devices);
    open_stage(p, &p->on_all, devices, &share, p->all);
    for (int k = -2; k < N_REPETITIONS; k++) {
        const double taken_s = time_all(p);
        if (k >= 0)
            bench_add_time(&times, taken_s);
    }
    gpu_require_equal("C", p->all, p->one, (int64_t)EXTENT * EXTENT);
    queue_stage_close(&p->on_all);
    return times;
}

/** Guided against weights, of which the best is the rival. */
void several_policies(void) {
    static products p;
    const different_gpus *of = find_different(several_count());
    bench_times best = {0};
    const char *against = "";
    char name[56];
    if (of == NULL)
        return;
    gpu_begin(GPU_WAITS_AS_EVER);
    create(&p);
    open_alike(&p, &p.on_one, 1, PART, p.one);
    time_one(&p);
    const bench_times guided = time_policy(&p, of, "guided");
    for (int w = 0; w < N_WEIGHTS; w++) {
        const bench_times times = time_policy(&p, of, of->weights[w]);
        if (w > 0 && bench_median(&times) >= bench_median(&best))
            continue;
        best = times;
        against = of->weights[w];
    }
    snprintf(name, sizeof name, "sgemm, limits %s, guided", of->limits);
    gpu_report(
        &(gpu_comparison){.name = name, .against = against, .ours = &guided, .rival = &best});
}
