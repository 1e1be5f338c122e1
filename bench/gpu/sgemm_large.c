/* Products of matrices of 4 GiB each within small parts of their 12 GiB, against the same in core:
 * copy A and B in, multiply by cuBLAS, copy C out. */
#include "gpu/cases.h"
#include "gpu/gpu.h"
#include "gpu/product.h"

/** Few repetitions: each takes more than a second. */
enum { EXTENT = 32768, N_REPETITIONS = 3 };

/** One case: device memory as a part of the three matrices' bytes, and what is to be reached. */
typedef struct large_case {
    const char *name;
    cublasComputeType_t arithmetic;
    int64_t part;
    bool tells_rate; /* the plan is told how fast the kernel is, which a link does not know */
    double target;   /* of the time in core */
} large_case;

/** What a plan is told of its kernel: three accesses of each thread, at the rate of cuBLAS
 * alone. */
static polytile_link link_for(const product *p) {
    polytile_link link = *polytile_device_get_link(p->launch.device);
    double n_threads = (double)p->n_elements * p->extent;
    link.kernel_accesses_per_s = 3 * n_threads / product_time_cublas(p);
    return link;
}

/** Plan, and once more with the rate of the kernel where that is to be told. */
static void open_part(product *p, const large_case *c) {
    int64_t limit_bytes = 3 * p->array_bytes / c->part;
    product_open_limited(p, limit_bytes, NULL);
    if (!c->tells_rate)
        return;
    polytile_link link = link_for(p);
    problem_close(&p->launch);
    product_open_limited(p, limit_bytes, &(polytile_launch_options){.plan.link = &link});
}

static void compare_with_in_core(product *p, const large_case *c) {
    bench_times library = {0}, in_core = {0};
    gpu_begin(GPU_WAITS_AS_EVER);
    product_create(p, EXTENT, c->arithmetic);
    open_part(p, c);
    gpu_alternate_few(N_REPETITIONS, product_time_library, product_time_in_core, p, &library,
                      &in_core);
    gpu_report(&(gpu_comparison){c->name, "cuBLAS in core, with copies", &library, &in_core,
                                 BENCH_AT_MOST, c->target, p->launch.plan_s});
}

void sgemm_fp32_eighth(void) {
    static const large_case eighth = {"sgemm fp32 32768, limit 1/8", CUBLAS_COMPUTE_32F, 8, false,
                                      0.90};
    static const int blocks[] = {2048, 4096, 8192};
    bench_times library = {0}, rival = {0};
    product p;
    compare_with_in_core(&p, &eighth);
    product_tune_rival(&p, 3, blocks, 1);
    gpu_alternate_few(N_REPETITIONS, product_time_library, product_time_rival, &p, &library,
                      &rival);
    gpu_report(&(gpu_comparison){eighth.name, "cublasXt, best block, no limit", &library, &rival,
                                 BENCH_AT_MOST, 1.00, 0.0});
}

void sgemm_fp32_64th(void) {
    static const large_case part = {"sgemm fp32 32768, limit 1/64", CUBLAS_COMPUTE_32F, 64, false,
                                    1.00};
    product p;
    compare_with_in_core(&p, &part);
}

void sgemm_tf32_eighth(void) {
    static const large_case eighth = {"sgemm TF32 32768, limit 1/8", CUBLAS_COMPUTE_32F_FAST_TF32,
                                      8, true, 1.00};
    product p;
    compare_with_in_core(&p, &eighth);
}
