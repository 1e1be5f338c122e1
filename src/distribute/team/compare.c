#include "base/mix.h"
#include "distribute/team/words.h"
#include "queue/over_team.h"

#include <stdio.h>

/** In place of the hash of a call. */
#define REFUSED UINT64_C(0)

static uint64_t hash_launches(const pti_team *team) {
    uint64_t hash = (uint64_t)team->n_recorded + 1;
    for (int k = 0; k < team->n_recorded; k++)
        hash = (hash ^ team->recorded[k].words) * UINT64_C(0x100000001b3);
    return hash;
}

static uint64_t hash_call(const pti_team *team, const pti_team_call *call) {
    return pti_mix(call != NULL ? call->hash : hash_launches(team), team->queue->is_closed);
}

static polytile_status compare_launch(pti_team *team, const pti_recorded *recorded) {
    pti_text words = {0};
    pti_words_of_launch(recorded, &words);
    polytile_status status = team->transport->functions->compare(
        team->transport, recorded->words, words.failed ? "a launch" : words.data);
    pti_text_free(&words);
    return status;
}

static void describe_call(const pti_team *team, const pti_team_call *call, char *text,
                          size_t n_bytes) {
    if (team->queue->is_closed)
        snprintf(text, n_bytes, "the queue's end");
    else if (call != NULL)
        snprintf(text, n_bytes, "%s", call->words);
    else if (team->n_recorded == 0)
        snprintf(text, n_bytes, "no launch");
    else
        snprintf(text, n_bytes, "%d launch%s", team->n_recorded, team->n_recorded == 1 ? "" : "es");
}

/** Name what differs, of processes that know that something does. Those that go on do not meet one
 * that ends the queue any more. */
static polytile_status name_difference(pti_team *team, const pti_team_call *call) {
    const pti_transport_functions *functions = team->transport->functions;
    const uint64_t hash = call != NULL ? call->hash : (uint64_t)team->n_recorded + 1;
    char text[128];
    describe_call(team, call, text, sizeof text);
    polytile_status status =
        functions->compare(team->transport, pti_mix(1, team->queue->is_closed), text);
    team->is_given_up = team->is_given_up || status != POLYTILE_OK;
    PTI_TRY(status);
    PTI_TRY(functions->compare(team->transport, hash, text));
    for (int k = 0; call == NULL && k < team->n_recorded; k++)
        PTI_TRY(compare_launch(team, &team->recorded[k]));
    status = POLYTILE_INVALID;
done:
    return status;
}

polytile_status pti_team_compare(pti_team *team, const pti_team_call *call, polytile_status own,
                                 bool *differs) {
    const pti_transport_functions *functions = team->transport->functions;
    pti_error kept = {0};
    pti_error_keep(&kept, team->ctx, own);
    polytile_status status = functions->compare(
        team->transport, own == POLYTILE_OK ? hash_call(team, call) : REFUSED, "another call");
    *differs = status == POLYTILE_INVALID || own != POLYTILE_OK;
    if (!*differs)
        return status;
    PTI_TRY(functions->agree(team->transport, pti_error_restore(team->ctx, &kept)));
    status = name_difference(team, call);
done:
    return status;
}

polytile_status pti_team_check_given_up(const pti_team *team) {
    return !team->is_given_up
               ? POLYTILE_OK
               : pti_fail(team->ctx, POLYTILE_INVALID,
                          "queue on %s: another rank has ended it, so end it here, too",
                          pti_queue_text(team->queue));
}
