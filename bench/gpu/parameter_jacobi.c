/* Steps of Jacobi on 1/8 of the memory that a field takes, each with a weight that its launch
 * gives, against the same with a literal weight. Both are compared with plain launches. */
#include "common/parameter_kernels.h"
#include "gpu/cases.h"
#include "gpu/gpu.h"
#include "gpu/kernels.h"
#include "gpu/queue_stage.h"
#include "jacobi_kernels.h"

enum { GIVEN, LITERAL, N_SIDES };
enum { EXTENT = 32768, N_STEPS = 96, N_FIELDS = 2, N_REPETITIONS = 7, SEED = 13 };

static const int64_t extents[] = {EXTENT, EXTENT};
static const int64_t n_elements = (int64_t)EXTENT * EXTENT;
static const int64_t field_bytes = (int64_t)EXTENT * EXTENT * (int64_t)sizeof(float);

/** Both kernels on one queue. The border of the field is 0, as the queue's own array begins. */
typedef struct contest {
    queue_stage stage; /* with the kernel that takes weights */
    polytile_kernel *literal;
    polytile_array *scratch;
    float *field;
    float *expected[N_SIDES];
    bench_times launches_a_pass[N_SIDES];
} contest;

static void require(const contest *c, polytile_status status, const char *what) {
    if (status != POLYTILE_OK)
        gpu_fail("%s: %s: %s", what, polytile_status_text(status),
                 polytile_last_error(c->stage.ctx));
}

static void fill(float *field) {
    gpu_fill_random(field, n_elements, SEED);
#pragma omp parallel for
    for (int64_t k = 0; k < EXTENT; k++)
        field[k] = field[n_elements - 1 - k] = field[k * EXTENT] = field[(k + 1) * EXTENT - 1] =
            0.0f;
}

static float weight_of(int side, int step) {
    return side == GIVEN ? jacobi_weight(step) : 0.2f;
}

static void launch_step(const contest *c, int side, int step) {
    polytile_array *from = step % 2 == 0 ? c->stage.arrays[0] : c->scratch;
    polytile_array *to = step % 2 == 0 ? c->scratch : c->stage.arrays[0];
    const polytile_parameter weight = POLYTILE_PARAMETER("weight", weight_of(side, step));
    const polytile_launch_options options = {.n_parameters = side == GIVEN, .parameters = &weight};
    require(c,
            polytile_queue_launch(c->stage.queue, side == GIVEN ? c->stage.kernel : c->literal,
                                  POLYTILE_INTERIOR(1, EXTENT, EXTENT), POLYTILE_ARRAYS(from, to),
                                  &options),
            "polytile_queue_launch");
}

static void run_steps(contest *c, int side) {
    queue_stage_attach(&c->stage);
    require(c,
            polytile_queue_create_array(c->stage.queue, "scratch", POLYTILE_F32, 2, extents,
                                        &c->scratch),
            "polytile_queue_create_array");
    polytile_queue_pause(c->stage.queue);
    for (int step = 0; step < N_STEPS; step++)
        launch_step(c, side, step);
    polytile_array_destroy(c->scratch);
    polytile_queue_resume(c->stage.queue);
    queue_stage_detach(&c->stage);
}

/** From the host's memory and back to it. A pass uploads the field once; so the bytes say in how
 * many the steps ran. */
static double time_side(contest *c, int side) {
    fill(c->field);
    double start_s = bench_now_s();
    run_steps(c, side);
    double taken_s = bench_now_s() - start_s;
    polytile_report report = queue_stage_report(&c->stage);
    bench_add_time(&c->launches_a_pass[side],
                   N_STEPS * (double)field_bytes / (double)report.h2d_bytes);
    gpu_require_same_bits("the field", c->field, c->expected[side], n_elements);
    return taken_s;
}

static double time_given(void *subject) {
    return time_side(subject, GIVEN);
}

static double time_literal(void *subject) {
    return time_side(subject, LITERAL);
}

static void step_plainly(float *from, float *to, float weight) {
    int64_t n = EXTENT;
    void *arguments[] = {&from, &to, &n, &weight};
    dim3 block = {32, 8, 1};
    dim3 grid = {(EXTENT + 31) / 32, (EXTENT + 7) / 8, 1};
    GPU_CALL(cudaLaunchKernel(gpu_plain_weighted_jacobi(), grid, block, arguments, 0, NULL));
}

/** Find what a side has to come to, with the whole field on the GPU. */
static void find_expected(contest *c, int side) {
    float *device[N_FIELDS];
    for (int f = 0; f < N_FIELDS; f++) {
        GPU_CALL(cudaMalloc((void **)&device[f], (size_t)field_bytes));
        GPU_CALL(cudaMemcpy(device[f], c->field, (size_t)field_bytes, cudaMemcpyHostToDevice));
    }
    for (int step = 0; step < N_STEPS; step++)
        step_plainly(device[step % 2], device[1 - step % 2], weight_of(side, step));
    c->expected[side] = gpu_allocate_pageable(field_bytes);
    GPU_CALL(cudaMemcpy(c->expected[side], device[0], (size_t)field_bytes, cudaMemcpyDeviceToHost));
    for (int f = 0; f < N_FIELDS; f++)
        GPU_CALL(cudaFree(device[f]));
}

static void create(contest *c) {
    c->field = gpu_allocate_pinned(field_bytes);
    fill(c->field);
    for (int side = GIVEN; side < N_SIDES; side++)
        find_expected(c, side);
    queue_stage_open(&c->stage, field_bytes / 8, JACOBI_GIVEN_DECLARATION, jacobi_given());
    queue_stage_wrap(&c->stage, 2, extents, c->field);
    require(c,
            polytile_kernel_create(c->stage.ctx, JACOBI_DECLARATION, jacobi_f32_implementation(),
                                   &c->literal),
            JACOBI_DECLARATION);
}

void parameter_jacobi(void) {
    contest c = {0};
    bench_times given = {0}, literal = {0};
    gpu_begin(GPU_WAITS_AS_EVER);
    create(&c);
    gpu_alternate_few(N_REPETITIONS, time_given, time_literal, &c, &given, &literal);
    gpu_report(&(gpu_comparison){.name = "jacobi 32768^2, 96 steps, 1/8, weights given",
                                 .against = "a fifth in the body",
                                 .ours = &given,
                                 .rival = &literal,
                                 .relation = BENCH_AT_MOST,
                                 .target = 1.01});
    gpu_report_in("n", &(gpu_comparison){.name = "jacobi, launches that are fused a pass",
                                         .against = "a fifth in the body",
                                         .ours = &c.launches_a_pass[GIVEN],
                                         .rival = &c.launches_a_pass[LITERAL]});
}
