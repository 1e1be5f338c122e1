#include "base/mix.h"
#include "distribute/group/run.h"
#include "distribute/members/member_array.h"

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

bool pti_group_make_positions(pti_group *group, int n_arrays) {
    int former = group->n_arrays;
    int n_local = group->transport->n_local, n_members = group->transport->n_members;
    if (n_arrays <= former)
        return true;
    pti_group_forget_prepared(group);
    if (!grow_list(&group->array, former, n_arrays, sizeof *group->array) ||
        !grow_list(&group->ownership, former, n_arrays, sizeof *group->ownership) ||
        !grow_list(&group->is_shared, former, n_arrays, sizeof *group->is_shared) ||
        !grow_list(&group->is_lent, former, n_arrays, sizeof *group->is_lent) ||
        !grow_list(&group->member_arrays, former * n_local, n_arrays * n_local,
                   sizeof *group->member_arrays) ||
        !grow_list(&group->copies.extra, former * n_members, n_arrays * n_members,
                   sizeof *group->copies.extra))
        return false;
    group->copies.n_arrays = n_arrays;
    group->n_arrays = n_arrays;
    return true;
}

/** Give an array a position in the group, with its ownership. */
static polytile_status add_group_array(pti_group *group, polytile_array *array,
                                       pti_group_memory memory,
                                       const pti_distribution *distribution) {
    int position = array->position, n_members = group->transport->n_members;
    polytile_array **member = calloc((size_t)group->transport->n_local, sizeof *member);
    if (member == NULL || !pti_group_make_positions(group, position + 1)) {
        free(member);
        return pti_fail_memory(group->ctx, array->name, n_members * (double)sizeof(pti_boxes));
    }
    pti_ownership ownership =
        pti_ownership_of(&array->domain, n_members, group->options.grid, distribution);
    if (!pti_ownership_ask(&ownership)) {
        free(member);
        return pti_fail_memory(group->ctx, array->name, PTI_UNKNOWN_BYTES);
    }
    group->array[position] = (pti_group_array){
        .array = array, .memory = memory, .member = member, .ownership = ownership};
    group->ownership[position] = ownership;
    group->is_shared[position] = group->transport->shares_memory && memory == PTI_GROUP_PROGRAMS;
    group->is_lent[position] = false;
    pti_group_forget_prepared(group);
    pti_group_touch_copies(group);
    return pti_copies_give_all(&group->copies, position, &array->domain)
               ? POLYTILE_OK
               : pti_fail_memory(group->ctx, array->name, n_members * (double)sizeof(pti_boxes));
}

/** Destroy a member's array after the launches that use it; their failure is reported later. */
static void end_member(polytile_array *member) {
    if (member != NULL && member->queue != NULL)
        pti_queue_wait_for(member->queue, PTI_WANT_RELATED, 1, &member);
    polytile_array_destroy(member);
}

/** Free the position of an array, with what members have of it. */
static void remove_array(pti_group *group, int position) {
    int n_members = group->transport->n_members, n_local = group->transport->n_local;
    if (position >= group->n_arrays || group->array[position].array == NULL)
        return;
    for (int m = 0; m < n_members; m++)
        pti_boxes_free(&group->copies.extra[position * n_members + m]);
    for (int m = 0; m < n_local; m++) {
        end_member(group->array[position].member[m]);
        group->member_arrays[position * n_local + m] = NULL;
    }
    free(group->array[position].member);
    pti_group_forget_made(group, position);
    group->is_shallow = false;
    group->array[position] = (pti_group_array){0};
    group->is_shared[position] = group->is_lent[position] = false;
    pti_group_forget_prepared(group);
    pti_group_touch_copies(group);
}

polytile_status pti_group_attach(polytile_queue *queue, int n_arrays,
                                 polytile_array *const *arrays) {
    pti_group *group = queue->group;
    polytile_status status = POLYTILE_OK;
    pti_group_end_begun(group);
    for (int a = 0; a < n_arrays; a++)
        PTI_TRY(
            add_group_array(group, arrays[a], PTI_GROUP_PROGRAMS, &group->options.distribution));
done:
    for (int a = 0; status != POLYTILE_OK && a < n_arrays; a++)
        remove_array(group, arrays[a]->position);
    return status;
}

polytile_status pti_group_create_array(polytile_queue *queue, polytile_array *array) {
    pti_group *group = queue->group;
    pti_group_end_begun(group);
    polytile_status status =
        add_group_array(group, array, PTI_GROUP_QUEUES, &group->options.distribution);
    if (status != POLYTILE_OK)
        remove_array(group, array->position);
    return status;
}

static polytile_status extend_over_owned(pti_group *group, int position) {
    polytile_status status = POLYTILE_OK;
    for (int m = 0; m < group->transport->n_local; m++) {
        polytile_domain owned =
            pti_ownership_hull(&group->array[position].ownership, group->transport->first + m);
        PTI_TRY(pti_group_extend_array(group, position, m, &owned));
    }
done:
    return status;
}

polytile_status pti_group_add_distributed(pti_group *group, polytile_array *array,
                                          const pti_distribution *distribution) {
    const pti_distribution *given =
        distribution == NULL ? &group->options.distribution : distribution;
    polytile_status status;
    pti_group_end_begun(group);
    PTI_TRY(
        pti_ownership_check(group->ctx, group->transport->n_members, group->options.grid, given));
    PTI_TRY(add_group_array(group, array, PTI_GROUP_OWN, given));
    PTI_TRY(extend_over_owned(group, array->position));
done:
    if (status != POLYTILE_OK)
        remove_array(group, array->position);
    return status;
}

/** Gather all that processes send or lack of arrays that the program has; false when memory runs
 * out. */
static bool gather_transfers(const pti_group *group, int n_arrays, polytile_array *const *arrays,
                             pti_exchange *all) {
    const pti_superstep superstep = {.n_arrays = group->n_arrays,
                                     .ownerships = group->ownership,
                                     .n_members = group->transport->n_members};
    const pti_processes processes = {group->transport->first, group->transport->n_local,
                                     group->transport->n_local};
    bool *leaves = calloc((size_t)group->n_arrays + 1, sizeof *leaves);
    for (int a = 0; a < n_arrays && leaves != NULL; a++)
        leaves[arrays[a]->position] = !arrays[a]->is_internal;
    bool is_made =
        leaves != NULL && pti_exchange_at_end(&superstep, leaves, &group->copies, &processes, all);
    free(leaves);
    return is_made;
}

/** Make the program's memory of arrays the same on every process; of internal ones it has none. */
static polytile_status make_memory_equal(pti_group *group, int n_arrays,
                                         polytile_array *const *arrays, polytile_status status) {
    pti_exchange all = {0};
    status = pti_group_settle_arrays(group, n_arrays, arrays, status);
    if (!gather_transfers(group, n_arrays, arrays, &all) && status == POLYTILE_OK)
        status = pti_fail_memory(group->ctx, arrays[0]->name, sizeof(pti_boxes));
    status = pti_group_exchange_memory(group, &all, status);
    pti_exchange_free(&all);
    return status;
}

/** Compare whether all processes detach the same arrays; one that failed before may lack some.
 * Errors: INVALID. */
static polytile_status compare_detached(pti_group *group, int n_arrays,
                                        polytile_array *const *arrays) {
    char words[128];
    pti_group_call call = {pti_mix(0, n_arrays), words};
    bool differs;
    if (group->is_given_up)
        return pti_group_check_given_up(group);
    for (int a = 0; a < n_arrays; a++)
        call.hash = pti_mix(call.hash, arrays[a]->position);
    snprintf(words, sizeof words, "%d arrays leave%s%.64s", n_arrays,
             n_arrays > 0 ? ", first " : "", n_arrays > 0 ? arrays[0]->name : "");
    return pti_group_compare(group, &call, POLYTILE_OK, &differs);
}

static bool has_attached(int n_arrays, polytile_array *const *arrays) {
    int a = 0;
    while (a < n_arrays && arrays[a]->is_internal)
        a++;
    return a < n_arrays;
}

polytile_status pti_group_detach(polytile_queue *queue, int n_arrays,
                                 polytile_array *const *arrays) {
    pti_group *group = queue->group;
    pti_group_run_to_end(group, &(pti_group_last){n_arrays, arrays, pti_group_begin_leaving});
    pti_error first = {0};
    pti_error_keep(&first, group->ctx, pti_group_wait(group));
    for (int a = 0; a < n_arrays; a++)
        pti_group_begin_leaving(group, arrays[a]);
    for (int a = 0; a < n_arrays; a++)
        pti_error_keep(&first, group->ctx, pti_group_finish_leaving(group, arrays[a]));
    polytile_status compared = compare_detached(group, n_arrays, arrays);
    pti_error_keep(&first, group->ctx, compared);
    polytile_status status = pti_error_restore(group->ctx, &first);
    if (compared == POLYTILE_OK && !pti_transport_is_alone(group->transport) &&
        has_attached(n_arrays, arrays))
        status = make_memory_equal(group, n_arrays, arrays, status);
    for (int a = 0; a < n_arrays; a++) {
        if (status != POLYTILE_OK && group->array[arrays[a]->position].is_written)
            pti_array_set_complete(arrays[a], false);
        remove_array(group, arrays[a]->position);
    }
    return status;
}
