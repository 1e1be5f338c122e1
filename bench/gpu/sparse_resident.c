/* Products with sparse matrices that stay on the GPU against cuSPARSE. */
#include "common/csr_kernels.h"
#include "gpu/cases.h"
#include "gpu/cusparse.h"
#include "gpu/gpu.h"
#include "gpu/sparse.h"

enum { N_LAUNCHES = 20 };

typedef struct resident_product {
    sparse_product product;
    cusparse_product rival;
    cudaStream_t stream;
} resident_product;

static double time_library(void *subject) {
    const resident_product *r = subject;
    const double start_s = bench_now_s();
    for (int k = 0; k < N_LAUNCHES; k++)
        sparse_product_launch(&r->product);
    sparse_product_wait(&r->product);
    return (bench_now_s() - start_s) / N_LAUNCHES;
}

static double time_rival(void *subject) {
    const resident_product *r = subject;
    const double start_s = bench_now_s();
    for (int k = 0; k < N_LAUNCHES; k++)
        cusparse_product_multiply(&r->rival);
    GPU_CALL(cudaStreamSynchronize(r->stream));
    return (bench_now_s() - start_s) / N_LAUNCHES;
}

static void check_rival(const resident_product *r) {
    const bench_csr *of = &r->product.matrix;
    GPU_CALL(cudaMemcpy(of->y, r->rival.y_memory, (size_t)of->n_rows * 4, cudaMemcpyDeviceToHost));
    sparse_product_check(&r->product);
}

static void compare_with(resident_product *r, const polytile_implementation *implementation,
                         gpu_comparison *row) {
    bench_times ours = {0}, rival = {0};
    sparse_product_open(&r->product, 2 * bench_csr_bytes(&r->product.matrix), implementation);
    sparse_product_attach_y(&r->product);
    gpu_alternate(time_library, time_rival, r, &ours, &rival);
    sparse_product_detach_y(&r->product);
    sparse_product_check(&r->product);
    check_rival(r);
    sparse_product_close(&r->product);
    row->against = "cuSPARSE, its best algorithm";
    row->ours = &ours;
    row->rival = &rival;
    gpu_report(row);
}

static void run_resident(const char *generator, const char *name, const char *alone_name) {
    resident_product r = {0};
    gpu_begin(GPU_WAITS_AS_EVER);
    sparse_product_create(&r.product, generator, false);
    GPU_CALL(cudaStreamCreateWithFlags(&r.stream, cudaStreamNonBlocking));
    cusparse_product_create(&r.rival, &r.product.matrix, r.stream);
    compare_with(&r, csr_rows(),
                 &(gpu_comparison){.name = name, .relation = BENCH_AT_MOST, .target = 1.3});
    compare_with(&r, csr_rows_alone(), &(gpu_comparison){.name = alone_name});
}

void sparse_uniform_resident(void) {
    run_resident("uniform", "product, uniform, 10^8 entries, resident",
                 "the same, each thread its own loop");
}

void sparse_band_resident(void) {
    run_resident("band", "product, band, 10^8 entries, resident",
                 "the same, each thread its own loop");
}
