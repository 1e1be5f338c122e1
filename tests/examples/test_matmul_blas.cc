#include <cstdint>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include <cublas_v2.h>
#include <polytile/polytile.h>

#include "../../examples/matmul_blas.h"
#include "../../examples/matmul_kernels.h"
#include "support/list.h"

/* The example's launchers for cuBLAS, on the host device: a cuBLAS of the tests' own multiplies
 * what is asked for with plain loops. */

namespace {

int handle;
int n_overwriting, n_adding;
cublasMath_t mode;

struct Product {
    int64_t rows, columns, depth;
    const float *a, *b;
    float *c;
    int64_t a_stride, b_stride, c_stride; /* from one column to the next */
};

float sum(const Product &p, int64_t row, int64_t column) {
    float sum = 0;
    for (int64_t k = 0; k < p.depth; k++)
        sum += p.a[row + k * p.a_stride] * p.b[k + column * p.b_stride];
    return sum;
}

/* As the manual has it: what C holds is not read where beta is 0. */
void multiply(const Product &p, float alpha, float beta) {
    for (int64_t column = 0; column < p.columns; column++)
        for (int64_t row = 0; row < p.rows; row++) {
            float &c = p.c[row + column * p.c_stride];
            c = alpha * sum(p, row, column) + (beta == 0 ? 0 : beta * c);
        }
}

} // namespace

cublasStatus_t cublasCreate_v2(cublasHandle_t *created) {
    *created = reinterpret_cast<cublasHandle_t>(&handle);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasDestroy_v2(cublasHandle_t) {
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetMathMode(cublasHandle_t, cublasMath_t set) {
    mode = set;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetStream_v2(cublasHandle_t, cudaStream_t) {
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSgemm_v2_64(cublasHandle_t, cublasOperation_t a_as, cublasOperation_t b_as,
                                 int64_t rows, int64_t columns, int64_t depth, const float *alpha,
                                 const float *a, int64_t a_stride, const float *b, int64_t b_stride,
                                 const float *beta, float *c, int64_t c_stride) {
    if (a_as != CUBLAS_OP_N || b_as != CUBLAS_OP_N || a_stride < rows || b_stride < depth ||
        c_stride < rows)
        return CUBLAS_STATUS_INVALID_VALUE;
    multiply({rows, columns, depth, a, b, c, a_stride, b_stride, c_stride}, *alpha, *beta);
    ++*(*beta == 0 ? &n_overwriting : &n_adding);
    return CUBLAS_STATUS_SUCCESS;
}

namespace {

using Matrix = std::vector<float>;

Matrix expected_product(const Matrix &a, const Matrix &b, int64_t n) {
    Matrix c(a.size());
    const Product transposed = {n, n, n, b.data(), a.data(), c.data(), n, n, n};
    multiply(transposed, 1, 0);
    return c;
}

Matrix small_numbers(int64_t n, int64_t factor) {
    Matrix m(static_cast<size_t>(n * n));
    for (size_t k = 0; k < m.size(); k++)
        m[k] = static_cast<float>(static_cast<int64_t>(k) * factor % 9 - 4);
    return m;
}

/* Run a product on a device and compare it; the launcher is the host's here. */
void expect_product(const std::string &device_text, bool split, int64_t n) {
    Matrix a = small_numbers(n, 7), b = small_numbers(n, 5), c(a.size(), 1e30f);
    float *const data[] = {a.data(), b.data(), c.data()};
    const char *const names[] = {"A", "B", "C"};
    const int64_t extents[] = {n, n, n};
    polytile_context *ctx = nullptr;
    polytile_device *device = nullptr;
    polytile_kernel *kernel = nullptr;
    polytile_array *arrays[3] = {};
    polytile_implementation implementation = {};
    implementation.user = matmul_blas_create(false);
    ASSERT_TRUE(matmul_blas_start(implementation.user, -1));
    implementation.host_launcher = split ? gemm_by_blas : matmul_by_blas;
    const polytile_domain threads = polytile_domain_from_extents(split ? 3 : 2, extents);
    ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
    EXPECT_EQ(polytile_device_open(ctx, device_text.c_str(), &device), POLYTILE_OK);
    EXPECT_EQ(polytile_kernel_create(ctx, split ? GEMM_DECLARATION : MATMUL_DECLARATION,
                                     &implementation, &kernel),
              POLYTILE_OK);
    for (int m = 0; m < 3; m++)
        EXPECT_EQ(polytile_array_wrap(ctx, names[m], POLYTILE_F32, 2, extents, data[m], &arrays[m]),
                  POLYTILE_OK);
    EXPECT_EQ(polytile_run(device, kernel, &threads, LIST(arrays), nullptr), POLYTILE_OK)
        << polytile_last_error(ctx);
    EXPECT_EQ(c, expected_product(a, b, n)) << device_text << ", n " << n;
    matmul_blas_destroy(implementation.user);
    polytile_context_destroy(ctx);
}

TEST(MatmulBlas, MultipliesWhateverIsResident) {
    for (const char *device : {"host", "host(memory=20KiB)", "host(memory=1MiB)"})
        for (bool split : {false, true})
            for (int64_t n : {1, 2, 31, 82, 109})
                expect_product(device, split, n);
}

TEST(MatmulBlas, OverwritesOnlyWhatHoldsNothingYet) {
    n_overwriting = n_adding = 0;
    expect_product("host(memory=20KiB)", true, 109);
    EXPECT_GT(n_overwriting, 0);
    EXPECT_GT(n_adding, 0);
}

TEST(MatmulBlas, RoundsToTf32OnlyWhereAsked) {
    for (const bool tf32 : {false, true}) {
        void *blas = matmul_blas_create(tf32);
        EXPECT_TRUE(matmul_blas_start(blas, -1));
        matmul_blas_destroy(blas);
        EXPECT_EQ(mode, tf32 ? CUBLAS_TF32_TENSOR_OP_MATH : CUBLAS_DEFAULT_MATH);
    }
}

} // namespace
