/* Steps of a wave equation, on data that stays on the GPU and on a fraction of its memory, against
 * plain launches in core. */
#include "gpu/cases.h"
#include "gpu/gpu.h"
#include "gpu/kernels.h"
#include "gpu/queue_stage.h"

enum { N_STEPS = 100, MOST_FIELDS = 3, N_READ = 2, SEED = 31 };

/** A wave equation; of two fields the older one is updated in place. */
typedef struct wave_case {
    const char *name, *against, *declaration;
    const polytile_implementation *(*implementation)(void);
    int n_fields;
    int64_t extent;
    double limit; /* in fields */
    bool streams; /* everything goes in and out with each run, else it stays */
    double target;
} wave_case;

/** The same arrays twice: those of the queue, and those of the launches by hand. Fields are
 * numbered as the declaration names them at the first step. */
typedef struct contest {
    const wave_case *of;
    int64_t n_elements, field_bytes;
    float *queued[MOST_FIELDS], *by_hand[MOST_FIELDS], *device[MOST_FIELDS];
    cudaStream_t stream;
    queue_stage stage;
} contest;

/** Return the number of the field that has a role, U, P or N, at a step. */
static int field_of(const contest *c, int role, int step) {
    return (role + c->of->n_fields * step - step) % c->of->n_fields;
}

static void queue_steps(const contest *c) {
    for (int step = 0; step < N_STEPS; step++) {
        polytile_array *arrays[MOST_FIELDS];
        for (int role = 0; role < c->of->n_fields; role++)
            arrays[role] = c->stage.arrays[field_of(c, role, step)];
        queue_stage_launch(
            &c->stage,
            &(polytile_domain){2, {{1, c->of->extent - 2, 1}, {1, c->of->extent - 2, 1}}}, arrays);
    }
}

static double time_queue(void *subject) {
    const contest *c = subject;
    double start_s = bench_now_s();
    if (c->of->streams)
        queue_stage_attach(&c->stage);
    polytile_queue_pause(c->stage.queue);
    queue_steps(c);
    polytile_queue_resume(c->stage.queue);
    if (c->of->streams)
        queue_stage_detach(&c->stage);
    queue_stage_wait(&c->stage);
    return bench_now_s() - start_s;
}

static void step_by_hand(const contest *c, int step) {
    int64_t n = c->of->extent;
    float *u = c->device[field_of(c, 0, step)], *before = c->device[field_of(c, 1, step)];
    float *next = c->of->n_fields == 2 ? before : c->device[field_of(c, 2, step)];
    void *arguments[] = {(void *)&u, (void *)&before, (void *)&next, &n};
    dim3 block = {32, 8, 1};
    dim3 grid = {(unsigned)((n + 31) / 32), (unsigned)((n + 7) / 8), 1};
    GPU_CALL(cudaLaunchKernel(gpu_plain_wave(), grid, block, arguments, 0, c->stream));
}

static void copy_fields(const contest *c, int n_fields, enum cudaMemcpyKind kind) {
    for (int f = 0; f < n_fields; f++) {
        const bool is_in = kind == cudaMemcpyHostToDevice;
        GPU_CALL(cudaMemcpyAsync(is_in ? c->device[f] : c->by_hand[f],
                                 is_in ? c->by_hand[f] : c->device[f], (size_t)c->field_bytes, kind,
                                 c->stream));
    }
}

/** Of three fields the last one goes in only once, for its border: the first step writes it. */
static double time_by_hand(void *subject) {
    const contest *c = subject;
    double start_s = bench_now_s();
    if (c->of->streams)
        copy_fields(c, N_READ, cudaMemcpyHostToDevice);
    for (int step = 0; step < N_STEPS; step++)
        step_by_hand(c, step);
    if (c->of->streams)
        copy_fields(c, c->of->n_fields, cudaMemcpyDeviceToHost);
    GPU_CALL(cudaStreamSynchronize(c->stream));
    return bench_now_s() - start_s;
}

static void create(contest *c) {
    const int64_t extents[] = {c->of->extent, c->of->extent};
    c->n_elements = c->of->extent * c->of->extent;
    c->field_bytes = c->n_elements * (int64_t)sizeof(float);
    queue_stage_open(&c->stage, (int64_t)(c->of->limit * (double)c->field_bytes),
                     c->of->declaration, c->of->implementation());
    GPU_CALL(cudaStreamCreateWithFlags(&c->stream, cudaStreamNonBlocking));
    for (int f = 0; f < c->of->n_fields; f++) {
        c->queued[f] = gpu_allocate_pinned(c->field_bytes);
        c->by_hand[f] = gpu_allocate_pinned(c->field_bytes);
        gpu_fill_random(c->queued[f], c->n_elements, SEED + (uint64_t)f);
        gpu_fill_random(c->by_hand[f], c->n_elements, SEED + (uint64_t)f);
        GPU_CALL(cudaMalloc((void **)&c->device[f], (size_t)c->field_bytes));
        queue_stage_wrap(&c->stage, 2, extents, c->queued[f]);
    }
    copy_fields(c, c->of->n_fields, cudaMemcpyHostToDevice);
    GPU_CALL(cudaStreamSynchronize(c->stream));
    if (!c->of->streams)
        queue_stage_attach(&c->stage);
}

static void check_fields(const contest *c) {
    if (!c->of->streams)
        queue_stage_detach(&c->stage);
    copy_fields(c, c->of->n_fields, cudaMemcpyDeviceToHost);
    GPU_CALL(cudaStreamSynchronize(c->stream));
    for (int f = 0; f < c->of->n_fields; f++)
        gpu_require_same_bits("a field", c->queued[f], c->by_hand[f], c->n_elements);
}

/** Each run goes on from what the one before has left. */
static void compare(const wave_case *of) {
    contest c = {.of = of};
    bench_times queued = {0}, by_hand = {0};
    gpu_begin(GPU_WAITS_AS_EVER);
    create(&c);
    gpu_alternate_few(3, time_queue, time_by_hand, &c, &queued, &by_hand);
    gpu_report(&(gpu_comparison){.name = of->name,
                                 .against = of->against,
                                 .ours = &queued,
                                 .rival = &by_hand,
                                 .relation = BENCH_AT_MOST,
                                 .target = of->target});
    check_fields(&c);
}

void wave_resident(void) {
    compare(&(wave_case){"wave, 100 resident steps of 16384^2", "plain CUDA launches", GPU_WAVE,
                         gpu_wave, 3, 16384, 5.5, false, 0.5});
}

void wave_resident_in_place(void) {
    compare(&(wave_case){"wave, the same, of two arrays", "plain CUDA launches", GPU_LEAP, gpu_leap,
                         2, 16384, 4.5, false, 0.5});
}

void wave_eighth(void) {
    compare(&(wave_case){"wave 20000^2, 100 steps, limit 1/8", "in core: in, run, out", GPU_WAVE,
                         gpu_wave, 3, 20000, 3.0 / 8, true, 0.45});
}
