#include "distribute/team/state.h"

/* Moving elements between members, around what the transport does. */

static polytile_queue *queue_of(const pti_team *team, int member) {
    return team->member[member - team->transport->first];
}

static polytile_array *array_of(const pti_team *team, int position, int member) {
    return team->reached[position * team->transport->n_local + member - team->transport->first];
}

/** Tell queues of local members of what they send, or of what they receive: if they computed that,
 * too, they do not bring it home. */
static polytile_status notify_local(const pti_team *team, const pti_exchange *exchange,
                                    bool are_sent, pti_team_notify *notify) {
    polytile_status status = POLYTILE_OK;
    for (int t = 0; t < exchange->n_transfers; t++) {
        const pti_transfer *transfer = &exchange->transfer[t];
        const int member = are_sent ? transfer->from : transfer->to;
        if (pti_transport_is_local(team->transport, member))
            PTI_TRY(notify(queue_of(team, member), array_of(team, transfer->array, member),
                           &transfer->boxes));
    }
done:
    return status;
}

/** Wait until a local member's array has what it sends, and nothing reads what it receives. */
static polytile_status wait_for_array(const pti_team *team, int position, int member) {
    polytile_array *array = array_of(team, position, member);
    polytile_queue *queue = queue_of(team, member);
    polytile_status status;
    PTI_TRY(pti_queue_wait_for_elements(queue, array));
    if (array->data == NULL && pti_queue_get_spill(queue, array) == NULL)
        status = pti_fail_memory(team->ctx, array->name, (double)array->n_bytes);
done:
    return status;
}

static polytile_status wait_for_arrays(const pti_team *team, const pti_exchange *exchange) {
    polytile_status status = POLYTILE_OK;
    for (int t = 0; t < exchange->n_transfers; t++) {
        const pti_transfer *transfer = &exchange->transfer[t];
        if (pti_transport_is_local(team->transport, transfer->from))
            PTI_TRY(wait_for_array(team, transfer->array, transfer->from));
        if (pti_transport_is_local(team->transport, transfer->to))
            PTI_TRY(wait_for_array(team, transfer->array, transfer->to));
    }
done:
    return status;
}

/** Members over the same memory wait until nobody reads what another is about to write. */
static polytile_status wait_for_sharers(const pti_team *team) {
    polytile_status status = POLYTILE_OK;
    for (int m = 0; team->transport->shares_memory && m < team->transport->n_local; m++)
        PTI_TRY(polytile_queue_wait(team->member[m]));
done:
    return status;
}

polytile_status pti_team_begin_exchange(pti_team *team, pti_persistent_exchange *persistent,
                                        bool has_failed) {
    polytile_status status = POLYTILE_OK;
    pti_error first = {0};
    if (persistent->exchange->n_transfers == 0)
        return POLYTILE_OK;
    if (!has_failed) {
        PTI_TRY(notify_local(team, persistent->exchange, true, pti_queue_fetch));
        PTI_TRY(notify_local(team, persistent->exchange, false, pti_queue_invalidate));
        PTI_TRY(wait_for_arrays(team, persistent->exchange));
        PTI_TRY(wait_for_sharers(team));
    }
done:
    has_failed |= status != POLYTILE_OK;
    pti_error_keep(&first, team->ctx, status);
    pti_error_keep(&first, team->ctx,
                   team->transport->functions->start(team->transport, persistent, has_failed));
    return pti_error_restore(team->ctx, &first);
}

polytile_status pti_team_end_exchange(pti_team *team, pti_persistent_exchange *persistent,
                                      bool has_failed) {
    polytile_status status;
    if (persistent->exchange->n_transfers == 0)
        return POLYTILE_OK;
    PTI_TRY(team->transport->functions->finish(team->transport, persistent));
    if (!has_failed)
        status = notify_local(team, persistent->exchange, false, pti_queue_invalidate);
done:
    return status;
}
