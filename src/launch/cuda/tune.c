#include "launch/cuda/tune.h"

#include "base/clock.h"
#include "launch/cuda/block.h"
#include "launch/cuda/coarse.h"
#include "launch/cuda/function.h"

#include <stdio.h>
#include <string.h>

enum {
    N_TIMED = 3,           /* runs with each block; the shortest counts */
    MIN_THREADS = 1 << 16, /* of a launch: a smaller one does not show what a block is worth */
};

/** The most seconds to measure one kernel, beside the runs with one block. */
static const double limit_s = 0.5;

/** How much shorter a run must be for a block to replace that of the most threads. */
static const double least_gain = 0.02;

/** Blocks along x, y, z, for one, two and three dimensions. */
static const pti_cuda_extents shapes_1[] = {
    {64, 1, 1}, {128, 1, 1}, {256, 1, 1}, {512, 1, 1}, {1024, 1, 1}};
static const pti_cuda_extents shapes_2[] = {
    {32, 4, 1},  {32, 8, 1},  {32, 16, 1}, {32, 32, 1}, {64, 2, 1},  {64, 4, 1},  {64, 8, 1},
    {128, 1, 1}, {128, 2, 1}, {128, 4, 1}, {256, 1, 1}, {512, 1, 1}, {16, 16, 1}, {8, 32, 1}};
static const pti_cuda_extents shapes_3[] = {
    {32, 4, 2}, {32, 4, 4}, {32, 8, 1},  {32, 8, 2},  {32, 8, 4},  {32, 2, 8}, {64, 2, 2},
    {64, 4, 1}, {64, 4, 2}, {128, 2, 1}, {128, 2, 2}, {256, 1, 1}, {16, 8, 2}};

#define SHAPES(shapes)                                                                             \
    { shapes, sizeof shapes / sizeof *shapes }
static const struct shapes {
    const pti_cuda_extents *shape;
    size_t n_shapes;
} shapes_of[] = {[1] = SHAPES(shapes_1), [2] = SHAPES(shapes_2), [3] = SHAPES(shapes_3)};
#undef SHAPES

/** Return an operand that a second run would change; -1: none. */
static int find_changing(const pti_instance *instance) {
    for (int a = 0; a < instance->n_operands; a++) {
        const pti_operand *operand = &instance->operand[a];
        if (operand->writes && (operand->reads || operand->reduces))
            return a;
    }
    return -1;
}

static bool is_repeatable(const pti_cuda_device *cuda, const pti_sub_kernel *sub_kernel,
                          pti_cuda_choice *choice) {
    int changing = find_changing(sub_kernel->instance);
    if (changing < 0)
        return true;
    choice->is_left_alone = true;
    pti_log(cuda->device.object.context, PTI_LOG_INFO,
            "%s: no thread blocks are measured, since the launch cannot be repeated: what it does "
            "to %s depends on what %s holds",
            sub_kernel->instance->kernel_name, sub_kernel->instance->operand[changing].name,
            sub_kernel->instance->operand[changing].name);
    return false;
}

bool pti_cuda_wants_tuning(const pti_cuda_device *cuda, const pti_sub_kernel *sub_kernel,
                           pti_cuda_choice *choice) {
    return pti_get_settings(cuda->device.object.context)->tunes &&
           sub_kernel->config.block == NULL && !choice->has_row && !choice->is_left_alone &&
           strlen(sub_kernel->instance->kernel_name) < PTI_TUNING_NAME_BYTES &&
           pti_box_count(sub_kernel->threads) >= MIN_THREADS &&
           is_repeatable(cuda, sub_kernel, choice);
}

/** A current measurement. */
typedef struct tuner {
    pti_cuda_device *cuda;
    const pti_sub_kernel *sub_kernel;
    const pti_cuda_choice *choice;
    cudaEvent_t event[N_TIMED + 1];
    const pti_cuda_variant *variant; /* being measured */
    const pti_cuda_variant *best_variant;
    pti_cuda_extents best;
    double best_s; /* a faster one takes less; it is below best's own where that came first */
    double full_s; /* of the launch as it would run without measuring */
    int n_measured;
} tuner;

static polytile_status create_events(tuner *t) {
    polytile_status status = POLYTILE_OK;
    for (int k = 0; k <= N_TIMED; k++)
        PTI_TRY(PTI_CUDA(t->cuda, cudaEventCreateWithFlags, (&t->event[k], cudaEventDefault)));
done:
    return status;
}

static void destroy_events(tuner *t) {
    for (int k = 0; k <= N_TIMED; k++) {
        if (t->event[k] != NULL)
            t->cuda->api->cudaEventDestroy(t->event[k]);
    }
}

static polytile_status record_event(tuner *t, int k) {
    return PTI_CUDA(t->cuda, cudaEventRecord,
                    (t->event[k], pti_cuda_stream_of(t->cuda, t->sub_kernel)));
}

/** Enqueue runs of a kernel with a block. The first only keeps the GPU busy while the others are
 * enqueued. */
static polytile_status enqueue_runs(tuner *t, pti_cuda_extents block) {
    polytile_status status;
    PTI_TRY(pti_cuda_launch_with(t->cuda, t->sub_kernel, t->variant, block));
    PTI_TRY(record_event(t, 0));
    for (int k = 1; k <= N_TIMED; k++) {
        PTI_TRY(pti_cuda_launch_with(t->cuda, t->sub_kernel, t->variant, block));
        PTI_TRY(record_event(t, k));
    }
    PTI_TRY(PTI_CUDA(t->cuda, cudaEventSynchronize, (t->event[N_TIMED])));
done:
    return status;
}

static polytile_status measure_block(tuner *t, pti_cuda_extents block, double *least_s) {
    polytile_status status;
    float taken_ms;
    PTI_TRY(enqueue_runs(t, block));
    for (int k = 1; k <= N_TIMED; k++) {
        PTI_TRY(PTI_CUDA(t->cuda, cudaEventElapsedTime, (&taken_ms, t->event[k - 1], t->event[k])));
        if (k == 1 || 1e-3 * (double)taken_ms < *least_s)
            *least_s = 1e-3 * (double)taken_ms;
    }
    t->n_measured++;
done:
    return status;
}

static bool are_equal(pti_cuda_extents one, pti_cuda_extents other) {
    return one.x == other.x && one.y == other.y && one.z == other.z;
}

/** Return whether a block fits the launch unclipped, and is not the one that was measured first. */
static bool is_candidate(const tuner *t, pti_cuda_extents block, pti_cuda_extents full) {
    const polytile_domain groups =
        pti_cuda_groups_of(t->sub_kernel->threads, t->variant->n_neighbours);
    return !are_equal(block, full) &&
           are_equal(block, pti_cuda_block_clip(&groups, block, t->variant->max_threads));
}

static polytile_status measure_and_compare(tuner *t, pti_cuda_extents block) {
    double taken_s;
    polytile_status status;
    PTI_TRY(measure_block(t, block, &taken_s));
    if (taken_s < t->best_s) {
        t->best_variant = t->variant;
        t->best = block;
        t->best_s = taken_s;
    }
done:
    return status;
}

/** Measure what the launch would run without measuring; others have to be faster by the least
 * gain. */
static polytile_status measure_first(tuner *t) {
    polytile_status status;
    t->variant = t->best_variant = pti_cuda_variant_for(t->sub_kernel, t->choice);
    t->best = pti_cuda_full_block(t->sub_kernel, t->variant);
    PTI_TRY(measure_block(t, t->best, &t->full_s));
    t->best_s = t->full_s * (1 - least_gain);
done:
    return status;
}

/** Measure the blocks of a kernel, of which the full one goes first unless it was measured. */
static polytile_status measure_variant(tuner *t, const pti_cuda_variant *variant, double end_s) {
    const struct shapes *shapes = &shapes_of[pti_tuning_block_dims(t->choice->n_indices)];
    const bool is_new = variant != t->variant;
    polytile_status status = POLYTILE_OK;
    t->variant = variant;
    const pti_cuda_extents full = pti_cuda_full_block(t->sub_kernel, variant);
    if (is_new)
        PTI_TRY(measure_and_compare(t, full));
    for (size_t k = 0; k < shapes->n_shapes && pti_now_s() < end_s; k++)
        if (is_candidate(t, shapes->shape[k], full))
            PTI_TRY(measure_and_compare(t, shapes->shape[k]));
done:
    return status;
}

/** Measure the kernel that would run, and in the second half of the time the other one if it
 * may. */
static polytile_status measure_all(tuner *t) {
    const bool has_other = pti_cuda_may_be_coarse(t->sub_kernel, t->choice);
    const double start_s = pti_now_s(), end_s = start_s + limit_s;
    polytile_status status;
    PTI_TRY(measure_first(t));
    const pti_cuda_variant *first = t->variant, *other = first == &t->choice->fine
                                                             ? &t->choice->coarse
                                                             : &t->choice->fine;
    PTI_TRY(measure_variant(t, first, has_other ? start_s + limit_s / 2 : end_s));
    if (has_other)
        PTI_TRY(measure_variant(t, other, end_s));
done:
    return status;
}

static pti_tuning_row row_of(const tuner *t) {
    const int64_t along[] = {t->best.z, t->best.y, t->best.x};
    pti_tuning_row row = {.traits = t->choice->traits,
                          .n_dims = pti_tuning_block_dims(t->choice->n_indices),
                          .coarsening =
                              t->choice->coarse.kernel == NULL ? 0 : t->best_variant->n_neighbours};
    snprintf(row.kernel, sizeof row.kernel, "%s", t->sub_kernel->instance->kernel_name);
    for (int d = 0; d < row.n_dims; d++)
        row.block[d] = along[PTI_TUNING_MAX_BLOCK_DIMS - row.n_dims + d];
    return row;
}

static void log_fastest_block(const tuner *t) {
    pti_log(t->cuda->device.object.context, PTI_LOG_INFO,
            "%s: of %d thread blocks the fastest is %lldx%lldx%lld (x, y, z), with %d threads of "
            "the declaration in one; the one of most threads takes %.3g ms",
            t->sub_kernel->instance->kernel_name, t->n_measured, (long long)t->best.x,
            (long long)t->best.y, (long long)t->best.z, t->best_variant->n_neighbours,
            1e3 * t->full_s);
}

polytile_status pti_cuda_tune(pti_cuda_device *cuda, const pti_sub_kernel *sub_kernel,
                              pti_cuda_choice *choice) {
    tuner t = {.cuda = cuda, .sub_kernel = sub_kernel, .choice = choice};
    pti_tuning *tuning;
    polytile_status status;
    choice->is_left_alone = true;
    PTI_TRY(create_events(&t));
    PTI_TRY(measure_all(&t));
    PTI_TRY(pti_tuning_get(cuda->device.object.context, &tuning));
    pti_tuning_row row = row_of(&t);
    pti_tuning_learn(tuning, &row, cuda->capability);
    log_fastest_block(&t);
done:
    destroy_events(&t);
    return status;
}
