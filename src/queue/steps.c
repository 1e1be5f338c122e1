#include "queue/steps.h"

#include "base/checked.h"
#include "base/clock.h"
#include "launch/execute/execute.h"
#include "partition/cost/predict.h"
#include "partition/memory/salvage.h"
#include "partition/schedule/builder.h"
#include "queue/failure.h"
#include "queue/fuse.h"
#include <polytile/size.h>

#include <stdlib.h>

bool pti_steps_create(int n_steps, pti_steps *steps) {
    *steps = (pti_steps){.step = calloc((size_t)n_steps + 1, sizeof *steps->step),
                         .prepared = calloc((size_t)n_steps + 1, sizeof *steps->prepared),
                         .asked = calloc((size_t)n_steps + 1, sizeof *steps->asked),
                         .body = calloc((size_t)n_steps + 1, sizeof *steps->body)};
    return steps->step != NULL && steps->prepared != NULL && steps->asked != NULL &&
           steps->body != NULL;
}

void pti_steps_free(pti_steps *steps) {
    free(steps->step);
    free(steps->prepared);
    free(steps->asked);
    free(steps->behind);
    free(steps->known_behind);
    free(steps->body);
}

void pti_report_add(polytile_report *sum, const polytile_report *part) {
    sum->n_kernels += part->n_kernels;
    sum->peak_device_bytes = pti_max(sum->peak_device_bytes, part->peak_device_bytes);
    sum->h2d_bytes += part->h2d_bytes;
    sum->d2h_bytes += part->d2h_bytes;
    sum->p2p_bytes += part->p2p_bytes;
    sum->total_s += part->total_s;
    sum->compute_s += part->compute_s;
    sum->transfer_s += part->transfer_s;
}

void pti_steps_add(pti_steps *steps, pti_step_kind kind, int position, const pti_boxes *boxes) {
    steps->step[steps->n_steps++] = (pti_step){.kind = kind, .position = position, .boxes = boxes};
}

static double touched_bytes(const pti_prepared *prepared) {
    const pti_instance *instance = prepared->instance;
    double n_bytes = 0;
    for (int o = 0; o < instance->n_operands; o++)
        n_bytes += (double)pti_box_count(&prepared->touched[o]) *
                   (double)instance->operand[o].element_bytes *
                   pti_operand_passes(&instance->operand[o]);
    return n_bytes;
}

void pti_steps_add_launch(pti_steps *steps, const pti_prepared *prepared) {
    if (steps->n_launches == 0)
        steps->name = prepared->instance->kernel_name;
    steps->prepared[steps->n_steps] = prepared;
    steps->asked[steps->n_steps] =
        (pti_asked){.options = &prepared->options,
                    .touched_bytes = touched_bytes(prepared),
                    .has_launcher = prepared->implementation.cuda_launcher != NULL};
    steps->step[steps->n_steps++] = (pti_step){.kind = PTI_STEP_LAUNCH,
                                               .instance = prepared->instance,
                                               .array = prepared->position,
                                               .partition = &prepared->partition,
                                               .serial = prepared->serial};
    steps->body[steps->n_launches++] = prepared->body;
}

/** As a step that is only looked at. */
static pti_step step_of(const pti_item *item) {
    static const pti_step_kind kinds[] = {
        [PTI_ITEM_LAUNCH] = PTI_STEP_LAUNCH, [PTI_ITEM_FLUSH] = PTI_STEP_FLUSH,
        [PTI_ITEM_DROP] = PTI_STEP_DROP,     [PTI_ITEM_FETCH] = PTI_STEP_FETCH,
        [PTI_ITEM_RENEW] = PTI_STEP_RENEW,   [PTI_ITEM_DISCARD] = PTI_STEP_RENEW};
    bool is_launch = item->kind == PTI_ITEM_LAUNCH;
    return (pti_step){.kind = kinds[item->kind],
                      .instance = is_launch ? item->prepared->instance : NULL,
                      .array = is_launch ? item->prepared->position : NULL,
                      .position = item->position,
                      .boxes = &item->boxes};
}

void pti_steps_note_behind(pti_steps *steps, const polytile_queue *queue) {
    if (queue->n_behind < queue->n_held)
        return;
    steps->behind = calloc((size_t)queue->n_held + 1, sizeof *steps->behind);
    steps->known_behind = calloc((size_t)queue->n_held + 1, sizeof *steps->known_behind);
    for (int p = 0; steps->behind != NULL && steps->known_behind != NULL && p < queue->n_held;
         p++) {
        if (queue->behind[p] == NULL)
            continue;
        steps->known_behind[p] = step_of(queue->behind[p]);
        steps->behind[p] = &steps->known_behind[p];
    }
}

/** What a schedule needs of the arrays while it runs. */
typedef struct hands {
    int n_arrays;
    polytile_array **array; /* one an operand of the schedule's instance; owned, as below */
    bool *moves;            /* its host memory is read or written */
    bool *has_begun;        /* it has begun to change */
    polytile_array nobody;  /* stands at free positions */
} hands;

/** Nothing of the schedule is proved yet. */
static void note_moves(const pti_schedule *schedule, hands *of) {
    for (int64_t k = 0; k < schedule->n_ops; k++) {
        const pti_op *op = &schedule->op[k];
        if ((op->kind == PTI_UPLOAD || op->kind == PTI_DOWNLOAD) && op->placement >= 0 &&
            op->placement < schedule->n_placements)
            of->moves[schedule->placement[op->placement].operand] = true;
    }
}

static polytile_status find_arrays(polytile_queue *queue, const pti_schedule *schedule, hands *of) {
    int n_arrays = schedule->instance->n_operands;
    *of = (hands){.n_arrays = n_arrays,
                  .array = calloc((size_t)n_arrays + 1, sizeof *of->array),
                  .moves = calloc((size_t)n_arrays + 1, sizeof *of->moves),
                  .has_begun = calloc((size_t)n_arrays + 1, sizeof *of->has_begun),
                  .nobody = {.state = PTI_ARRAY_COMPLETE}};
    if (of->array == NULL || of->moves == NULL || of->has_begun == NULL)
        return pti_fail_memory(queue->object.context, "queue",
                               (double)n_arrays * (double)sizeof *of->array);
    for (int a = 0; a < n_arrays; a++) {
        polytile_array *held = a < queue->n_held ? queue->held[a].array : NULL;
        of->array[a] = held == NULL ? &of->nobody : held;
    }
    note_moves(schedule, of);
    return POLYTILE_OK;
}

/** Arrays that move have host memory, which is in reach. */
static polytile_status open_arrays(polytile_queue *queue, const hands *of) {
    polytile_status status = POLYTILE_OK;
    for (int a = 0; a < of->n_arrays; a++) {
        if (!of->moves[a])
            continue;
        if (of->array[a]->is_internal)
            PTI_TRY(pti_queue_spill(queue, of->array[a]));
        PTI_TRY(pti_guard_open(queue->object.context, &queue->held[a].guard));
    }
done:
    return status;
}

void pti_close_guard(polytile_queue *queue, int position) {
    polytile_context *ctx = queue->object.context;
    if (queue->held[position].is_guarded &&
        pti_guard_close(ctx, &queue->held[position].guard) != POLYTILE_OK)
        pti_log(ctx, PTI_LOG_WARN, "%s", polytile_last_error(ctx));
}

static void close_arrays(polytile_queue *queue, const hands *of) {
    for (int a = 0; a < of->n_arrays; a++) {
        if (of->moves[a])
            pti_close_guard(queue, a);
    }
}

static polytile_status execute(polytile_queue *queue, const pti_schedule *schedule, const hands *of,
                               pti_steps *steps) {
    polytile_status status;
    pti_error first = {0};
    PTI_TRY(open_arrays(queue, of));
    queue->device->is_running = true;
    status = pti_execute_window(queue->device, schedule, steps->body, of->array, of->has_begun,
                                &steps->report);
    queue->device->is_running = false;
done:
    pti_error_keep(&first, queue->object.context, status);
    close_arrays(queue, of);
    return pti_error_restore(queue->object.context, &first);
}

/** Arrays that were begun join those of a list. */
static void note_begun(const polytile_queue *queue, const hands *of, bool *is_lost) {
    for (int a = 0; of->has_begun != NULL && a < of->n_arrays && a < queue->n_held; a++)
        is_lost[a] |= of->has_begun[a];
}

/** is_lost: arrays that it had begun to write when it failed join these. */
static polytile_status run(polytile_queue *queue, const pti_schedule *schedule, pti_steps *steps,
                           bool *is_lost) {
    polytile_status status;
    hands of = {0};
    PTI_TRY(find_arrays(queue, schedule, &of));
    PTI_TRY(execute(queue, schedule, &of, steps));
done:
    if (status != POLYTILE_OK)
        note_begun(queue, &of, is_lost);
    free(of.array);
    free(of.moves);
    free(of.has_begun);
    return status;
}

/** Planners of schedules leave no text. */
static polytile_status fail_planning(const polytile_queue *queue, const pti_steps *steps,
                                     polytile_status status) {
    polytile_context *ctx = queue->object.context;
    const char *name = steps->name == NULL ? "moving arrays" : steps->name;
    char size[32];
    if (status == POLYTILE_NO_MEMORY)
        return pti_fail(ctx, status,
                        "%s: host memory ran out while %d launches were planned together; free "
                        "some, or use fewer and larger superblocks",
                        name, steps->n_launches);
    if (status == POLYTILE_UNSUPPORTED)
        return pti_fail(ctx, status,
                        "%s: the transfers of %d launches within the %s of %s are too many, or too "
                        "scattered, to be planned; give it more memory",
                        name, steps->n_launches, polytile_size_format(queue->arena_bytes, size),
                        pti_queue_text(queue));
    return pti_fail(ctx, status,
                    "%s: a superblock of one of %d launches that were planned together needs more "
                    "than the %s of %s; please report it",
                    name, steps->n_launches, polytile_size_format(queue->arena_bytes, size),
                    pti_queue_text(queue));
}

static polytile_status plan(polytile_queue *queue, pti_steps *steps,
                            const pti_schedule **schedule) {
    double start_s = pti_now_s();
    polytile_status status = pti_residency_plan(queue->residency, steps->n_steps, steps->step,
                                                polytile_device_get_link(queue->device), schedule);
    steps->plan_s += pti_now_s() - start_s;
    return status == POLYTILE_OK ? status : fail_planning(queue, steps, status);
}

/** What was brought to the host is not lost. */
static void note_saved(polytile_queue *queue, const pti_schedule *salvage, const bool *is_saved,
                       bool *is_lost) {
    for (int k = 0; k < salvage->n_before; k++) {
        const pti_holding *holding = &salvage->before[k];
        pti_residency_keep(queue->residency, salvage->placement[holding->placement].operand,
                           &holding->dirty);
    }
    for (int p = 0; p < queue->n_held && p < salvage->instance->n_operands; p++)
        is_lost[p] &= !is_saved[p];
}

/** Save results of earlier runs that a failed one left alone. Should that fail too, they are lost.
 */
static void salvage(polytile_queue *queue, const pti_schedule *failed, bool *is_lost,
                    pti_steps *steps) {
    pti_steps saving = {.name = steps->name};
    bool *is_saved = calloc((size_t)failed->instance->n_operands + 1, sizeof *is_saved);
    bool *is_begun = calloc((size_t)queue->n_held + 1, sizeof *is_begun);
    bool has_memory = is_saved != NULL && is_begun != NULL;
    pti_schedule *made = has_memory ? pti_salvage_build(failed, is_saved) : NULL;
    if (made != NULL && run(queue, made, &saving, is_begun) == POLYTILE_OK)
        note_saved(queue, made, is_saved, is_lost);
    pti_report_add(&steps->report, &saving.report);
    pti_schedule_free(made);
    free(is_saved);
    free(is_begun);
}

/** Leave nothing on the device after a failure. */
static void clear(polytile_queue *queue, const pti_schedule *failed, bool *is_lost,
                  pti_steps *steps, polytile_status status) {
    pti_error first = {0};
    pti_error_keep(&first, queue->object.context, status);
    if (failed != NULL)
        salvage(queue, failed, is_lost, steps);
    pti_error_restore(queue->object.context, &first);
    pti_lose(queue, is_lost, status);
}

/** Cut launches over resident arrays in slabs; NULL: they run as planned. */
static pti_schedule *cut_in_slabs(const pti_fused *fused, const pti_schedule *apart,
                                  pti_steps *steps) {
    double start_s = pti_now_s();
    pti_schedule *slabs = fused == NULL ? NULL : pti_portion_build_resident(&fused->portion, apart);
    steps->plan_s += pti_now_s() - start_s;
    return slabs;
}

/** Plan steps, or take a plan of them, and run it; resident: how its launches take turns, NULL:
 * they do not. */
static polytile_status run_planned(polytile_queue *queue, pti_steps *steps,
                                   const pti_schedule *schedule, const pti_fused *resident) {
    polytile_status status = POLYTILE_OK;
    pti_schedule *slabs = NULL;
    bool *is_lost = pti_dirty_list(queue);
    if (is_lost == NULL)
        return pti_fail_memory(queue->object.context, "queue", queue->n_held);
    if (schedule == NULL)
        PTI_TRY(plan(queue, steps, &schedule));
    slabs = cut_in_slabs(resident, schedule, steps);
    schedule = slabs == NULL ? schedule : slabs;
    if (schedule->n_ops > 0)
        PTI_TRY(run(queue, schedule, steps, is_lost));
done:
    if (status != POLYTILE_OK)
        clear(queue, schedule, is_lost, steps, status);
    pti_schedule_free(slabs);
    free(is_lost);
    return status;
}

static int count_launches(const pti_steps *steps, int end) {
    int n = 0;
    for (int k = 0; k < end; k++)
        n += steps->step[k].kind == PTI_STEP_LAUNCH;
    return n;
}

pti_steps pti_steps_part(const pti_steps *steps, int first, int end) {
    int first_launch = count_launches(steps, first);
    pti_steps part = {.n_steps = end - first,
                      .step = steps->step + first,
                      .prepared = steps->prepared + first,
                      .asked = steps->asked + first,
                      .n_launches = count_launches(steps, end) - first_launch,
                      .body = steps->body + first_launch};
    for (int k = first; k < end && part.name == NULL; k++)
        part.name =
            steps->step[k].kind == PTI_STEP_LAUNCH ? steps->step[k].instance->kernel_name : NULL;
    return part;
}

/** What steps that ran wrote of arrays whose newest elements were nowhere is what there is now. */
static void unbury(polytile_queue *queue, const pti_steps *part) {
    for (int k = 0; k < part->n_steps; k++) {
        const pti_step *step = &part->step[k];
        for (int o = 0; step->kind == PTI_STEP_LAUNCH && o < step->instance->n_operands; o++) {
            if (step->instance->operand[o].writes)
                queue->held[step->array[o]].is_buried = false;
        }
    }
}

/** A chain that ran left nothing of what is overwritten behind it. */
static void bury(polytile_queue *queue, const pti_portion *portion) {
    for (int a = 0; a < portion->n_arrays && a < queue->n_held; a++)
        queue->held[a].is_buried |= portion->dropped[a];
}

static void add_part(pti_steps *steps, const pti_steps *part) {
    pti_report_add(&steps->report, &part->report);
    steps->plan_s += part->plan_s;
}

/** Run steps one after the other. */
static polytile_status run_single(polytile_queue *queue, pti_steps *steps, int first, int end) {
    polytile_status status = POLYTILE_OK;
    for (int next = first; first < end && status == POLYTILE_OK; first = next) {
        next = pti_portion_end_of_plan(steps->step, first, end);
        pti_steps part = pti_steps_part(steps, first, next);
        status = run_planned(queue, &part, NULL, NULL);
        if (status == POLYTILE_OK)
            unbury(queue, &part);
        add_part(steps, &part);
    }
    return status;
}

/** Run a chain of launches from a step on; nothing is resident before or after it. */
static polytile_status run_fused(polytile_queue *queue, pti_steps *steps, int first,
                                 pti_fused *fused) {
    polytile_status status;
    pti_steps part = pti_steps_part(steps, first, first + fused->portion.n_launches);
    pti_schedule *schedule = NULL;
    PTI_TRY(pti_steps_flush(queue, &steps->report));
    double start_s = pti_now_s();
    schedule = pti_portion_build(&fused->request, &fused->portion);
    part.plan_s = pti_now_s() - start_s;
    if (schedule == NULL)
        PTI_TRY(fail_planning(queue, &part, POLYTILE_NO_MEMORY));
    PTI_TRY(run_planned(queue, &part, schedule, NULL));
    unbury(queue, &part);
    bury(queue, &fused->portion);
    if (!pti_portion_note_written(queue->residency, schedule))
        PTI_TRY(fail_planning(queue, &part, POLYTILE_NO_MEMORY));
done:
    add_part(steps, &part);
    pti_schedule_free(schedule);
    return status;
}

/** Run a chain of launches over arrays that lie on the device, and stay there. */
static polytile_status run_fused_resident(polytile_queue *queue, pti_steps *steps, int first,
                                          const pti_fused *fused) {
    pti_steps part = pti_steps_part(steps, first, first + fused->portion.n_launches);
    polytile_status status = run_planned(queue, &part, NULL, fused);
    add_part(steps, &part);
    return status;
}

static polytile_status find_fused(polytile_queue *queue, pti_steps *steps, int first,
                                  pti_fused *fused) {
    double start_s = pti_now_s();
    polytile_status status = pti_fuse_find(queue, steps, first, fused);
    steps->plan_s += pti_now_s() - start_s;
    return status;
}

/** Run the steps not yet run before one, and the chain that begins with it, if there is one; *at
 * becomes the next step to look at, *first the first that is not run. */
static polytile_status advance(polytile_queue *queue, pti_steps *steps, int *first, int *at) {
    polytile_status status;
    pti_fused fused;
    const pti_portion *portion = &fused.portion;
    PTI_TRY(find_fused(queue, steps, *at, &fused));
    if (portion->n_launches > 0) {
        PTI_TRY(run_single(queue, steps, *first, *at));
        PTI_TRY(portion->is_resident ? run_fused_resident(queue, steps, *at, &fused)
                                     : run_fused(queue, steps, *at, &fused));
        *first = *at + portion->n_launches;
    }
    *at += portion->n_launches > 0 ? portion->n_launches : portion->n_single;
done:
    pti_fused_free(&fused);
    return status;
}

polytile_status pti_steps_run(polytile_queue *queue, pti_steps *steps) {
    polytile_status status = POLYTILE_OK;
    int first = 0, at = 0;
    while (at < steps->n_steps)
        PTI_TRY(advance(queue, steps, &first, &at));
    PTI_TRY(run_single(queue, steps, first, steps->n_steps));
done:
    return status;
}

polytile_status pti_steps_flush(polytile_queue *queue, polytile_report *report) {
    pti_steps steps;
    polytile_status status = POLYTILE_OK;
    if (!pti_steps_create(queue->n_held, &steps))
        PTI_TRY(pti_fail_memory(queue->object.context, "queue",
                                (queue->n_held + 1) * (double)sizeof *steps.step));
    for (int p = 0; p < queue->n_held; p++) {
        if (queue->held[p].array != NULL)
            pti_steps_add(&steps, PTI_STEP_FLUSH, p, NULL);
    }
    status = run_single(queue, &steps, 0, steps.n_steps);
    pti_report_add(report, &steps.report);
done:
    pti_steps_free(&steps);
    return status;
}

polytile_status pti_leave_nothing(polytile_queue *queue, polytile_status status,
                                  polytile_report *report) {
    polytile_context *ctx = queue->object.context;
    pti_error first = {0};
    pti_error_keep(&first, ctx, status);
    polytile_status flushed = pti_steps_flush(queue, report);
    if (flushed == POLYTILE_OK)
        return pti_error_restore(ctx, &first);
    bool *was_dirty = pti_dirty_list(queue);
    pti_lose(queue, was_dirty, flushed);
    free(was_dirty);
    return pti_error_restore_both(ctx, &first);
}
