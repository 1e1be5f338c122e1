/* Single launches of stencils on data that stays on the GPU, whose threads run neighbours,
 * against plain kernels with a thread an element. Steps are launched one by one, so that none
 * are fused. */
#include "gpu/cases.h"
#include "gpu/gpu.h"
#include "gpu/kernels.h"
#include "gpu/queue_stage.h"
#include "jacobi3d_kernels.h"
#include "jacobi_kernels.h"

enum { N_STEPS = 50, N_FIELDS = 2, SEED = 31 };

typedef struct coarse_case {
    const char *name;
    const char *declaration;
    const polytile_implementation *(*implementation)(void);
    const void *(*plain)(void);
    int n_dims;
    int64_t extent;
    double target;
} coarse_case;

static const coarse_case cases[] = {
    {"five points 16384^2, a launch a step", JACOBI_DECLARATION, jacobi_f32_implementation,
     gpu_plain_jacobi, 2, 16384, 0.70},
    {"nine points 16384^2, a launch a step", NINE_POINTS_DECLARATION, gpu_nine_points,
     gpu_plain_nine_points, 2, 16384, 0.75},
    {"seven points 640^3, a launch a step", JACOBI3D_DECLARATION, jacobi3d_f32_implementation,
     gpu_plain_jacobi3d, 3, 640, 0.80},
};

/** The same two fields twice: those of the queue, and those of the launches by hand. */
typedef struct contest {
    const coarse_case *of;
    int64_t n_elements;
    float *queued[N_FIELDS];
    float *device[N_FIELDS];
    cudaStream_t stream;
    queue_stage stage;
    polytile_launch_options options;
} contest;

static int64_t bytes_of(const contest *c) {
    return c->n_elements * (int64_t)sizeof(float);
}

static polytile_domain inner(const coarse_case *of) {
    const int64_t lo[] = {1, 1, 1}, hi[] = {of->extent - 2, of->extent - 2, of->extent - 2};
    return polytile_domain_from_bounds(of->n_dims, lo, hi);
}

static double time_queue(void *subject) {
    contest *c = subject;
    const polytile_domain threads = inner(c->of);
    double start_s = bench_now_s();
    for (int k = 0; k < N_STEPS; k++)
        if (polytile_queue_launch(
                c->stage.queue, c->stage.kernel, &threads,
                POLYTILE_ARRAYS(c->stage.arrays[k % 2], c->stage.arrays[1 - k % 2]),
                &c->options) != POLYTILE_OK)
            gpu_fail("%s: %s", c->of->name, polytile_last_error(c->stage.ctx));
    queue_stage_wait(&c->stage);
    return bench_now_s() - start_s;
}

static void step_by_hand(const contest *c, int from) {
    int64_t n = c->of->extent;
    void *arguments[] = {(void *)&c->device[from], (void *)&c->device[1 - from], &n};
    dim3 block = {32, 8, 1};
    dim3 grid = {(unsigned)((n + 31) / 32), (unsigned)((n + 7) / 8),
                 c->of->n_dims > 2 ? (unsigned)(n - 2) : 1};
    GPU_CALL(cudaLaunchKernel(c->of->plain(), grid, block, arguments, 0, c->stream));
}

static double time_by_hand(void *subject) {
    const contest *c = subject;
    double start_s = bench_now_s();
    for (int k = 0; k < N_STEPS; k++)
        step_by_hand(c, k % 2);
    GPU_CALL(cudaStreamSynchronize(c->stream));
    return bench_now_s() - start_s;
}

static void create(contest *c, const coarse_case *of) {
    const int64_t extents[] = {of->extent, of->extent, of->extent};
    *c = (contest){.of = of, .n_elements = of->extent, .options.plan.launches_per_pass = 1};
    for (int d = 1; d < of->n_dims; d++)
        c->n_elements *= of->extent;
    queue_stage_open(&c->stage, 3 * bytes_of(c), of->declaration, of->implementation());
    GPU_CALL(cudaStreamCreateWithFlags(&c->stream, cudaStreamNonBlocking));
    for (int f = 0; f < N_FIELDS; f++) {
        c->queued[f] = gpu_allocate_pinned(bytes_of(c));
        gpu_fill_random(c->queued[f], c->n_elements, SEED + (uint64_t)f);
        GPU_CALL(cudaMalloc((void **)&c->device[f], (size_t)bytes_of(c)));
        GPU_CALL(
            cudaMemcpy(c->device[f], c->queued[f], (size_t)bytes_of(c), cudaMemcpyHostToDevice));
        queue_stage_wrap(&c->stage, of->n_dims, extents, c->queued[f]);
    }
    queue_stage_attach(&c->stage);
}

static void check_and_close(contest *c) {
    float *by_hand = gpu_allocate_pinned(bytes_of(c));
    queue_stage_detach(&c->stage);
    for (int f = 0; f < N_FIELDS; f++) {
        GPU_CALL(cudaMemcpy(by_hand, c->device[f], (size_t)bytes_of(c), cudaMemcpyDeviceToHost));
        gpu_require_same_bits(c->of->name, c->queued[f], by_hand, c->n_elements);
        GPU_CALL(cudaFree(c->device[f]));
    }
    polytile_context_destroy(c->stage.ctx);
}

void coarse(void) {
    gpu_begin(GPU_WAITS_AS_EVER);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        contest c;
        bench_times queued = {0}, by_hand = {0};
        create(&c, &cases[k]);
        gpu_alternate(time_queue, time_by_hand, &c, &queued, &by_hand);
        check_and_close(&c);
        gpu_report(&(gpu_comparison){.name = cases[k].name,
                                     .against = "plain CUDA, a thread an element",
                                     .ours = &queued,
                                     .rival = &by_hand,
                                     .relation = BENCH_AT_MOST,
                                     .target = cases[k].target});
    }
}
