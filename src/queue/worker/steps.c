#include "queue/worker/steps.h"

#include "access/kernel.h"
#include "launch/host/host.h"
#include "partition/window/lone.h"

#include <stdlib.h>

static int count_items(const pti_item *items) {
    int n_items = 0;
    for (; items != NULL; items = items->next)
        n_items++;
    return n_items;
}

/** Return whether a launch is a lone one, whose arrays are in host memory. */
static bool is_lone(const polytile_queue *queue, const pti_prepared *prepared) {
    const pti_call call = prepared->ways.call[prepared->way];
    bool is = pti_launch_is_lone(call, &prepared->partition);
    for (int o = 0; is && o < call.instance->n_operands; o++)
        is = !queue->array[call.array[o]].array->is_internal;
    return is;
}

/** A step without what a launch is asked for. */
static pti_step step_of(const polytile_queue *queue, const pti_item *item) {
    static const pti_step_kind kinds[] = {[PTI_ITEM_LAUNCH] = PTI_STEP_LAUNCH,
                                          [PTI_ITEM_FLUSH] = PTI_STEP_FLUSH,
                                          [PTI_ITEM_DROP] = PTI_STEP_DROP,
                                          [PTI_ITEM_FETCH] = PTI_STEP_FETCH,
                                          [PTI_ITEM_INVALIDATE] = PTI_STEP_INVALIDATE,
                                          [PTI_ITEM_BRING] = PTI_STEP_BRING,
                                          [PTI_ITEM_DISCARD] = PTI_STEP_INVALIDATE};
    if (item->kind != PTI_ITEM_LAUNCH)
        return (pti_step){
            .kind = kinds[item->kind], .position = item->position, .boxes = &item->boxes};
    const pti_prepared *prepared = item->prepared;
    return (pti_step){.kind = PTI_STEP_LAUNCH,
                      .call = prepared->ways.call[prepared->way],
                      .partition = &prepared->partition,
                      .is_lone = is_lone(queue, prepared),
                      .serial = prepared->serial};
}

static pti_tile_kernel tiles_of(const pti_prepared *prepared) {
    if (prepared->implementation.cuda_tiles == NULL || prepared->options.block != NULL)
        return PTI_TILES_NONE;
    return prepared->implementation.cuda_tiles_go_round ? PTI_TILES_ROUND : PTI_TILES_WITHIN;
}

static void add_launch_step(const pti_item *item, pti_steps *steps) {
    const pti_prepared *prepared = item->prepared;
    pti_step_window *window = &steps->window;
    if (window->n_launches == 0)
        steps->name = prepared->instance->kernel_name;
    steps->asked[window->n_steps] =
        (pti_asked){.options = &prepared->options,
                    .whole = prepared->ways.call[0],
                    .touched_bytes = prepared->touched_bytes,
                    .may_overlap = pti_may_run_concurrently(&prepared->implementation),
                    .takes_columns = prepared->implementation.host_launcher == NULL,
                    .tiles = tiles_of(prepared),
                    .in_place = prepared->in_place};
    pti_launch_config *config = &steps->config[window->n_launches++];
    *config = prepared->config;
    config->values = item->values;
    config->part = item->part;
}

static polytile_status add_steps(polytile_queue *queue, const pti_item *items, pti_steps *steps) {
    polytile_status status = POLYTILE_OK;
    for (const pti_item *item = items; item != NULL; item = item->next) {
        if (item->kind != PTI_ITEM_LAUNCH && queue->residency == NULL)
            continue;
        if (item->kind == PTI_ITEM_FETCH && queue->array[item->position].array->is_internal)
            PTI_TRY(pti_queue_spill(queue, queue->array[item->position].array));
        if (item->kind == PTI_ITEM_LAUNCH)
            add_launch_step(item, steps);
        steps->step[steps->window.n_steps++] = step_of(queue, item);
    }
done:
    return status;
}

/** Note what comes after, as far as the queue has noted it and memory allows. */
static void note_later_uses(const polytile_queue *queue, pti_steps *steps) {
    if (queue->n_later_items < queue->n_arrays)
        return;
    steps->later_use = calloc((size_t)queue->n_arrays + 1, sizeof *steps->later_use);
    steps->later_step = calloc((size_t)queue->n_arrays + 1, sizeof *steps->later_step);
    if (steps->later_use == NULL || steps->later_step == NULL)
        return;
    for (int p = 0; p < queue->n_arrays; p++) {
        if (queue->later_item[p] == NULL)
            continue;
        steps->later_step[p] = step_of(queue, queue->later_item[p]);
        steps->later_use[p] = &steps->later_step[p];
    }
    steps->window.later_use = steps->later_use;
}

/** Arrays by position, as a residency has them; NULL when memory runs out. */
static pti_instance *make_arrays(const polytile_queue *queue) {
    pti_instance *arrays = calloc(1, sizeof *arrays);
    pti_operand *operand = calloc((size_t)queue->n_arrays + 1, sizeof *operand);
    if (arrays == NULL || operand == NULL) {
        free(arrays);
        free(operand);
        return NULL;
    }
    *arrays =
        (pti_instance){.kernel_name = "queue", .n_operands = queue->n_arrays, .operand = operand};
    for (int p = 0; p < queue->n_arrays; p++) {
        const polytile_array *array = queue->array[p].array;
        operand[p] = (pti_operand){
            .name = "", .type = POLYTILE_BYTES(1), .element_bytes = 1, .domain = {1, {{0, 0, 1}}}};
        if (array != NULL)
            operand[p] = (pti_operand){.name = array->name,
                                       .type = array->type,
                                       .element_bytes = array->element_bytes,
                                       .domain = array->domain};
    }
    return arrays;
}

/** The fewest slabs of a stretch of a chain on a GPU: to drain it takes as long as two of them at
 * most, 1.6 % of the time. A host saves more by short stretches, of which fewer are planned. */
enum { GPU_TURN_SLABS = 128 };

/** Return whether a queue's schedules may run in stretches. A member of a group meets others once a
 * schedule. */
static bool may_run_stretches(const polytile_queue *queue) {
    return queue->residency != NULL && queue->kept_cuts == NULL;
}

/** What steps go on from: the device, or in place the arrays and the host's caches. */
static pti_step_window begin_window(polytile_queue *queue, const pti_steps *steps) {
    bool in_place = queue->residency == NULL;
    return (pti_step_window){.step = steps->step,
                             .asked = steps->asked,
                             .arrays = in_place ? NULL : pti_residency_arrays(queue->residency),
                             .residency = queue->residency,
                             .memory_bytes = in_place ? pti_host_cache_bytes() : queue->arena_bytes,
                             .link = polytile_device_get_link(queue->device),
                             .tile_room = queue->device->tile_room,
                             .core_bytes = in_place ? pti_host_core_cache_bytes() : 0,
                             .n_workers = queue->device->fill_threads,
                             .not_fused = &queue->not_fused,
                             .may_repeat = may_run_stretches(queue),
                             .turn_slabs = queue->device->cuda_capability > 0 ? GPU_TURN_SLABS : 1};
}

/** Add the arrays of a window of several launches in place; a single one needs none. False when
 * memory runs out. */
static bool add_arrays(const polytile_queue *queue, pti_steps *steps) {
    if (queue->residency != NULL || steps->window.n_launches < 2)
        return true;
    steps->window.arrays = steps->arrays = make_arrays(queue);
    return steps->arrays != NULL;
}

polytile_status pti_steps_create(polytile_queue *queue, const pti_item *items, pti_steps *steps) {
    size_t n_items = (size_t)count_items(items);
    double n_bytes = ((double)n_items + 1) * (double)sizeof *steps->step;
    polytile_status status;
    *steps = (pti_steps){.step = calloc(n_items + 1, sizeof *steps->step),
                         .asked = calloc(n_items + 1, sizeof *steps->asked),
                         .config = calloc(n_items + 1, sizeof *steps->config)};
    if (steps->step == NULL || steps->asked == NULL || steps->config == NULL)
        return pti_fail_memory(queue->object.context, "queue", n_bytes);
    steps->window = begin_window(queue, steps);
    PTI_TRY(add_steps(queue, items, steps));
    if (!add_arrays(queue, steps))
        PTI_TRY(pti_fail_memory(queue->object.context, steps->name,
                                queue->n_arrays * (double)sizeof(pti_operand)));
    if (queue->residency != NULL)
        note_later_uses(queue, steps);
done:
    return status;
}

void pti_steps_free(pti_steps *steps) {
    free(steps->step);
    free(steps->asked);
    free(steps->config);
    free(steps->later_use);
    free(steps->later_step);
    if (steps->arrays != NULL)
        free(steps->arrays->operand);
    free(steps->arrays);
    *steps = (pti_steps){0};
}
