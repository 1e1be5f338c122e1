#include "launch/device/completeness.h"

#include "access/array/array.h"
#include "access/footprint/footprint.h"
#include "base/text.h"

#include <stdlib.h>

/* A footprint of more boxes counts as not covering its array. */
enum { MAX_BOXES = 64 };

polytile_status pti_completeness_create(polytile_context *ctx, const pti_schedule *schedule,
                                        polytile_array *const *arrays, pti_completeness *made) {
    size_t n_operands = (size_t)schedule->instance->n_operands;
    *made = (pti_completeness){.ctx = ctx, .schedule = schedule, .arrays = arrays};
    made->has_begun = calloc(n_operands + 1, sizeof *made->has_begun);
    if (made->has_begun == NULL)
        return pti_fail_memory(ctx, schedule->instance->kernel_name, (double)n_operands);
    return POLYTILE_OK;
}

void pti_completeness_begin(pti_completeness *completeness, int operand) {
    completeness->has_begun[operand] = true;
}

/** Add what a run replaces of one piece of an array, unless it reads any of it. Returns whether
 * that is known. */
static bool add_overwritten(const pti_instance *instance, int piece, pti_boxes *all) {
    pti_boxes boxes = {0};
    const bool is_known =
        !instance->operand[piece].reads &&
        pti_footprint_boxes(instance, piece, PTI_WRITES, &instance->threads, MAX_BOXES, &boxes);
    pti_boxes_unite(all, &boxes, pti_boxes_add);
    all->failed |= boxes.failed;
    pti_boxes_free(&boxes);
    return is_known;
}

bool pti_completeness_find_overwritten(const pti_instance *instance, int operand,
                                       bool *is_overwritten) {
    const int array = pti_operand_array(instance, operand);
    pti_boxes all = {0};
    bool is_known = true;
    for (int o = 0; o < instance->n_operands && is_known; o++)
        is_known = pti_operand_array(instance, o) != array || add_overwritten(instance, o, &all);
    const bool has_memory = !all.failed;
    *is_overwritten = is_known && has_memory &&
                      pti_boxes_count(&all) == pti_box_count(&instance->operand[operand].domain);
    pti_boxes_free(&all);
    return has_memory;
}

bool pti_completeness_is_overwritten(const pti_instance *instance, int operand) {
    bool is;
    return pti_completeness_find_overwritten(instance, operand, &is) && is;
}

static void restore_overwritten(const pti_completeness *completeness,
                                const pti_schedule_launch *launch) {
    for (int o = 0; o < launch->call.instance->n_operands; o++) {
        int a = launch->call.array[o];
        if (launch->call.instance->operand[o].writes)
            pti_array_note_launch(completeness->arrays[a], false);
        if (completeness->has_begun[a] && !pti_array_is_complete(completeness->arrays[a]) &&
            launch->call.instance->operand[o].writes &&
            pti_completeness_is_overwritten(launch->call.instance, o))
            pti_array_set_complete(completeness->arrays[a], true);
    }
}

static void restore_states(const pti_completeness *completeness) {
    for (int l = 0; l < completeness->schedule->n_launches; l++)
        restore_overwritten(completeness, &completeness->schedule->launch[l]);
}

/** Return whether an array that has begun to change is that of an operand before, too. */
static bool is_named_before(const pti_completeness *completeness, int operand) {
    int o = 0;
    while (o < operand && !(completeness->has_begun[o] &&
                            completeness->arrays[o] == completeness->arrays[operand]))
        o++;
    return o < operand;
}

/** Arrays that a launch would have written, and did not begin to. */
static void mark_untouched(const pti_completeness *completeness,
                           const pti_schedule_launch *launch) {
    for (int o = 0; o < launch->call.instance->n_operands; o++) {
        const int a = launch->call.array[o];
        if (launch->call.instance->operand[o].writes && !completeness->has_begun[a])
            pti_array_note_launch(completeness->arrays[a], true);
    }
}

static void mark_and_name(const pti_completeness *completeness, polytile_status status) {
    pti_text names = {0};
    for (int l = 0; l < completeness->schedule->n_launches; l++)
        mark_untouched(completeness, &completeness->schedule->launch[l]);
    for (int a = 0; a < completeness->schedule->instance->n_operands; a++) {
        if (!completeness->has_begun[a] || is_named_before(completeness, a))
            continue;
        pti_array_set_complete(completeness->arrays[a], false);
        pti_text_add(&names, "%s%s", names.length == 0 ? "" : ", ", completeness->arrays[a]->name);
    }
    pti_error_add_incomplete(completeness->ctx, status, &names);
}

polytile_status pti_completeness_end(pti_completeness *completeness, polytile_status status) {
    if (completeness->has_begun != NULL) {
        if (status == POLYTILE_OK)
            restore_states(completeness);
        else
            mark_and_name(completeness, status);
    }
    free(completeness->has_begun);
    return status;
}
