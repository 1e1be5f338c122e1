#ifndef EXAMPLES_MATMUL_HOST_H
#define EXAMPLES_MATMUL_HOST_H

#include <polytile/implementation.h>

/* The matrix product by hand for the host's caches and vectors, f32. */

/** C = A B over whole rows and columns. */
polytile_host_function matmul_on_host;

/** C += A B over a piece of k. */
polytile_host_function gemm_on_host;

#endif
