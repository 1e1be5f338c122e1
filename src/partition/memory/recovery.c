#include "partition/memory/recovery.h"

#include "access/footprint/call.h"
#include "partition/schedule/builder.h"

#include <stdlib.h>

/** A schedule as far as it had begun. */
typedef struct partial {
    const pti_schedule *schedule;
    int64_t n_begun; /* operations, from the first */
} partial;

static bool was_being_written(const partial *failed, int array) {
    for (int64_t k = 0; k < failed->n_begun; k++) {
        const pti_op *op = &failed->schedule->op[k];
        if (op->kind == PTI_LAUNCH &&
            pti_call_writes(&failed->schedule->launch[op->launch].call, array))
            return true;
    }
    return false;
}

/** Return whether a launch may write memory of a placement, which is of an array that it does not
 * write. */
static bool launch_harms(const pti_schedule *schedule, const pti_op *op,
                         const pti_placement *held) {
    const pti_instance *instance = schedule->launch[op->launch].call.instance;
    for (int o = 0; o < instance->n_operands; o++) {
        const pti_placement *used = pti_schedule_placement(schedule, op->launch, op->superblock, o);
        if (used != NULL && pti_placements_overlap(used, held) && instance->operand[o].writes)
            return true;
    }
    return false;
}

/** Return whether an upload, copy or fill overwrites newer elements of a holding. One into the
 * holding's own placement overwrites its box alone. */
static bool fill_overwrites(const pti_schedule *schedule, const pti_op *op,
                            const pti_holding *holding, const pti_boxes *newer) {
    if (op->placement == holding->placement)
        return pti_boxes_meet(newer, &op->box);
    return pti_placements_overlap(&schedule->placement[op->placement],
                                  &schedule->placement[holding->placement]);
}

static bool is_harmed(const partial *failed, const pti_holding *holding, const pti_boxes *newer) {
    const pti_schedule *schedule = failed->schedule;
    for (int64_t k = 0; k < failed->n_begun; k++) {
        const pti_op *op = &schedule->op[k];
        bool is_filling = op->kind == PTI_UPLOAD || op->kind == PTI_COPY || op->kind == PTI_FILL;
        if (is_filling && fill_overwrites(schedule, op, holding, newer))
            return true;
        if (op->kind == PTI_LAUNCH &&
            launch_harms(schedule, op, &schedule->placement[holding->placement]))
            return true;
    }
    return false;
}

static int array_of_holding(const pti_schedule *schedule, const pti_holding *holding) {
    return schedule->placement[holding->placement].operand;
}

/** Nobody needs dropped arrays. */
static bool may_be_saved(const partial *failed, int array) {
    const bool *dropped = failed->schedule->dropped;
    return !was_being_written(failed, array) && (dropped == NULL || !dropped[array]);
}

/** Return what of each holding is newer than on the host, although that may have got elements
 * since; NULL when memory runs out. */
static pti_boxes *find_newer(const pti_schedule *failed) {
    bool ran_out = false;
    pti_boxes *newer = calloc((size_t)failed->n_before + 1, sizeof *newer);
    for (int k = 0; newer != NULL && k < failed->n_before; k++) {
        pti_boxes_copy(&newer[k], &failed->before[k].dirty);
        for (int r = 0; r < failed->n_invalidations; r++) {
            if (failed->invalidation[r].operand == array_of_holding(failed, &failed->before[k]))
                pti_boxes_subtract_all(&newer[k], &failed->invalidation[r].boxes);
        }
        ran_out |= newer[k].failed;
    }
    if (!ran_out)
        return newer;
    pti_boxes_free_list(newer, failed->n_before);
    return NULL;
}

static void choose_saved(const partial *of, const pti_boxes *newer, bool *is_saved) {
    const pti_schedule *failed = of->schedule;
    for (int k = 0; k < failed->n_before; k++) {
        int array = array_of_holding(failed, &failed->before[k]);
        if (failed->before[k].dirty.n_boxes > 0)
            is_saved[array] = may_be_saved(of, array);
    }
    for (int k = 0; k < failed->n_before; k++) {
        const pti_holding *holding = &failed->before[k];
        bool *is_chosen = &is_saved[array_of_holding(failed, holding)];
        if (*is_chosen && newer[k].n_boxes > 0 && is_harmed(of, holding, &newer[k]))
            *is_chosen = false;
    }
}

static void download_boxes(pti_builder *builder, int64_t placement, int64_t element_bytes,
                           const pti_boxes *boxes) {
    pti_last none = pti_last_none();
    for (int k = 0; k < boxes->n_boxes; k++) {
        pti_op op = {.kind = PTI_DOWNLOAD,
                     .placement = placement,
                     .source_placement = -1,
                     .bytes = pti_box_count(&boxes->box[k]) * element_bytes,
                     .box = boxes->box[k]};
        pti_builder_add(builder, &op, &none);
    }
}

/** Download what was newer in a placement; nothing else counts as resident. */
static void save_holding(pti_builder *builder, const pti_schedule *failed, const pti_holding *from,
                         const pti_boxes *newer) {
    pti_schedule *schedule = builder->schedule;
    pti_holding *holding = &schedule->before[schedule->n_before++];
    int array = array_of_holding(failed, from);
    holding->placement = pti_builder_place(builder, &failed->placement[from->placement]);
    pti_boxes_copy(&holding->valid, newer);
    pti_boxes_copy(&holding->dirty, newer);
    builder->failed |= holding->valid.failed || holding->dirty.failed;
    download_boxes(builder, holding->placement, failed->instance->operand[array].element_bytes,
                   newer);
}

static void save_holdings(pti_builder *builder, const pti_schedule *failed, const pti_boxes *newer,
                          const bool *is_saved) {
    pti_schedule *schedule = builder->schedule;
    schedule->limit_bytes = failed->limit_bytes;
    schedule->arena_bytes = failed->arena_bytes;
    schedule->before = calloc((size_t)failed->n_before + 1, sizeof *schedule->before);
    builder->failed |= schedule->before == NULL;
    for (int k = 0; k < failed->n_before && !builder->failed; k++) {
        const pti_holding *holding = &failed->before[k];
        if (is_saved[array_of_holding(failed, holding)] && newer[k].n_boxes > 0)
            save_holding(builder, failed, holding, &newer[k]);
    }
}

static pti_schedule *build_recovery(const pti_schedule *failed, const pti_boxes *newer,
                                    const bool *is_saved) {
    pti_builder builder;
    pti_builder_begin(&builder, failed->instance, 0, NULL);
    if (builder.schedule == NULL)
        return NULL;
    save_holdings(&builder, failed, newer, is_saved);
    if (!builder.failed)
        return builder.schedule;
    pti_schedule_free(builder.schedule);
    return NULL;
}

pti_schedule *pti_recovery_build(const pti_schedule *failed, int64_t n_begun, bool *is_saved) {
    pti_boxes *newer = find_newer(failed);
    if (newer == NULL)
        return NULL;
    choose_saved(&(partial){failed, n_begun}, newer, is_saved);
    pti_schedule *made = build_recovery(failed, newer, is_saved);
    pti_boxes_free_list(newer, failed->n_before);
    return made;
}
