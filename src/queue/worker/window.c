#include "queue/worker/worker.h"

#include "base/list.h"
#include "launch/device/lanes.h"

#include <stdlib.h>

/* Which items are planned together. Two items may change places if no array has an element that
 * both touch and one of them writes; hulls stand for what launches touch. Two launches of team
 * kernels never do: the slots of one may be on other devices, too, where they wait for these, and
 * all devices have to run such launches in the same order. */

/** What the items taken so far touch and write of one array. */
typedef struct touches {
    pti_boxes touched;
    pti_boxes written;
} touches;

/** One item's part in one array. */
typedef struct touched_part {
    int position;
    const polytile_domain *touched;
    const polytile_domain *written; /* empty if nothing */
} touched_part;

static bool is_of_boxes(const pti_item *item) {
    return item->kind == PTI_ITEM_FETCH || item->kind == PTI_ITEM_BRING ||
           pti_item_only_invalidates(item);
}

/** How many arrays an item uses, those of launches being the operands; or boxes of one. */
static int n_parts(const pti_item *item) {
    if (item->kind == PTI_ITEM_LAUNCH)
        return item->prepared->n_arrays;
    return is_of_boxes(item) ? item->boxes.n_boxes : 1;
}

static touched_part launch_part(const pti_prepared *prepared, int k) {
    return (touched_part){prepared->position[k], &prepared->touched[k], &prepared->written[k]};
}

/** A fetch reads its boxes, the others write them. */
static touched_part box_part(const pti_item *item, int k) {
    static const polytile_domain nothing = {.n_dims = 1, .range = {{0, -1, 1}}};
    const polytile_domain *box = &item->boxes.box[k];
    return (touched_part){item->position, box, item->kind == PTI_ITEM_FETCH ? &nothing : box};
}

/** The end of an array's stay counts as writing all of it. */
static touched_part part_of_item(const polytile_queue *queue, const pti_item *item, int k) {
    if (item->kind == PTI_ITEM_LAUNCH)
        return launch_part(item->prepared, k);
    if (is_of_boxes(item))
        return box_part(item, k);
    const polytile_domain *whole = &queue->array[item->position].array->domain;
    return (touched_part){item->position, whole, whole};
}

static bool uses_position(const polytile_queue *queue, const pti_item *item, int position) {
    for (int k = 0; k < n_parts(item); k++) {
        if (part_of_item(queue, item, k).position == position)
            return true;
    }
    return false;
}

static bool meets_box(const pti_boxes *set, const polytile_domain *box) {
    return set->n_boxes > 0 && !pti_box_is_empty(box) && pti_boxes_meet(set, box);
}

/** Return whether an item must run before those taken after it. */
static bool is_needed(const polytile_queue *queue, const pti_item *item, const touches *taken) {
    for (int k = 0; k < n_parts(item); k++) {
        touched_part of = part_of_item(queue, item, k);
        const touches *later = &taken[of.position];
        if (later->touched.failed || later->written.failed ||
            meets_box(&later->touched, of.written) || meets_box(&later->written, of.touched))
            return true;
    }
    return false;
}

/** Add a box to a set, which has it already where launches in a loop touch the same hulls. */
static void gather_box(pti_boxes *set, const polytile_domain *box) {
    if (!pti_box_is_empty(box) && !pti_boxes_cover(set, box))
        pti_boxes_gather(set, box);
}

static void note_touched(const polytile_queue *queue, const pti_item *item, touches *taken) {
    for (int k = 0; k < n_parts(item); k++) {
        touched_part of = part_of_item(queue, item, k);
        gather_box(&taken[of.position].touched, of.touched);
        gather_box(&taken[of.position].written, of.written);
    }
}

static bool uses_wanted(const polytile_queue *queue, const pti_item *item) {
    for (int k = 0; k < n_parts(item); k++) {
        if (queue->array[part_of_item(queue, item, k).position].is_wanted)
            return true;
    }
    return false;
}

static bool has_slots(const pti_item *item) {
    return item->part != NULL;
}

/** Mark, from the last queued to the first, the items that users of wanted arrays need. */
static void mark_needed(const polytile_queue *queue, pti_item *const *items, int64_t n_items,
                        touches *taken, bool *is_taken) {
    bool needs_slots = false;
    for (int64_t k = n_items; k-- > 0;) {
        is_taken[k] = uses_wanted(queue, items[k]) || is_needed(queue, items[k], taken) ||
                      (needs_slots && has_slots(items[k]));
        if (is_taken[k]) {
            note_touched(queue, items[k], taken);
            needs_slots |= has_slots(items[k]);
        }
    }
}

/** Return whether an item ends an array's stay, and items before it use the array, all of which are
 * taken. */
static bool ends_what_is_taken(const polytile_queue *queue, pti_item *const *items, int64_t end,
                               const bool *is_taken) {
    bool is_used = false;
    if (items[end]->kind != PTI_ITEM_FLUSH && items[end]->kind != PTI_ITEM_DROP)
        return false;
    for (int64_t k = 0; k < end; k++) {
        bool uses_it = uses_position(queue, items[k], items[end]->position);
        if (uses_it && !is_taken[k])
            return false;
        is_used |= uses_it;
    }
    return is_used;
}

/** Mark the ends of stays that belong to what is marked, so that it is known what nobody needs on
 * the device any more. */
static void mark_ends(const polytile_queue *queue, pti_item *const *items, int64_t n_items,
                      bool *is_taken) {
    for (int64_t k = 0; k < n_items; k++) {
        if (!is_taken[k])
            is_taken[k] = ends_what_is_taken(queue, items, k, is_taken);
    }
}

/** Return whether the device learns from what a launch takes. */
static bool is_learnt_from(const polytile_queue *queue, const pti_prepared *prepared) {
    const pti_instance *instance = prepared->instance;
    return queue->device->lane_times != NULL &&
           pti_lanes_are_learnt(queue->device,
                                pti_lanes_key(instance->declaration_hash, &instance->threads));
}

/** Return whether a launch had better not be in a window with another one: what they take together
 * tells of neither. */
static bool is_to_be_apart(const polytile_queue *queue, const pti_item *item,
                           const pti_prepared *launched) {
    return launched != NULL && item->kind == PTI_ITEM_LAUNCH && item->prepared != launched &&
           (is_learnt_from(queue, launched) || is_learnt_from(queue, item->prepared));
}

/** Take items out of the queue, in order, while the window has room: all, or those marked. A window
 * ends after an item that calls the program back: it does not wait for what comes after it. It ends
 * at a gate, too, and between launches that are to be apart. */
static pti_item *dequeue_items(polytile_queue *queue, const bool *is_taken) {
    pti_item *window = NULL, **end = &window, **at = &queue->first, *left = NULL;
    const pti_prepared *launched = NULL;
    int n_items = 0, n_most = queue->window_items;
    for (int64_t k = 0; *at != NULL; k++) {
        pti_item *item = *at;
        if (window != NULL && item->gate != window->gate)
            n_most = n_items;
        if (n_items < n_most && (is_taken == NULL || is_taken[k]) &&
            is_to_be_apart(queue, item, launched))
            n_most = n_items;
        if (n_items < n_most && (is_taken == NULL || is_taken[k])) {
            *at = item->next;
            *end = item;
            end = &item->next;
            n_items++;
            if (item->kind == PTI_ITEM_LAUNCH)
                launched = item->prepared;
            if (item->callback != NULL)
                n_most = n_items;
        } else {
            left = item;
            at = &item->next;
        }
    }
    *end = NULL;
    queue->last = left;
    return window;
}

static int64_t count_queued_items(const polytile_queue *queue) {
    int64_t n_items = 0;
    for (const pti_item *item = queue->first; item != NULL; item = item->next)
        n_items++;
    return n_items;
}

static void free_touches(touches *taken, int n_positions) {
    for (int p = 0; taken != NULL && p < n_positions; p++) {
        pti_boxes_free(&taken[p].touched);
        pti_boxes_free(&taken[p].written);
    }
    free(taken);
}

/** Everything queued, in order. */
typedef struct listing {
    int64_t n_items;
    pti_item **item;
    bool *is_taken;
} listing;

/** False when memory runs out. */
static bool list_items(const polytile_queue *queue, listing *of) {
    *of = (listing){.n_items = count_queued_items(queue)};
    of->item = calloc((size_t)of->n_items + 1, sizeof *of->item);
    of->is_taken = calloc((size_t)of->n_items + 1, sizeof *of->is_taken);
    int64_t k = 0;
    for (pti_item *item = queue->first; of->item != NULL && item != NULL; item = item->next)
        of->item[k++] = item;
    return of->item != NULL && of->is_taken != NULL;
}

static void free_listing(listing *of) {
    free(of->item);
    free(of->is_taken);
}

/** False when memory runs out. */
static bool find_needed_items(const polytile_queue *queue, const listing *of) {
    touches *taken = calloc((size_t)queue->n_arrays + 1, sizeof *taken);
    if (taken == NULL)
        return false;
    mark_needed(queue, of->item, of->n_items, taken, of->is_taken);
    mark_ends(queue, of->item, of->n_items, of->is_taken);
    free_touches(taken, queue->n_arrays);
    return true;
}

static bool uses_related(const polytile_queue *queue, const pti_item *item,
                         const bool *is_related) {
    const int n = n_parts(item);
    int k = 0;
    while (k < n && !is_related[part_of_item(queue, item, k).position])
        k++;
    return k < n;
}

/** Mark, from the last queued to the first, items that use related arrays, and what else they use
 * as related; whether there were any. */
static bool spread_relation(const polytile_queue *queue, const listing *of, bool *is_related) {
    bool any = false, needs_slots = false;
    for (int64_t i = of->n_items; i-- > 0;) {
        const pti_item *item = of->item[i];
        if (!of->is_taken[i] &&
            (uses_related(queue, item, is_related) || (needs_slots && has_slots(item)))) {
            of->is_taken[i] = any = true;
            for (int k = 0; k < n_parts(item); k++)
                is_related[part_of_item(queue, item, k).position] = true;
        }
        needs_slots |= of->is_taken[i] && has_slots(item);
    }
    return any;
}

/** False when memory runs out. */
static bool find_related(const polytile_queue *queue, const listing *of) {
    bool *is_related = calloc((size_t)queue->n_arrays + 1, sizeof *is_related);
    if (is_related == NULL)
        return false;
    for (int p = 0; p < queue->n_arrays; p++)
        is_related[p] = queue->array[p].is_wanted;
    while (spread_relation(queue, of, is_related))
        continue;
    free(is_related);
    return true;
}

/** Without memory to find out what is wanted, all of it is. */
static pti_item *take_wanted(polytile_queue *queue) {
    listing of;
    bool is_known =
        list_items(queue, &of) &&
        (queue->want == PTI_WANT_NEEDED ? find_needed_items(queue, &of) : find_related(queue, &of));
    pti_item *window = dequeue_items(queue, is_known ? of.is_taken : NULL);
    free_listing(&of);
    return window;
}

bool pti_window_has_wanted(const polytile_queue *queue) {
    int p = 0;
    while (p < queue->n_arrays && !(queue->array[p].is_wanted && queue->array[p].n_items > 0))
        p++;
    return p < queue->n_arrays;
}

/** Room for a note of each position, none noted; false when memory runs out, or nothing is
 * queued. */
static bool begin_notes(polytile_queue *queue) {
    queue->n_later_items = 0;
    if (queue->first == NULL)
        return false;
    if (!PTI_RESIZE(queue->later_item, queue->n_arrays + 1))
        return false;
    while (queue->n_later_items < queue->n_arrays)
        queue->later_item[queue->n_later_items++] = NULL;
    return true;
}

/** Note what items after a window use, as many as a window may have. */
static void note_later_items(polytile_queue *queue) {
    const pti_item *item = begin_notes(queue) ? queue->first : NULL;
    for (int n = 0; n < PTI_WINDOW_ITEMS && item != NULL; item = item->next, n++) {
        for (int k = 0; k < n_parts(item); k++) {
            int position = part_of_item(queue, item, k).position;
            if (queue->later_item[position] == NULL)
                queue->later_item[position] = item;
        }
    }
}

pti_item *pti_window_take(polytile_queue *queue) {
    bool is_partial =
        queue->n_waiting > 0 && queue->want != PTI_WANT_ALL && pti_window_has_wanted(queue);
    pti_item *window = is_partial ? take_wanted(queue) : dequeue_items(queue, NULL);
    note_later_items(queue);
    return window;
}
