/* A product of two matrices out of core by cuBLAS: the part of C at hand stays on the GPU while
 * panels of A and B stream past it. */
#include "gpu/cases.h"
#include "gpu/gpu.h"
#include "gpu/product.h"

enum { EXTENT = 16384 };

/** Plan with a quarter of the three matrices' bytes. */
static void open_quarter(product *p, const polytile_launch_options *options) {
    product_open_limited(p, 3 * p->array_bytes / 4, options);
}

/** The same with a block and a number of buffers by hand, to tell what planning costs or gains. */
static void compare_with_hints(product *p) {
    const int64_t block[] = {4096, 4096, 512};
    const polytile_launch_options hints = {.plan.block = block, .plan.n_buffers = 2};
    bench_times library = {0}, rival = {0};
    problem_close(&p->launch);
    open_quarter(p, &hints);
    gpu_alternate(product_time_library, product_time_rival, p, &library, &rival);
    gpu_report(&(gpu_comparison){"sgemm 16384, limit 1/4, block and buffers given",
                                 "cublasXt, best block", &library, &rival, BENCH_NO_TARGET, 0.0,
                                 p->launch.plan_s});
}

void sgemm(void) {
    static const int blocks[] = {1024, 2048, 4096, 8192};
    product p;
    bench_times library = {0}, rival = {0}, in_core = {0};
    gpu_begin(GPU_WAITS_AS_EVER);
    product_create(&p, EXTENT, CUBLAS_COMPUTE_32F);
    open_quarter(&p, NULL);
    product_tune_rival(&p, 4, blocks, 3);
    gpu_alternate(product_time_library, product_time_rival, &p, &library, &rival);
    gpu_report(&(gpu_comparison){"sgemm 16384, limit 1/4", "cublasXt, best block", &library, &rival,
                                 BENCH_AT_MOST, 0.87, p.launch.plan_s});
    for (int r = 0; r < GPU_REPETITIONS; r++)
        bench_add_time(&in_core, product_time_cublas(&p));
    gpu_report(&(gpu_comparison){"sgemm 16384, limit 1/4", "cuBLAS alone, in core", &library,
                                 &in_core, BENCH_NO_TARGET, 0.0, 0.0});
    compare_with_hints(&p);
}

void sgemm_overhead(void) {
    product p;
    gpu_begin(GPU_WAITS_ASLEEP);
    product_create(&p, EXTENT, CUBLAS_COMPUTE_32F);
    open_quarter(&p, NULL);
    problem_report_overhead(&p.launch, "host overhead, sgemm 1/4");
    product_check(&p);
}
