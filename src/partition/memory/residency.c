#include "partition/memory/residency.h"

#include "base/list.h"
#include "partition/memory/plan_cache.h"
#include "partition/memory/resident_window.h"

#include <stdlib.h>

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

bool pti_resident_take_failures(pti_residency *residency) {
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
    pti_resident_take_failures(residency);
}
