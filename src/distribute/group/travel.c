#include "distribute/group/run.h"

#include "distribute/exchange/transfers.h"

#include <stdlib.h>

/* Elements that travel between processes apart from supersteps, in the memory that programs gave:
 * what rows wrote that were dealt out to members of several processes, and arrays that leave. */

/** The program's memory of arrays that it attached, for every local member. */
static polytile_array **list_memory(const pti_group *group) {
    const int n_local = group->transport->n_local;
    polytile_array **memory = calloc((size_t)(group->n_arrays * n_local) + 1, sizeof *memory);
    for (int k = 0; memory != NULL && k < group->n_arrays * n_local; k++) {
        polytile_array *array = group->array[k / n_local].array;
        if (array != NULL && !array->is_internal)
            memory[k] = array;
    }
    return memory;
}

static polytile_status run_messages(pti_group *group, pti_messages *messages) {
    const pti_error kept = group->failure;
    group->failure = (pti_error){0};
    pti_group_run_list(&(pti_list_run){.group = group,
                                       .list = messages->list,
                                       .messages = messages,
                                       .last = &(pti_group_last){0}});
    const polytile_status status = pti_error_restore(group->ctx, &group->failure);
    group->failure = kept;
    return status;
}

polytile_status pti_group_exchange_memory(pti_group *group, const pti_exchange *exchange,
                                          polytile_status status) {
    pti_transport *transport = group->transport;
    pti_joint_list list = {0};
    polytile_array **memory = list_memory(group);
    pti_messages messages = {.list = &list, .arrays = memory};
    const bool is_made = memory != NULL && pti_joint_plan_messages(exchange, transport->first,
                                                                   transport->n_local, &list);
    if (!is_made && status == POLYTILE_OK)
        status = pti_fail_memory(group->ctx, "what travels between ranks", sizeof(pti_boxes));
    if (status == POLYTILE_OK && transport->functions->open != NULL)
        status = transport->functions->open(transport, &messages);
    status = transport->functions->agree(transport, status);
    if (status == POLYTILE_OK)
        status = transport->functions->agree(transport, run_messages(group, &messages));
    pti_transport_forget(transport, &messages);
    pti_joint_list_free(&list);
    free(memory);
    return status;
}

/* Elements that lie apart. */

/** Add transfers of what a process made of an array to all others, as far as they are from or to
 * this one. */
static void add_from_process(const pti_group *group, int position, int process,
                             pti_transfers *transfers) {
    const pti_transport *transport = group->transport;
    const int own = pti_transport_process(transport), n_local = transport->n_local;
    for (int q = 0; q < pti_transport_count_processes(transport); q++) {
        if (q != process && (q == own || process == own))
            pti_transfers_add(transfers, position, process * n_local, q * n_local,
                              &group->array[position].made[process]);
    }
}

/** Gather what lies apart of arrays that settle; false: memory ran out. */
static bool gather_made(const pti_group *group, pti_exchange *exchange) {
    const int n_processes = pti_transport_count_processes(group->transport);
    pti_transfers transfers =
        pti_transfers_begin(NULL, group->transport->first, group->transport->n_local, exchange);
    for (int k = 0; k < group->n_arrays * n_processes; k++)
        if (group->array[k / n_processes].settles)
            add_from_process(group, k / n_processes, k % n_processes, &transfers);
    return pti_transfers_end(&transfers);
}

static bool does_any_settle(const pti_group *group) {
    bool does = false;
    for (int p = 0; p < group->n_arrays; p++)
        does |= group->array[p].settles;
    return does;
}

/** Bring the arrays together that settle: all processes know which. */
static polytile_status settle_marked(pti_group *group, polytile_status status) {
    pti_exchange exchange = {0};
    if (!does_any_settle(group))
        return status;
    if (!gather_made(group, &exchange) && status == POLYTILE_OK)
        status = pti_fail_memory(group->ctx, "rows that travel between ranks",
                                 (double)sizeof(polytile_domain));
    status = pti_group_exchange_memory(group, &exchange, status);
    for (int p = 0; p < group->n_arrays; p++) {
        if (group->array[p].settles && status == POLYTILE_OK)
            pti_group_forget_made(group, p);
        group->array[p].settles = false;
    }
    pti_exchange_free(&exchange);
    return status;
}

polytile_status pti_group_settle_all(pti_group *group, polytile_status status) {
    for (int p = 0; p < group->n_arrays; p++)
        group->array[p].settles = group->array[p].is_apart;
    return settle_marked(group, status);
}

polytile_status pti_group_settle_arrays(pti_group *group, int n_arrays,
                                        polytile_array *const *arrays, polytile_status status) {
    for (int a = 0; a < n_arrays; a++)
        group->array[arrays[a]->position].settles = group->array[arrays[a]->position].is_apart;
    return settle_marked(group, status);
}

/** Return whether a launch replaces all elements of an array, and reads none. */
static bool replaces_array(const pti_prepared *prepared, int position) {
    bool does = false;
    for (int a = 0; a < prepared->n_arrays; a++) {
        if (prepared->position[a] != position)
            continue;
        if (does || !prepared->is_overwritten[a])
            return false;
        does = true;
    }
    return does;
}

polytile_status pti_group_settle_used(pti_group *group, const pti_prepared *prepared,
                                      polytile_status status) {
    for (int a = 0; a < prepared->n_arrays; a++) {
        const int position = prepared->position[a];
        if (!prepared->instance->operand[a].is_scratch)
            group->array[position].settles =
                group->array[position].is_apart && !replaces_array(prepared, position);
    }
    return settle_marked(group, status);
}
