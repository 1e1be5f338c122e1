/* What stands in for cuBLAS in a program that was built without it. */
#include "matmul_blas.h"

#include <stddef.h>

const bool matmul_has_blas = false;

void *matmul_blas_create(bool tf32) {
    (void)tf32;
    return NULL;
}

void matmul_blas_destroy(void *blas) {
    (void)blas;
}

bool matmul_blas_start(void *blas, int device) {
    (void)blas, (void)device;
    return false;
}

enum { NOT_BUILT_IN = 1 };

int matmul_by_blas(const polytile_sub_kernel *launch) {
    (void)launch;
    return NOT_BUILT_IN;
}

int gemm_by_blas(const polytile_sub_kernel *launch) {
    (void)launch;
    return NOT_BUILT_IN;
}
