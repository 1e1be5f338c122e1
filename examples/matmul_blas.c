#include "matmul_blas.h"

#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <pthread.h>
#include <stdlib.h>

const bool matmul_has_blas = true;

enum { MAX_HANDLES = 16 };

/** A handle belongs to a device and, from its first launch on, to that stream: two streams would
 * share the workspace of one handle. */
typedef struct blas_handle {
    int device;
    bool is_taken;
    void *stream;
    cublasHandle_t blas;
} blas_handle;

/** Queues launch from threads of their own. */
typedef struct blas_handles {
    pthread_mutex_t mutex;
    bool tf32;
    int n;
    blas_handle handle[MAX_HANDLES];
} blas_handles;

void *matmul_blas_create(bool tf32) {
    blas_handles *handles = calloc(1, sizeof *handles);
    if (handles == NULL)
        return NULL;
    pthread_mutex_init(&handles->mutex, NULL);
    handles->tf32 = tf32;
    return handles;
}

void matmul_blas_destroy(void *blas) {
    blas_handles *handles = blas;
    if (handles == NULL)
        return;
    for (int h = 0; h < handles->n; ++h)
        cublasDestroy(handles->handle[h].blas);
    pthread_mutex_destroy(&handles->mutex);
    free(handles);
}

static int current_device(void) {
    int device = 0;
    return cudaGetDevice(&device) == cudaSuccess ? device : 0;
}

/** Add a handle of the current device. */
static bool add_handle(blas_handles *handles) {
    cublasHandle_t blas;
    if (handles->n == MAX_HANDLES || cublasCreate(&blas) != CUBLAS_STATUS_SUCCESS)
        return false;
    handles->handle[handles->n++] = (blas_handle){.device = current_device(), .blas = blas};
    cublasMath_t mode = handles->tf32 ? CUBLAS_TF32_TENSOR_OP_MATH : CUBLAS_DEFAULT_MATH;
    return cublasSetMathMode(blas, mode) == CUBLAS_STATUS_SUCCESS;
}

bool matmul_blas_start(void *blas, int device) {
    int before = current_device();
    if (device < 0 || device == before)
        return add_handle(blas);
    bool is_started = cudaSetDevice(device) == cudaSuccess && add_handle(blas);
    cudaSetDevice(before);
    return is_started;
}

/** Return the stream's handle, or one without a stream. Else the device's last one moves to the
 * stream: a device that is opened later, as by checks of a declaration, runs alone. NULL: the
 * device has none. */
static blas_handle *find_handle(blas_handles *handles, int device, const void *stream) {
    blas_handle *found = NULL, *last = NULL;
    for (int h = 0; h < handles->n; ++h) {
        blas_handle *handle = &handles->handle[h];
        if (handle->device == device && handle->is_taken && handle->stream == stream)
            return handle;
        if (handle->device == device && !handle->is_taken && found == NULL)
            found = handle;
        if (handle->device == device)
            last = handle;
    }
    return found != NULL ? found : last;
}

static cublasStatus_t take_handle(blas_handles *handles, void *stream, cublasHandle_t *blas) {
    pthread_mutex_lock(&handles->mutex);
    blas_handle *handle = find_handle(handles, current_device(), stream);
    if (handle != NULL) {
        handle->is_taken = true;
        handle->stream = stream;
        *blas = handle->blas;
    }
    pthread_mutex_unlock(&handles->mutex);
    return handle != NULL ? cublasSetStream(*blas, stream) : CUBLAS_STATUS_NOT_INITIALIZED;
}

static float *element(const polytile_view *m, int64_t row, int64_t column) {
    return (float *)(void *)((char *)m->origin + row * m->stride_bytes[0] +
                             column * m->stride_bytes[1]);
}

/** Return the elements from one row to the next. */
static int64_t row_stride(const polytile_view *m) {
    return m->stride_bytes[0] / (int64_t)sizeof(float);
}

static int64_t count(polytile_range r) {
    return r.hi - r.lo + 1;
}

/** Compute C = A B + beta C over the launch's box and a range of k. cuBLAS reads a matrix stored by
 * rows as its transpose stored by columns, so it computes the transpose of C, that of B times that
 * of A. Its default arithmetic is f32 throughout. */
static int multiply(const polytile_sub_kernel *launch, polytile_range k, float beta) {
    const polytile_range i = launch->threads->range[0], j = launch->threads->range[1];
    const polytile_view *a = &launch->views[0], *b = &launch->views[1], *c = &launch->views[2];
    const float alpha = 1.0f;
    cublasHandle_t blas;
    cublasStatus_t status = take_handle(launch->user, launch->stream, &blas);
    if (status == CUBLAS_STATUS_SUCCESS)
        status =
            cublasSgemm_64(blas, CUBLAS_OP_N, CUBLAS_OP_N, count(j), count(i), count(k), &alpha,
                           element(b, k.lo, j.lo), row_stride(b), element(a, i.lo, k.lo),
                           row_stride(a), &beta, element(c, i.lo, j.lo), row_stride(c));
    return (int)status;
}

int matmul_by_blas(const polytile_sub_kernel *launch) {
    return multiply(launch, launch->views[0].resident.range[1], 0.0f);
}

int gemm_by_blas(const polytile_sub_kernel *launch) {
    return multiply(launch, launch->threads->range[2], launch->is_first ? 0.0f : 1.0f);
}
