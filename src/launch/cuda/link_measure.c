#include "launch/cuda/link.h"

#include "base/checked.h"
#include "base/clock.h"
#include "launch/device/link_cache.h"

#include <sys/mman.h>

/* Measure the link by the host's clock around work that is enqueued back to back. */

enum {
    MAX_CHUNK_BYTES = 16 << 20, /* a copy of as much reaches 99% of the link */
    SMALL_BYTES = 64,
    N_TRIALS = 3, /* the best counts */
    N_LARGE = 8,
    N_SMALL = 200,
};

/** Memory to copy between: two chunks on the host, one for each direction, and two halves on the
 * device, at least as large. */
typedef struct bench {
    pti_cuda_device *cuda;
    char *host;
    bool is_registered;
    char *device;
    int64_t chunk_bytes, half_bytes;
} bench;

static polytile_status copy_up(const bench *on, int64_t n_bytes) {
    return PTI_CUDA(on->cuda, cudaMemcpyAsync,
                    (on->device, on->host, (size_t)n_bytes, cudaMemcpyHostToDevice,
                     on->cuda->stream[PTI_STREAM_IN]));
}

static polytile_status copy_down(const bench *on) {
    return PTI_CUDA(on->cuda, cudaMemcpyAsync,
                    (on->host + on->chunk_bytes, on->device + on->half_bytes,
                     (size_t)on->chunk_bytes, cudaMemcpyDeviceToHost,
                     on->cuda->stream[PTI_STREAM_OUT]));
}

static polytile_status copy_pinned_up(const bench *on) {
    return copy_up(on, on->chunk_bytes);
}

static polytile_status upload_little(const bench *on) {
    return copy_up(on, SMALL_BYTES);
}

static polytile_status both_ways(const bench *on) {
    polytile_status status = copy_pinned_up(on);
    return status == POLYTILE_OK ? copy_down(on) : status;
}

/** Copy one half to the other, as a kernel that is bound by memory would. */
static polytile_status copy_within(const bench *on) {
    return PTI_CUDA(on->cuda, cudaMemcpyAsync,
                    (on->device + on->half_bytes, on->device, (size_t)on->half_bytes,
                     cudaMemcpyDeviceToDevice, on->cuda->stream[PTI_STREAM_COMPUTE]));
}

/** Fill a little memory, which costs a launch: CUDA fills by a kernel. */
static polytile_status fill_little(const bench *on) {
    return PTI_CUDA(
        on->cuda, cudaMemset2DAsync,
        (on->device, 2 * SMALL_BYTES, 0, SMALL_BYTES, 2, on->cuda->stream[PTI_STREAM_COMPUTE]));
}

typedef enum figure { UPLOAD, DOWNLOAD, DUPLEX, WITHIN, TRANSFER, LAUNCH, N_FIGURES } figure;

/** What each figure enqueues, and how often. */
static const struct {
    polytile_status (*enqueue)(const bench *on);
    int n_times;
} trials[N_FIGURES] = {
    [UPLOAD] = {copy_pinned_up, N_LARGE},  [DOWNLOAD] = {copy_down, N_LARGE},
    [DUPLEX] = {both_ways, N_LARGE},       [WITHIN] = {copy_within, N_LARGE},
    [TRANSFER] = {upload_little, N_SMALL}, [LAUNCH] = {fill_little, N_SMALL},
};

static polytile_status wait_for_streams(const bench *on) {
    polytile_status status = POLYTILE_OK;
    for (int s = 0; s < pti_cuda_n_streams(on->cuda); s++)
        PTI_TRY(PTI_CUDA(on->cuda, cudaStreamSynchronize, (on->cuda->stream[s])));
done:
    return status;
}

/** Find the least seconds of one operation of a trial. */
static polytile_status time_trial(const bench *on, figure what, double *best_s) {
    polytile_status status = POLYTILE_OK;
    for (int k = 0; k < N_TRIALS; k++) {
        double start_s = pti_now_s();
        for (int n = 0; n < trials[what].n_times; n++)
            PTI_TRY(trials[what].enqueue(on));
        PTI_TRY(wait_for_streams(on));
        double taken_s = (pti_now_s() - start_s) / trials[what].n_times;
        *best_s = k == 0 || taken_s < *best_s ? taken_s : *best_s;
    }
done:
    return status;
}

/** Measure all figures but one: what a run of a strided transfer costs on top depends on the
 * section far more than on the GPU, so that is the default's. */
static polytile_status run_trials(const bench *on, polytile_link *link) {
    double seconds[N_FIGURES];
    double chunk_bytes = (double)on->chunk_bytes;
    polytile_status status = POLYTILE_OK;
    for (int k = 0; k < N_FIGURES; k++)
        PTI_TRY(time_trial(on, (figure)k, &seconds[k]));
    *link = (polytile_link){
        .upload_bytes_per_s = chunk_bytes / seconds[UPLOAD],
        .download_bytes_per_s = chunk_bytes / seconds[DOWNLOAD],
        .duplex_bytes_per_s = chunk_bytes / seconds[DUPLEX],
        .transfer_latency_s = seconds[TRANSFER],
        .run_overhead_bytes = polytile_link_default.run_overhead_bytes,
        .launch_latency_s = seconds[LAUNCH],
        .kernel_bytes_per_s = 2 * (double)on->half_bytes / seconds[WITHIN],
        .kernel_accesses_per_s = polytile_link_default.kernel_accesses_per_s,
        .cache_bytes = polytile_link_default.cache_bytes,
        .cache_bytes_per_s = polytile_link_default.cache_bytes_per_s,
    };
done:
    return status;
}

/** Check a call; if CUDA has no memory for it, that is POLYTILE_OK with *is_short set. */
static polytile_status check_memory(pti_cuda_device *cuda, cudaError_t error, const char *call,
                                    bool *is_short) {
    *is_short = error == cudaErrorMemoryAllocation;
    if (!*is_short)
        return pti_cuda_check(cuda, error, call);
    cuda->api->cudaGetLastError();
    return POLYTILE_OK;
}

/** Allocate host memory and register it, ten times as fast as CUDA's allocation of pinned
 * memory. */
static polytile_status take_host_memory(bench *on, bool *is_short) {
    size_t n_bytes = 2 * (size_t)on->chunk_bytes;
    void *mapped = mmap(NULL, n_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    *is_short = mapped == MAP_FAILED;
    if (*is_short)
        return POLYTILE_OK;
    on->host = mapped;
    cudaError_t error = on->cuda->api->cudaHostRegister(mapped, n_bytes, cudaHostRegisterDefault);
    on->is_registered = error == cudaSuccess;
    return check_memory(on->cuda, error, "cudaHostRegister", is_short);
}

static polytile_status take_memory(bench *on, bool *is_short) {
    void *memory = NULL;
    cudaError_t error = on->cuda->api->cudaMalloc(&memory, 2 * (size_t)on->half_bytes);
    polytile_status status = check_memory(on->cuda, error, "cudaMalloc", is_short);
    on->device = error == cudaSuccess ? memory : NULL;
    if (status == POLYTILE_OK && !*is_short)
        status = take_host_memory(on, is_short);
    return status;
}

/** Free everything once, after copies of a failed trial have ended. The trial's failure is the one
 * that is returned. */
static polytile_status give_back(bench *on, polytile_status status) {
    const pti_cuda_api *api = on->cuda->api;
    cudaError_t unregistered = cudaSuccess, freed = cudaSuccess;
    for (int s = 0; s < pti_cuda_n_streams(on->cuda) && status != POLYTILE_OK; s++)
        api->cudaStreamSynchronize(on->cuda->stream[s]);
    if (on->is_registered)
        unregistered = api->cudaHostUnregister(on->host);
    if (on->device != NULL)
        freed = api->cudaFree(on->device);
    if (on->host != NULL)
        munmap(on->host, 2 * (size_t)on->chunk_bytes);
    if (status != POLYTILE_OK) {
        api->cudaGetLastError();
        return status;
    }
    status = pti_cuda_check(on->cuda, unregistered, "cudaHostUnregister");
    return status == POLYTILE_OK ? pti_cuda_check(on->cuda, freed, "cudaFree") : status;
}

/** Return whether the measured figures are plausible. */
static bool is_plausible(const pti_cuda_device *cuda, const polytile_link *link) {
    const char *implausible = pti_link_find_implausible(link);
    if (implausible != NULL)
        pti_log(cuda->device.object.context, PTI_LOG_WARN,
                "cuda:%d: %s as measured cannot be true; plans assume polytile_link_default",
                cuda->number, implausible);
    return implausible == NULL;
}

polytile_status pti_cuda_measure(pti_cuda_device *cuda, int64_t device_bytes, polytile_link *link,
                                 bool *is_measured) {
    bench on = {.cuda = cuda, .half_bytes = device_bytes / 2};
    on.chunk_bytes = pti_min(MAX_CHUNK_BYTES, on.half_bytes);
    bool is_short = false;
    *is_measured = false;
    polytile_status status = take_memory(&on, &is_short);
    if (status == POLYTILE_OK && !is_short)
        status = run_trials(&on, link);
    status = give_back(&on, status);
    *is_measured = status == POLYTILE_OK && !is_short && is_plausible(cuda, link);
    return status;
}
