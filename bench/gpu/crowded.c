/* A GPU whose memory another process holds, from none of it to 95 %: a run completes, with the
 * right result, or says within a second that it cannot. */
#include "gpu/cases.h"
#include "gpu/gpu.h"
#include "gpu/holder.h"
#include "vector_add_kernels.h"

enum { N_LEVELS = 20, PERCENT_A_LEVEL = 5, N_ARRAYS = 3 };

/** 9.6 GB of data, where at 95 % of an H200 7 GB are free: the last levels run out of core. */
static const int64_t n_elements = INT64_C(800000000);

typedef struct crowd {
    holder other;
    int64_t total_bytes; /* of the GPU */
    float *field[N_ARRAYS];
    polytile_context *ctx;
    polytile_device *device; /* NULL: to be opened */
    polytile_kernel *kernel;
    polytile_array *arrays[N_ARRAYS];
} crowd;

/** How the levels of one way to open the device went. */
typedef struct outcome {
    int n_completed;
    bench_times refusals; /* s, from opening the device to the error; 0 where none was refused */
} outcome;

static void require(const crowd *c, polytile_status status, const char *what) {
    if (status != POLYTILE_OK)
        gpu_fail("%s: %s", what, polytile_last_error(c->ctx));
}

static void describe(crowd *c) {
    require(c, polytile_context_create(&c->ctx), "polytile_context_create");
    require(c,
            polytile_kernel_create(c->ctx, ADD_DECLARATION, add_f32_implementation(), &c->kernel),
            ADD_DECLARATION);
    for (int a = 0; a < N_ARRAYS; a++)
        require(c,
                polytile_array_wrap(c->ctx, polytile_kernel_get_array_name(c->kernel, a),
                                    POLYTILE_F32, 1, &n_elements, c->field[a], &c->arrays[a]),
                "polytile_array_wrap");
}

static polytile_status add_on(crowd *c, const char *device) {
    if (c->device == NULL) {
        polytile_status status = polytile_device_open(c->ctx, device, &c->device);
        if (status != POLYTILE_OK)
            return status;
    }
    return polytile_run(c->device, c->kernel, POLYTILE_EXTENTS(n_elements),
                        polytile_kernel_get_n_arrays(c->kernel), c->arrays, NULL);
}

/** What is refused must be refused for want of memory, and in words. */
static void note_refusal(const crowd *c, polytile_status status, double taken_s, outcome *o) {
    if (status != POLYTILE_NO_FIT && status != POLYTILE_NO_MEMORY)
        gpu_fail("refused for another reason: %s", polytile_last_error(c->ctx));
    fprintf(stderr, "refused after %.3f s: %s\n", taken_s, polytile_last_error(c->ctx));
    bench_add_time(&o->refusals, taken_s);
}

static void run_at_level(crowd *c, const char *device, outcome *o) {
    gpu_poison(c->field[2], n_elements);
    double start_s = bench_now_s();
    polytile_status status = add_on(c, device);
    double taken_s = bench_now_s() - start_s;
    if (status != POLYTILE_OK) {
        note_refusal(c, status, taken_s, o);
        return;
    }
    gpu_require_sums(c->field[0], c->field[1], c->field[2], n_elements);
    o->n_completed++;
}

static double largest(const bench_times *times) {
    double most = 0.0;
    for (int t = 0; t < times->n_times; t++)
        most = times->time_s[t] > most ? times->time_s[t] : most;
    return most;
}

static void report(const char *name, const outcome *o) {
    char complete[56];
    bench_times slowest = {.n_times = 1, .time_s = {largest(&o->refusals)}};
    snprintf(complete, sizeof complete, "%s: %d of %d complete", name, o->n_completed, N_LEVELS);
    gpu_report_fixed("s",
                     &(gpu_comparison){.name = complete,
                                       .against = "the slowest refusal",
                                       .ours = &slowest,
                                       .relation = BENCH_AT_MOST,
                                       .target = 1.0},
                     1.0);
}

/** keeps_device: the device is opened once, before the other process takes anything. */
static void run_levels(crowd *c, const char *name, const char *device, bool keeps_device) {
    outcome o = {0};
    describe(c);
    for (int level = 0; level < N_LEVELS; level++) {
        holder_hold(&c->other, c->total_bytes / 100 * PERCENT_A_LEVEL * level);
        run_at_level(c, device, &o);
        if (!keeps_device) {
            polytile_device_close(c->device);
            c->device = NULL;
        }
    }
    holder_hold(&c->other, 0);
    report(name, &o);
    polytile_context_destroy(c->ctx);
    c->device = NULL;
}

void crowded(void) {
    crowd c = {0};
    char half[48];
    size_t free_bytes, total_bytes;
    holder_start(&c.other);
    gpu_begin(GPU_WAITS_AS_EVER);
    GPU_CALL(cudaMemGetInfo(&free_bytes, &total_bytes));
    c.total_bytes = (int64_t)total_bytes;
    for (int a = 0; a < N_ARRAYS; a++)
        c.field[a] = gpu_allocate_pinned(n_elements * (int64_t)sizeof(float));
    gpu_fill_random(c.field[0], n_elements, 1);
    gpu_fill_random(c.field[1], n_elements, 2);
    snprintf(half, sizeof half, "cuda:0(memory=%zuB)", total_bytes / 2);
    run_levels(&c, "crowded, what is free", "cuda:0", false);
    run_levels(&c, "crowded, half the GPU", half, false);
    run_levels(&c, "crowded later, what was free", "cuda:0", true);
    holder_end(&c.other);
}
