#include "distribute/team/words.h"
#include "launch/execute/run_check.h"
#include "launch/execute/specialise.h"
#include "queue/cache.h"
#include "queue/looked_up.h"

#include <string.h>

static polytile_status check_members(const pti_team *team, const polytile_kernel *kernel) {
    polytile_status status = POLYTILE_OK;
    for (int m = 0; m < team->transport->n_local; m++)
        PTI_TRY(pti_run_check_kernel(team->member[m]->device, kernel));
done:
    return status;
}

/** A launch that was prepared before has the same words, if it has the same values. */
static uint64_t find_words(const pti_team *team, const pti_recorded *recorded) {
    const size_t values_bytes =
        (size_t)recorded->prepared->config.n_values * sizeof *recorded->values;
    for (int k = team->n_recorded - 1; k >= 0; k--) {
        if (team->recorded[k].prepared == recorded->prepared &&
            memcmp(team->recorded[k].values, recorded->values, values_bytes) == 0)
            return team->recorded[k].words;
    }
    return 0;
}

static polytile_status fill_words(pti_team *team, pti_recorded *recorded) {
    pti_text words = {0};
    recorded->words = find_words(team, recorded);
    if (recorded->words != 0)
        return POLYTILE_OK;
    pti_words_of_launch(recorded, &words);
    bool has_failed = words.failed;
    if (!has_failed)
        recorded->words = pti_words_hash(words.data);
    pti_text_free(&words);
    return has_failed ? pti_fail_memory(team->ctx, polytile_kernel_get_name(recorded->kernel),
                                        PTI_UNKNOWN_BYTES)
                      : POLYTILE_OK;
}

static void record_launch(pti_team *team, pti_recorded recorded) {
    recorded.prepared->n_items++;
    recorded.prepared->last_used = ++team->queue->n_queued;
    pti_cancel_note(&team->queue->cancel, team->queue->n_queued);
    pti_kernel_retain(recorded.kernel);
    pti_queue_note_written(team->queue, recorded.prepared);
    team->recorded[team->n_recorded++] = recorded;
    __atomic_store_n(&team->progress.n_launches, team->n_recorded, __ATOMIC_RELAXED);
}

/** Whether a failure is still to be reported: until then launches are not run. */
static bool is_waiting_to_report(const pti_team *team) {
    return team->queue->error.status != POLYTILE_OK;
}

/** Check that the first launch of a queue is the same on every process. A process that refused it
 * takes part, too, and so does one that waits for its queue, or ends it: the others wait for it. */
static polytile_status compare_first(pti_team *team, polytile_status status) {
    bool differs;
    if (team->was_compared || is_waiting_to_report(team))
        return status;
    status = pti_team_compare(team, NULL, status, &differs);
    team->was_compared = status == POLYTILE_OK;
    if (status != POLYTILE_OK)
        pti_team_forget_all(team);
    return status;
}

/** Find what each member's device runs before any of them does. */
static polytile_status specialise_members(const pti_team *team, const polytile_kernel *kernel,
                                          const pti_prepared *prepared) {
    const polytile_implementation *found;
    polytile_status status = POLYTILE_OK;
    for (int m = 0; m < team->transport->n_local; m++)
        PTI_TRY(pti_specialise(team->member[m]->device, kernel, prepared->instance, &found));
done:
    return status;
}

/** A launch that is refused is not kept: it would pass for one that was checked. */
static polytile_status check_new(pti_team *team, const polytile_kernel *kernel,
                                 pti_prepared *prepared) {
    polytile_status status = specialise_members(team, kernel, prepared);
    if (status == POLYTILE_OK)
        status = pti_team_check_fit(team, prepared);
    if (status != POLYTILE_OK)
        pti_cache_drop(team->queue, prepared);
    return status;
}

/** Prepare a launch and record it, unless a failure is still to be reported. */
static polytile_status prepare_and_record(pti_team *team, const pti_request *request) {
    polytile_queue *queue = team->queue;
    pti_recorded recorded = {.kernel = (polytile_kernel *)(uintptr_t)request->kernel};
    int64_t n_cut = queue->n_cut;
    polytile_status status;
    PTI_TRY(check_members(team, request->kernel));
    PTI_TRY(pti_queue_prepare(queue, request, &recorded.prepared));
    if (!pti_team_make_positions(team, queue->n_arrays))
        PTI_TRY(pti_fail_memory(team->ctx, polytile_kernel_get_name(request->kernel),
                                queue->n_arrays * (double)sizeof *team->array));
    if (recorded.prepared->serial > n_cut)
        PTI_TRY(check_new(team, recorded.kernel, recorded.prepared));
    memcpy(recorded.values, request->values,
           (size_t)recorded.prepared->config.n_values * sizeof *recorded.values);
    PTI_TRY(fill_words(team, &recorded));
    if (!is_waiting_to_report(team))
        record_launch(team, recorded);
done:
    return status;
}

polytile_status pti_team_launch(polytile_queue *queue, const pti_request *request,
                                polytile_status status) {
    pti_team *team = queue->team;
    if (team->is_given_up)
        return pti_team_check_given_up(team);
    if (status == POLYTILE_OK)
        status = prepare_and_record(team, request);
    status = compare_first(team, status);
    if (status == POLYTILE_OK && team->n_recorded == PTI_TEAM_LAUNCHES)
        pti_team_run(team);
    return status;
}
