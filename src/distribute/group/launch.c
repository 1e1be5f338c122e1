#include "access/kernel.h"
#include "distribute/group/run.h"
#include "distribute/group/words.h"
#include "distribute/members/launch_box.h"
#include "launch/execute/run_check.h"
#include "launch/execute/specialise.h"
#include "launch/execute/team_server.h"
#include "queue/cache.h"
#include "queue/calls/calls.h"
#include "queue/looked_up.h"
#include "queue/prepared.h"

#include <string.h>

static polytile_status check_members(const pti_group *group, const polytile_kernel *kernel) {
    polytile_status status = POLYTILE_OK;
    for (int m = 0; m < group->transport->n_local; m++)
        PTI_TRY(pti_run_check_kernel(group->member[m]->device, kernel));
done:
    return status;
}

/** A launch that was prepared before has the same words, if it has the same values. */
static uint64_t find_words(const pti_group *group, const pti_recorded *recorded) {
    const size_t values_bytes =
        (size_t)recorded->prepared->config.n_values * sizeof *recorded->values;
    for (int k = group->n_recorded - 1; k >= 0; k--) {
        if (group->recorded[k].prepared == recorded->prepared &&
            memcmp(group->recorded[k].values, recorded->values, values_bytes) == 0)
            return group->recorded[k].words;
    }
    return 0;
}

static polytile_status fill_words(pti_group *group, pti_recorded *recorded) {
    pti_text words = {0};
    recorded->words = find_words(group, recorded);
    if (recorded->words != 0)
        return POLYTILE_OK;
    pti_words_of_launch(recorded, &words);
    bool has_failed = words.failed;
    if (!has_failed)
        recorded->words = pti_words_hash(words.data);
    pti_text_free(&words);
    return has_failed ? pti_fail_memory(group->ctx, polytile_kernel_get_name(recorded->kernel),
                                        PTI_UNKNOWN_BYTES)
                      : POLYTILE_OK;
}

static void record_launch(pti_group *group, pti_recorded recorded) {
    recorded.prepared->n_items++;
    pti_cache_use(group->queue, recorded.prepared, ++group->queue->n_queued);
    pti_cancel_note(&group->queue->cancel, group->queue->n_queued);
    pti_kernel_retain(recorded.kernel);
    pti_queue_note_written(group->queue, recorded.prepared);
    if (recorded.server != NULL)
        pti_queue_set_server(group->queue, recorded.server);
    group->recorded[group->n_recorded++] = recorded;
    __atomic_store_n(&group->progress.n_launches, group->n_recorded, __ATOMIC_RELAXED);
}

/** Return whether a failure is still to be reported: until then launches are not run. */
static bool is_waiting_to_report(const pti_group *group) {
    return group->queue->error.status != POLYTILE_OK;
}

/** End the part of the program in a launch that is not run: its calls fail. Takes the server. */
static void give_up_newest(const pti_group *group, pti_server *server) {
    if (server == NULL)
        return;
    pti_queue_set_server(group->queue, server);
    pti_server_give_up(server, &group->queue->error);
    pti_server_release(server);
}

/** Check that the first launch of a queue is the same on every process. A process that refused it
 * takes part, too, and so does one that waits for its queue, or ends it: the others wait for it. */
static polytile_status compare_first(pti_group *group, polytile_status status) {
    bool differs;
    if (group->was_compared || is_waiting_to_report(group))
        return status;
    status = pti_group_compare(group, NULL, status, &differs);
    group->was_compared = status == POLYTILE_OK;
    if (status != POLYTILE_OK)
        pti_group_forget_all(group);
    return status;
}

/** Find what each member's device runs before any of them does. */
static polytile_status specialise_members(const pti_group *group, const polytile_kernel *kernel,
                                          const pti_prepared *prepared) {
    const polytile_implementation *found;
    polytile_status status = POLYTILE_OK;
    for (int m = 0; m < group->transport->n_local; m++)
        PTI_TRY(pti_specialise(group->member[m]->device, kernel, prepared->instance, &found));
done:
    return status;
}

/** Check a launch that was not prepared before. One that is refused is not kept: it would pass for
 * one that was checked. */
static polytile_status check_new(pti_group *group, const polytile_kernel *kernel,
                                 pti_prepared *prepared) {
    polytile_status status = specialise_members(group, kernel, prepared);
    if (status == POLYTILE_OK)
        status = pti_group_check_fit(group, prepared);
    if (status != POLYTILE_OK)
        pti_cache_drop(group->queue, prepared);
    return status;
}

/** Make what serves the messages of a team kernel, to slots of other processes, too; NULL: it is
 * none. */
static polytile_status create_server(pti_group *group, const pti_request *request,
                                     pti_recorded *recorded) {
    pti_transport *transport = group->transport;
    const pti_carrier carrier = {transport, transport->functions->carry, transport->by_any_thread};
    const int n_processes = pti_transport_count_processes(transport);
    pti_server_part *part;
    polytile_status status;
    PTI_TRY(pti_team_server_create(request->kernel, &recorded->prepared->instance->threads,
                                   request->options, true, &part));
    recorded->server = part == NULL ? NULL : pti_server_of_part(part);
    if (part == NULL || n_processes == 1 ||
        pti_server_join(recorded->server, n_processes, pti_transport_process(transport), &carrier))
        return POLYTILE_OK;
    pti_server_release(recorded->server);
    recorded->server = NULL;
    status = pti_fail_memory(group->ctx, polytile_kernel_get_name(request->kernel),
                             n_processes * (double)PTI_ERROR_BYTES);
done:
    return status;
}

/** Prepare a launch and record it, unless a failure is still to be reported. */
static polytile_status prepare_and_record(pti_group *group, const pti_request *request) {
    polytile_queue *queue = group->queue;
    pti_recorded recorded = {.kernel = (polytile_kernel *)(uintptr_t)request->kernel};
    int64_t n_cut = queue->n_cut;
    polytile_status status;
    PTI_TRY(check_members(group, request->kernel));
    PTI_TRY(pti_queue_prepare(queue, request, &recorded.prepared));
    if (!pti_group_make_positions(group, queue->n_arrays))
        PTI_TRY(pti_fail_memory(group->ctx, polytile_kernel_get_name(request->kernel),
                                queue->n_arrays * (double)sizeof *group->array));
    if (recorded.prepared->serial > n_cut)
        PTI_TRY(check_new(group, recorded.kernel, recorded.prepared));
    memcpy(recorded.values, request->values,
           (size_t)recorded.prepared->config.n_values * sizeof *recorded.values);
    PTI_TRY(fill_words(group, &recorded));
    PTI_TRY(create_server(group, request, &recorded));
    if (is_waiting_to_report(group))
        give_up_newest(group, recorded.server);
    else
        record_launch(group, recorded);
done:
    return status;
}

/** Run as many launches as can be recorded. Slots of the newest may wait for the program, which
 * speaks to them once this call has returned: they only begin. */
static void run_full_list(pti_group *group) {
    if (group->recorded[group->n_recorded - 1].server != NULL)
        pti_group_begin_messages(group->queue);
    else
        pti_group_run(group);
}

polytile_status pti_group_launch(polytile_queue *queue, const pti_request *request,
                                 polytile_status status) {
    pti_group *group = queue->group;
    if (group->is_given_up)
        return pti_group_check_given_up(group);
    pti_group_end_messages(group);
    if (status == POLYTILE_OK)
        status = prepare_and_record(group, request);
    status = compare_first(group, status);
    if (status == POLYTILE_OK && group->n_recorded == PTI_GROUP_LAUNCHES)
        run_full_list(group);
    else
        pti_group_begin_first(group);
    return status;
}
