#include "partition/memory/residency.h"

#include "base/list.h"
#include "base/text.h"
#include "partition/memory/plan_cache.h"
#include "partition/memory/resident_window.h"

#include <stdlib.h>
#include <string.h>

static const polytile_domain one_element = {.n_dims = 1, .range = {{0, 0, 1}}};

pti_residency *pti_residency_create(int64_t arena_bytes) {
    pti_residency *of = calloc(1, sizeof *of);
    if (of == NULL)
        return NULL;
    of->arena_bytes = arena_bytes;
    of->time = PTI_RESIDENT_PAUSE;
    of->plans.most_bytes = PTI_RESIDENT_PLANS_BYTES;
    of->plans.cheap_superblocks = PTI_CHEAP_SUPERBLOCKS;
    if (!pti_segments_begin(&of->segments, arena_bytes)) {
        free(of);
        return NULL;
    }
    return of;
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

/** The sets of an array's state, and what is said of their memory at once. */
static void for_each_set(pti_resident_state *state, void (*act)(pti_boxes *set)) {
    act(&state->unwritten);
    act(&state->on_host);
    act(&state->initialised);
    act(&state->downloaded);
}

void pti_residency_free(pti_residency *of) {
    if (of == NULL)
        return;
    pti_plans_end(of);
    for (int a = 0; a < of->instance.n_operands; a++) {
        free_images(of->state[a].images);
        for_each_set(&of->state[a], pti_boxes_free);
    }
    free_images(of->spare);
    pti_segments_free(&of->segments);
    pti_boxes_free(&of->needed);
    pti_boxes_free(&of->shared);
    pti_boxes_free(&of->rest);
    free(of->instance.operand);
    free(of->state);
    free(of->window_name);
    free(of);
}

void pti_residency_limit_plans(pti_residency *of, int64_t most_bytes) {
    pti_plans_clear(of);
    of->plans.most_bytes = most_bytes;
}

int64_t pti_residency_n_hits(const pti_residency *of) {
    return of->plans.n_hits;
}

void pti_residency_resize(pti_residency *of, int64_t arena_bytes) {
    pti_plans_clear(of);
    of->arena_bytes = arena_bytes;
    pti_segments_begin(&of->segments, arena_bytes);
}

static bool grow_arrays(pti_residency *of) {
    int capacity = 2 * of->capacity + 8;
    if (!PTI_RESIZE(of->instance.operand, capacity) || !PTI_RESIZE(of->state, capacity))
        return false;
    of->capacity = capacity;
    return true;
}

/** The lowest free position; -1 when memory runs out. */
static int free_position(pti_residency *of) {
    int n_arrays = of->instance.n_operands;
    for (int a = 0; a < n_arrays; a++)
        if (of->state[a].whole_bytes == 0)
            return a;
    if (n_arrays == of->capacity && !grow_arrays(of))
        return -1;
    of->state[n_arrays] = (pti_resident_state){0};
    of->instance.n_operands++;
    return n_arrays;
}

int pti_residency_add(pti_residency *of, const pti_resident_array *array) {
    pti_plans_clear(of);
    int a = free_position(of);
    if (a < 0)
        return -1;
    pti_resident_state *state = &of->state[a];
    of->instance.operand[a] = (pti_operand){.name = array->name,
                                            .type = array->type,
                                            .element_bytes = array->element_bytes,
                                            .domain = array->domain};
    state->is_internal = array->is_internal;
    state->is_idle = array->is_idle;
    state->whole_bytes = pti_resident_bytes(&array->domain, array->element_bytes);
    if (array->is_internal)
        pti_boxes_append(&state->unwritten, &array->domain);
    if (!state->unwritten.failed)
        return a;
    pti_residency_remove(of, a);
    return -1;
}

void pti_residency_remove(pti_residency *of, int array) {
    pti_plans_clear(of);
    for_each_set(&of->state[array], pti_boxes_free);
    of->state[array] = (pti_resident_state){.images = of->state[array].images};
    of->instance.operand[array] = (pti_operand){
        .name = "", .type = POLYTILE_BYTES(1), .element_bytes = 1, .domain = one_element};
}

void pti_residency_use(pti_residency *of, int array) {
    if (!of->state[array].is_idle)
        return;
    pti_plans_clear(of);
    of->state[array].is_idle = false;
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
                         &state->downloaded};
    take_image_failures(state->images, failed);
    for (size_t k = 0; k < sizeof sets / sizeof *sets; k++)
        take_failure(sets[k], failed);
}

static bool take_failures(pti_residency *of) {
    bool failed = false;
    pti_boxes *sets[] = {&of->needed, &of->shared, &of->rest};
    for (size_t k = 0; k < sizeof sets / sizeof *sets; k++)
        take_failure(sets[k], &failed);
    take_image_failures(of->spare, &failed);
    for (int a = 0; a < of->instance.n_operands; a++)
        take_array_failures(&of->state[a], &failed);
    return failed;
}

void pti_residency_note_written(pti_residency *of, int array, const pti_boxes *boxes) {
    pti_plans_clear(of);
    pti_boxes_subtract_all(&of->state[array].unwritten, boxes);
    pti_residency_keep(of, array, boxes);
}

void pti_residency_invalidate(pti_residency *of, int array, const pti_boxes *boxes) {
    pti_plans_clear(of);
    pti_resident_invalidate(of, array, boxes);
}

void pti_residency_forget(pti_residency *of) {
    pti_plans_clear(of);
    for (int a = 0; a < of->instance.n_operands; a++)
        pti_resident_forget(of, a);
    pti_segments_reset(&of->segments);
    take_failures(of);
}

/** Adds what an image holds, unless it is empty: superblocks that touch no element have images,
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

/** What images hold, as a list; false when memory runs out. */
static bool list_holdings(const pti_residency *of, pti_holding **holdings, int *n_holdings) {
    bool is_listed = true;
    *holdings = calloc((size_t)pti_images_count(of) + 1, sizeof **holdings);
    if (*holdings == NULL)
        return false;
    for (int a = 0; a < of->instance.n_operands; a++) {
        for (const pti_resident_image *image = of->state[a].images; image; image = image->next)
            is_listed = add_holding(image, *holdings, n_holdings) && is_listed;
    }
    return is_listed;
}

static bool list_unwritten(const pti_residency *of, pti_schedule *schedule) {
    bool any = false, failed = false;
    for (int a = 0; a < of->instance.n_operands; a++)
        any |= of->state[a].unwritten.n_boxes > 0;
    if (!any)
        return true;
    schedule->unwritten = calloc((size_t)of->instance.n_operands, sizeof *schedule->unwritten);
    for (int a = 0; a < of->instance.n_operands && schedule->unwritten != NULL; a++) {
        pti_boxes_copy(&schedule->unwritten[a], &of->state[a].unwritten);
        failed |= schedule->unwritten[a].failed;
    }
    return schedule->unwritten != NULL && !failed;
}

/** Make a placement of each resident image; nothing waits for what used it in schedules before. */
static void place_images(pti_resident_emit *emit) {
    pti_residency *of = emit->of;
    for (int a = 0; a < of->instance.n_operands; a++) {
        pti_resident_state *state = &of->state[a];
        pti_boxes_clear(&state->downloaded);
        state->downloads = pti_last_none();
        for (pti_resident_image *image = state->images; image != NULL; image = image->next) {
            pti_placement placement = {a, image->offset_bytes, image->layout};
            image->placement = pti_builder_place(&emit->builder, &placement);
            image->writers = pti_last_none();
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
    pti_builder_begin(&emit->builder, &emit->of->instance, n_launches, launch);
    free(launch);
}

/** The names of the kernels of a window, each once, as far as they are worth reading. */
static bool name_window(pti_residency *of, int n_steps, const pti_step *steps) {
    enum { ENOUGH_BYTES = 80 };
    pti_text text = {0};
    const char *last = "";
    for (int s = 0; s < n_steps && (text.data == NULL || strlen(text.data) < ENOUGH_BYTES); s++) {
        if (steps[s].kind != PTI_STEP_LAUNCH)
            continue;
        const char *name = steps[s].call.instance->kernel_name;
        if (text.data == NULL || (strcmp(last, name) != 0 && strstr(text.data, name) == NULL))
            pti_text_add(&text, text.data == NULL ? "%.100s" : ", %.100s", name);
        last = name;
    }
    if (text.data == NULL)
        pti_text_add(&text, "arrays");
    free(of->window_name);
    of->window_name = of->instance.kernel_name = text.data;
    return text.data != NULL;
}

static bool mark_dropped(const pti_residency *of, pti_schedule *schedule, int n_steps,
                         const pti_step *steps) {
    for (int s = 0; s < n_steps; s++) {
        if (steps[s].kind != PTI_STEP_DROP)
            continue;
        if (schedule->dropped == NULL)
            schedule->dropped = calloc((size_t)of->instance.n_operands, sizeof *schedule->dropped);
        if (schedule->dropped == NULL)
            return false;
        schedule->dropped[steps[s].position] = true;
    }
    return true;
}

static bool begin_schedule(pti_resident_emit *emit, const pti_future *future, int n_steps,
                           const pti_step *steps) {
    pti_residency *of = emit->of;
    pti_segments_reset(&of->segments);
    begin_builder(emit, n_steps, steps);
    pti_schedule *schedule = emit->builder.schedule;
    if (schedule == NULL || emit->builder.failed || !name_window(of, n_steps, steps))
        return false;
    emit->n_superblocks = future->n_runs;
    schedule->limit_bytes = schedule->arena_bytes = of->arena_bytes;
    place_images(emit);
    return list_unwritten(of, schedule) && mark_dropped(of, schedule, n_steps, steps) &&
           list_holdings(of, &schedule->before, &schedule->n_before);
}

static polytile_status plan_window(pti_residency *of, const pti_window_request *window,
                                   pti_schedule **made) {
    pti_future future;
    pti_resident_emit emit = {.of = of};
    int n_steps = window->n_steps;
    const pti_step *steps = window->steps;
    polytile_status status = pti_future_create(of, n_steps, steps, &future);
    bool planned = status == POLYTILE_OK && begin_schedule(&emit, &future, n_steps, steps);
    pti_schedule *schedule = emit.builder.schedule;
    if (planned) {
        pti_resident_run(&emit, &future, n_steps, steps, window->link);
        planned = !emit.builder.failed && list_holdings(of, &schedule->after, &schedule->n_after);
    }
    of->time += future.n_runs + PTI_RESIDENT_PAUSE;
    pti_future_free(&future);
    planned = planned && !take_failures(of);
    if (planned) {
        *made = schedule;
        return POLYTILE_OK;
    }
    pti_schedule_free(schedule);
    return status == POLYTILE_NO_FIT ? status : pti_builder_status(&emit.builder);
}

polytile_status pti_residency_plan(pti_residency *of, int n_steps, const pti_step *steps,
                                   const polytile_link *link, pti_schedule **made) {
    pti_window_request window = {n_steps, steps, link};
    pti_schedule *schedule = NULL;
    polytile_status status = POLYTILE_NO_MEMORY;
    *made = pti_plans_find(of, &window);
    if (*made != NULL && name_window(of, n_steps, steps))
        return POLYTILE_OK;
    if (*made == NULL && pti_plans_begin(of))
        status = plan_window(of, &window, &schedule);
    *made = schedule;
    if (status == POLYTILE_OK)
        pti_plans_keep(of, &window, schedule);
    if (status == POLYTILE_NO_MEMORY || status == POLYTILE_UNSUPPORTED)
        pti_residency_forget(of);
    return status;
}
