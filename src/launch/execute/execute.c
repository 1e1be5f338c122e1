#include "launch/execute/execute.h"

#include "access/array/array.h"
#include "access/pieces/shear.h"
#include "base/checked.h"
#include "base/clock.h"
#include "launch/device/execution.h"
#include "launch/device/trace.h"
#include "launch/peers/sharing.h"
#include "partition/prove/check.h"
#include "partition/schedule/stretch.h"

#include <inttypes.h>
#include <stdlib.h>

static size_t max_size(size_t a, size_t b) {
    return a > b ? a : b;
}

/** Name the launch of a failed transfer, which its text does not do. */
static polytile_status name_launch(const pti_execution *run, const pti_op *op,
                                   polytile_status status) {
    const pti_schedule_launch *launch = pti_schedule_launch_of(run->schedule, op);
    if (launch == NULL || op->kind == PTI_LAUNCH)
        return status;
    return pti_error_prefix(run->device->object.context, status,
                            "%s: ", launch->call.instance->kernel_name);
}

/** Return the name of the first launch of a schedule that has some. */
static const char *name_first_launch(const pti_schedule *schedule) {
    return schedule->n_launches == 0 ? schedule->instance->kernel_name
                                     : schedule->launch[0].call.instance->kernel_name;
}

static polytile_status refuse_cancelled(pti_execution *run) {
    run->is_cancelled = true;
    return pti_fail(run->device->object.context, POLYTILE_CANCELLED,
                    "%s: cancelled on %s, after %" PRId64 " sub-kernels of the %" PRId64
                    " that were planned together",
                    name_first_launch(run->schedule), run->device->text, run->report->n_kernels,
                    run->n_kernels);
}

/** Run an operation. */
static polytile_status run_op(pti_execution *run, int64_t k) {
    pti_command command = pti_execution_resolve(run, k);
    pti_execution_begin(run, &command);
    polytile_status status = run->device->functions->submit(run->device, &command);
    if (status != POLYTILE_OK)
        return name_launch(run, command.op, status);
    if (run->is_cancelled)
        return refuse_cancelled(run);
    pti_execution_count(run, &command);
    return POLYTILE_OK;
}

static void for_each_op(pti_execution *run, const pti_tiles *tiles,
                        void (*note)(pti_execution *run, const pti_command *command)) {
    for (int64_t k = tiles->first_op; k < tiles->first_op + tiles->n_ops; k++)
        note(run, &(pti_command){.op = &run->schedule->op[k], .index = k, .operand = -1});
}

static bool may_run_tiles(pti_execution *run, const pti_tiles *tiles) {
    bool may = pti_tiles_are_placed(tiles);
    for (int side = 0; side < pti_tiles_n_sides(tiles) && may; side++) {
        const pti_tile_command command = pti_execution_resolve_tiles(run, tiles, side);
        may = run->device->functions->may_run_tiles(run->device, &command);
    }
    return may;
}

static polytile_status run_tiles(pti_execution *run, const pti_tiles *tiles) {
    polytile_status status = POLYTILE_OK;
    for_each_op(run, tiles, pti_execution_begin);
    for (int side = 0; side < pti_tiles_n_sides(tiles) && status == POLYTILE_OK; side++) {
        const pti_tile_command command = pti_execution_resolve_tiles(run, tiles, side);
        status = run->device->functions->submit_tiles(run->device, &command);
    }
    if (status == POLYTILE_OK)
        for_each_op(run, tiles, pti_execution_count);
    return status;
}

/** Launches that may run as one, in a run. */
typedef struct tile_walk {
    bool runs_slabs; /* those of slabs do, all of them */
    int next;
} tile_walk;

/** Those of slabs run as one if the device can do so with all. */
static tile_walk begin_tiles(pti_execution *run) {
    const pti_schedule *schedule = run->schedule;
    const bool has_tiles = run->device->functions->may_run_tiles != NULL;
    tile_walk made = {.runs_slabs = has_tiles, .next = has_tiles ? 0 : schedule->n_tiles};
    for (int t = 0; t < schedule->n_tiles && made.runs_slabs; t++)
        made.runs_slabs = !schedule->tiles[t].is_of_slab || may_run_tiles(run, &schedule->tiles[t]);
    return made;
}

/** Run the operations from one on that run together, *n of them: one, or all of some launches. */
static polytile_status run_next(pti_execution *run, int64_t k, tile_walk *walk, int64_t *n) {
    const pti_schedule *schedule = run->schedule;
    *n = 1;
    if (walk->next < schedule->n_tiles && schedule->tiles[walk->next].first_op == k) {
        const pti_tiles *tiles = &schedule->tiles[walk->next++];
        if (tiles->is_of_slab ? walk->runs_slabs : may_run_tiles(run, tiles)) {
            *n = tiles->n_ops;
            return run_tiles(run, tiles);
        }
    }
    return run_op(run, k);
}

/** Submit the operations in the list's order, unless the device runs all of them at once. */
static polytile_status run_ops(pti_execution *run) {
    const pti_schedule *schedule = run->schedule;
    const pti_device_functions *functions = run->device->functions;
    if (pti_execution_is_cancelled(run))
        return refuse_cancelled(run);
    if (functions->run_all != NULL && functions->run_all(run->device))
        return run->is_cancelled ? refuse_cancelled(run) : POLYTILE_OK;
    tile_walk walk = begin_tiles(run);
    for (int64_t k = 0, n; k < schedule->n_ops; k += n) {
        if (pti_execution_is_cancelled(run))
            return refuse_cancelled(run);
        polytile_status status = run_next(run, k, &walk, &n);
        if (status != POLYTILE_OK)
            return status;
    }
    return POLYTILE_OK;
}

/** Finish a run. After a failure the device still waits; the first failure is returned. */
static polytile_status finish_run(pti_execution *run, polytile_status status) {
    polytile_context *ctx = run->device->object.context;
    pti_error first = {0};
    pti_error_keep(&first, ctx, status);
    pti_sharing_end(run, status != POLYTILE_OK);
    pti_error_keep(&first, ctx, run->device->functions->finish(run->device));
    return pti_error_restore(ctx, &first);
}

static polytile_status run_on_device(pti_execution *run) {
    pti_trace_run_go_on(run->device, run->schedule, run->first_superblock);
    pti_execution_begin_count(run);
    pti_progress_begin_stretch(&run->progress, run->schedule);
    pti_sharing_begin(run);
    polytile_status status = run->device->functions->begin(run->device, run);
    if (status == POLYTILE_OK)
        status = run_ops(run);
    status = finish_run(run, status);
    return status;
}

/** Find the most views of a launch, and the bytes of the longest element. */
static void find_sizes(const pti_execution *run, size_t *n_views, size_t *element_bytes) {
    const pti_schedule *schedule = run->schedule;
    const pti_instance *arrays = schedule->instance;
    *n_views = (size_t)arrays->n_operands;
    *element_bytes = PTI_MAX_SCALAR_BYTES;
    for (int l = 0; l < schedule->n_launches; l++)
        *n_views = max_size(
            *n_views, pti_most_views(schedule->launch[l].call.instance, run->configs[l].n_values));
    for (int a = 0; a < arrays->n_operands; a++)
        *element_bytes = max_size(*element_bytes, (size_t)arrays->operand[a].element_bytes);
}

static polytile_status prepare_run(pti_execution *run) {
    const pti_instance *instance = run->schedule->instance;
    polytile_context *ctx = run->device->object.context;
    size_t n_arrays = (size_t)instance->n_operands, element_bytes;
    polytile_status status = POLYTILE_OK;
    find_sizes(run, &run->n_views, &element_bytes);
    run->host_layout = calloc(n_arrays + 1, sizeof *run->host_layout);
    run->views = calloc(PTI_LAUNCHES_RESOLVED * run->n_views + 1, sizeof *run->views);
    run->filled = calloc(n_arrays + 1, sizeof *run->filled);
    run->identity = calloc(1, element_bytes);
    if (run->host_layout == NULL || run->views == NULL || run->filled == NULL ||
        run->identity == NULL)
        return pti_fail_memory(ctx, instance->kernel_name,
                               (double)run->n_views * sizeof *run->views);
    for (int a = 0; a < instance->n_operands; a++)
        run->host_layout[a] =
            pti_operand_array_layout(&instance->operand[a], &run->arrays[a]->layout);
    if (!run->schedule->in_place) {
        void *arena = NULL;
        PTI_TRY(run->device->functions->reserve(run->device, run->schedule->arena_bytes, &arena));
        run->arena = arena;
    }
done:
    return status;
}

static polytile_status execute_run(pti_execution *run) {
    double start_s = pti_now_s();
    polytile_status status;
    PTI_TRY(prepare_run(run));
    run->report->peak_device_bytes = pti_schedule_peak_bytes(run->schedule);
    PTI_TRY(run_on_device(run));
done:
    free(run->host_layout);
    free(run->views);
    free(run->filled);
    free(run->identity);
    run->report->run_s = pti_now_s() - start_s;
    return status;
}

/** Prove a schedule before anything relies on it, with POLYTILE_CHECK=plan. */
static polytile_status prove_if_asked(const polytile_device *device, const pti_schedule *schedule) {
    polytile_context *ctx = device->object.context;
    pti_text why = {0};
    polytile_status status = POLYTILE_OK;
    if (pti_get_settings(ctx)->check_plan && !pti_schedule_check(schedule, &why))
        status =
            why.failed
                ? pti_fail_memory(ctx, schedule->instance->kernel_name, (double)sizeof *schedule)
                : pti_fail(
                      ctx, POLYTILE_INTERNAL,
                      "%s: the plan failed its own check and was not run: %s; please report it",
                      schedule->instance->kernel_name, why.data);
    pti_text_free(&why);
    return status;
}

/** Let the device prepare for all stretches of a schedule; one that is flat is prepared as it
 * begins. */
static polytile_status begin_stretches(const pti_execution *run, const pti_schedule *schedule) {
    polytile_device *device = run->device;
    return schedule->period.times > 0 && device->functions->begin_stretches != NULL
               ? device->functions->begin_stretches(device, schedule, run->arrays)
               : POLYTILE_OK;
}

/** End what begin_stretches() began; the first failure is returned. */
static polytile_status end_stretches(const pti_execution *run, const pti_schedule *schedule,
                                     polytile_status status) {
    polytile_device *device = run->device;
    pti_error first = {0};
    if (schedule->period.times == 0 || device->functions->end_stretches == NULL)
        return status;
    pti_error_keep(&first, device->object.context, status);
    pti_error_keep(&first, device->object.context, device->functions->end_stretches(device));
    return pti_error_restore(device->object.context, &first);
}

/** Run a schedule, one stretch after the other. */
static polytile_status run_stretches(pti_execution *run, const pti_schedule *schedule) {
    pti_stretch_walk walk = pti_stretch_walk_begin(schedule);
    const double start_s = pti_now_s();
    polytile_status status = begin_stretches(run, schedule);
    double run_s = pti_now_s() - start_s, compute_s = 0, transfer_s = 0;
    int64_t peak_bytes = 0;
    run->n_kernels = pti_schedule_n_kernels(schedule);
    run->progress = pti_progress_begin(schedule);
    pti_trace_run_begin(run->device, schedule);
    while (status == POLYTILE_OK && (run->schedule = pti_stretch_walk_next(&walk)) != NULL) {
        run->first_superblock = walk.n_kernels_before;
        run->report->compute_s = run->report->transfer_s = 0;
        status = execute_run(run);
        pti_progress_end_stretch(&run->progress);
        peak_bytes = pti_max(peak_bytes, run->report->peak_device_bytes);
        run_s += run->report->run_s;
        compute_s += run->report->compute_s;
        transfer_s += run->report->transfer_s;
    }
    if (walk.failed)
        status = pti_fail_memory(run->device->object.context, schedule->instance->kernel_name,
                                 PTI_STRETCH_SUPERBLOCKS * (double)sizeof *schedule->superblock);
    const double stretched_s = pti_now_s();
    status = end_stretches(run, schedule, status);
    run_s += pti_now_s() - stretched_s;
    run->report->peak_device_bytes = peak_bytes;
    run->report->run_s = run_s;
    run->report->compute_s = compute_s;
    run->report->transfer_s = transfer_s;
    pti_trace_run_end(run->device);
    pti_progress_end(&run->progress);
    pti_stretch_walk_end(&walk);
    return status;
}

polytile_status pti_execute(polytile_device *device, const pti_schedule *schedule,
                            const pti_launch_config *configs, polytile_array *const *arrays,
                            polytile_report *report) {
    polytile_status status;
    pti_execution run = {.device = device, .configs = configs, .arrays = arrays, .report = report};
    PTI_TRY(prove_if_asked(device, schedule));
    PTI_TRY(pti_completeness_create(device->object.context, schedule, arrays, &run.completeness));
    status = run_stretches(&run, schedule);
done:
    return pti_completeness_end(&run.completeness, status);
}

/** Run a schedule, and note which arrays it had begun to write. */
static polytile_status run_and_note(polytile_device *device, const pti_schedule *schedule,
                                    const pti_launch_config *configs, polytile_array *const *arrays,
                                    bool *has_begun, polytile_report *report) {
    pti_execution run = {.device = device,
                         .configs = configs,
                         .arrays = arrays,
                         .completeness = {.has_begun = has_begun},
                         .report = report};
    return run_stretches(&run, schedule);
}

polytile_status pti_execute_copies(polytile_device *device, const pti_schedule *schedule,
                                   const pti_launch_config *configs, polytile_array *const *arrays,
                                   bool *has_begun, polytile_report *report) {
    return run_and_note(device, schedule, configs, arrays, has_begun, report);
}

polytile_status pti_execute_window(polytile_device *device, const pti_schedule *schedule,
                                   const pti_launch_config *configs, polytile_array *const *arrays,
                                   bool *has_begun, polytile_report *report) {
    polytile_status status = prove_if_asked(device, schedule);
    return status == POLYTILE_OK
               ? run_and_note(device, schedule, configs, arrays, has_begun, report)
               : status;
}
