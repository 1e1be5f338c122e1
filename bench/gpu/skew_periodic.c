/* Steps of Jacobi on 1/8 of the memory that a field takes, over fields that are periodic along both
 * dimensions, or along rows alone, against one with fixed edges; and against the same whose
 * launches run one by one. */
#include "gpu/cases.h"
#include "gpu/gpu.h"
#include "gpu/kernels.h"
#include "gpu/queue_stage.h"
#include "jacobi_kernels.h"

enum { PERIODIC, ROWS, FIXED, FIXED_APART, N_SIDES };
enum { EXTENT = 32768, N_STEPS = 100, FEW_STEPS = 4, N_REPETITIONS = 5, SEED = 14 };

static const int64_t extents[] = {EXTENT, EXTENT};
static const int64_t n_elements = (int64_t)EXTENT * EXTENT;
static const int64_t field_bytes = (int64_t)EXTENT * EXTENT * (int64_t)sizeof(float);

/** The body with fixed edges, which nothing runs in tiles. */
static const polytile_implementation *jacobi_apart(void) {
    static polytile_implementation made;
    made = *jacobi_f32_implementation();
    made.cuda_tiles = NULL;
    return &made;
}

static const struct {
    const char *declaration;
    const polytile_implementation *(*implementation)(void);
    polytile_domain threads;
} sides[N_SIDES] = {
    {GPU_PERIODIC_JACOBI, gpu_periodic_jacobi, {2, {{0, EXTENT - 1, 1}, {0, EXTENT - 1, 1}}}},
    {GPU_PERIODIC_ROWS, gpu_periodic_rows, {2, {{0, EXTENT - 1, 1}, {1, EXTENT - 2, 1}}}},
    {JACOBI_DECLARATION, jacobi_f32_implementation, {2, {{1, EXTENT - 2, 1}, {1, EXTENT - 2, 1}}}},
    {JACOBI_DECLARATION, jacobi_apart, {2, {{1, EXTENT - 2, 1}, {1, EXTENT - 2, 1}}}},
};

/** A queue for each side. Fixed edges are 0, as the queue's own array begins. */
typedef struct contest {
    queue_stage stage[N_SIDES];
    float *field;
    float *expected; /* after a few steps that are not fused, periodic */
    bench_times moved[N_SIDES];
} contest;

static void require(const queue_stage *stage, polytile_status status, const char *what) {
    if (status != POLYTILE_OK)
        gpu_fail("%s: %s: %s", what, polytile_status_text(status), polytile_last_error(stage->ctx));
}

static void fill(float *field, int side) {
    gpu_fill_random(field, n_elements, SEED);
#pragma omp parallel for
    for (int64_t k = 0; k < EXTENT; k++) {
        if (side != PERIODIC)
            field[k * EXTENT] = field[(k + 1) * EXTENT - 1] = 0.0f;
        if (side >= FIXED)
            field[k] = field[n_elements - 1 - k] = 0.0f;
    }
}

static void launch_step(const queue_stage *stage, int side, polytile_array *from,
                        polytile_array *to, int64_t launches_per_pass) {
    const polytile_launch_options options = {.plan.launches_per_pass = launches_per_pass};
    require(stage,
            polytile_queue_launch(stage->queue, stage->kernel, &sides[side].threads,
                                  POLYTILE_ARRAYS(from, to), &options),
            "polytile_queue_launch");
}

/** From the host's memory and back to it. */
static double run_steps(const contest *c, int side, int n_steps, int64_t launches_per_pass) {
    const queue_stage *stage = &c->stage[side];
    polytile_array *scratch;
    fill(c->field, side);
    const double start_s = bench_now_s();
    queue_stage_attach(stage);
    require(
        stage,
        polytile_queue_create_array(stage->queue, "scratch", POLYTILE_F32, 2, extents, &scratch),
        "polytile_queue_create_array");
    polytile_array *const in_turn[] = {stage->arrays[0], scratch};
    polytile_queue_pause(stage->queue);
    for (int step = 0; step < n_steps; step++)
        launch_step(stage, side, in_turn[step % 2], in_turn[1 - step % 2], launches_per_pass);
    polytile_array_destroy(scratch);
    polytile_queue_resume(stage->queue);
    queue_stage_detach(stage);
    return bench_now_s() - start_s;
}

static double time_side(contest *c, int side) {
    const double taken_s = run_steps(c, side, N_STEPS, 0);
    const polytile_report report = queue_stage_report(&c->stage[side]);
    bench_add_time(&c->moved[side], 1e-9 * (double)(report.h2d_bytes + report.d2h_bytes));
    return taken_s;
}

static double time_periodic(void *subject) {
    return time_side(subject, PERIODIC);
}

static double time_rows(void *subject) {
    return time_side(subject, ROWS);
}

static double time_fixed(void *subject) {
    return time_side(subject, FIXED);
}

/** A few steps, each by itself, and the same as they are fused. */
static void check_side(const contest *c, int side) {
    run_steps(c, side, FEW_STEPS, 1);
#pragma omp parallel for
    for (int64_t k = 0; k < n_elements; k++)
        c->expected[k] = c->field[k];
    run_steps(c, side, FEW_STEPS, 0);
    gpu_require_same_bits("the field", c->field, c->expected, n_elements);
    queue_stage_report(&c->stage[side]);
}

static double time_apart(void *subject) {
    return time_side(subject, FIXED_APART);
}

static void create(contest *c) {
    c->field = gpu_allocate_pinned(field_bytes);
    c->expected = gpu_allocate_pageable(field_bytes);
    for (int side = 0; side < N_SIDES; side++) {
        queue_stage_open(&c->stage[side], field_bytes / 8, sides[side].declaration,
                         sides[side].implementation());
        queue_stage_wrap(&c->stage[side], 2, extents, c->field);
    }
}

static void compare(contest *c, int side, gpu_repetition *time_ours, const char *name,
                    const char *bytes_name) {
    bench_times ours = {0}, fixed = {0};
    check_side(c, side);
    c->moved[FIXED] = (bench_times){0};
    gpu_alternate_few(N_REPETITIONS, time_ours, time_fixed, c, &ours, &fixed);
    gpu_report(&(gpu_comparison){.name = name,
                                 .against = "fixed edges",
                                 .ours = &ours,
                                 .rival = &fixed,
                                 .relation = BENCH_AT_MOST,
                                 .target = 1.15});
    gpu_report_in("GB", &(gpu_comparison){.name = bytes_name,
                                          .against = "fixed edges",
                                          .ours = &c->moved[side],
                                          .rival = &c->moved[FIXED],
                                          .relation = BENCH_AT_MOST,
                                          .target = 1.2});
}

/** What launches that wrap take over as many that do not, one by one. */
static void compare_apart(contest *c) {
    bench_times ours = {0}, apart = {0};
    gpu_alternate_few(N_REPETITIONS, time_periodic, time_apart, c, &ours, &apart);
    gpu_report(&(gpu_comparison){.name = "periodic jacobi 32768^2, 100 steps, limit 1/8",
                                 .against = "fixed edges, launches one by one",
                                 .ours = &ours,
                                 .rival = &apart});
}

void skew_periodic_eighth(void) {
    contest c = {0};
    gpu_begin(GPU_WAITS_AS_EVER);
    create(&c);
    compare(&c, PERIODIC, time_periodic, "periodic jacobi 32768^2, 100 steps, limit 1/8",
            "the same, moved");
    compare(&c, ROWS, time_rows, "the same, periodic along rows alone", "the same, moved");
    compare_apart(&c);
}
