/* Steps on data that stays on the GPU, through a queue and launched by hand. */
#include "common/parameter_kernels.h"
#include "gpu/cases.h"
#include "gpu/gpu.h"
#include "gpu/kernels.h"
#include "gpu/queue_stage.h"
#include "jacobi_kernels.h"

enum { EXTENT = 16384, N_STEPS = 100, N_FIELDS = 2, MOST_ARRAYS = 3 };
static const int64_t n_elements = (int64_t)EXTENT * EXTENT;
static const int64_t array_bytes = (int64_t)EXTENT * EXTENT * (int64_t)sizeof(float);

/** Launches that alternate between two fields; both kernels take the fields, and then what is
 * further. */
typedef struct method {
    const char *name, *declaration;
    const polytile_implementation *(*implementation)(void);
    const void *(*plain)(void);
    int n_arrays; /* the fields first, or one before all others and one after them */
    bool has_weight;
    double target;
} method;

/** The same arrays twice: those of the queue, and those of the launches by hand. */
typedef struct steps {
    const method *method;
    float *queued[MOST_ARRAYS]; /* as the declaration names them: B is the last one */
    float *by_hand;             /* the first field's result */
    float *device[MOST_ARRAYS];
    cudaStream_t stream;
    queue_stage stage;
} steps;

/** The numbers of the arrays that a step reads and writes. */
static int field_of(const steps *s, int turn) {
    return turn % N_FIELDS == 0 ? 0 : s->method->n_arrays - 1;
}

static void queue_step(const steps *s, int step) {
    const int n = s->method->n_arrays;
    polytile_array *arrays[MOST_ARRAYS] = {s->stage.arrays[0], s->stage.arrays[1],
                                           s->stage.arrays[n - 1]};
    const polytile_parameter weight = POLYTILE_PARAMETER("weight", jacobi_weight(step));
    const polytile_launch_options options = {.n_parameters = s->method->has_weight,
                                             .parameters = &weight};
    arrays[0] = s->stage.arrays[field_of(s, step)];
    arrays[n - 1] = s->stage.arrays[field_of(s, step + 1)];
    if (polytile_queue_launch(s->stage.queue, s->stage.kernel, POLYTILE_INTERIOR(1, EXTENT, EXTENT),
                              n, arrays, &options) != POLYTILE_OK)
        gpu_fail("polytile_queue_launch: %s", polytile_last_error(s->stage.ctx));
}

static double time_queue(void *subject) {
    const steps *s = subject;
    double start_s = bench_now_s();
    for (int k = 0; k < N_STEPS; k++)
        queue_step(s, k);
    queue_stage_wait(&s->stage);
    return bench_now_s() - start_s;
}

static void step_by_hand(const steps *s, int step) {
    int64_t n = EXTENT;
    float weight = jacobi_weight(step);
    void *further = s->method->has_weight ? (void *)&weight : (void *)&s->device[1];
    void *arguments[] = {(void *)&s->device[field_of(s, step)],
                         (void *)&s->device[field_of(s, step + 1)], &n, further};
    dim3 block = {32, 8, 1};
    dim3 grid = {EXTENT / 32, EXTENT / 8, 1};
    GPU_CALL(cudaLaunchKernel(s->method->plain(), grid, block, arguments, 0, s->stream));
}

static double time_by_hand(void *subject) {
    const steps *s = subject;
    double start_s = bench_now_s();
    for (int k = 0; k < N_STEPS; k++)
        step_by_hand(s, k);
    GPU_CALL(cudaStreamSynchronize(s->stream));
    return bench_now_s() - start_s;
}

/** Weights near a fifth, so that numbers neither grow nor vanish. */
static void make_weights(float *weights) {
#pragma omp parallel for
    for (int64_t k = 0; k < n_elements; k++)
        weights[k] = 0.15f + 0.1f * weights[k];
}

static void create(steps *s) {
    const int64_t extents[] = {EXTENT, EXTENT};
    queue_stage_open(&s->stage, (s->method->n_arrays + 1) * array_bytes, s->method->declaration,
                     s->method->implementation());
    GPU_CALL(cudaStreamCreateWithFlags(&s->stream, cudaStreamNonBlocking));
    for (int f = 0; f < s->method->n_arrays; f++) {
        s->queued[f] = gpu_allocate_pinned(array_bytes);
        gpu_fill_random(s->queued[f], n_elements, 8 + (uint64_t)f);
        if (f == 1 && s->method->n_arrays == MOST_ARRAYS)
            make_weights(s->queued[f]);
        GPU_CALL(cudaMalloc((void **)&s->device[f], (size_t)array_bytes));
        GPU_CALL(
            cudaMemcpy(s->device[f], s->queued[f], (size_t)array_bytes, cudaMemcpyHostToDevice));
        queue_stage_wrap(&s->stage, 2, extents, s->queued[f]);
    }
    s->by_hand = gpu_allocate_pinned(array_bytes);
    queue_stage_attach(&s->stage);
}

static void check_steps(const steps *s) {
    for (int turn = 0; turn < N_FIELDS; turn++) {
        const int f = field_of(s, turn);
        GPU_CALL(cudaMemcpy(s->by_hand, s->device[f], (size_t)array_bytes, cudaMemcpyDeviceToHost));
        gpu_require_same_bits("a field", s->queued[f], s->by_hand, n_elements);
    }
}

/** Each array in once, and both fields out once, whatever the number of steps. */
static void report_bytes(const steps *s) {
    bench_times moved = {0};
    polytile_report report = queue_stage_report(&s->stage);
    bench_add_time(&moved, 1e-9 * (double)(report.h2d_bytes + report.d2h_bytes));
    gpu_report_fixed("GB",
                     &(gpu_comparison){.name = "queue, what all these steps moved",
                                       .against = "each array in and each field out once",
                                       .ours = &moved,
                                       .relation = BENCH_AT_MOST,
                                       .target = 1.0},
                     1e-9 * (N_FIELDS + s->method->n_arrays) * (double)array_bytes);
}

static void compare(const method *of) {
    steps s = {.method = of};
    bench_times queued = {0}, by_hand = {0};
    gpu_begin(GPU_WAITS_AS_EVER);
    create(&s);
    gpu_alternate(time_queue, time_by_hand, &s, &queued, &by_hand);
    gpu_report(&(gpu_comparison){.name = of->name,
                                 .against = "plain CUDA launches",
                                 .ours = &queued,
                                 .rival = &by_hand,
                                 .relation = BENCH_AT_MOST,
                                 .target = of->target});
    queue_stage_detach(&s.stage);
    check_steps(&s);
    report_bytes(&s);
}

void queue_resident(void) {
    compare(&(method){"queue, 100 resident steps of 16384^2", JACOBI_DECLARATION,
                      jacobi_f32_implementation, gpu_plain_jacobi, 2, false, 0.35});
}

void queue_resident_weight(void) {
    compare(&(method){"queue, the same, each step with a weight", JACOBI_GIVEN_DECLARATION,
                      jacobi_given, gpu_plain_weighted_jacobi, 2, true, 0.35});
}

void queue_resident_field(void) {
    compare(&(method){"queue, the same with a field of weights", GPU_JACOBI_FIELD, gpu_jacobi_field,
                      gpu_plain_jacobi_field, 3, false, 0.5});
}
