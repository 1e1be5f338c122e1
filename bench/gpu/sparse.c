#include "gpu/sparse.h"

#include "common/csr_kernels.h"
#include "gpu/gpu.h"

static void require(const sparse_product *p, polytile_status status, const char *what) {
    if (status != POLYTILE_OK)
        gpu_fail("%s: %s: %s", what, polytile_status_text(status),
                 p->ctx != NULL ? polytile_last_error(p->ctx) : "");
}

static void pin(void *memory, int64_t n_bytes) {
    GPU_CALL(cudaHostRegister(memory, (size_t)n_bytes, cudaHostRegisterPortable));
}

void sparse_product_create(sparse_product *p, const char *generator, bool by_entries) {
    *p = (sparse_product){.by_entries = by_entries};
    bench_csr *of = &p->matrix;
    bench_csr_create(of, generator, SPARSE_ENTRIES, by_entries);
    p->expected = bench_allocate(of->n_rows * 4);
    bench_csr_multiply(of, p->expected);
    pin(of->P, (of->n_rows + 1) * 4);
    pin(of->K, of->n_entries * 4);
    pin(of->V, of->n_entries * 4);
    pin(of->x, of->n_rows * 4);
    pin(of->y, of->n_rows * 4);
    if (by_entries)
        pin(of->R, of->n_entries * 4);
}

void sparse_product_open(sparse_product *p, int64_t memory_bytes,
                         const polytile_implementation *implementation) {
    char text[64];
    snprintf(text, sizeof text, "cuda:0(memory=%lldB)", (long long)memory_bytes);
    require(p, polytile_context_create(&p->ctx), "polytile_context_create");
    require(p, polytile_queue_create(p->ctx, text, &p->queue), text);
    require(p,
            polytile_kernel_create(p->ctx,
                                   p->by_entries ? CSR_ENTRIES_DECLARATION : CSR_ROWS_DECLARATION,
                                   implementation, &p->kernel),
            "polytile_kernel_create");
    bench_csr_wrap(&p->matrix, p->ctx, p->kernel, p->array);
    p->y = p->array[p->by_entries ? 3 : 4];
    for (int a = 0; a < BENCH_CSR_ARRAYS; a++)
        if (p->array[a] != p->y)
            require(p, polytile_queue_attach(p->queue, 1, &p->array[a]), "polytile_queue_attach");
}

void sparse_product_attach_y(const sparse_product *p) {
    require(p, polytile_queue_attach(p->queue, 1, &p->y), "polytile_queue_attach");
}

void sparse_product_launch(const sparse_product *p) {
    const int64_t n_threads = p->by_entries ? p->matrix.n_entries : p->matrix.n_rows;
    require(p,
            polytile_queue_launch(p->queue, p->kernel, POLYTILE_EXTENTS(n_threads),
                                  BENCH_CSR_ARRAYS, p->array, NULL),
            "polytile_queue_launch");
}

void sparse_product_wait(const sparse_product *p) {
    require(p, polytile_queue_wait(p->queue), "polytile_queue_wait");
}

void sparse_product_detach_y(const sparse_product *p) {
    require(p, polytile_queue_detach(p->queue, 1, &p->y), "polytile_queue_detach");
}

void sparse_product_close(sparse_product *p) {
    polytile_context_destroy(p->ctx);
    p->ctx = NULL;
}

void sparse_product_check(const sparse_product *p) {
    gpu_require_equal("y", p->matrix.y, p->expected, p->matrix.n_rows);
}
