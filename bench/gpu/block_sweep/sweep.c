#include "gpu/block_sweep/sweep.h"

#include "launch/cuda/block.h"
#include "launch/cuda/coarse.h"
#include "launch/cuda/function.h"
#include "launch/cuda/kernel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LEAST_THREADS = 32,
    MOST_THREADS = 1024,
    MOST_SHAPES = 512,
    N_FINALISTS = 12, /* beside the library's own choices */
    MOST_FINALISTS = 16,
    N_ROUNDS = 21,
    N_CACHES = 4,
};

static const size_t array_bytes = sizeof(float) << 28;

/** A cache preference other than none must shorten a kernel by this part to be chosen. */
static const double least_gain = 0.01;

static void require(const sweep_gpu *gpu, polytile_status status) {
    if (status == POLYTILE_OK)
        return;
    fprintf(stderr, "block_sweep: %s: %s\n", polytile_status_text(status),
            polytile_last_error(gpu->ctx));
    exit(EXIT_FAILURE);
}

static void call(cudaError_t error, const char *what) {
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "block_sweep: %s: %s\n", what, cudaGetErrorString(error));
    exit(EXIT_FAILURE);
}

#define CALL(expression) call((expression), #expression)

void sweep_open(sweep_gpu *gpu) {
    polytile_device *device;
    *gpu = (sweep_gpu){0};
    if (polytile_context_create(&gpu->ctx) != POLYTILE_OK)
        exit(EXIT_FAILURE);
    require(gpu, polytile_device_open(gpu->ctx, "cuda:0(memory=64MiB)", &device));
    gpu->cuda = pti_cuda_of(device);
    for (int a = 0; a < SWEEP_MOST_ARRAYS; a++) {
        CALL(cudaMalloc((void **)&gpu->array[a], array_bytes));
        CALL(cudaMemset(gpu->array[a], 0x3c, array_bytes));
    }
    gpu->event = calloc(MOST_FINALISTS + 1, sizeof(cudaEvent_t));
    for (int k = 0; k <= MOST_FINALISTS; k++)
        CALL(cudaEventCreate(&gpu->event[k]));
    CALL(cudaDeviceSynchronize());
}

void sweep_close(sweep_gpu *gpu) {
    for (int k = 0; k <= MOST_FINALISTS; k++)
        cudaEventDestroy(gpu->event[k]);
    for (int a = 0; a < SWEEP_MOST_ARRAYS; a++)
        cudaFree(gpu->array[a]);
    free(gpu->event);
    polytile_context_destroy(gpu->ctx);
}

/** A kernel's launch as the library makes it, by its own functions. */
typedef struct subject {
    sweep_gpu *gpu;
    const sweep_kernel *kernel;
    char name[PTI_TUNING_NAME_BYTES];
    pti_instance instance; /* of no declaration: threads run the body once */
    pti_operand operand[SWEEP_MOST_ARRAYS];
    polytile_domain threads;
    polytile_view view[SWEEP_MOST_ARRAYS];
    pti_sub_kernel sub_kernel;
    const pti_cuda_variant *variant; /* that the library would run */
} subject;

static polytile_view view_of(const sweep_kernel *kernel, void *memory) {
    int64_t extents[POLYTILE_MAX_DIMS], stride = (int64_t)sizeof(float);
    polytile_view view = {.origin = memory};
    for (int d = kernel->n_dims - 1; d >= 0; d--) {
        extents[d] = kernel->extent;
        view.stride_bytes[d] = stride;
        stride *= kernel->extent;
    }
    view.resident = polytile_domain_from_extents(kernel->n_dims, extents);
    return view;
}

static void set_up(subject *s, sweep_gpu *gpu, const sweep_kernel *kernel) {
    int64_t lo[POLYTILE_MAX_DIMS], hi[POLYTILE_MAX_DIMS];
    *s = (subject){.gpu = gpu, .kernel = kernel};
    for (int d = 0; d < kernel->n_dims; d++) {
        lo[d] = kernel->border;
        hi[d] = kernel->extent - 1 - kernel->border;
    }
    for (int a = 0; a < kernel->n_arrays; a++)
        s->view[a] = view_of(kernel, gpu->array[a]);
    snprintf(s->name, sizeof s->name, "%s", kernel->name);
    s->threads = polytile_domain_from_bounds(kernel->n_dims, lo, hi);
    s->instance = (pti_instance){.kernel_name = s->name,
                                 .n_operands = kernel->n_arrays,
                                 .operand = s->operand,
                                 .threads = s->threads};
    s->sub_kernel = (pti_sub_kernel){.instance = &s->instance,
                                     .config.implementation = kernel->implementation,
                                     .config.character = &kernel->character,
                                     .threads = &s->threads,
                                     .views = s->view};
}

static void set_cache(const subject *s, pti_cache_preference cache) {
    CALL(cudaFuncSetCacheConfig(s->variant->kernel, (enum cudaFuncCache)cache));
}

static void record(const subject *s, int k) {
    CALL(cudaEventRecord(s->gpu->event[k], s->gpu->cuda->stream[PTI_STREAM_COMPUTE]));
}

static double elapsed_s(const subject *s, int from, int to) {
    float taken_ms;
    CALL(cudaEventSynchronize(s->gpu->event[to]));
    CALL(cudaEventElapsedTime(&taken_ms, s->gpu->event[from], s->gpu->event[to]));
    return 1e-3 * (double)taken_ms;
}

static double time_once(const subject *s, pti_cuda_extents block) {
    record(s, 0);
    require(s->gpu, pti_cuda_launch_with(s->gpu->cuda, &s->sub_kernel, s->variant, block));
    record(s, 1);
    return elapsed_s(s, 0, 1);
}

static int compare(const void *a, const void *b) {
    double one = ((const sweep_time *)a)->time_s, other = ((const sweep_time *)b)->time_s;
    return (one > other) - (one < other);
}

static int compare_numbers(const void *a, const void *b) {
    double one = *(const double *)a, other = *(const double *)b;
    return (one > other) - (one < other);
}

/** Median times of several blocks, which alternate without a gap between them. */
static void time_in_turns(const subject *s, sweep_time *times, int n_times) {
    double time_s[MOST_FINALISTS][N_ROUNDS];
    for (int round = 0; round < N_ROUNDS; round++) {
        require(s->gpu,
                pti_cuda_launch_with(s->gpu->cuda, &s->sub_kernel, s->variant, times[0].block));
        record(s, 0);
        for (int k = 0; k < n_times; k++) {
            set_cache(s, times[k].cache);
            require(s->gpu,
                    pti_cuda_launch_with(s->gpu->cuda, &s->sub_kernel, s->variant, times[k].block));
            record(s, k + 1);
        }
        for (int k = 0; k < n_times; k++)
            time_s[k][round] = elapsed_s(s, k, k + 1);
    }
    for (int k = 0; k < n_times; k++) {
        qsort(time_s[k], N_ROUNDS, sizeof time_s[k][0], compare_numbers);
        times[k].time_s = time_s[k][N_ROUNDS / 2];
    }
}

/** Every shape of a power of two of threads along each axis. */
static int list_shapes(const subject *s, int max_threads, sweep_time *shapes) {
    int n_dims = s->kernel->n_dims, n_shapes = 0;
    pti_cuda_extents most = pti_cuda_most_threads;
    for (int64_t z = 1; z <= (n_dims > 2 ? most.z : 1); z *= 2) {
        for (int64_t y = 1; y <= (n_dims > 1 ? most.y : 1); y *= 2) {
            for (int64_t x = 1; x <= most.x; x *= 2) {
                if (x * y * z >= LEAST_THREADS && x * y * z <= max_threads)
                    shapes[n_shapes++] = (sweep_time){.block = {x, y, z}};
            }
        }
    }
    return n_shapes;
}

/** One run of every shape, and a second one of those that may be good; the best come first. */
static void screen(const subject *s, sweep_time *shapes, int n_shapes) {
    double least_s = time_once(s, (pti_cuda_extents){LEAST_THREADS, 1, 1});
    for (int k = 0; k < n_shapes; k++) {
        shapes[k].time_s = time_once(s, shapes[k].block);
        if (shapes[k].time_s < 2 * least_s) {
            double again_s = time_once(s, shapes[k].block);
            shapes[k].time_s = again_s < shapes[k].time_s ? again_s : shapes[k].time_s;
        }
        least_s = shapes[k].time_s < least_s ? shapes[k].time_s : least_s;
    }
    qsort(shapes, (size_t)n_shapes, sizeof *shapes, compare);
}

static bool are_equal(const sweep_time *one, const sweep_time *other) {
    return one->block.x == other->block.x && one->block.y == other->block.y &&
           one->block.z == other->block.z && one->cache == other->cache;
}

/** The place of a block among the finalists, where it is put if it is not there. */
static int enter(sweep_time *finalists, int *n_finalists, const sweep_time *entered) {
    int k = 0;
    while (k < *n_finalists && !are_equal(&finalists[k], entered))
        k++;
    if (k == *n_finalists)
        finalists[(*n_finalists)++] = *entered;
    return k;
}

/** What the library would choose; its choices are those that runs make. */
static void ask_library(subject *s, sweep_result *result, int *max_threads) {
    pti_cuda_choice *choice;
    require(s->gpu, pti_cuda_choose(s->gpu->cuda, &s->sub_kernel, &choice));
    s->variant = pti_cuda_variant_for(&s->sub_kernel, choice);
    require(s->gpu, pti_cuda_find_block(s->gpu->cuda, &s->sub_kernel, choice, s->variant,
                                        &result->table.block));
    result->has_row = choice->has_row;
    result->table.cache = choice->has_row ? choice->row.cache : PTI_CACHE_NONE;
    result->occupancy.block = pti_cuda_full_block(&s->sub_kernel, s->variant);
    *max_threads = s->variant->max_threads < MOST_THREADS ? s->variant->max_threads : MOST_THREADS;
}

/** The best shape with each cache preference. */
static void find_cache(const subject *s, sweep_time *best) {
    sweep_time times[N_CACHES];
    for (int c = 0; c < N_CACHES; c++)
        times[c] = (sweep_time){best->block, (pti_cache_preference)c, 0};
    time_in_turns(s, times, N_CACHES);
    double none_s = times[PTI_CACHE_NONE].time_s;
    qsort(times, N_CACHES, sizeof *times, compare);
    if (times[0].time_s < (1 - least_gain) * none_s)
        *best = times[0];
}

sweep_result sweep_run(sweep_gpu *gpu, const sweep_kernel *kernel) {
    sweep_time shapes[MOST_SHAPES], finalists[MOST_FINALISTS];
    sweep_result result = {0};
    subject s;
    int max_threads, n_finalists = 0;
    set_up(&s, gpu, kernel);
    ask_library(&s, &result, &max_threads);
    set_cache(&s, PTI_CACHE_NONE);
    int n_shapes = list_shapes(&s, max_threads, shapes);
    screen(&s, shapes, n_shapes);
    int table = enter(finalists, &n_finalists, &result.table);
    int occupancy = enter(finalists, &n_finalists, &result.occupancy);
    for (int k = 0; k < n_shapes && n_finalists < N_FINALISTS; k++)
        enter(finalists, &n_finalists, &shapes[k]);
    time_in_turns(&s, finalists, n_finalists);
    result.table = finalists[table];
    result.occupancy = finalists[occupancy];
    qsort(finalists, (size_t)n_finalists, sizeof *finalists, compare);
    result.best = finalists[0];
    find_cache(&s, &result.best);
    set_cache(&s, PTI_CACHE_NONE);
    return result;
}
