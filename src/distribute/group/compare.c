#include "base/mix.h"
#include "distribute/group/run.h"
#include "distribute/group/words.h"

#include <stdio.h>

/** In place of the hash of a call. */
#define REFUSED UINT64_C(0)

static uint64_t hash_recorded_words(const pti_group *group) {
    uint64_t hash = (uint64_t)group->n_recorded + 1;
    for (int k = 0; k < group->n_recorded; k++)
        hash = pti_mix(hash, (int64_t)group->recorded[k].words);
    return hash;
}

static uint64_t hash_call(const pti_group *group, const pti_group_call *call) {
    return pti_mix(call != NULL ? call->hash : hash_recorded_words(group), group->queue->is_closed);
}

static polytile_status compare_launch(pti_group *group, const pti_recorded *recorded) {
    pti_text words = {0};
    pti_words_of_launch(recorded, &words);
    polytile_status status = group->transport->functions->compare(
        group->transport, recorded->words, words.failed ? "a launch" : words.data);
    pti_text_free(&words);
    return status;
}

static void describe_call(const pti_group *group, const pti_group_call *call, char *text,
                          size_t n_bytes) {
    if (group->queue->is_closed)
        snprintf(text, n_bytes, "the queue's end");
    else if (call != NULL)
        snprintf(text, n_bytes, "%s", call->words);
    else if (group->n_recorded == 0)
        snprintf(text, n_bytes, "no launch");
    else
        snprintf(text, n_bytes, "%d launch%s", group->n_recorded,
                 group->n_recorded == 1 ? "" : "es");
}

/** Name what differs, of processes that know that something does. Those that go on do not meet one
 * that ends the queue any more. */
static polytile_status name_difference(pti_group *group, const pti_group_call *call) {
    const pti_transport_functions *functions = group->transport->functions;
    const uint64_t hash = call != NULL ? call->hash : (uint64_t)group->n_recorded + 1;
    char text[128];
    describe_call(group, call, text, sizeof text);
    polytile_status status =
        functions->compare(group->transport, pti_mix(1, group->queue->is_closed), text);
    group->is_given_up = group->is_given_up || status != POLYTILE_OK;
    PTI_TRY(status);
    PTI_TRY(functions->compare(group->transport, hash, text));
    for (int k = 0; call == NULL && k < group->n_recorded; k++)
        PTI_TRY(compare_launch(group, &group->recorded[k]));
    status = POLYTILE_INVALID;
done:
    return status;
}

polytile_status pti_group_compare(pti_group *group, const pti_group_call *call, polytile_status own,
                                  bool *differs) {
    const pti_transport_functions *functions = group->transport->functions;
    pti_error kept = {0};
    pti_error_keep(&kept, group->ctx, own);
    polytile_status status = functions->compare(
        group->transport, own == POLYTILE_OK ? hash_call(group, call) : REFUSED, "another call");
    *differs = status == POLYTILE_INVALID || own != POLYTILE_OK;
    if (!*differs)
        return status;
    PTI_TRY(functions->agree(group->transport, pti_error_restore(group->ctx, &kept)));
    status = name_difference(group, call);
done:
    return status;
}

polytile_status pti_group_check_given_up(const pti_group *group) {
    return !group->is_given_up
               ? POLYTILE_OK
               : pti_fail(group->ctx, POLYTILE_INVALID,
                          "queue on %s: another rank has ended it, so end it here, too",
                          pti_queue_text(group->queue));
}
