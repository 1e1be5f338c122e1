#include "distribute/deal/launch.h"

#include "distribute/members/gates.h"
#include "distribute/members/launch_box.h"
#include "distribute/members/wait.h"

/* Launches whose rows a policy deals out: a member that is free takes the next ones, or all members
 * have their own from the beginning.
 *
 * All that such a launch touches is in the memory that members share, in its newest version,
 * before it and, within one process, after it (spread.c has other processes): a member brings to
 * the host at once what it computed, and others forget what they had of it. So ownership says
 * nothing about such launches, nor do they change who has what.
 */

static const pti_group_array *array_of_operand(const pti_group *group, const pti_prepared *prepared,
                                               int operand) {
    return &group->array[prepared->position[operand]];
}

/** Return whether a later launch uses what one writes. */
static bool is_used_again(const pti_group *group, int at) {
    const pti_prepared *prepared = group->recorded[at].prepared;
    bool is_used = false;
    for (int a = 0; a < prepared->n_arrays; a++) {
        for (int k = at + 1; prepared->instance->operand[a].writes && k < group->n_recorded; k++)
            is_used |= pti_prepared_uses(group->recorded[k].prepared, prepared->position[a]);
    }
    return is_used;
}

/** Return whether what a member owns of all arrays fits its device. */
static bool fits_share(const pti_group *group, int local) {
    int64_t free_bytes = pti_queue_get_usable_bytes(group->member[local]);
    for (int p = 0; p < group->n_arrays && free_bytes >= 0; p++) {
        const polytile_array *array = group->array[p].array;
        if (array == NULL)
            continue;
        polytile_domain owned = pti_ownership_hull(&group->ownership[p], local);
        if (!pti_box_is_empty(&owned))
            free_bytes -=
                pti_resident_padded(pti_memory_layout_of(&owned, array->element_bytes).size_bytes);
    }
    return free_bytes >= 0;
}

/** Return whether there is memory of devices, and all arrays fit it in shares. */
static bool could_stay(const pti_group *group) {
    bool has_memory = false, fits = true;
    for (int m = 0; m < group->transport->n_local; m++) {
        bool is_in_place = group->member[m]->device->reaches_host;
        has_memory |= !is_in_place;
        fits &= is_in_place || fits_share(group, m);
    }
    return has_memory && fits;
}

static bool has_internal(const pti_group *group, const pti_prepared *prepared) {
    bool has = false;
    for (int a = 0; a < prepared->n_arrays; a++)
        has |= !prepared->instance->operand[a].is_scratch &&
               array_of_operand(group, prepared, a)->memory != PTI_GROUP_PROGRAMS;
    return has;
}

/** Find whether every member can run any rows. */
static polytile_status find_room(const pti_group *group, const pti_prepared *prepared,
                                 bool *has_room) {
    polytile_status status = POLYTILE_OK;
    for (int m = 0; m < group->transport->n_local && status == POLYTILE_OK; m++)
        status = pti_group_check_box(group, prepared, m, &prepared->instance->threads);
    *has_room = status == POLYTILE_OK;
    if (status != POLYTILE_NO_FIT)
        return status;
    pti_clear_error(group->ctx);
    return POLYTILE_OK;
}

/** *why stays NULL if the rows of a launch may be dealt out, whether or not they can run apart. */
static polytile_status find_why_not(const pti_group *group, int at, const char **why) {
    const pti_prepared *prepared = group->recorded[at].prepared;
    polytile_status status;
    bool is_on_host = true, has_room;
    PTI_TRY(find_room(group, prepared, &has_room));
    *why = has_internal(group, prepared) ? "an internal array lies with the devices"
           : !has_room                   ? "a device has no room for it"
                                         : NULL;
    if (*why != NULL || !could_stay(group))
        return POLYTILE_OK;
    PTI_TRY(pti_group_find_on_host(group, prepared, &is_on_host));
    *why = !is_on_host                ? "what it uses lies with the devices, and fits them"
           : is_used_again(group, at) ? "what it writes is used again, and fits the devices"
                                      : NULL;
done:
    return status;
}

/** Why rows cannot run apart; NULL: they can. No two threads write an element that is not reduced
 * into, but what is not known exactly has to lie apart. */
static const char *find_obstacle(const pti_prepared *prepared, pti_dealt_sums *sums) {
    const pti_instance *instance = prepared->instance;
    for (int a = 0; a < instance->n_operands; a++) {
        const pti_operand *operand = &instance->operand[a];
        if (operand->writes && operand->partial && !pti_operand_lies_apart(instance, a, 0))
            return "of what a row writes only the hull is known";
    }
    return pti_row_pieces_find(prepared, &sums->pieces);
}

/* Within one process. */

static polytile_status deal_launch(pti_group *group, int at, pti_dealt_sums *sums) {
    const pti_recorded *recorded = &group->recorded[at];
    polytile_status status;
    pti_group_open_gates(group);
    pti_group_set_room(group, false);
    PTI_TRY(pti_group_wait_all(group));
    PTI_TRY(pti_group_fetch_touched(group, recorded->prepared));
    PTI_TRY(pti_group_deal_rows(group, recorded, sums, NULL));
done:
    return status;
}

static polytile_status deal_within(pti_group *group, int at, pti_dealt_sums *sums,
                                   const char **why) {
    polytile_status status;
    PTI_TRY(find_why_not(group, at, why));
    if (*why == NULL)
        PTI_TRY(deal_launch(group, at, sums));
done:
    return status;
}

/* Over several processes. All processes find alike what the launch alone tells; what each finds for
 * itself, of its devices and its memory, they tell each other. Whoever has failed takes part. */

static const char *find_why_not_anywhere(const pti_group *group, int at) {
    const pti_prepared *prepared = group->recorded[at].prepared;
    bool lies_with_members = false;
    for (int a = 0; a < prepared->n_arrays; a++)
        lies_with_members |= !prepared->instance->operand[a].is_scratch &&
                             array_of_operand(group, prepared, a)->memory == PTI_GROUP_OWN;
    return lies_with_members               ? "an array is divided over the ranks"
           : has_internal(group, prepared) ? "an internal array lies with the devices"
           : is_used_again(group, at)
               ? "what it writes is used again, and would travel to all ranks in between"
               : NULL;
}

static polytile_status find_obstacle_here(const pti_group *group, const pti_prepared *prepared,
                                          pti_deal_obstacle *obstacle) {
    bool has_room, is_on_host;
    polytile_status status;
    PTI_TRY(find_room(group, prepared, &has_room));
    PTI_TRY(pti_group_find_on_host(group, prepared, &is_on_host));
    *obstacle = !has_room     ? PTI_DEAL_NO_ROOM
                : !is_on_host ? PTI_DEAL_NOT_HERE
                              : PTI_DEAL_NO_OBSTACLE;
done:
    return status;
}

/** Finish all that comes before the launch, and begin the counter. */
static polytile_status get_ready(pti_group *group, const pti_prepared *prepared,
                                 pti_deal_obstacle *obstacle) {
    pti_counter *counter = group->transport->counter;
    polytile_status status = pti_error_restore(group->ctx, &group->failure);
    PTI_TRY(status);
    PTI_TRY(find_obstacle_here(group, prepared, obstacle));
    pti_group_open_gates(group);
    pti_group_set_room(group, false);
    PTI_TRY(pti_group_wait_all(group));
    if (*obstacle == PTI_DEAL_NO_OBSTACLE)
        PTI_TRY(pti_group_bring_touched(group, prepared));
    PTI_TRY(counter->functions->clear(counter));
done:
    return status;
}

/** Deal out a launch together with other processes, if all can. */
static polytile_status deal_over_processes(pti_group *group, int at, pti_dealt_sums *sums,
                                           const char **why) {
    static const char *const words[PTI_DEAL_N_OBSTACLES] = {
        [PTI_DEAL_NO_ROOM] = "a device of a rank has no room for it",
        [PTI_DEAL_NOT_HERE] = "what it uses lies with the ranks that own it",
    };
    const pti_recorded *recorded = &group->recorded[at];
    pti_deal_obstacle obstacle = PTI_DEAL_NO_OBSTACLE;
    pti_gathered told = {0};
    *why = find_why_not_anywhere(group, at);
    if (*why != NULL)
        return POLYTILE_OK;
    polytile_status status = get_ready(group, recorded->prepared, &obstacle);
    PTI_TRY(pti_deal_meet(group, recorded, sums->pieces.n_sums == 0, status, &obstacle, &told));
    *why = words[obstacle];
    if (*why == NULL)
        PTI_TRY(pti_group_deal_rows(group, recorded, sums, &told));
done:
    pti_gathered_free(&told);
    return status;
}

polytile_status pti_group_deal_launch(pti_group *group, int at, bool *is_done) {
    const pti_instance *instance = group->recorded[at].prepared->instance;
    const bool is_alone = pti_transport_is_alone(group->transport);
    const char *why;
    pti_dealt_sums sums = {0};
    polytile_status status = POLYTILE_OK;
    *is_done = false;
    if (instance->is_team || (!group->options.deals_rows && !group->options.deals_sums))
        return POLYTILE_OK;
    why = find_obstacle(group->recorded[at].prepared, &sums);
    if (sums.pieces.n_sums == 0 && !group->options.deals_rows)
        return POLYTILE_OK;
    if (why == NULL)
        status = is_alone ? deal_within(group, at, &sums, &why)
                          : deal_over_processes(group, at, &sums, &why);
    *is_done = why == NULL;
    if (why != NULL && status == POLYTILE_OK)
        pti_log(group->ctx, PTI_LOG_INFO, "%s: owners compute, %s deals out no rows: %s",
                instance->kernel_name, group->options.policy.kind->name, why);
    return status;
}
