#include "launch/execute.h"

#include "access/array.h"
#include "access/footprint.h"
#include "launch/clock.h"
#include "launch/execution.h"
#include "launch/sharing.h"
#include "launch/trace.h"
#include "launch/view.h"
#include "partition/check.h"

#include <stdlib.h>
#include <string.h>

static size_t max_size(size_t a, size_t b) {
    return a > b ? a : b;
}

static pti_image host_image(const pti_execution *run, int operand) {
    return (pti_image){run->arrays[operand]->data, &run->host_layout[operand]};
}

static pti_image placement_image(const pti_execution *run, const pti_placement *placement) {
    if (run->schedule->in_place)
        return host_image(run, placement->operand);
    return (pti_image){run->arena + placement->offset_bytes, &placement->layout};
}

/** The two memories of a move; what is in the placement's is the side of the device. */
static void resolve_upload(pti_execution *run, pti_command *command) {
    const polytile_domain *part = pti_sharing_part(run->sharing, command->index);
    command->move.box = part == NULL ? command->move.box : part;
    command->move.from = host_image(run, command->operand);
}

static void resolve_download(pti_execution *run, pti_command *command) {
    command->move.from = command->move.to;
    command->move.to = host_image(run, command->operand);
}

static void resolve_copy(pti_execution *run, pti_command *command) {
    command->move.from =
        placement_image(run, &run->schedule->placement[command->op->source_placement]);
}

/** The operand of the launch at hand that starts from an identity in an array; NULL if none
 * does. */
static const pti_operand *fresh_operand(const pti_schedule *schedule, const pti_op *op, int array) {
    pti_schedule_launch launch = pti_schedule_launch_of(schedule, op);
    for (int o = 0; o < launch.instance->n_operands; o++) {
        if (pti_schedule_array(&launch, o) == array && launch.instance->operand[o].fresh)
            return &launch.instance->operand[o];
    }
    return NULL;
}

/** Elements get the identity of a reduction that starts from it; others, that nobody wrote,
 * zero. */
static void resolve_fill(pti_execution *run, pti_command *command) {
    const pti_operand *fresh = fresh_operand(run->schedule, command->op, command->operand);
    memset(run->identity, 0, (size_t)command->move.element_bytes);
    if (fresh != NULL)
        pti_reduction_identity(fresh->reduction, fresh->type, run->identity);
    run->everywhere.hull = command->op->box;
    command->move.from = (pti_image){run->identity, &run->everywhere};
}

/** The view of an operand of which a superblock touches nothing: no elements. Whatever index a body
 * reads there in spite of its declaration, it finds memory of the device. */
static polytile_view empty_view(const pti_execution *run, const pti_operand *operand) {
    return (polytile_view){.origin = operand->writes ? NULL : run->arena,
                           .resident = pti_box_empty(operand->domain.n_dims)};
}

/** The view of a launch's operand. */
static polytile_view view_of(const pti_execution *run, const pti_op *op,
                             const pti_schedule_launch *launch, int operand) {
    const pti_instance *instance = launch->instance;
    const pti_placement *placement =
        pti_schedule_placement(run->schedule, op->superblock, pti_schedule_array(launch, operand));
    if (placement == NULL)
        return empty_view(run, &instance->operand[operand]);
    pti_image image = placement_image(run, placement);
    polytile_view view = pti_view_of(image.base, image.layout);
    if (run->schedule->in_place || run->schedule->n_launches > 0)
        view.resident = pti_footprint_hull(instance, operand, PTI_TOUCHES, &op->box);
    return view;
}

/** Whether all that a launch combines into from the identity was filled just before it. */
static bool is_first(const pti_execution *run, const pti_schedule_launch *launch,
                     const pti_op *op) {
    const pti_instance *instance = launch->instance;
    for (int o = 0; o < instance->n_operands; o++) {
        if (!instance->operand[o].fresh)
            continue;
        polytile_domain hull = pti_footprint_hull(instance, o, PTI_WRITES, &op->box);
        const pti_filled *filled = &run->filled[pti_schedule_array(launch, o)];
        if (filled->superblock != op->superblock || filled->n_elements < pti_box_count(&hull))
            return false;
    }
    return true;
}

static void resolve_launch(pti_execution *run, pti_command *command) {
    pti_schedule_launch launch = pti_schedule_launch_of(run->schedule, command->op);
    const pti_body *body = &run->bodies[command->op->launch];
    polytile_view *views =
        run->views + (size_t)(run->n_resolved++ % PTI_LAUNCHES_RESOLVED) * run->n_views;
    for (int o = 0; o < launch.instance->n_operands; o++)
        views[o] = view_of(run, command->op, &launch, o);
    command->launch = (pti_launch){.instance = launch.instance,
                                   .implementation = body->implementation,
                                   .character = body->character,
                                   .threads = &command->op->box,
                                   .views = views,
                                   .block = body->block,
                                   .abreast = command->op->abreast,
                                   .is_first = is_first(run, &launch, command->op)};
}

/** What finds an operation's memory, and which part of the report its time belongs to. */
static const struct {
    void (*resolve)(pti_execution *run, pti_command *command);
    bool computes;
} ops[] = {
    [PTI_UPLOAD] = {resolve_upload, false},     [PTI_COPY] = {resolve_copy, false},
    [PTI_FILL] = {resolve_fill, true},          [PTI_LAUNCH] = {resolve_launch, true},
    [PTI_DOWNLOAD] = {resolve_download, false},
};

pti_command pti_execution_resolve(pti_execution *run, int64_t index) {
    const pti_op *op = &run->schedule->op[index];
    pti_command command = {.op = op, .index = index, .operand = -1};
    if (op->kind != PTI_LAUNCH) {
        const pti_placement *placement = &run->schedule->placement[op->placement];
        command.operand = placement->operand;
        command.move = (pti_move){
            .box = &op->box,
            .element_bytes = run->schedule->instance->operand[placement->operand].element_bytes,
            .to = placement_image(run, placement)};
    }
    ops[op->kind].resolve(run, &command);
    return command;
}

void pti_execution_note(pti_execution *run, const pti_op *op, double start_s, double taken_s) {
    pti_trace_op(run->device, op, start_s, taken_s);
    *(ops[op->kind].computes ? &run->report->compute_s : &run->report->transfer_s) += taken_s;
    pti_progress_update(&run->progress, op - run->schedule->op);
}

static void begin_launch(pti_execution *run, const pti_op *op) {
    pti_schedule_launch launch = pti_schedule_launch_of(run->schedule, op);
    for (int o = 0; o < launch.instance->n_operands; o++) {
        if (launch.instance->operand[o].writes)
            pti_completeness_begin(&run->completeness, pti_schedule_array(&launch, o));
    }
}

/** Where what a launch writes may stay on the device, a failure loses it as one in place does. */
void pti_execution_begin(pti_execution *run, const pti_command *command) {
    const pti_schedule *schedule = run->schedule;
    pti_op_kind kind = command->op->kind;
    if (kind == PTI_DOWNLOAD || (schedule->in_place && kind == PTI_FILL))
        pti_completeness_begin(&run->completeness, command->operand);
    if (kind == PTI_LAUNCH && (schedule->in_place || schedule->n_launches > 0))
        begin_launch(run, command->op);
}

static void count_filled(pti_filled *filled, const pti_op *op) {
    if (filled->superblock != op->superblock)
        *filled = (pti_filled){.superblock = op->superblock};
    filled->n_elements += pti_box_count(&op->box);
}

void pti_execution_count(pti_execution *run, const pti_command *command) {
    const pti_op *op = command->op;
    run->report->h2d_bytes += op->kind == PTI_UPLOAD ? op->bytes : 0;
    run->report->d2h_bytes += op->kind == PTI_DOWNLOAD ? op->bytes : 0;
    run->report->n_kernels += op->kind == PTI_LAUNCH;
    if (op->kind == PTI_FILL)
        count_filled(&run->filled[command->operand], op);
}

/** Of several launches, the text of a failed transfer does not say which it was for. */
static polytile_status name_launch(const pti_execution *run, const pti_op *op,
                                   polytile_status status) {
    polytile_context *ctx = run->device->object.context;
    if (op->launch >= run->schedule->n_launches || op->kind == PTI_LAUNCH)
        return status;
    return pti_fail(ctx, status, "%s: %s",
                    pti_schedule_launch_of(run->schedule, op).instance->kernel_name,
                    polytile_last_error(ctx));
}

static polytile_status run_ops(pti_execution *run) {
    const pti_schedule *schedule = run->schedule;
    const pti_device_functions *functions = run->device->functions;
    if (functions->run_all != NULL && functions->run_all(run->device))
        return POLYTILE_OK;
    for (int64_t k = 0; k < schedule->n_ops; k++) {
        pti_command command = pti_execution_resolve(run, k);
        pti_execution_begin(run, &command);
        polytile_status status = functions->submit(run->device, &command);
        if (status != POLYTILE_OK)
            return name_launch(run, command.op, status);
        pti_execution_count(run, &command);
    }
    return POLYTILE_OK;
}

/** After a failure the device still waits for what was submitted; the first failure is told. */
static polytile_status finish(pti_execution *run, polytile_status status) {
    polytile_context *ctx = run->device->object.context;
    char *first = status == POLYTILE_OK ? NULL : strdup(polytile_last_error(ctx));
    pti_sharing_end(run, status != POLYTILE_OK);
    polytile_status finished = run->device->functions->finish(run->device);
    if (first != NULL)
        pti_fail(ctx, status, "%s", first);
    free(first);
    return status == POLYTILE_OK ? finished : status;
}

static polytile_status run_on_device(pti_execution *run) {
    pti_trace_run_begin(run->device, run->schedule);
    run->progress = pti_progress_begin(run->schedule);
    pti_sharing_begin(run);
    polytile_status status = run->device->functions->begin(run->device, run);
    if (status == POLYTILE_OK)
        status = run_ops(run);
    status = finish(run, status);
    pti_progress_end(&run->progress);
    pti_trace_run_end(run->device);
    return status;
}

/** The most views of a launch, and the bytes of the longest element. */
static void find_sizes(const pti_schedule *schedule, size_t *n_views, size_t *element_bytes) {
    const pti_instance *arrays = schedule->instance;
    *n_views = (size_t)arrays->n_operands;
    *element_bytes = PTI_MAX_SCALAR_BYTES;
    for (int l = 0; l < schedule->n_launches; l++)
        *n_views = max_size(*n_views, (size_t)schedule->launch[l].instance->n_operands);
    for (int a = 0; a < arrays->n_operands; a++)
        *element_bytes = max_size(*element_bytes, (size_t)arrays->operand[a].element_bytes);
}

static polytile_status prepare(pti_execution *run) {
    const pti_instance *instance = run->schedule->instance;
    polytile_context *ctx = run->device->object.context;
    size_t n_arrays = (size_t)instance->n_operands, element_bytes;
    polytile_status status = POLYTILE_OK;
    find_sizes(run->schedule, &run->n_views, &element_bytes);
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
            pti_layout_of(&instance->operand[a].domain, instance->operand[a].element_bytes);
    if (!run->schedule->in_place) {
        void *arena = NULL;
        PTI_TRY(run->device->functions->reserve(run->device, run->schedule->arena_bytes, &arena));
        run->arena = arena;
    }
done:
    return status;
}

static polytile_status execute(pti_execution *run) {
    double start_s = pti_now_s();
    polytile_status status;
    PTI_TRY(prepare(run));
    run->report->peak_device_bytes = pti_schedule_peak_bytes(run->schedule);
    PTI_TRY(run_on_device(run));
done:
    free(run->host_layout);
    free(run->views);
    free(run->filled);
    free(run->identity);
    run->report->total_s = pti_now_s() - start_s;
    return status;
}

/** POLYTILE_CHECK=plan: the independent checker proves a schedule before anything relies on it. */
static polytile_status prove(const polytile_device *device, const pti_schedule *schedule) {
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

polytile_status pti_execute(polytile_device *device, const pti_schedule *schedule,
                            const pti_body *bodies, polytile_array *const *arrays,
                            polytile_report *report) {
    polytile_status status;
    pti_execution run = {.device = device,
                         .schedule = schedule,
                         .bodies = bodies,
                         .arrays = arrays,
                         .report = report};
    PTI_TRY(prove(device, schedule));
    PTI_TRY(pti_completeness_create(device->object.context, schedule, arrays, &run.completeness));
    status = execute(&run);
done:
    return pti_completeness_end(&run.completeness, status);
}

polytile_status pti_execute_copies(polytile_device *device, const pti_schedule *schedule,
                                   const pti_body *bodies, polytile_array *const *arrays,
                                   bool *has_begun, polytile_report *report) {
    pti_execution run = {.device = device,
                         .schedule = schedule,
                         .bodies = bodies,
                         .arrays = arrays,
                         .completeness = {.has_begun = has_begun},
                         .report = report};
    return execute(&run);
}

polytile_status pti_execute_window(polytile_device *device, const pti_schedule *schedule,
                                   const pti_body *bodies, polytile_array *const *arrays,
                                   bool *has_begun, polytile_report *report) {
    polytile_status status = prove(device, schedule);
    return status == POLYTILE_OK
               ? pti_execute_copies(device, schedule, bodies, arrays, has_begun, report)
               : status;
}
