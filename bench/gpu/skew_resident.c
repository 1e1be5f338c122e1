/* Steps of Jacobi on fields that stay on the GPU: slabs that stay in its last cache, against launch
 * after launch. */
#include "gpu/cases.h"
#include "gpu/gpu.h"
#include "gpu/queue_stage.h"
#include "jacobi_kernels.h"

enum { EXTENT = 16384, N_STEPS = 200, N_FIELDS = 2, N_REPETITIONS = 5, SEED = 21 };
static const int64_t n_elements = (int64_t)EXTENT * EXTENT;
static const int64_t field_bytes = (int64_t)EXTENT * EXTENT * (int64_t)sizeof(float);

/** Both ways have two fields of their own, which begin alike and go through as many steps. */
typedef enum way { IN_SLABS, APART, N_WAYS } way;

typedef struct contest {
    queue_stage stage;
    float *host[N_WAYS][N_FIELDS];
    polytile_array *field[N_WAYS][N_FIELDS];
    polytile_launch_options options[N_WAYS];
    polytile_link fast_cache;
    bench_times n_kernels; /* of each run in slabs */
} contest;

static void require(const contest *c, polytile_status status, const char *what) {
    if (status != POLYTILE_OK)
        gpu_fail("%s: %s: %s", what, polytile_status_text(status),
                 polytile_last_error(c->stage.ctx));
}

/** All steps are queued before the first is planned. */
static double time_steps(contest *c, way by) {
    polytile_array *const *field = c->field[by];
    double start_s = bench_now_s();
    polytile_queue_pause(c->stage.queue);
    for (int step = 0; step < N_STEPS; step++)
        require(c,
                polytile_queue_launch(
                    c->stage.queue, c->stage.kernel, POLYTILE_INTERIOR(1, EXTENT, EXTENT),
                    POLYTILE_ARRAYS(field[step % 2], field[1 - step % 2]), &c->options[by]),
                "polytile_queue_launch");
    queue_stage_wait(&c->stage);
    return bench_now_s() - start_s;
}

static double time_in_slabs(void *subject) {
    contest *c = subject;
    queue_stage_report(&c->stage);
    double taken_s = time_steps(c, IN_SLABS);
    bench_add_time(&c->n_kernels, (double)queue_stage_report(&c->stage).n_kernels);
    return taken_s;
}

static double time_apart(void *subject) {
    return time_steps(subject, APART);
}

/** The slabs are those that the library would choose if the cache were much faster than the memory:
 * with a measured rate it may find that they do not pay. */
static void set_options(contest *c) {
    c->fast_cache = polytile_link_default;
    c->fast_cache.cache_bytes_per_s = 5 * c->fast_cache.kernel_bytes_per_s;
    c->options[IN_SLABS] = (polytile_launch_options){.plan.link = &c->fast_cache};
    c->options[APART] = (polytile_launch_options){.plan.launches_per_pass = 1};
}

static void create(contest *c) {
    const int64_t extents[] = {EXTENT, EXTENT};
    queue_stage_open(&c->stage, (N_WAYS * N_FIELDS + 1) * field_bytes, JACOBI_DECLARATION,
                     jacobi_f32_implementation());
    for (int w = 0; w < N_WAYS; w++)
        for (int f = 0; f < N_FIELDS; f++) {
            c->host[w][f] = gpu_allocate_pinned(field_bytes);
            gpu_fill_random(c->host[w][f], n_elements, SEED + (uint64_t)f);
            require(c,
                    polytile_array_wrap(c->stage.ctx, "field", POLYTILE_F32, 2, extents,
                                        c->host[w][f], &c->field[w][f]),
                    "polytile_array_wrap");
        }
    for (int w = 0; w < N_WAYS; w++)
        require(c, polytile_queue_attach(c->stage.queue, N_FIELDS, c->field[w]),
                "polytile_queue_attach");
    set_options(c);
}

static void check_same(const contest *c) {
    for (int w = 0; w < N_WAYS; w++)
        require(c, polytile_queue_detach(c->stage.queue, N_FIELDS, c->field[w]),
                "polytile_queue_detach");
    gpu_require_same_bits("the field", c->host[IN_SLABS][0], c->host[APART][0], n_elements);
}

void skew_jacobi_resident(void) {
    static contest c;
    bench_times in_slabs = {0}, apart = {0};
    gpu_begin(GPU_WAITS_AS_EVER);
    create(&c);
    gpu_alternate_few(N_REPETITIONS, time_in_slabs, time_apart, &c, &in_slabs, &apart);
    check_same(&c);
    gpu_report(&(gpu_comparison){.name = "jacobi 16384^2, 200 resident steps, slabs in L2",
                                 .against = "launch after launch",
                                 .ours = &in_slabs,
                                 .rival = &apart});
    gpu_report_fixed("n",
                     &(gpu_comparison){.name = "the same, kernels",
                                       .against = "one a step",
                                       .ours = &c.n_kernels},
                     N_STEPS);
}
