/* Steps of Jacobi stencils on a fraction of the memory that they take, against in core: copied in,
 * run by plain launches, copied out. */
#include "gpu/cases.h"
#include "gpu/gpu.h"
#include "gpu/kernels.h"
#include "gpu/queue_stage.h"
#include "jacobi3d_kernels.h"
#include "jacobi_kernels.h"

enum { MOST_DIMS = 3, N_REPETITIONS = 3, N_FIELDS = 2, SEED = 12 };

/** Steps of what is too slow to run all, or only warms up. */
enum { FEW_STEPS = 4 };

/** What is run; an even number of steps, so that the first field has the result. */
typedef struct stencil_case {
    const char *name;
    const char *update; /* declarations */
    const char *copy;
    const polytile_implementation *(*update_implementation)(void);
    const polytile_implementation *(*copy_implementation)(void);
    const void *(*plain)(void);
    int n_dims;
    int64_t extent; /* along each dimension */
    int n_steps;
    int64_t limit_bytes;
    double target; /* of our time over that in core */
    bool compares_passes;
} stencil_case;

static const stencil_case jacobi_eighth = {
    "jacobi 32768^2, 96 steps, limit 1/8",
    JACOBI_DECLARATION,
    COPY_DECLARATION,
    jacobi_f32_implementation,
    copy_f32_implementation,
    gpu_plain_jacobi,
    2,
    32768,
    96,
    INT64_C(512) << 20,
    0.33,
    true,
};

static const stencil_case jacobi_32nd = {
    "jacobi 32768^2, 96 steps, limit 1/32",
    JACOBI_DECLARATION,
    COPY_DECLARATION,
    jacobi_f32_implementation,
    copy_f32_implementation,
    gpu_plain_jacobi,
    2,
    32768,
    96,
    INT64_C(128) << 20,
    0.40,
    false,
};

static const stencil_case jacobi3d_eighth = {
    "jacobi 1024^3, 100 steps, limit 1/8",
    JACOBI3D_DECLARATION,
    COPY3D_DECLARATION,
    jacobi3d_f32_implementation,
    copy3d_f32_implementation,
    gpu_plain_jacobi3d,
    3,
    1024,
    100,
    INT64_C(512) << 20,
    0.80,
    false,
};

/** Both sides of a case. All begin with the same field; what is on its border is on that of the
 * second device array from the beginning. */
typedef struct contest {
    const stencil_case *of;
    int64_t extents[MOST_DIMS];
    int64_t n_elements;
    int64_t field_bytes;
    float *initial;
    float *in_core; /* results */
    float *skewed;
    float *device[N_FIELDS];
    cudaStream_t stream;
    queue_stage stage;
    polytile_kernel *copy;
} contest;

/** Seconds, gigabytes and planning of one way. */
typedef struct costs {
    bench_times taken;
    bench_times moved;
    double plan_s;
} costs;

static void require(const contest *c, polytile_status status, const char *what) {
    if (status != POLYTILE_OK)
        gpu_fail("%s: %s: %s", what, polytile_status_text(status),
                 polytile_last_error(c->stage.ctx));
}

static void launch(const contest *c, const polytile_kernel *kernel, const polytile_domain *threads,
                   polytile_array *from, polytile_array *to, int64_t launches_per_pass) {
    polytile_launch_options options = {.plan.launches_per_pass = launches_per_pass};
    require(
        c,
        polytile_queue_launch(c->stage.queue, kernel, threads, POLYTILE_ARRAYS(from, to), &options),
        "polytile_queue_launch");
}

/** Copy all faces, which no step changes. */
static void launch_border(const contest *c, polytile_array *to, int64_t launches_per_pass) {
    for (int d = 0; d < c->of->n_dims; d++)
        for (int is_last = 0; is_last < 2; is_last++) {
            polytile_domain face = polytile_domain_from_extents(c->of->n_dims, c->extents);
            int64_t at = is_last ? c->of->extent - 1 : 0;
            face.range[d] = (polytile_range){at, at, 1};
            launch(c, c->copy, &face, c->stage.arrays[0], to, launches_per_pass);
        }
}

static void launch_steps(const contest *c, int n_steps, int64_t launches_per_pass) {
    polytile_domain interior = polytile_domain_from_interior(1, c->of->n_dims, c->extents);
    polytile_array *from = c->stage.arrays[0], *to;
    require(c,
            polytile_queue_create_array(c->stage.queue, "scratch", POLYTILE_F32, c->of->n_dims,
                                        c->extents, &to),
            "polytile_queue_create_array");
    polytile_array *scratch = to;
    polytile_queue_pause(c->stage.queue);
    launch_border(c, scratch, launches_per_pass);
    for (int step = 0; step < n_steps; step++) {
        launch(c, c->stage.kernel, &interior, from, to, launches_per_pass);
        polytile_array *written = to;
        to = from;
        from = written;
    }
    polytile_array_destroy(scratch);
    polytile_queue_resume(c->stage.queue);
}

/** From the host's memory and back to it. */
static double run_skewed(const contest *c, int n_steps, int64_t launches_per_pass) {
    gpu_fill_random(c->skewed, c->n_elements, SEED);
    double start_s = bench_now_s();
    queue_stage_attach(&c->stage);
    launch_steps(c, n_steps, launches_per_pass);
    queue_stage_detach(&c->stage);
    return bench_now_s() - start_s;
}

static void step_in_core(const contest *c, int from) {
    int64_t n = c->of->extent;
    void *arguments[] = {(void *)&c->device[from], (void *)&c->device[1 - from], &n};
    dim3 block = {32, 8, 1};
    dim3 grid = {(unsigned)((n + 31) / 32), (unsigned)((n + 7) / 8),
                 c->of->n_dims == 3 ? (unsigned)(n - 2) : 1};
    GPU_CALL(cudaLaunchKernel(c->of->plain(), grid, block, arguments, 0, c->stream));
}

static double run_in_core(const contest *c, int n_steps) {
    size_t n_bytes = (size_t)c->field_bytes;
    double start_s = bench_now_s();
    GPU_CALL(cudaMemcpyAsync(c->device[0], c->initial, n_bytes, cudaMemcpyHostToDevice, c->stream));
    for (int step = 0; step < n_steps; step++)
        step_in_core(c, step % 2);
    GPU_CALL(cudaMemcpyAsync(c->in_core, c->device[0], n_bytes, cudaMemcpyDeviceToHost, c->stream));
    GPU_CALL(cudaStreamSynchronize(c->stream));
    return bench_now_s() - start_s;
}

static void check_same(const contest *c) {
    gpu_require_same_bits("the field", c->skewed, c->in_core, c->n_elements);
}

static void create(contest *c) {
    const stencil_case *of = c->of;
    c->n_elements = 1;
    for (int d = 0; d < of->n_dims; d++)
        c->n_elements *= c->extents[d] = of->extent;
    c->field_bytes = c->n_elements * (int64_t)sizeof(float);
    float **const host[] = {&c->initial, &c->in_core, &c->skewed};
    for (int h = 0; h < (int)(sizeof host / sizeof *host); h++)
        *host[h] = gpu_allocate_pinned(c->field_bytes);
    gpu_fill_random(c->initial, c->n_elements, SEED);
    GPU_CALL(cudaStreamCreateWithFlags(&c->stream, cudaStreamNonBlocking));
    for (int f = 0; f < N_FIELDS; f++) {
        GPU_CALL(cudaMalloc((void **)&c->device[f], (size_t)c->field_bytes));
        GPU_CALL(
            cudaMemcpy(c->device[f], c->initial, (size_t)c->field_bytes, cudaMemcpyHostToDevice));
    }
    queue_stage_open(&c->stage, of->limit_bytes, of->update, of->update_implementation());
    queue_stage_wrap(&c->stage, of->n_dims, c->extents, c->skewed);
    require(c, polytile_kernel_create(c->stage.ctx, of->copy, of->copy_implementation(), &c->copy),
            of->copy);
}

/** A few steps of each, which do not count but are checked. */
static void warm_up(const contest *c) {
    run_in_core(c, FEW_STEPS);
    run_skewed(c, FEW_STEPS, 1);
    check_same(c);
    run_skewed(c, FEW_STEPS, 0);
    check_same(c);
    queue_stage_report(&c->stage);
}

static void measure_skewed(const contest *c, costs *skewed) {
    bench_add_time(&skewed->taken, run_skewed(c, c->of->n_steps, 0));
    polytile_report report = queue_stage_report(&c->stage);
    bench_add_time(&skewed->moved, 1e-9 * (double)(report.h2d_bytes + report.d2h_bytes));
    skewed->plan_s = report.plan_s;
    check_same(c);
}

/** What all steps would take and move with each by itself, from a few of them. */
static void measure_passes(const contest *c, costs *passes) {
    double scale = (double)c->of->n_steps / FEW_STEPS;
    bench_add_time(&passes->taken, scale * run_skewed(c, FEW_STEPS, 1));
    polytile_report report = queue_stage_report(&c->stage);
    bench_add_time(&passes->moved, scale * 1e-9 * (double)(report.h2d_bytes + report.d2h_bytes));
}

static void report_moved(const contest *c, const costs *skewed) {
    char name[56];
    snprintf(name, sizeof name, "%s, moved", c->of->name);
    gpu_report_fixed("GB",
                     &(gpu_comparison){.name = name,
                                       .against = "the field in and out once",
                                       .ours = &skewed->moved},
                     1e-9 * 2.0 * (double)c->field_bytes);
}

/** What part of the time and of the bytes of one step a pass. */
static void report_passes(const contest *c, const costs *skewed, const costs *passes) {
    gpu_report(&(gpu_comparison){.name = c->of->name,
                                 .against = "one step a pass, 4 scaled up",
                                 .ours = &skewed->taken,
                                 .rival = &passes->taken});
    gpu_report_in("GB", &(gpu_comparison){.name = c->of->name,
                                          .against = "one step a pass, 4 scaled up",
                                          .ours = &skewed->moved,
                                          .rival = &passes->moved});
}

static void compare(const stencil_case *of) {
    contest c = {.of = of};
    costs skewed = {0}, passes = {0};
    bench_times in_core = {0};
    gpu_begin(GPU_WAITS_AS_EVER);
    create(&c);
    warm_up(&c);
    for (int r = 0; r < N_REPETITIONS; r++) {
        bench_add_time(&in_core, run_in_core(&c, of->n_steps));
        measure_skewed(&c, &skewed);
        if (of->compares_passes)
            measure_passes(&c, &passes);
    }
    gpu_report(&(gpu_comparison){of->name, "in core: in, run, out", &skewed.taken, &in_core,
                                 BENCH_AT_MOST, of->target, skewed.plan_s});
    report_moved(&c, &skewed);
    if (of->compares_passes)
        report_passes(&c, &skewed, &passes);
}

void skew_jacobi_eighth(void) {
    compare(&jacobi_eighth);
}

void skew_jacobi_32nd(void) {
    compare(&jacobi_32nd);
}

void skew_jacobi3d_eighth(void) {
    compare(&jacobi3d_eighth);
}
