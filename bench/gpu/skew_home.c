/* Steps between two arrays that both come home, on a fraction of their memory, against plain
 * launches in core, from which both come home, too. */
#include "gpu/cases.h"
#include "gpu/gpu.h"
#include "gpu/kernels.h"
#include "gpu/queue_stage.h"

enum { N_FIELDS = 2, N_STEPS = 60, N_REPETITIONS = 3, SEED = 17, FRACTION = 8 };

typedef struct home_case {
    const char *name;
    const char *declaration;
    const polytile_implementation *(*implementation)(void);
    const void *(*plain)(void);
    polytile_domain threads;
    int64_t extent; /* of the plain kernel's square or cube */
    int64_t extents[3];
    double target;
} home_case;

/** The same arrays twice: those of the queue, and those of the launches by hand. */
typedef struct contest {
    const home_case *of;
    int64_t n_elements, field_bytes;
    float *queued[N_FIELDS], *by_hand[N_FIELDS], *device[N_FIELDS];
    cudaStream_t stream;
    queue_stage stage;
} contest;

static double time_queue(void *subject) {
    const contest *c = subject;
    double start_s = bench_now_s();
    queue_stage_attach(&c->stage);
    polytile_queue_pause(c->stage.queue);
    for (int k = 0; k < N_STEPS; k++) {
        polytile_array *const arrays[] = {c->stage.arrays[k % 2], c->stage.arrays[1 - k % 2]};
        queue_stage_launch(&c->stage, &c->of->threads, arrays);
    }
    polytile_queue_resume(c->stage.queue);
    queue_stage_detach(&c->stage);
    return bench_now_s() - start_s;
}

static void step_by_hand(const contest *c, int from) {
    int64_t n = c->of->extent;
    void *arguments[] = {(void *)&c->device[from], (void *)&c->device[1 - from], &n};
    dim3 block = {32, 8, 1};
    dim3 grid = {(unsigned)((n + 31) / 32), (unsigned)((n + 7) / 8),
                 c->of->threads.n_dims == 3 ? (unsigned)n : 1};
    GPU_CALL(cudaLaunchKernel(c->of->plain(), grid, block, arguments, 0, c->stream));
}

static void copy_field(const contest *c, int field, enum cudaMemcpyKind kind) {
    const bool is_in = kind == cudaMemcpyHostToDevice;
    GPU_CALL(cudaMemcpyAsync(is_in ? c->device[field] : c->by_hand[field],
                             is_in ? c->by_hand[field] : c->device[field], (size_t)c->field_bytes,
                             kind, c->stream));
}

/** Of the second field, whose inner elements the first step writes, nothing need go in again. */
static double time_by_hand(void *subject) {
    const contest *c = subject;
    double start_s = bench_now_s();
    copy_field(c, 0, cudaMemcpyHostToDevice);
    for (int k = 0; k < N_STEPS; k++)
        step_by_hand(c, k % 2);
    for (int f = 0; f < N_FIELDS; f++)
        copy_field(c, f, cudaMemcpyDeviceToHost);
    GPU_CALL(cudaStreamSynchronize(c->stream));
    return bench_now_s() - start_s;
}

/** Numbers above 0, as populations are. */
static void fill(float *data, int64_t n, uint64_t seed) {
    gpu_fill_random(data, n, seed);
#pragma omp parallel for
    for (int64_t k = 0; k < n; k++)
        data[k] += 2.0f;
}

static void create(contest *c) {
    const int n_dims = 3;
    c->n_elements = 1;
    for (int d = 0; d < n_dims; d++)
        c->n_elements *= c->of->extents[d];
    c->field_bytes = c->n_elements * (int64_t)sizeof(float);
    queue_stage_open(&c->stage, N_FIELDS * c->field_bytes / FRACTION, c->of->declaration,
                     c->of->implementation());
    GPU_CALL(cudaStreamCreateWithFlags(&c->stream, cudaStreamNonBlocking));
    for (int f = 0; f < N_FIELDS; f++) {
        c->queued[f] = gpu_allocate_pinned(c->field_bytes);
        c->by_hand[f] = gpu_allocate_pinned(c->field_bytes);
        fill(c->queued[f], c->n_elements, SEED + (uint64_t)f);
        fill(c->by_hand[f], c->n_elements, SEED + (uint64_t)f);
        GPU_CALL(cudaMalloc((void **)&c->device[f], (size_t)c->field_bytes));
        copy_field(c, f, cudaMemcpyHostToDevice);
        queue_stage_wrap(&c->stage, n_dims, c->of->extents, c->queued[f]);
    }
    GPU_CALL(cudaStreamSynchronize(c->stream));
}

/** Each run goes on from what the one before has left. */
static void compare(const home_case *of) {
    contest c = {.of = of};
    bench_times queued = {0}, by_hand = {0};
    gpu_begin(GPU_WAITS_AS_EVER);
    create(&c);
    gpu_alternate_few(N_REPETITIONS, time_queue, time_by_hand, &c, &queued, &by_hand);
    gpu_report(&(gpu_comparison){.name = of->name,
                                 .against = "in core: in, run, both out",
                                 .ours = &queued,
                                 .rival = &by_hand,
                                 .relation = BENCH_AT_MOST,
                                 .target = of->target,
                                 .plan_s = queue_stage_report(&c.stage).plan_s});
    for (int f = 0; f < N_FIELDS; f++)
        gpu_require_same_bits("a field", c.queued[f], c.by_hand[f], c.n_elements);
}

void skew_star_home(void) {
    enum { N = 800, FIRST = STAR_RADIUS, LAST = N - 1 - STAR_RADIUS };
    compare(&(home_case){"star of radius 4, 800^3, 60 steps, limit 1/8",
                         GPU_STAR,
                         gpu_star,
                         gpu_plain_star,
                         {3, {{FIRST, LAST, 1}, {FIRST, LAST, 1}, {FIRST, LAST, 1}}},
                         N,
                         {N, N, N},
                         0.80});
}

void skew_lattice_home(void) {
    enum { N = 10000 };
    compare(&(home_case){"D2Q9 lattice 10000^2, 60 steps, limit 1/8",
                         GPU_LATTICE,
                         gpu_lattice,
                         gpu_plain_lattice,
                         {2, {{1, N - 2, 1}, {1, N - 2, 1}}},
                         N,
                         {N, LATTICE_DIRECTIONS, N},
                         0.55});
}
