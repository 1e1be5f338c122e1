#ifndef BENCH_GPU_SPARSE_H
#define BENCH_GPU_SPARSE_H

#include "common/csr.h"

/* Products of 10^8 entries through a queue on the first GPU. */

enum { SPARSE_ENTRIES = 100 * 1000 * 1000 };

typedef struct sparse_product {
    bool by_entries;  /* a body an entry, else a row */
    bench_csr matrix; /* pinned */
    float *expected;
    polytile_context *ctx;
    polytile_queue *queue;
    polytile_kernel *kernel;
    polytile_array *array[BENCH_CSR_ARRAYS];
    polytile_array *y; /* one of them */
} sparse_product;

/** Make a matrix of a generator, and what its product is. */
void sparse_product_create(sparse_product *p, const char *generator, bool by_entries);

/** Open a queue with a limit, and attach all but y. Units: bytes. */
void sparse_product_open(sparse_product *p, int64_t memory_bytes,
                         const polytile_implementation *implementation);

void sparse_product_attach_y(const sparse_product *p);
void sparse_product_launch(const sparse_product *p);
void sparse_product_wait(const sparse_product *p);

/** y comes home. */
void sparse_product_detach_y(const sparse_product *p);

/** Give all back, and close the queue. */
void sparse_product_close(sparse_product *p);

/** Fail unless y is the product. */
void sparse_product_check(const sparse_product *p);

#endif
