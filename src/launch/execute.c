#include "launch/execute.h"

#include "access/array.h"
#include "access/footprint.h"
#include "launch/clock.h"
#include "launch/completeness.h"
#include "launch/reduction.h"
#include "launch/trace.h"
#include "launch/view.h"

#include <stdlib.h>

/** One run of a schedule. */
typedef struct execution {
    polytile_device *device;
    const pti_schedule *schedule;
    const polytile_implementation *implementation;
    polytile_array *const *arrays;
    char *arena;
    pti_layout *host_layout; /* of each operand's whole array */
    polytile_view *views;    /* of the launch at hand, one an operand */
    pti_completeness completeness;
    polytile_report *report;
} execution;

static pti_image host_image(const execution *run, int operand) {
    return (pti_image){run->arrays[operand]->data, &run->host_layout[operand]};
}

static pti_image placement_image(const execution *run, const pti_placement *placement) {
    if (run->schedule->in_place)
        return host_image(run, placement->operand);
    return (pti_image){run->arena + placement->offset_bytes, &placement->layout};
}

static const pti_operand *operand_of(const execution *run, const pti_placement *placement) {
    return &run->schedule->instance->operand[placement->operand];
}

static int64_t moved_bytes(const pti_move *move) {
    return pti_box_count(move->box) * move->element_bytes;
}

static pti_move move_to(const execution *run, const pti_op *op) {
    const pti_placement *placement = &run->schedule->placement[op->placement];
    return (pti_move){.box = &op->box,
                      .element_bytes = operand_of(run, placement)->element_bytes,
                      .to = placement_image(run, placement)};
}

static polytile_status run_upload(execution *run, const pti_op *op) {
    pti_move move = move_to(run, op);
    move.from = host_image(run, run->schedule->placement[op->placement].operand);
    run->report->h2d_bytes += moved_bytes(&move);
    return run->device->functions->upload(run->device, &move);
}

static polytile_status run_download(execution *run, const pti_op *op) {
    int operand = run->schedule->placement[op->placement].operand;
    pti_move move = move_to(run, op);
    move.from = move.to;
    move.to = host_image(run, operand);
    pti_completeness_begin(&run->completeness, operand);
    run->report->d2h_bytes += moved_bytes(&move);
    return run->device->functions->download(run->device, &move);
}

static polytile_status run_copy(execution *run, const pti_op *op) {
    pti_move move = move_to(run, op);
    move.from = placement_image(run, &run->schedule->placement[op->source_placement]);
    return run->device->functions->copy(run->device, &move);
}

static polytile_status run_fill(execution *run, const pti_op *op) {
    const pti_placement *placement = &run->schedule->placement[op->placement];
    const pti_operand *operand = operand_of(run, placement);
    unsigned char identity[PTI_MAX_SCALAR_BYTES];
    pti_layout everywhere = {.hull = op->box};
    pti_move move = move_to(run, op);
    pti_reduction_identity(operand->reduction, operand->type, identity);
    move.from = (pti_image){identity, &everywhere};
    if (run->schedule->in_place)
        pti_completeness_begin(&run->completeness, placement->operand);
    return run->device->functions->fill(run->device, &move);
}

/** The view of an operand in a superblock's launch; one without elements where it touches none. */
static polytile_view view_of(const execution *run, const pti_op *op, int operand) {
    const pti_instance *instance = run->schedule->instance;
    const pti_placement *placement = pti_schedule_placement(run->schedule, op->superblock, operand);
    if (placement == NULL)
        return (polytile_view){.resident = pti_box_empty(instance->operand[operand].domain.n_dims)};
    pti_image image = placement_image(run, placement);
    polytile_view view = pti_view_of(image.base, image.layout);
    if (run->schedule->in_place)
        view.resident = pti_footprint_hull(instance, operand, PTI_TOUCHES, &op->box);
    return view;
}

static polytile_status run_launch(execution *run, const pti_op *op) {
    const pti_instance *instance = run->schedule->instance;
    for (int a = 0; a < instance->n_operands; a++) {
        run->views[a] = view_of(run, op, a);
        if (run->schedule->in_place && instance->operand[a].writes)
            pti_completeness_begin(&run->completeness, a);
    }
    pti_launch launch = {instance, run->implementation, &op->box, run->views};
    run->report->n_kernels++;
    return run->device->functions->launch(run->device, &launch);
}

/** What runs an operation, and which part of the report its time belongs to. */
static const struct {
    polytile_status (*run)(execution *run, const pti_op *op);
    bool computes;
} ops[] = {
    [PTI_UPLOAD] = {run_upload, false},     [PTI_COPY] = {run_copy, false},
    [PTI_FILL] = {run_fill, false},         [PTI_LAUNCH] = {run_launch, true},
    [PTI_DOWNLOAD] = {run_download, false},
};

static polytile_status run_op(execution *run, const pti_op *op) {
    double start_s = pti_now_s();
    polytile_status status = ops[op->kind].run(run, op);
    double taken_s = pti_now_s() - start_s;
    pti_trace_op(run->device, run->schedule, op, start_s, taken_s);
    *(ops[op->kind].computes ? &run->report->compute_s : &run->report->transfer_s) += taken_s;
    return status;
}

static polytile_status prepare(execution *run) {
    const pti_instance *instance = run->schedule->instance;
    polytile_context *ctx = run->device->object.context;
    size_t n_operands = (size_t)instance->n_operands;
    polytile_status status = POLYTILE_OK;
    run->host_layout = calloc(n_operands + 1, sizeof *run->host_layout);
    run->views = calloc(n_operands + 1, sizeof *run->views);
    if (run->host_layout == NULL || run->views == NULL)
        return pti_fail_memory(ctx, instance->kernel_name, (double)n_operands * sizeof *run->views);
    PTI_TRY(pti_completeness_create(ctx, instance, run->arrays, &run->completeness));
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

polytile_status pti_execute(polytile_device *device, const pti_schedule *schedule,
                            const polytile_implementation *implementation,
                            polytile_array *const *arrays, polytile_report *report) {
    double start_s = pti_now_s();
    polytile_status status;
    execution run = {.device = device,
                     .schedule = schedule,
                     .implementation = implementation,
                     .arrays = arrays,
                     .report = report};
    PTI_TRY(prepare(&run));
    report->peak_device_bytes = pti_schedule_peak_bytes(schedule);
    for (int64_t k = 0; k < schedule->n_ops; k++)
        PTI_TRY(run_op(&run, &schedule->op[k]));
    PTI_TRY(device->functions->synchronize(device));
done:
    status = pti_completeness_end(&run.completeness, status);
    free(run.host_layout);
    free(run.views);
    report->total_s = pti_now_s() - start_s;
    return status;
}
