#include "queue/worker/worker.h"

#include "base/checked.h"
#include "launch/open/open.h"
#include "partition/window/tiles_aside.h"
#include "queue/aliased.h"
#include "queue/worker/run_batches.h"

/** How often an arena is asked for, a tenth less each time; and the part of it by which it must
 * grow for moving everything away to be worth it. */
enum { MAX_TRIES = 8, LEAST_GROWTH = 8 };

/** Return whether the device's text says how much memory to take. */
static bool is_limit_asked(const polytile_device *device) {
    pti_device_text parsed;
    return pti_device_text_parse(device->object.context, device->text, &parsed) == POLYTILE_OK &&
           parsed.value[PTI_OPTION_MEMORY] > 0;
}

/** Every array whole, as far as the device's limit goes. */
static int64_t all_arrays_bytes(const polytile_queue *queue) {
    int64_t limit_bytes = queue->device->limit_bytes, all_bytes = 0;
    for (int p = 0; p < queue->n_arrays && all_bytes < limit_bytes; p++) {
        const polytile_array *array = queue->array[p].array;
        int64_t n_bytes = array == NULL ? 0 : pti_min(array->n_bytes, limit_bytes);
        all_bytes += pti_resident_padded(n_bytes);
    }
    return pti_min(all_bytes, limit_bytes);
}

/** Return what a launch stores aside if many like it follow the one before. */
static int64_t aside_bytes_of(const pti_item *item, const pti_item *before) {
    const bool may_be_tiled = before != NULL && item->prepared->options.block == NULL &&
                              item->prepared->options.launches_per_pass != 1 &&
                              item->prepared->implementation.cuda_tiles != NULL;
    return may_be_tiled ? pti_tiles_aside_bytes(&item->prepared->ways.call[0],
                                                &before->prepared->ways.call[0])
                        : 0;
}

/** Return the most that launches of a window store aside where there are enough of them, as far as
 * the device's limit goes. */
static int64_t all_aside_bytes(const polytile_queue *queue, const pti_item *window) {
    const pti_item *before = NULL;
    int64_t most_bytes = 0;
    int n_launches = 0;
    for (const pti_item *item = window; item != NULL; item = item->next) {
        const int64_t bytes = item->kind == PTI_ITEM_LAUNCH ? aside_bytes_of(item, before) : 0;
        before = item->kind == PTI_ITEM_LAUNCH ? item : before;
        n_launches += bytes > 0;
        most_bytes = pti_max(most_bytes, pti_min(bytes, queue->device->limit_bytes));
    }
    return n_launches < PTI_TILES_LEAST_ASIDE ? 0 : most_bytes;
}

/** Return the bytes of all arrays, and of what tiles of a window's launches store aside. */
static int64_t wanted_bytes(const polytile_queue *queue, const pti_item *window) {
    const polytile_device *device = queue->device;
    if (is_limit_asked(device))
        return device->limit_bytes;
    const int64_t aside_bytes =
        device->tile_room.image_bytes > 0 ? all_aside_bytes(queue, window) : 0;
    return pti_min(all_arrays_bytes(queue) + aside_bytes, device->limit_bytes);
}

/** Find to how many bytes the arena can grow, as the device says. */
static polytile_status find_usable(const polytile_queue *queue, int64_t *usable_bytes) {
    return queue->device->functions->usable(queue->device, usable_bytes);
}

/** Take memory for the arena, less where the device refuses. Nothing is resident. */
static polytile_status reserve_arena(polytile_queue *queue, int64_t target_bytes) {
    polytile_device *device = queue->device;
    void *arena;
    polytile_status status = device->functions->reserve(device, target_bytes, &arena);
    for (int k = 1; status == POLYTILE_NO_FIT && k < MAX_TRIES && target_bytes > 1; k++) {
        int64_t usable_bytes;
        PTI_TRY(find_usable(queue, &usable_bytes));
        target_bytes = pti_min(target_bytes, usable_bytes);
        target_bytes = pti_max(target_bytes - pti_ceil_div(target_bytes, 10), 1);
        status = device->functions->reserve(device, target_bytes, &arena);
    }
done:
    pthread_mutex_lock(&queue->mutex);
    queue->arena_bytes = status == POLYTILE_OK ? target_bytes : 0;
    pthread_mutex_unlock(&queue->mutex);
    if (status == POLYTILE_OK)
        pti_residency_resize(queue->residency, target_bytes);
    return status;
}

/** Set what launches are checked against from here on: a device that refused has no more to
 * give. */
static void set_usable_bytes(polytile_queue *queue, int64_t wanted_bytes) {
    pthread_mutex_lock(&queue->mutex);
    queue->usable_bytes =
        queue->arena_bytes < wanted_bytes ? queue->arena_bytes : queue->device->limit_bytes;
    pthread_mutex_unlock(&queue->mutex);
}

/** Invalidate what the window's first items do, so that it need not go to the host. */
static void invalidate_first(polytile_queue *queue, const pti_item *window) {
    for (; window != NULL && pti_item_only_invalidates(window); window = window->next)
        pti_residency_invalidate(queue->residency, window->position, &window->boxes);
}

static polytile_status empty_arena(polytile_queue *queue, const pti_item *window,
                                   polytile_report *report) {
    polytile_status status;
    if (queue->arena_bytes == 0)
        return POLYTILE_OK;
    PTI_TRY(pti_queue_pass_gate(queue));
    invalidate_first(queue, window);
    status = pti_queue_flush(queue, report);
done:
    return status;
}

static polytile_status grow_arena(polytile_queue *queue, const pti_item *window,
                                  int64_t wanted_bytes, polytile_report *report) {
    polytile_status status;
    int64_t usable_bytes;
    PTI_TRY(find_usable(queue, &usable_bytes));
    int64_t target_bytes = pti_min(wanted_bytes, usable_bytes);
    bool is_enough = target_bytes == wanted_bytes ||
                     target_bytes - queue->arena_bytes > queue->arena_bytes / LEAST_GROWTH;
    if (target_bytes <= queue->arena_bytes || !is_enough)
        return POLYTILE_OK;
    PTI_TRY(empty_arena(queue, window, report));
    PTI_TRY(reserve_arena(queue, target_bytes));
    set_usable_bytes(queue, wanted_bytes);
done:
    return status;
}

static bool is_cut_for(const polytile_queue *queue, const pti_prepared *prepared, bool all_fit) {
    return prepared->all_fit == all_fit && (all_fit || prepared->arena_bytes == queue->arena_bytes);
}

static void replace_partition(polytile_queue *queue, pti_prepared *prepared, bool all_fit,
                              const pti_partition *made, int way) {
    pti_partition former = prepared->partition;
    pthread_mutex_lock(&queue->mutex);
    prepared->partition = *made;
    prepared->way = way;
    prepared->is_cut_apart = false;
    prepared->serial = ++queue->n_cut;
    prepared->all_fit = all_fit;
    prepared->arena_bytes = queue->arena_bytes;
    pthread_mutex_unlock(&queue->mutex);
    pti_partition_free(&former);
}

static bool share_an_array(const pti_prepared *one, const pti_prepared *other) {
    for (int a = 0; a < one->n_arrays; a++) {
        for (int b = 0; b < other->n_arrays; b++) {
            if (one->position[a] == other->position[b])
                return true;
        }
    }
    return false;
}

/** former: the launch of the window that was cut before this one; NULL if there is none. */
static polytile_status cut_for_new_arena(polytile_queue *queue, pti_prepared *prepared,
                                         const pti_prepared *former, bool all_fit) {
    pti_partition made = {0};
    bool is_related = former != NULL && former != prepared && share_an_array(former, prepared);
    pti_grain_request request = {.ways = &prepared->ways,
                                 .options = &prepared->options,
                                 .arena_bytes = queue->arena_bytes,
                                 .all_fit = all_fit,
                                 .former = is_related ? &former->partition : NULL};
    polytile_status status;
    int way;
    PTI_TRY(pti_aliased_cut(queue->object.context, &request, &made, &way));
    replace_partition(queue, prepared, all_fit, &made, way);
done:
    return status;
}

/** Arrays that no launch has used take no memory from those of others. */
static void note_used_arrays(polytile_queue *queue) {
    pthread_mutex_lock(&queue->mutex);
    for (int p = 0; p < queue->n_arrays; p++) {
        if (queue->array[p].is_used)
            pti_residency_use(queue->residency, p);
    }
    pthread_mutex_unlock(&queue->mutex);
}

/** The first launch of a window that is cut for the arena; NULL: none is. */
static const pti_prepared *find_cut(const polytile_queue *queue, const pti_item *window,
                                    bool all_fit) {
    while (window != NULL &&
           (window->kind != PTI_ITEM_LAUNCH || !is_cut_for(queue, window->prepared, all_fit)))
        window = window->next;
    return window == NULL ? NULL : window->prepared;
}

/** Launches that were made while all seemed to fit are cut as those behind them, whose data they
 * share: else pieces of one array in one launch are none in the next. */
static polytile_status cut_all_prepared(polytile_queue *queue, const pti_item *window) {
    polytile_status status = POLYTILE_OK;
    note_used_arrays(queue);
    bool all_fit = pti_residency_all_fit(queue->residency);
    const pti_prepared *former = all_fit ? NULL : find_cut(queue, window, all_fit);
    for (const pti_item *item = window; item != NULL; item = item->next) {
        if (item->kind != PTI_ITEM_LAUNCH)
            continue;
        if (!is_cut_for(queue, item->prepared, all_fit))
            PTI_TRY(cut_for_new_arena(queue, item->prepared, former, all_fit));
        former = item->prepared;
    }
done:
    return status;
}

/** Put the launch's name before an error's text, which names the device alone. */
static polytile_status name_launch(const polytile_queue *queue, const pti_item *window,
                                   polytile_status status) {
    polytile_context *ctx = queue->object.context;
    while (window != NULL && window->kind != PTI_ITEM_LAUNCH)
        window = window->next;
    if (window == NULL)
        return status;
    return pti_error_prefix(ctx, status, "%s: ", window->prepared->instance->kernel_name);
}

/** Return whether to grow would lose elements that the host does not have, or move what others pull
 * from here. */
static bool must_stay(const polytile_queue *queue, const pti_item *window) {
    bool must = false;
    for (int p = 0; p < queue->n_arrays && !must; p++)
        must = queue->array[p].pulled.n_boxes > 0;
    for (; window != NULL && !must; window = window->next)
        must = window->kind == PTI_ITEM_BRING;
    return must;
}

/** Return whether the device has elements that the next items invalidate: they must not come to the
 * host any more, where somebody else may write them already. */
static bool is_about_to_forget(polytile_queue *queue) {
    pthread_mutex_lock(&queue->mutex);
    const bool is = queue->first != NULL && pti_item_only_invalidates(queue->first);
    pthread_mutex_unlock(&queue->mutex);
    return is;
}

polytile_status pti_arena_grow_late(polytile_queue *queue, polytile_report *report) {
    const int64_t wished_bytes = queue->wished_bytes;
    if (wished_bytes == 0 || must_stay(queue, NULL) || is_about_to_forget(queue))
        return POLYTILE_OK;
    queue->wished_bytes = 0;
    return wished_bytes > queue->arena_bytes ? grow_arena(queue, NULL, wished_bytes, report)
                                             : POLYTILE_OK;
}

polytile_status pti_arena_resize(polytile_queue *queue, const pti_item *window,
                                 polytile_report *report) {
    bool can_grow = queue->arena_bytes < queue->device->limit_bytes;
    int64_t needed_bytes = can_grow ? wanted_bytes(queue, window) : 0;
    polytile_status status = POLYTILE_OK;
    if (needed_bytes > queue->arena_bytes && must_stay(queue, window))
        queue->wished_bytes = pti_max(queue->wished_bytes, needed_bytes);
    else if (needed_bytes > queue->arena_bytes)
        status = grow_arena(queue, window, needed_bytes, report);
    return status == POLYTILE_OK ? cut_all_prepared(queue, window)
                                 : name_launch(queue, window, status);
}
