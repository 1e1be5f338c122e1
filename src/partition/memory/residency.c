#include "partition/memory/residency.h"

#include "base/list.h"
#include "base/text.h"
#include "partition/memory/plan_cache.h"
#include "partition/memory/resident_window.h"

#include <stdlib.h>
#include <string.h>

static const polytile_domain one_element = {.n_dims = 1, .range = {{0, 0, 1}}};

pti_residency *pti_residency_create(int64_t arena_bytes) {
    pti_residency *residency = calloc(1, sizeof *residency);
    if (residency == NULL)
        return NULL;
    residency->arena_bytes = arena_bytes;
    residency->time = PTI_RESIDENT_PAUSE;
    residency->plans.most_bytes = PTI_RESIDENT_PLANS_BYTES;
    residency->plans.cheap_superblocks = PTI_CHEAP_SUPERBLOCKS;
    if (!pti_segments_begin(&residency->segments, arena_bytes)) {
        free(residency);
        return NULL;
    }
    return residency;
}

static void free_image(pti_resident_image *image) {
    pti_boxes_free(&image->valid);
    pti_boxes_free(&image->dirty);
    free(image);
}

static void free_images(pti_resident_image *images) {
    while (images != NULL) {
        pti_resident_image *next = images->next;
        free_image(images);
        images = next;
    }
}

/** Call a function for the sets of an array's state, and for what is said of their memory at
 * once. */
static void for_each_set(pti_resident_state *state, void (*act)(pti_boxes *set)) {
    act(&state->unwritten);
    act(&state->on_host);
    act(&state->initialised);
    act(&state->downloaded);
    act(&state->uploaded);
}

void pti_residency_free(pti_residency *residency) {
    if (residency == NULL)
        return;
    pti_plans_end(residency);
    for (int a = 0; a < residency->instance.n_operands; a++) {
        free_images(residency->state[a].images);
        for_each_set(&residency->state[a], pti_boxes_free);
    }
    free_images(residency->spare);
    pti_segments_free(&residency->segments);
    pti_boxes_free(&residency->needed);
    pti_boxes_free(&residency->shared);
    pti_boxes_free(&residency->rest);
    free(residency->instance.operand);
    free(residency->state);
    free(residency->stay);
    free(residency->window_name);
    free(residency);
}

void pti_residency_limit_plans(pti_residency *residency, int64_t most_bytes) {
    pti_plans_clear(residency);
    residency->plans.most_bytes = most_bytes;
}

int64_t pti_residency_n_hits(const pti_residency *residency) {
    return residency->plans.n_hits;
}

void pti_residency_resize(pti_residency *residency, int64_t arena_bytes) {
    pti_plans_clear(residency);
    residency->arena_bytes = arena_bytes;
    pti_segments_begin(&residency->segments, arena_bytes);
}

static bool grow_arrays(pti_residency *residency) {
    int capacity = 2 * residency->capacity + 8;
    if (!PTI_RESIZE(residency->instance.operand, capacity) ||
        !PTI_RESIZE(residency->state, capacity) || !PTI_RESIZE(residency->stay, capacity))
        return false;
    residency->capacity = capacity;
    return true;
}

/** Return the lowest position that is free, or the one after the last. */
static int find_free(const pti_residency *residency) {
    int a = 0;
    while (a < residency->instance.n_operands && residency->state[a].whole_bytes > 0 &&
           !residency->stay[a].has_left)
        a++;
    return a;
}

/** Add a position after the last. False when memory runs out. */
static bool add_position(pti_residency *residency) {
    const int a = residency->instance.n_operands;
    if (a == residency->capacity && !grow_arrays(residency))
        return false;
    residency->state[a] = (pti_resident_state){0};
    residency->stay[a] = (pti_resident_stay){0};
    residency->instance.n_operands++;
    return true;
}

/** Return whether an array has the shape of another. */
static bool is_shaped_like(const pti_resident_array *array, const pti_resident_array *other) {
    return array->type == other->type && array->element_bytes == other->element_bytes &&
           array->is_internal == other->is_internal &&
           pti_box_compare(&array->domain, &other->domain) == 0 &&
           pti_box_compare(&array->exclusive, &other->exclusive) == 0;
}

/** Return whether an array may have the state of one that left its position, and the plans that are
 * kept of that. */
static bool may_take_over(const pti_residency *residency, int position,
                          const pti_resident_array *array) {
    return position < residency->instance.n_operands && residency->stay[position].has_left &&
           is_shaped_like(&residency->stay[position].shape, array);
}

/** Begin the state of an array that nobody knows. False when memory runs out. */
static bool begin_state(pti_residency *residency, int a, const pti_resident_array *array) {
    pti_resident_state *state = &residency->state[a];
    state->is_internal = array->is_internal;
    state->exclusive = array->exclusive;
    state->whole_bytes = pti_resident_bytes(&array->domain, array->element_bytes);
    if (array->is_internal)
        pti_boxes_append(&state->unwritten, &array->domain);
    return !state->unwritten.failed;
}

int pti_residency_add(pti_residency *residency, const pti_resident_array *array) {
    int a = find_free(residency);
    const bool takes_over = may_take_over(residency, a, array);
    if (!takes_over)
        pti_plans_clear(residency);
    if (a == residency->instance.n_operands && !add_position(residency))
        return -1;
    residency->instance.operand[a] = (pti_operand){.name = array->name,
                                                   .type = array->type,
                                                   .element_bytes = array->element_bytes,
                                                   .domain = array->domain};
    residency->stay[a] = (pti_resident_stay){.is_idle = array->is_idle};
    if (takes_over || begin_state(residency, a, array))
        return a;
    pti_residency_remove(residency, a);
    return -1;
}

/** Return whether an array has no state but its shape, as another one like it would have. */
static bool leaves_nothing(const pti_resident_state *state) {
    return !state->is_internal && state->images == NULL && state->unwritten.n_boxes == 0 &&
           state->on_host.n_boxes == 0;
}

/** Free the state of an array: what is kept of it is worth nothing. */
static void end_state(pti_residency *residency, int array) {
    pti_plans_clear(residency);
    for_each_set(&residency->state[array], pti_boxes_free);
    residency->state[array] = (pti_resident_state){.images = residency->state[array].images};
    residency->stay[array] = (pti_resident_stay){0};
}

/** Keep the state of an array, and the plans that go with it, for another of its shape. */
static void keep_state(pti_residency *residency, int array) {
    const pti_operand *operand = &residency->instance.operand[array];
    residency->stay[array] =
        (pti_resident_stay){.has_left = true,
                            .shape = {.type = operand->type,
                                      .element_bytes = operand->element_bytes,
                                      .domain = operand->domain,
                                      .exclusive = residency->state[array].exclusive}};
}

void pti_residency_remove(pti_residency *residency, int array) {
    if (leaves_nothing(&residency->state[array]))
        keep_state(residency, array);
    else
        end_state(residency, array);
    residency->instance.operand[array] = (pti_operand){
        .name = "", .type = POLYTILE_BYTES(1), .element_bytes = 1, .domain = one_element};
}

void pti_residency_use(pti_residency *residency, int array) {
    residency->stay[array].is_idle = false;
}

/** Memory ran out somewhere in a set: it no longer says what it should. */
static void take_failure(pti_boxes *set, bool *failed) {
    *failed |= set->failed;
    set->failed = false;
}

static void take_image_failures(pti_resident_image *image, bool *failed) {
    for (; image != NULL; image = image->next) {
        take_failure(&image->valid, failed);
        take_failure(&image->dirty, failed);
    }
}

static void take_array_failures(pti_resident_state *state, bool *failed) {
    pti_boxes *sets[] = {&state->unwritten, &state->on_host, &state->initialised,
                         &state->downloaded, &state->uploaded};
    take_image_failures(state->images, failed);
    for (size_t k = 0; k < sizeof sets / sizeof *sets; k++)
        take_failure(sets[k], failed);
}

static bool take_failures(pti_residency *residency) {
    bool failed = false;
    pti_boxes *sets[] = {&residency->needed, &residency->shared, &residency->rest};
    for (size_t k = 0; k < sizeof sets / sizeof *sets; k++)
        take_failure(sets[k], &failed);
    take_image_failures(residency->spare, &failed);
    for (int a = 0; a < residency->instance.n_operands; a++)
        take_array_failures(&residency->state[a], &failed);
    return failed;
}

void pti_residency_note_written(pti_residency *residency, int array, const pti_boxes *boxes) {
    pti_plans_clear(residency);
    pti_boxes_subtract_all(&residency->state[array].unwritten, boxes);
    pti_residency_keep(residency, array, boxes);
}

void pti_residency_invalidate(pti_residency *residency, int array, const pti_boxes *boxes) {
    pti_plans_clear(residency);
    pti_resident_invalidate(residency, array, boxes);
}

void pti_residency_forget(pti_residency *residency) {
    pti_plans_clear(residency);
    for (int a = 0; a < residency->instance.n_operands; a++)
        pti_resident_forget(residency, a);
    pti_segments_reset(&residency->segments);
    take_failures(residency);
}

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
    planned = planned && !take_failures(residency);
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
