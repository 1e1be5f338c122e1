#include "distribute/mpi/array_open.h"

#include "distribute/file/rounds.h"
#include "distribute/group/words.h"
#include "queue/queue.h"

pti_group *pti_group_over_mpi(const polytile_queue *queue) {
    pti_group *group = pti_group_of(queue);
    bool is_mpi = group != NULL && pti_group_transport(group)->functions->agree == pti_mpi_agree;
    return is_mpi ? group : NULL;
}

polytile_status pti_mpi_compare_words(pti_transport *transport, const char *words) {
    return transport->functions->compare(transport, pti_words_hash(words), words);
}

static polytile_status fail_kind(polytile_array *array) {
    return pti_fail(array->object.context, POLYTILE_INVALID,
                    "array %s: is not spread over the ranks of a communicator; "
                    "polytile_mpi_array_create() makes arrays that are",
                    array->name);
}

static polytile_status find_group_of_array(pti_open_array *open) {
    polytile_array *array = open->array;
    polytile_status status;
    if (array->queue == NULL)
        return fail_kind(array);
    PTI_TRY(pti_queue_enter(array->queue));
    open->group = pti_group_over_mpi(array->queue);
    if (open->group == NULL || pti_group_find(open->group, array)->memory != PTI_GROUP_OWN)
        status = fail_kind(array);
done:
    return status;
}

/** Return a local member's array; NULL: it owns nothing. */
static polytile_array *member_of(const pti_open_array *open, int local) {
    return pti_group_find(open->group, open->array)->member[local];
}

/** Find the elements that this rank owns, and where they lie. */
static polytile_status find_elements(pti_open_array *open) {
    const pti_group_array *array = pti_group_find(open->group, open->array);
    pti_spread *spread = &open->spread;
    pti_boxes boxes = {0};
    spread->array = open->array;
    spread->ownership = &array->ownership;
    spread->store.whole = open->array->domain;
    spread->store.element_bytes = open->array->element_bytes;
    for (int m = 0; m < spread->transport->n_local; m++) {
        pti_ownership_boxes(&array->ownership, spread->transport->first + m, &boxes);
        if (boxes.n_boxes > 0)
            pti_store_add(&spread->store, &boxes, &array->member[m]->domain,
                          array->member[m]->data);
        pti_boxes_unite(&open->owned, &boxes, pti_boxes_append);
    }
    const bool failed = boxes.failed || open->owned.failed || spread->store.failed;
    pti_boxes_free(&boxes);
    return failed ? pti_fail_memory(pti_spread_context(spread), open->array->name,
                                    (double)open->owned.n_boxes * sizeof(pti_stored_box))
                  : POLYTILE_OK;
}

/** Call a function for the elements of each local member among some. Errors: NO_MEMORY, its own. */
static polytile_status for_members(pti_open_array *open, const pti_boxes *boxes,
                                   polytile_status (*call)(polytile_array *, const pti_boxes *)) {
    const pti_ownership *ownership = open->spread.ownership;
    polytile_status status = POLYTILE_OK;
    pti_boxes owned = {0}, common = {0};
    for (int m = 0; m < open->spread.transport->n_local && boxes->n_boxes > 0; m++) {
        pti_ownership_boxes(ownership, open->spread.transport->first + m, &owned);
        pti_boxes_intersect(&common, &owned, boxes);
        if (owned.failed || common.failed)
            PTI_TRY(pti_fail_memory(pti_spread_context(&open->spread), open->array->name,
                                    (double)boxes->n_boxes * sizeof *boxes->box));
        if (common.n_boxes > 0)
            PTI_TRY(call(member_of(open, m), &common));
    }
done:
    pti_boxes_free(&owned);
    pti_boxes_free(&common);
    return status;
}

static polytile_status fetch_boxes(polytile_array *member, const pti_boxes *boxes) {
    return pti_queue_fetch(member->queue, member, boxes);
}

static polytile_status wait_for_boxes(polytile_array *member, const pti_boxes *boxes) {
    (void)boxes;
    return pti_queue_wait_for_elements(member->queue, member);
}

static polytile_status invalidate_boxes(polytile_array *member, const pti_boxes *boxes) {
    return pti_queue_invalidate(member->queue, member, boxes);
}

polytile_status pti_array_bring(pti_open_array *open, const pti_boxes *boxes) {
    polytile_status status;
    PTI_TRY(for_members(open, boxes, fetch_boxes));
    PTI_TRY(for_members(open, boxes, wait_for_boxes));
done:
    return status;
}

static bool is_of_all(const pti_open_array *open) {
    return open->use == PTI_ARRAY_READS || open->use == PTI_ARRAY_REPLACES;
}

static bool replaces_elements(const pti_open_array *open) {
    return open->use == PTI_ARRAY_REPLACES || open->use == PTI_ARRAY_REPLACES_SOME;
}

static polytile_status find_and_bring(pti_open_array *open) {
    polytile_status status;
    PTI_TRY(find_elements(open));
    if (is_of_all(open))
        PTI_TRY(pti_array_bring(open, &open->owned));
done:
    return status;
}

polytile_status pti_array_open(polytile_array *array, pti_array_use use, const char *words,
                               pti_open_array *open) {
    polytile_status status;
    *open = (pti_open_array){.array = array, .use = use};
    open->spread.round_bytes = PTI_ROUND_BYTES;
    open->spread.round_runs = PTI_ROUND_RUNS;
    PTI_TRY(find_group_of_array(open));
    open->spread.transport = pti_group_transport(open->group);
    PTI_TRY(pti_mpi_compare_words(open->spread.transport, words));
    PTI_TRY(pti_group_wait(open->group));
    PTI_TRY(pti_spread_agree(&open->spread, find_and_bring(open)));
done:
    return status;
}

static void set_complete(pti_open_array *open, bool complete) {
    pti_array_set_complete(open->array, complete);
    for (int m = 0; m < open->spread.transport->n_local; m++)
        if (member_of(open, m) != NULL)
            pti_array_set_complete(member_of(open, m), complete);
}

/** Publish changes to all members or none. */
static polytile_status publish_changes(pti_open_array *open, const pti_boxes *changed) {
    pti_group_note_changed(open->group, open->array);
    return pti_spread_agree(&open->spread, for_members(open, changed, invalidate_boxes));
}

/** Mark the array as incomplete, and say so after the error's text. */
static polytile_status mark_incomplete(pti_open_array *open, polytile_status status) {
    polytile_context *ctx = pti_spread_context(&open->spread);
    set_complete(open, false);
    return pti_fail(ctx, status, "%s; array %s is incomplete", polytile_last_error(ctx),
                    open->array->name);
}

polytile_status pti_array_close(pti_open_array *open, polytile_status status, bool has_begun,
                                const pti_boxes *changed) {
    polytile_context *ctx = open->array->object.context;
    bool has_changed = replaces_elements(open) && has_begun;
    pti_error first = {0};
    pti_error_keep(&first, ctx, status);
    if (has_changed)
        pti_error_keep(&first, ctx,
                       publish_changes(open, changed == NULL ? &open->owned : changed));
    status = pti_error_restore(ctx, &first);
    if (has_changed && status != POLYTILE_OK)
        mark_incomplete(open, status);
    else if (has_changed && open->use == PTI_ARRAY_REPLACES)
        set_complete(open, true);
    pti_store_free(&open->spread.store);
    pti_boxes_free(&open->owned);
    return status;
}
