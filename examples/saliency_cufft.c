#include "saliency_fft.h"

#include <cuda_runtime_api.h>
#include <cufft.h>

/* A plan for each GPU: each is one unit, which runs its launches on one thread. */
static struct {
    int n;
    int64_t extent[2];
    int device[DEVICE_LIST_MAX];
    cufftHandle plan[DEVICE_LIST_MAX];
} cufft;

static int begin_on(int device) {
    int before = 0;
    if (cudaGetDevice(&before) != cudaSuccess || cudaSetDevice(device) != cudaSuccess)
        return CUFFT_SETUP_FAILED;
    const cufftResult status =
        cufftPlan2d(&cufft.plan[cufft.n], (int)cufft.extent[0], (int)cufft.extent[1], CUFFT_C2C);
    if (status == CUFFT_SUCCESS)
        cufft.device[cufft.n++] = device;
    cudaSetDevice(before);
    return (int)status;
}

int saliency_cufft_begin(const session *s, const int64_t *extent) {
    int said = 0;
    cufft.extent[0] = extent[0];
    cufft.extent[1] = extent[1];
    for (int d = 0; d < s->devices.n && said == 0; ++d) {
        const int device = device_text_cuda(&s->devices.device[d]);
        said = device < 0 ? 0 : begin_on(device);
    }
    return said;
}

void saliency_cufft_end(void) {
    while (cufft.n > 0)
        cufftDestroy(cufft.plan[--cufft.n]);
}

static cufftResult take_plan(void *stream, cufftHandle *plan) {
    int device = 0;
    if (cudaGetDevice(&device) != cudaSuccess)
        return CUFFT_SETUP_FAILED;
    for (int k = 0; k < cufft.n; ++k)
        if (cufft.device[k] == device) {
            *plan = cufft.plan[k];
            return cufftSetStream(*plan, stream);
        }
    return CUFFT_INVALID_PLAN;
}

static int transform(const polytile_sub_kernel *launch, bool has_maps, int direction) {
    const int64_t first = has_maps ? launch->threads->range[0].lo : 0,
                  last = has_maps ? launch->threads->range[0].hi : 0;
    cufftHandle plan;
    cufftResult status = saliency_fft_is_whole(launch, cufft.extent)
                             ? take_plan(launch->stream, &plan)
                             : CUFFT_INVALID_SIZE;
    for (int64_t k = first; k <= last && status == CUFFT_SUCCESS; ++k)
        status = cufftExecC2C(plan, saliency_fft_plane(&launch->views[0], k),
                              saliency_fft_plane(&launch->views[1], k), direction);
    return (int)status;
}

int saliency_cufft_forward(const polytile_sub_kernel *launch) {
    return transform(launch, false, CUFFT_FORWARD);
}

int saliency_cufft_inverse(const polytile_sub_kernel *launch) {
    return transform(launch, true, CUFFT_INVERSE);
}
