#ifndef BENCH_GPU_PRODUCT_H
#define BENCH_GPU_PRODUCT_H

#include "gpu/cublas.h"
#include "gpu/problem.h"

/* C = A B on square matrices of whole numbers in fp32: by cuBLAS in core, by the library out of
 * core with cuBLAS as the launcher, and by cublasXt. Every result is compared bit for bit with that
 * of cuBLAS on whole matrices. */

typedef struct product {
    int extent;
    cublasComputeType_t arithmetic; /* fp32 throughout, or TF32 on tensor cores */
    int64_t n_elements;             /* of each matrix */
    int64_t array_bytes;
    float *a, *b, *c; /* pinned */
    float *expected;  /* what cuBLAS computes of whole matrices; sums of whole numbers are exact */
    cublasHandle_t blas;
    cublasXtHandle_t rival;
    void *device[3]; /* whole matrices */
    problem launch;
} product;

/** Fill the matrices, compute what is expected, and check some of it on the host. */
void product_create(product *p, int extent, cublasComputeType_t arithmetic);

/** Plan with so much device memory; options: NULL for the defaults. */
void product_open_limited(product *p, int64_t limit_bytes, const polytile_launch_options *options);

/** Choose the block size with which cublasXt is fastest out of so many, each tried a few times. */
void product_tune_rival(product *p, int n_blocks, const int *blocks, int n_tries);

void product_check(const product *p);

/* One repetition each, checked where the result comes to the host: the product out of core by the
 * library; by cublasXt; by cuBLAS with whole matrices copied in before and the result copied out;
 * and by cuBLAS alone, on matrices that are on the GPU already. Units: seconds. */
double product_time_library(void *subject);
double product_time_rival(void *subject);
double product_time_in_core(void *subject);
double product_time_cublas(const product *p);

#endif
