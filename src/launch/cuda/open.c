#include "launch/cuda/driver.h"
#include "launch/cuda/run.h"
#include "launch/cuda/runtime/cuda.h"

#include "base/checked.h"
#include "launch/cuda/link.h"
#include "launch/cuda/loop.h"
#include "launch/cuda/rounds.h"
#include "launch/cuda/runtime/fault.h"
#include "launch/cuda/runtime/order.h"
#include "launch/cuda/runtime/timing.h"
#include "launch/cuda/staging/staging.h"
#include "launch/cuda/team.h"
#include "launch/cuda/tiles.h"
#include "launch/device/lanes.h"
#include <polytile/message_ring.h>

#include <stdlib.h>
#include <unistd.h>

/** The granularity of device memory. It takes at most an eighth of a limit, and so do streams and
 * events; smaller limits cannot be kept to the byte. */
enum { GRANULARITY_BYTES = 2 << 20, MAX_OVERHEAD_PART = 8 };

/** Slabs of a chain are in two lanes. */
enum { LEAST_LANES = 2 };

static bool can_run(const polytile_implementation *implementation, const char **wanted) {
    *wanted = "a CUDA kernel or launcher";
    return implementation->cuda != NULL || implementation->cuda_launcher != NULL ||
           (implementation->team != NULL && implementation->team->cuda != NULL);
}

static void destroy_streams(pti_cuda_device *cuda) {
    for (int s = 0; s < pti_cuda_n_streams(cuda); s++) {
        if (cuda->stream[s] != NULL)
            cuda->api->cudaStreamDestroy(cuda->stream[s]);
    }
}

static void close_cuda(polytile_device *device) {
    pti_cuda_device *cuda = pti_cuda_of(device);
    cuda->api->cudaSetDevice(cuda->number);
    pti_staging_destroy(cuda->staging);
    pti_cuda_team_destroy(cuda->team);
    pti_cuda_rounds_destroy(cuda);
    pti_cuda_loops_destroy(cuda);
    pti_cuda_order_destroy(cuda->order);
    pti_cuda_timing_destroy(cuda->timing);
    pti_cuda_events_destroy(cuda);
    destroy_streams(cuda);
    if (cuda->arena != NULL)
        cuda->api->cudaFree(cuda->arena);
    pti_lanes_close(&cuda->device);
    free(cuda);
}

static const pti_device_functions functions = {
    .can_run = can_run,
    .usable = pti_cuda_usable,
    .reserve = pti_cuda_reserve,
    .begin_stretches = pti_cuda_begin_stretches,
    .end_stretches = pti_cuda_end_stretches,
    .begin = pti_cuda_begin,
    .submit = pti_cuda_submit,
    .may_run_tiles = pti_cuda_may_run_tiles,
    .submit_tiles = pti_cuda_submit_tiles,
    .finish = pti_cuda_finish,
    .close = close_cuda,
    .copy_bytes = pti_cuda_copy_bytes,
    .pin = pti_cuda_pin,
    .unpin = pti_cuda_unpin,
    .peer = &pti_cuda_peer_functions,
};

/** Create streams that run beside each other and beside the default stream. */
static polytile_status create_streams(pti_cuda_device *cuda) {
    polytile_status status = POLYTILE_OK;
    for (int s = 0; s < pti_cuda_n_streams(cuda); s++)
        PTI_TRY(
            PTI_CUDA(cuda, cudaStreamCreateWithFlags, (&cuda->stream[s], cudaStreamNonBlocking)));
    PTI_TRY(pti_cuda_order_create(cuda, &cuda->order));
    PTI_TRY(pti_cuda_timing_create(cuda, &cuda->timing));
done:
    return status;
}

/** Return how much of a limit one allocation can have. */
static int64_t round_to_granularity(int64_t limit_bytes) {
    int64_t rest_bytes = limit_bytes % GRANULARITY_BYTES;
    return rest_bytes <= limit_bytes / MAX_OVERHEAD_PART ? limit_bytes - rest_bytes : limit_bytes;
}

/** Set the limit for plans: the user's, or what is free, less what streams and events took, and
 * what loops may take. */
static void set_limit(pti_cuda_device *cuda, int64_t free_before_bytes, int64_t free_bytes) {
    int64_t asked_bytes = cuda->memory_bytes > 0 ? cuda->memory_bytes : free_before_bytes;
    int64_t loops_bytes = cuda->device.n_lanes > 1 ? cuda->device.n_lanes * PTI_LOOP_BYTES : 0;
    int64_t overhead_bytes = pti_max(free_before_bytes - free_bytes, 0) + loops_bytes;
    int64_t left_bytes = asked_bytes - pti_min(overhead_bytes, asked_bytes / MAX_OVERHEAD_PART);
    cuda->device.limit_bytes = pti_max(round_to_granularity(left_bytes), 1);
}

/** Return whether an error means that there is no GPU; others are those of earlier calls. */
static bool is_absence(cudaError_t error) {
    static const cudaError_t absences[] = {cudaErrorNoDevice,
                                           cudaErrorInsufficientDriver,
                                           cudaErrorInitializationError,
                                           cudaErrorStubLibrary,
                                           cudaErrorDevicesUnavailable,
                                           cudaErrorSystemNotReady,
                                           cudaErrorSystemDriverMismatch,
                                           cudaErrorCompatNotSupportedOnDevice};
    for (size_t k = 0; k < sizeof absences / sizeof *absences; k++) {
        if (error == absences[k])
            return true;
    }
    return false;
}

/** Return the newest CUDA of the machine's driver, as 1000 * major + 10 * minor; 0: no driver. */
static int driver_version(const pti_cuda_api *api) {
    int version = 0;
    if (api->cudaDriverGetVersion(&version) == cudaSuccess)
        return version;
    api->cudaGetLastError();
    return 0;
}

static polytile_status refuse_driver(const pti_cuda_device *cuda, const char *error) {
    const int needed = CUDART_VERSION, had = driver_version(cuda->api);
    polytile_context *ctx = cuda->device.object.context;
    if (had == 0)
        return pti_fail(ctx, POLYTILE_UNSUPPORTED,
                        "cuda:%d: there is no driver of NVIDIA's here (%s); install it, or use "
                        "host",
                        cuda->number, error);
    return pti_fail(ctx, POLYTILE_UNSUPPORTED,
                    "cuda:%d: NVIDIA's driver here is for CUDA up to %d.%d, and this library uses "
                    "%d.%d (%s); install a newer driver, or use host",
                    cuda->number, had / 1000, had % 1000 / 10, needed / 1000, needed % 1000 / 10,
                    error);
}

static polytile_status refuse_no_gpu(const pti_cuda_device *cuda, const char *error) {
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");
    polytile_context *ctx = cuda->device.object.context;
    if (visible == NULL)
        return pti_fail(ctx, POLYTILE_UNSUPPORTED,
                        "cuda:%d: NVIDIA's driver is here, but no GPU (%s); use host", cuda->number,
                        error);
    return pti_fail(ctx, POLYTILE_UNSUPPORTED,
                    "cuda:%d: NVIDIA's driver shows no GPU (%s), and CUDA_VISIBLE_DEVICES is "
                    "\"%.40s\"; change that, or use host",
                    cuda->number, error, visible);
}

static polytile_status refuse_count(const pti_cuda_device *cuda, cudaError_t error) {
    polytile_context *ctx = cuda->device.object.context;
    if (!is_absence(error))
        return pti_fail(ctx, POLYTILE_DEVICE, "cuda:%d: cudaGetDeviceCount failed: %s (%s)",
                        cuda->number, cudaGetErrorString(error), cudaGetErrorName(error));
    if (error == cudaErrorInsufficientDriver)
        return refuse_driver(cuda, cudaGetErrorString(error));
    if (error == cudaErrorNoDevice)
        return refuse_no_gpu(cuda, cudaGetErrorString(error));
    return pti_fail(ctx, POLYTILE_UNSUPPORTED,
                    "cuda:%d: CUDA finds no GPU that it can use (%s); use host, or install "
                    "NVIDIA's driver",
                    cuda->number, cudaGetErrorString(error));
}

static polytile_status find_device(pti_cuda_device *cuda) {
    cudaError_t error = pti_cuda_count_gpus(cuda->api, &cuda->n_gpus);
    if (error != cudaSuccess)
        return refuse_count(cuda, error);
    if (cuda->number >= cuda->n_gpus)
        return pti_fail(cuda->device.object.context, POLYTILE_UNSUPPORTED,
                        "cuda:%d: there %s %d GPU%s here, from cuda:0", cuda->number,
                        cuda->n_gpus == 1 ? "is" : "are", cuda->n_gpus,
                        cuda->n_gpus == 1 ? "" : "s");
    return POLYTILE_OK;
}

static polytile_status set_up_device(pti_cuda_device *cuda) {
    polytile_status status;
    struct cudaDeviceProp properties;
    int64_t free_before_bytes, free_bytes;
    PTI_TRY(find_device(cuda));
    PTI_TRY(pti_cuda_enter(cuda));
    PTI_TRY(pti_cuda_free_bytes(cuda, &free_before_bytes));
    PTI_TRY(create_streams(cuda));
    PTI_TRY(pti_cuda_free_bytes(cuda, &free_bytes));
    set_limit(cuda, free_before_bytes, free_bytes);
    PTI_TRY(PTI_CUDA(cuda, cudaGetDeviceProperties, (&properties, cuda->number)));
    cuda->device.fill_threads =
        (int64_t)properties.multiProcessorCount * properties.maxThreadsPerMultiProcessor;
    cuda->device.tile_room = pti_cuda_tile_room(&properties);
    cuda->n_multiprocessors = properties.multiProcessorCount;
    cuda->capability = 10 * properties.major + properties.minor;
    cuda->device.cuda_capability = cuda->capability;
    PTI_TRY(pti_cuda_link(cuda, &properties, pti_min(cuda->device.limit_bytes, free_bytes),
                          &cuda->device.link));
    cuda->device.has_measured_link = true;
done:
    return status;
}

/** Set how many lanes launches are dealt to, and the streams for them. */
static polytile_status set_lanes(pti_cuda_device *cuda, int64_t n_streams) {
    polytile_device *device = &cuda->device;
    const bool is_auto = n_streams == PTI_STREAMS_AUTO;
    device->n_lanes = is_auto ? PTI_MAX_LANES : (int)pti_max(n_streams, 1);
    cuda->n_lanes = (int)pti_max(device->n_lanes, LEAST_LANES);
    return !is_auto || pti_lanes_open(device)
               ? POLYTILE_OK
               : pti_fail_memory(device->object.context, "cuda",
                                 PTI_N_LANE_TIMES * sizeof *device->lane_times);
}

static int default_host_threads(void) {
    return (int)pti_max(1, pti_min(sysconf(_SC_NPROCESSORS_ONLN), PTI_MAX_THREADS));
}

polytile_status pti_cuda_open(polytile_context *ctx, const pti_device_text *text,
                              polytile_device **device) {
    polytile_status status;
    pti_cuda_device *cuda = calloc(1, sizeof *cuda);
    if (cuda == NULL)
        return pti_fail_memory(ctx, "cuda", sizeof *cuda);
    int64_t n_threads = text->value[PTI_OPTION_THREADS];
    cuda->device.object.context = ctx;
    cuda->device.functions = &functions;
    cuda->api = pti_cuda_current_api;
    cuda->number = (int)pti_min(text->number, INT32_MAX);
    cuda->memory_bytes = text->value[PTI_OPTION_MEMORY];
    cuda->n_host_threads = n_threads > 0 ? (int)n_threads : default_host_threads();
    PTI_TRY(set_lanes(cuda, text->value[PTI_OPTION_STREAMS]));
    PTI_TRY(set_up_device(cuda));
    *device = &cuda->device;
    return POLYTILE_OK;
done:
    close_cuda(&cuda->device);
    return status;
}
