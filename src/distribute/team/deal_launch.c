#include "distribute/team/deal_launch.h"

#include "queue/cache.h"

/* Launches whose rows a policy deals out: a member that is free takes the next ones, or all members
 * have their own from the beginning.
 *
 * All that such a launch touches is in the memory that members share, in its newest version,
 * before it and after it: a member brings home at once what it computed, and others forget what
 * they had of it. So ownership says nothing about such launches, nor do they change who has what.
 */

static const pti_team_array *array_of_operand(const pti_team *team, const pti_prepared *prepared,
                                              int operand) {
    return &team->array[prepared->position[operand]];
}

/** Whether a later launch uses what one writes. */
static bool is_used_again(const pti_team *team, int at) {
    const pti_prepared *prepared = team->recorded[at].prepared;
    bool is_used = false;
    for (int a = 0; a < prepared->n_arrays; a++) {
        for (int k = at + 1; prepared->instance->operand[a].writes && k < team->n_recorded; k++)
            is_used |= pti_prepared_uses(team->recorded[k].prepared, prepared->position[a]);
    }
    return is_used;
}

/** Whether what a member owns of all arrays fits its device. */
static bool fits_share(const pti_team *team, int local) {
    int64_t free_bytes = pti_queue_get_usable_bytes(team->member[local]);
    for (int p = 0; p < team->n_arrays && free_bytes >= 0; p++) {
        const polytile_array *array = team->array[p].array;
        if (array == NULL)
            continue;
        polytile_domain owned = pti_ownership_hull(&team->ownership[p], local);
        if (!pti_box_is_empty(&owned))
            free_bytes -=
                pti_resident_padded(pti_memory_layout_of(&owned, array->element_bytes).size_bytes);
    }
    return free_bytes >= 0;
}

/** Whether there is memory of devices, and all arrays fit it in shares. */
static bool could_stay(const pti_team *team) {
    bool has_memory = false, fits = true;
    for (int m = 0; m < team->transport->n_local; m++) {
        bool is_in_place = team->member[m]->device->reaches_host;
        has_memory |= !is_in_place;
        fits &= is_in_place || fits_share(team, m);
    }
    return has_memory && fits;
}

static bool has_internal(const pti_team *team, const pti_prepared *prepared) {
    bool has = false;
    for (int a = 0; a < prepared->n_arrays; a++)
        has |= !prepared->instance->operand[a].is_scratch &&
               array_of_operand(team, prepared, a)->memory != PTI_TEAM_PROGRAMS;
    return has;
}

/** Whether every member can run any rows. */
static polytile_status find_room(const pti_team *team, const pti_prepared *prepared,
                                 bool *has_room) {
    polytile_status status = POLYTILE_OK;
    for (int m = 0; m < team->transport->n_local && status == POLYTILE_OK; m++)
        status = pti_team_check_box(team, prepared, m, &prepared->instance->threads);
    *has_room = status == POLYTILE_OK;
    if (status != POLYTILE_NO_FIT)
        return status;
    pti_clear_error(team->ctx);
    return POLYTILE_OK;
}

/** *why stays NULL if the rows of a launch may be dealt out, whether or not they can run apart. */
static polytile_status find_why_not(const pti_team *team, int at, const char **why) {
    const pti_prepared *prepared = team->recorded[at].prepared;
    polytile_status status;
    bool is_home = true, has_room;
    PTI_TRY(find_room(team, prepared, &has_room));
    *why = has_internal(team, prepared) ? "an internal array lies with the devices"
           : !has_room                  ? "a device has no room for it"
                                        : NULL;
    if (*why != NULL || !could_stay(team))
        return POLYTILE_OK;
    PTI_TRY(pti_team_find_home(team, prepared, &is_home));
    *why = !is_home                  ? "what it uses lies with the devices, and fits them"
           : is_used_again(team, at) ? "what it writes is used again, and fits the devices"
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

static polytile_status deal_launch(pti_team *team, int at, pti_dealt_sums *sums) {
    const pti_recorded *recorded = &team->recorded[at];
    polytile_status status;
    pti_team_open_gates(team);
    PTI_TRY(pti_team_wait_all(team));
    PTI_TRY(pti_team_bring_home(team, recorded->prepared));
    PTI_TRY(pti_team_deal_rows(team, recorded, sums));
done:
    return status;
}

polytile_status pti_team_deal_launch(pti_team *team, int at, bool *is_done) {
    const pti_instance *instance = team->recorded[at].prepared->instance;
    const char *why;
    pti_dealt_sums sums = {0};
    polytile_status status;
    *is_done = false;
    if (!team->options.deals_rows && !team->options.deals_sums)
        return POLYTILE_OK;
    why = find_obstacle(team->recorded[at].prepared, &sums);
    if (sums.pieces.n_sums == 0 && !team->options.deals_rows)
        return POLYTILE_OK;
    if (why == NULL)
        PTI_TRY(find_why_not(team, at, &why));
    *is_done = why == NULL;
    if (*is_done)
        PTI_TRY(deal_launch(team, at, &sums));
    else
        pti_log(team->ctx, PTI_LOG_INFO, "%s: owners compute, %s deals out no rows: %s",
                instance->kernel_name, team->options.policy.kind->name, why);
done:
    return status;
}
