/* A matrix product out of core on all GPUs of one host, through one queue, against one of them. */
#include "gpu/cases.h"
#include "gpu/cublas.h"
#include "gpu/gpu.h"
#include "gpu/queue_stage.h"

enum { EXTENT = 32768, MOST_GPUS = 8, N_REPETITIONS = 3, PART = 8, N_SAMPLES = 1024 };

#define GEMM_DECLARATION "gemm[i, j, k]: in A[i, k], B[k, j]; out sum C[i, j]"

typedef struct products {
    int n_gpus;
    cublasHandle_t blas[MOST_GPUS];
    float *a, *b, *one, *all; /* pinned; the last two are results */
    queue_stage on_one;
    queue_stage on_all;
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

/** "cuda:0(memory=1B),cuda:1(memory=1B)", the memory of each. */
static void open_stage(products *p, queue_stage *s, int n_gpus, int part, float *result) {
    const int64_t extents[] = {EXTENT, EXTENT};
    const polytile_implementation implementation = {.cuda_launcher = multiply_box, .user = p};
    const long long memory_bytes = 3LL * EXTENT * EXTENT * (long long)sizeof(float) / part;
    char text[64 * MOST_GPUS];
    size_t used = 0;
    for (int g = 0; g < n_gpus; g++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%scuda:%d(memory=%lldB)",
                                 g == 0 ? "" : ",", g, memory_bytes);
    queue_stage_open_on(s, text, GEMM_DECLARATION, &implementation);
    queue_stage_wrap(s, 2, extents, p->a);
    queue_stage_wrap(s, 2, extents, p->b);
    queue_stage_wrap(s, 2, extents, result);
}

/** part: of all three arrays, that each GPU may hold. */
static void create(products *p, int part) {
    const int64_t n = (int64_t)EXTENT * EXTENT, n_bytes = n * (int64_t)sizeof(float);
    p->a = gpu_allocate_pinned(n_bytes);
    p->b = gpu_allocate_pinned(n_bytes);
    p->one = gpu_allocate_pinned(n_bytes);
    p->all = gpu_allocate_pinned(n_bytes);
    gpu_fill_whole_numbers(p->a, n, 1);
    gpu_fill_whole_numbers(p->b, n, 2);
    for (int g = 0; g < p->n_gpus; g++) {
        GPU_CALL(cudaSetDevice(g));
        GPU_CUBLAS(cublasCreate(&p->blas[g]));
    }
    open_stage(p, &p->on_one, 1, part, p->one);
    open_stage(p, &p->on_all, p->n_gpus, part, p->all);
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

/** False on a host with one GPU, where there is nothing to compare. */
static bool begin(products *p, int part) {
    GPU_CALL(cudaGetDeviceCount(&p->n_gpus));
    p->n_gpus = p->n_gpus < MOST_GPUS ? p->n_gpus : MOST_GPUS;
    if (p->n_gpus < 2)
        return false;
    gpu_begin(GPU_WAITS_AS_EVER);
    create(p, part);
    return true;
}

void several_sgemm(void) {
    static products p;
    bench_times one = {0}, all = {0};
    char name[56];
    if (!begin(&p, PART))
        return;
    gpu_alternate_few(N_REPETITIONS, time_all, time_one, &p, &all, &one);
    check(&p);
    snprintf(name, sizeof name, "sgemm fp32 32768, limit 1/8 each, %d GPUs", p.n_gpus);
    gpu_report(&(gpu_comparison){name, "one GPU", &all, &one, BENCH_AT_LEAST,
                                 p.n_gpus <= 2 ? 1.9 : 3.7, 0.0});
    report_moved(&p, "limit 1/8");
}

void several_panels(void) {
    static products p;
    bench_times one = {0}, all = {0};
    char name[56];
    if (!begin(&p, 1))
        return;
    gpu_alternate_few(N_REPETITIONS, time_all, time_one, &p, &all, &one);
    check(&p);
    snprintf(name, sizeof name, "sgemm fp32 32768, all fits, %d GPUs", p.n_gpus);
    gpu_report(&(gpu_comparison){.name = name, .against = "one GPU", .ours = &all, .rival = &one});
    report_moved(&p, "all fits");
}
