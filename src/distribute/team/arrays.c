#include "base/mix.h"
#include "distribute/team/state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** Grow a list to `n` entries, the new ones zero; false when memory runs out. */
static bool grow_list(void *list, int former, int n, size_t size) {
    void **at = list;
    char *larger = realloc(*at, (size_t)n * size);
    if (larger == NULL)
        return false;
    memset(larger + (size_t)former * size, 0, (size_t)(n - former) * size);
    *at = larger;
    return true;
}

bool pti_team_make_positions(pti_team *team, int n_arrays) {
    int former = team->n_arrays;
    int n_local = team->transport->n_local, n_members = team->transport->n_members;
    if (n_arrays <= former)
        return true;
    pti_team_forget_prepared(team);
    if (!grow_list(&team->array, former, n_arrays, sizeof *team->array) ||
        !grow_list(&team->ownership, former, n_arrays, sizeof *team->ownership) ||
        !grow_list(&team->is_shared, former, n_arrays, sizeof *team->is_shared) ||
        !grow_list(&team->is_lent, former, n_arrays, sizeof *team->is_lent) ||
        !grow_list(&team->reached, former * n_local, n_arrays * n_local, sizeof *team->reached) ||
        !grow_list(&team->copies.extra, former * n_members, n_arrays * n_members,
                   sizeof *team->copies.extra))
        return false;
    team->copies.n_arrays = n_arrays;
    team->n_arrays = n_arrays;
    return true;
}

/** Every member has every element, in its newest version. */
static bool give_all_copies(pti_team *team, int position) {
    bool has_failed = false;
    for (int m = 0; m < team->transport->n_members; m++) {
        pti_boxes *extra = &team->copies.extra[position * team->transport->n_members + m];
        pti_boxes_assign(extra, &team->array[position].array->domain);
        has_failed |= extra->failed;
        extra->failed = false;
    }
    pti_team_touch_copies(team);
    return !has_failed;
}

static polytile_status add_array(pti_team *team, polytile_array *array, pti_team_memory memory,
                                 const pti_distribution *distribution) {
    int position = array->position, n_members = team->transport->n_members;
    polytile_array **member = calloc((size_t)team->transport->n_local, sizeof *member);
    if (member == NULL || !pti_team_make_positions(team, position + 1)) {
        free(member);
        return pti_fail_memory(team->ctx, array->name, n_members * (double)sizeof(pti_boxes));
    }
    pti_ownership ownership =
        pti_ownership_of(&array->domain, n_members, team->options.grid, distribution);
    if (!pti_ownership_deal(&ownership)) {
        free(member);
        return pti_fail_memory(team->ctx, array->name, PTI_UNKNOWN_BYTES);
    }
    team->array[position] = (pti_team_array){
        .array = array, .memory = memory, .member = member, .ownership = ownership};
    team->ownership[position] = ownership;
    team->is_shared[position] = team->transport->shares_memory && memory == PTI_TEAM_PROGRAMS;
    team->is_lent[position] = false;
    pti_team_forget_prepared(team);
    return give_all_copies(team, position)
               ? POLYTILE_OK
               : pti_fail_memory(team->ctx, array->name, n_members * (double)sizeof(pti_boxes));
}

/** Destroy a member's array after the launches that use it; their failure is reported later. */
static void end_member(polytile_array *member) {
    if (member != NULL && member->queue != NULL)
        pti_queue_wait_for(member->queue, PTI_WANT_RELATED, 1, &member);
    polytile_array_destroy(member);
}

static void remove_array(pti_team *team, int position) {
    int n_members = team->transport->n_members, n_local = team->transport->n_local;
    if (position >= team->n_arrays || team->array[position].array == NULL)
        return;
    for (int m = 0; m < n_members; m++)
        pti_boxes_free(&team->copies.extra[position * n_members + m]);
    for (int m = 0; m < n_local; m++) {
        end_member(team->array[position].member[m]);
        team->reached[position * n_local + m] = NULL;
    }
    free(team->array[position].member);
    team->is_shallow = false;
    team->array[position] = (pti_team_array){0};
    team->is_shared[position] = team->is_lent[position] = false;
    pti_team_forget_prepared(team);
    pti_team_touch_copies(team);
}

polytile_status pti_team_attach(polytile_queue *queue, int n_arrays,
                                polytile_array *const *arrays) {
    pti_team *team = queue->team;
    polytile_status status = POLYTILE_OK;
    for (int a = 0; a < n_arrays; a++)
        PTI_TRY(add_array(team, arrays[a], PTI_TEAM_PROGRAMS, &team->options.distribution));
done:
    for (int a = 0; status != POLYTILE_OK && a < n_arrays; a++)
        remove_array(team, arrays[a]->position);
    return status;
}

polytile_status pti_team_create_array(polytile_queue *queue, polytile_array *array) {
    pti_team *team = queue->team;
    polytile_status status = add_array(team, array, PTI_TEAM_QUEUES, &team->options.distribution);
    if (status != POLYTILE_OK)
        remove_array(team, array->position);
    return status;
}

static polytile_status reach_owned(pti_team *team, int position) {
    polytile_status status = POLYTILE_OK;
    for (int m = 0; m < team->transport->n_local; m++) {
        polytile_domain owned =
            pti_ownership_hull(&team->array[position].ownership, team->transport->first + m);
        PTI_TRY(pti_team_reach(team, position, m, &owned));
    }
done:
    return status;
}

polytile_status pti_team_add_distributed(pti_team *team, polytile_array *array,
                                         const pti_distribution *distribution) {
    const pti_distribution *given =
        distribution == NULL ? &team->options.distribution : distribution;
    polytile_status status;
    PTI_TRY(pti_ownership_check(team->ctx, team->transport->n_members, team->options.grid, given));
    PTI_TRY(add_array(team, array, PTI_TEAM_OWN, given));
    PTI_TRY(reach_owned(team, array->position));
done:
    if (status != POLYTILE_OK)
        remove_array(team, array->position);
    return status;
}

/** All that processes send or lack of arrays that the program has; false when memory runs out. */
static bool gather_transfers(const pti_team *team, int n_arrays, polytile_array *const *arrays,
                             pti_exchange *all) {
    const pti_superstep superstep = {.n_arrays = team->n_arrays,
                                     .ownerships = team->ownership,
                                     .n_members = team->transport->n_members};
    const pti_processes of = {team->transport->first, team->transport->n_local,
                              team->transport->n_local};
    bool *leaves = calloc((size_t)team->n_arrays + 1, sizeof *leaves);
    for (int a = 0; a < n_arrays && leaves != NULL; a++)
        leaves[arrays[a]->position] = !arrays[a]->is_internal;
    bool is_made =
        leaves != NULL && pti_exchange_at_end(&superstep, leaves, &team->copies, &of, all);
    free(leaves);
    return is_made;
}

/** The program's memory of arrays that left their members' queues. */
static polytile_array **list_memory(const pti_team *team, int n_arrays,
                                    polytile_array *const *arrays) {
    const int n_local = team->transport->n_local;
    polytile_array **memory = calloc((size_t)(team->n_arrays * n_local) + 1, sizeof(*memory));
    for (int a = 0; memory != NULL && a < n_arrays; a++)
        for (int m = 0; m < n_local && !arrays[a]->is_internal; m++)
            memory[arrays[a]->position * n_local + m] = arrays[a];
    return memory;
}

static polytile_status run_messages(pti_team *team, pti_messages *messages) {
    team->failure = (pti_error){0};
    pti_team_run_list(&(pti_list_run){
        .team = team, .list = messages->list, .messages = messages, .last = &(pti_team_last){0}});
    return pti_error_restore(team->ctx, &team->failure);
}

/** Make the program's memory of arrays the same on every process; of internal ones it has none. */
static polytile_status make_memory_equal(pti_team *team, int n_arrays,
                                         polytile_array *const *arrays, polytile_status status) {
    pti_transport *transport = team->transport;
    pti_exchange all = {0};
    pti_joint_list list = {0};
    polytile_array **memory = list_memory(team, n_arrays, arrays);
    pti_messages messages = {.list = &list, .arrays = memory};
    bool is_made = memory != NULL && gather_transfers(team, n_arrays, arrays, &all) &&
                   pti_joint_plan_messages(&all, transport->first, transport->n_local, &list);
    if (!is_made && status == POLYTILE_OK)
        status = pti_fail_memory(team->ctx, arrays[0]->name, sizeof(pti_boxes));
    if (status == POLYTILE_OK && transport->functions->open != NULL)
        status = transport->functions->open(transport, &messages);
    status = transport->functions->agree(transport, status);
    if (status == POLYTILE_OK)
        status = transport->functions->agree(transport, run_messages(team, &messages));
    pti_transport_forget(transport, &messages);
    pti_joint_list_free(&list);
    pti_exchange_free(&all);
    free(memory);
    return status;
}

/** Whether all processes detach the same arrays; one that failed before may lack some. Errors:
 * INVALID. */
static polytile_status compare_detached(pti_team *team, int n_arrays,
                                        polytile_array *const *arrays) {
    char words[128];
    pti_team_call call = {pti_mix(0, n_arrays), words};
    bool differs;
    if (team->is_given_up)
        return pti_team_check_given_up(team);
    for (int a = 0; a < n_arrays; a++)
        call.hash = pti_mix(call.hash, arrays[a]->position);
    snprintf(words, sizeof words, "%d arrays leave%s%.64s", n_arrays,
             n_arrays > 0 ? ", first " : "", n_arrays > 0 ? arrays[0]->name : "");
    return pti_team_compare(team, &call, POLYTILE_OK, &differs);
}

static bool has_attached(int n_arrays, polytile_array *const *arrays) {
    int a = 0;
    while (a < n_arrays && arrays[a]->is_internal)
        a++;
    return a < n_arrays;
}

polytile_status pti_team_detach(polytile_queue *queue, int n_arrays,
                                polytile_array *const *arrays) {
    pti_team *team = queue->team;
    pti_team_run_to_end(team, &(pti_team_last){n_arrays, arrays, pti_team_begin_leaving});
    pti_error first = {0};
    pti_error_keep(&first, team->ctx, pti_team_wait(team));
    for (int a = 0; a < n_arrays; a++)
        pti_team_begin_leaving(team, arrays[a]);
    for (int a = 0; a < n_arrays; a++)
        pti_error_keep(&first, team->ctx, pti_team_finish_leaving(team, arrays[a]));
    polytile_status compared = compare_detached(team, n_arrays, arrays);
    pti_error_keep(&first, team->ctx, compared);
    polytile_status status = pti_error_restore(team->ctx, &first);
    if (compared == POLYTILE_OK && !pti_transport_is_alone(team->transport) &&
        has_attached(n_arrays, arrays))
        status = make_memory_equal(team, n_arrays, arrays, status);
    for (int a = 0; a < n_arrays; a++) {
        if (status != POLYTILE_OK && team->array[arrays[a]->position].is_written)
            pti_array_set_complete(arrays[a], false);
        remove_array(team, arrays[a]->position);
    }
    return status;
}
