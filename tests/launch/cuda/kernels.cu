#include "launch/cuda/kernels.h"

#include "launch/cuda/reductions.h"
#include "launch/kernels.h"
#include <polytile/cuda.h>

#include <string.h>

static __global__ void transpose_by_hand(polytile_domain threads, polytile_view A_view,
                                         polytile_view B_view) {
    PT_THREAD(threads, i, j);
    PT_VIEW(const float, A, 2, A_view);
    PT_VIEW(float, B, 2, B_view);
    PT_AT(B, j, i) = PT_AT(A, i, j);
}

static polytile_implementation by_hand(void) {
    polytile_implementation implementation = polytile_implementation_from_cuda(transpose_by_hand);
    implementation.host = transpose_kernel.host;
    return implementation;
}

static const polytile_implementation transpose_by_hand_kernel = by_hand();

static __global__ void axpy_on_gpu(polytile_domain threads, polytile_view x_view,
                                   polytile_view y_view, float a, int64_t b) {
    PT_THREAD(threads, i);
    PT_VIEW(const float, x, 1, x_view);
    PT_VIEW(float, y, 1, y_view);
    PT_AT(y, i) += a * PT_AT(x, i) + (float)(b * PT_EXTENT(x, 0));
}

static const polytile_implementation axpy_by_hand_kernel =
    polytile_implementation_from_cuda(axpy_on_gpu);

static_assert(pt_count_views<>() == 0, "");
static_assert(pt_count_views<polytile_view, polytile_view>() == 2, "");
static_assert(pt_count_views<polytile_view, float, int64_t>() == 1, "");
static_assert(pt_count_views<float>() == 0, "");
static_assert(pt_count_views<float, polytile_view>() == -1, "values are after views");
static_assert(pt_count_views<polytile_view, float *>() == -1, "no pointers");
static_assert(pt_count_views<polytile_view, const float &>() == -1, "no references");
static_assert(pt_count_views<polytile_view, polytile_domain>() == -1, "no structs");

#define BODIES(X)                                                                                  \
    X(add)                                                                                         \
    X(axpy)                                                                                        \
    X(axpy_by_hand)                                                                                \
    X(smooth)                                                                                      \
    X(jacobi)                                                                                      \
    X(heat)                                                                                        \
    X(matmul)                                                                                      \
    X(gram)                                                                                        \
    X(skip)                                                                                        \
    X(diagonal)                                                                                    \
    X(falling)                                                                                     \
    X(clipped)                                                                                     \
    X(turn)                                                                                        \
    X(front)                                                                                       \
    X(gemm)                                                                                        \
    X(dot)                                                                                         \
    X(least)                                                                                       \
    X(coarsen)                                                                                     \
    X(odd)                                                                                         \
    X(lower)                                                                                       \
    X(hankel)                                                                                      \
    X(prefix)                                                                                      \
    X(scatter)                                                                                     \
    X(scale)                                                                                       \
    X(four)                                                                                        \
    X(five)                                                                                        \
    X(six)                                                                                         \
    X(seven)                                                                                       \
    X(eight)                                                                                       \
    X(transpose)                                                                                   \
    X(transpose_by_hand)

static const struct {
    const char *name;
    const polytile_implementation *implementation;
} kernels[] = {
#define BODY_ROW(name)                     {#name, &name##_kernel},
#define REDUCTION_ROW(verb, VERB, type, T) {#verb "_" #type, &verb##_##type##_kernel},
    BODIES(BODY_ROW) REDUCTIONS(REDUCTION_ROW)};

extern "C" const polytile_implementation *cuda_kernel_of(const char *name) {
    for (const auto &kernel : kernels)
        if (strcmp(kernel.name, name) == 0)
            return kernel.implementation;
    return NULL;
}
