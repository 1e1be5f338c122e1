#include "partition/memory/residency.h"

#include "base/text.h"
#include "partition/memory/plan_cache.h"
#include "partition/memory/resident_window.h"

#include <stdlib.h>
#include <string.h>

/* Steps of a window become a schedule: what is on the device before and after it, and its
 * launches; resident_plan.c has the operations between. */

/** Add what an image holds, unless it is empty: superblocks that touch no element have images,
 * too. */
static bool add_holding(const pti_resident_image *image, pti_holding *holdings, int *n_holdings) {
    if (image->valid.n_boxes == 0)
        return true;
    pti_holding *holding = &holdings[(*n_holdings)++];
    holding->placement = image->placement;
    pti_boxes_copy(&holding->valid, &image->valid);
    pti_boxes_copy(&holding->dirty, &image->dirty);
    return !holding->valid.failed && !holding->dirty.failed;
}

/** List what images hold; false when memory runs out. */
static bool list_holdings(const pti_residency *residency, pti_holding **holdings, int *n_holdings) {
    bool is_listed = true;
    *holdings = calloc((size_t)pti_images_count(residency) + 1, sizeof **holdings);
    if (*holdings == NULL)
        return false;
    for (int a = 0; a < residency->instance.n_operands; a++) {
        for (const pti_resident_image *image = residency->state[a].images; image;
             image = image->next)
            is_listed = add_holding(image, *holdings, n_holdings) && is_listed;
    }
    return is_listed;
}

static bool list_unwritten(const pti_residency *residency, pti_schedule *schedule) {
    bool any = false, failed = false;
    for (int a = 0; a < residency->instance.n_operands; a++)
        any |= residency->state[a].unwritten.n_boxes > 0;
    if (!any)
        return true;
    schedule->unwritten =
        calloc((size_t)residency->instance.n_operands, sizeof *schedule->unwritten);
    for (int a = 0; a < residency->instance.n_operands && schedule->unwritten != NULL; a++) {
        pti_boxes_copy(&schedule->unwritten[a], &residency->state[a].unwritten);
        failed |= schedule->unwritten[a].failed;
    }
    return schedule->unwritten != NULL && !failed;
}

/** Make a placement of each resident image; nothing waits for what used it in schedules before. */
static void place_resident_images(pti_resident_emit *emit) {
    pti_residency *residency = emit->of;
    for (int a = 0; a < residency->instance.n_operands; a++) {
        pti_resident_state *state = &residency->state[a];
        pti_boxes_clear(&state->downloaded);
        pti_boxes_clear(&state->uploaded);
        state->downloads = state->uploads = pti_last_none();
        for (pti_resident_image *image = state->images; image != NULL; image = image->next) {
            pti_placement placement = {
                .operand = a, .offset_bytes = image->offset_bytes, .layout = image->layout};
            image->placement = pti_builder_place(&emit->builder, &placement);
            image->writers = image->before = pti_last_none();
            image->reserved_for = -1;
            image->is_current = false;
        }
    }
}

/** Begin a schedule of the launches among some steps. */
static void begin_builder(pti_resident_emit *emit, int n_steps, const pti_step *steps) {
    int n_launches = 0;
    pti_schedule_launch *launch = calloc((size_t)n_steps + 1, sizeof *launch);
    if (launch == NULL)
        return;
    for (int s = 0; s < n_steps; s++)
        if (steps[s].kind == PTI_STEP_LAUNCH)
            launch[n_launches++] = (pti_schedule_launch){
                .call = steps[s].call, .n_superblocks = steps[s].partition->n_superblocks};
    for (int s = 0; s < n_steps; s++)
        emit->has_lanes |= steps[s].kind == PTI_STEP_LAUNCH && steps[s].partition->n_lanes > 1;
    pti_builder_begin(&emit->builder, &emit->of->instance, n_launches, launch);
    free(launch);
}

/** Return whether a list of names, with commas between them, has one. */
static bool lists_name(const char *list, const char *name) {
    const size_t n_bytes = strlen(name);
    const char *at = strstr(list, name);
    while (at != NULL && ((at > list && at[-1] != ' ') || (at[n_bytes] != ',' && at[n_bytes] != 0)))
        at = strstr(at + 1, name);
    return at != NULL;
}

/** Write the names of the kernels of a window, each once, as far as they are worth reading. */
static bool name_window(pti_residency *residency, int n_steps, const pti_step *steps) {
    enum { ENOUGH_BYTES = 80 };
    pti_text text = {0};
    const char *last = "";
    for (int s = 0; s < n_steps && (text.data == NULL || strlen(text.data) < ENOUGH_BYTES); s++) {
        if (steps[s].kind != PTI_STEP_LAUNCH)
            continue;
        const char *name = steps[s].call.instance->kernel_name;
        if (text.data == NULL || (strcmp(last, name) != 0 && !lists_name(text.data, name)))
            pti_text_add(&text, text.data == NULL ? "%.100s" : ", %.100s", name);
        last = name;
    }
    if (text.data == NULL)
        pti_text_add(&text, "arrays");
    free(residency->window_name);
    residency->window_name = residency->instance.kernel_name = text.data;
    return text.data != NULL;
}

static bool mark_dropped(const pti_residency *residency, pti_schedule *schedule, int n_steps,
                         const pti_step *steps) {
    for (int s = 0; s < n_steps; s++) {
        if (steps[s].kind != PTI_STEP_DROP)
            continue;
        if (schedule->dropped == NULL)
            schedule->dropped =
                calloc((size_t)residency->instance.n_operands, sizeof *schedule->dropped);
        if (schedule->dropped == NULL)
            return false;
        schedule->dropped[steps[s].position] = true;
    }
    return true;
}

static bool begin_schedule(pti_resident_emit *emit, const pti_future *future, int n_steps,
                           const pti_step *steps) {
    pti_residency *residency = emit->of;
    pti_segments_reset(&residency->segments);
    begin_builder(emit, n_steps, steps);
    pti_schedule *schedule = emit->builder.schedule;
    if (schedule == NULL || emit->builder.failed || !name_window(residency, n_steps, steps))
        return false;
    emit->n_superblocks = future->n_runs;
    schedule->limit_bytes = schedule->arena_bytes = residency->arena_bytes;
    place_resident_images(emit);
    return list_unwritten(residency, schedule) &&
           mark_dropped(residency, schedule, n_steps, steps) &&
           list_holdings(residency, &schedule->before, &schedule->n_before);
}

/** Plan a window for which no plan is kept. */
static polytile_status plan_window(pti_residency *residency, const pti_window_request *window,
                                   pti_schedule **made) {
    pti_future future;
    pti_resident_emit emit = {.of = residency};
    int n_steps = window->n_steps;
    const pti_step *steps = window->steps;
    polytile_status status = pti_future_create(residency, n_steps, steps, &future);
    bool planned = status == POLYTILE_OK && begin_schedule(&emit, &future, n_steps, steps);
    pti_schedule *schedule = emit.builder.schedule;
    if (planned) {
        pti_resident_add_steps(&emit, &future, n_steps, steps, window->link);
        planned =
            !emit.builder.failed && list_holdings(residency, &schedule->after, &schedule->n_after);
    }
    residency->time += future.n_runs + PTI_RESIDENT_PAUSE;
    pti_future_free(&future);
    planned = planned && !pti_resident_take_failures(residency);
    if (planned) {
        *made = schedule;
        return POLYTILE_OK;
    }
    pti_schedule_free(schedule);
    return status == POLYTILE_NO_FIT ? status : pti_builder_status(&emit.builder);
}

polytile_status pti_residency_plan(pti_residency *residency, int n_steps, const pti_step *steps,
                                   const polytile_link *link, pti_schedule **made) {
    pti_window_request window = {n_steps, steps, link};
    pti_schedule *schedule = NULL;
    polytile_status status = POLYTILE_NO_MEMORY;
    *made = pti_plans_find(residency, &window);
    if (*made != NULL && name_window(residency, n_steps, steps))
        return POLYTILE_OK;
    if (*made == NULL && pti_plans_begin(residency))
        status = plan_window(residency, &window, &schedule);
    *made = schedule;
    if (status == POLYTILE_OK)
        pti_plans_keep(residency, &window, schedule);
    if (status == POLYTILE_NO_MEMORY || status == POLYTILE_UNSUPPORTED)
        pti_residency_forget(residency);
    return status;
}
