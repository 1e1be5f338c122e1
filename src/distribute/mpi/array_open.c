#include "distribute/mpi/array_open.h"

#include "distribute/file/rounds.h"
#include "distribute/team/words.h"
#include "queue/queue.h"

pti_team *pti_team_over_mpi(const polytile_queue *queue) {
    pti_team *team = pti_team_of(queue);
    bool is_mpi = team != NULL && pti_team_transport(team)->functions->agree == pti_mpi_agree;
    return is_mpi ? team : NULL;
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

static polytile_status find_team(pti_open_array *open) {
    polytile_array *array = open->array;
    polytile_status status;
    if (array->queue == NULL)
        return fail_kind(array);
    PTI_TRY(pti_queue_enter(array->queue));
    open->team = pti_team_over_mpi(array->queue);
    if (open->team == NULL || pti_team_find(open->team, array)->memory != PTI_TEAM_OWN)
        status = fail_kind(array);
done:
    return status;
}

/** Find the elements that this rank owns, and where they lie. */
static polytile_status find_elements(pti_open_array *open) {
    pti_team_array *of = pti_team_find(open->team, open->array);
    pti_spread *spread = &open->spread;
    open->member = of->member[0];
    spread->array = open->array;
    spread->ownership = &of->ownership;
    spread->store.whole = open->array->domain;
    spread->store.element_bytes = open->array->element_bytes;
    pti_ownership_boxes(&of->ownership, spread->transport->first, &open->owned);
    if (open->owned.n_boxes > 0)
        pti_store_add(&spread->store, &open->owned, &open->member->domain, open->member->data);
    if (!open->owned.failed && !spread->store.failed)
        return POLYTILE_OK;
    return pti_fail_memory(pti_spread_context(spread), open->array->name,
                           (double)open->owned.n_boxes * sizeof(pti_stored_box));
}

polytile_status pti_array_bring(pti_open_array *open, const pti_boxes *boxes) {
    polytile_status status = POLYTILE_OK;
    if (boxes->n_boxes == 0)
        return POLYTILE_OK;
    PTI_TRY(pti_queue_fetch(open->member->queue, open->member, boxes));
    PTI_TRY(pti_queue_wait_for_elements(open->member->queue, open->member));
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
    PTI_TRY(find_team(open));
    open->spread.transport = pti_team_transport(open->team);
    PTI_TRY(pti_mpi_compare_words(open->spread.transport, words));
    PTI_TRY(pti_team_wait(open->team));
    PTI_TRY(pti_spread_agree(&open->spread, find_and_bring(open)));
done:
    return status;
}

static void set_complete(pti_open_array *open, bool complete) {
    pti_array_set_complete(open->array, complete);
    if (open->member != NULL)
        pti_array_set_complete(open->member, complete);
}

static polytile_status invalidate_elements(pti_open_array *open, const pti_boxes *changed) {
    if (changed->n_boxes == 0)
        return POLYTILE_OK;
    return pti_queue_invalidate(open->member->queue, open->member, changed);
}

/** Publish changes to all members or none. */
static polytile_status publish_changes(pti_open_array *open, const pti_boxes *changed) {
    pti_team_note_changed(open->team, open->array);
    return pti_spread_agree(&open->spread, invalidate_elements(open, changed));
}

/** Mark the array as incomplete, and say so behind the error's text. */
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
