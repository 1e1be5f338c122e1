#include "distribute/team/chunks_launch.h"

#include "queue/cache.h"

#include <stdlib.h>

/* Self-scheduled launches: a member that is done with a chunk takes the next one.
 *
 * All that such a launch touches is in the memory that members share, in its newest version,
 * before it and after it: a member brings home at once what it computed, and others forget what
 * they had of it. So ownership says nothing about such launches, nor do they change who has what.
 */

static const pti_team_array *array_of(const pti_team *team, const pti_prepared *prepared,
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
        has |= array_of(team, prepared, a)->memory != PTI_TEAM_PROGRAMS;
    return has;
}

/** Whether every member can run any chunk. */
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

/** *why stays NULL if a launch may be self-scheduled, whether or not it can be cut. */
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

/** The array's domains; of those that are written only the rows that are. */
static polytile_domain *find_domains(const pti_team *team, const pti_prepared *prepared) {
    polytile_domain *domains = calloc((size_t)team->n_arrays + 1, sizeof *domains);
    for (int p = 0; domains != NULL && p < team->n_arrays; p++) {
        if (team->array[p].array != NULL)
            domains[p] = team->array[p].array->domain;
    }
    for (int a = 0; domains != NULL && a < prepared->n_arrays; a++) {
        const polytile_domain *written = &prepared->written[a];
        if (!pti_box_is_empty(written))
            domains[prepared->position[a]].range[0] =
                (polytile_range){written->range[0].lo, written->range[0].hi, 1};
    }
    return domains;
}

static pti_chunks_obstacle cut_into_chunks(const pti_team *team, const pti_prepared *prepared,
                                           pti_chunk_list *chunks) {
    const pti_shared_launch launch = {.call = pti_prepared_call(prepared), .runs_once = true};
    polytile_domain *domains = find_domains(team, prepared);
    pti_chunks_obstacle obstacle =
        domains == NULL
            ? PTI_CHUNKS_NO_MEMORY
            : pti_chunk_list_cut(&launch, domains, team->n_arrays,
                                 PTI_CHUNKS_PER_LAUNCH * team->transport->n_local, chunks);
    free(domains);
    return obstacle;
}

static polytile_status run_launch_in_chunks(pti_team *team, int at, const pti_chunk_list *chunks) {
    const pti_recorded *recorded = &team->recorded[at];
    polytile_status status;
    PTI_TRY(pti_team_wait_all(team));
    PTI_TRY(pti_team_bring_home(team, recorded->prepared));
    PTI_TRY(pti_team_take_chunks(team, recorded, chunks));
done:
    return status;
}

polytile_status pti_team_run_chunks(pti_team *team, int at, bool *is_done) {
    const char *name = team->recorded[at].prepared->instance->kernel_name;
    const char *why;
    pti_chunk_list chunks = {0};
    polytile_status status;
    *is_done = false;
    if (!team->options.by_chunks)
        return POLYTILE_OK;
    PTI_TRY(find_why_not(team, at, &why));
    if (why == NULL) {
        pti_chunks_obstacle obstacle = cut_into_chunks(team, team->recorded[at].prepared, &chunks);
        *is_done = obstacle == PTI_CHUNKS_NONE;
        why = pti_chunks_obstacle_text(obstacle);
    }
    if (*is_done)
        PTI_TRY(run_launch_in_chunks(team, at, &chunks));
    else
        pti_log(team->ctx, PTI_LOG_INFO, "%s: shared in blocks, not from the pool: %s", name, why);
done:
    pti_chunk_list_free(&chunks);
    return status;
}
