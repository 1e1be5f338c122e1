#include "distribute/exchange/joint_plan.h"

#include <stdlib.h>
#include <string.h>

/* All processes together, with what is so before and after. */

static void fill_holding(const pti_joint_request *request, const pti_copies *copies, bool is_lent,
                         int array, int member, pti_joint_holding *holding) {
    const pti_ownership *ownership = &request->superstep->ownerships[array];
    bool is_shared = request->is_shared[array];
    pti_ownership_boxes(ownership, member, &holding->valid);
    pti_boxes_copy(&holding->loose, &holding->valid);
    pti_boxes_copy(&holding->reading, &holding->valid);
    pti_boxes_unite(&holding->valid, pti_copies_get(copies, array, member), pti_boxes_add);
    if (!is_shared)
        pti_boxes_assign(&holding->loose, &ownership->domain);
    if (!is_shared || is_lent)
        pti_boxes_assign(&holding->reading, &ownership->domain);
}

static bool is_holding_lost(const pti_joint_holding *holding) {
    return holding->valid.failed || holding->loose.failed || holding->reading.failed;
}

/** lent_after: [list * n_arrays + array]. False when memory runs out. */
static bool fill_holdings(const pti_joint_request *request, const pti_copies *before,
                          const pti_copies *after, const bool *lent_after,
                          pti_joint_schedule *schedule) {
    const int n_local = schedule->n_members / schedule->n_lists;
    bool failed = false;
    for (int a = 0; a < schedule->n_arrays; a++) {
        schedule->array[a].domain = request->superstep->ownerships[a].domain;
        schedule->array[a].name = request->name == NULL ? "an array" : request->name[a];
        for (int q = 0; q < schedule->n_members && schedule->array[a].domain.n_dims > 0; q++) {
            pti_joint_holding *holding = pti_joint_at(schedule, schedule->before, a, q);
            fill_holding(request, before, request->is_lent[a], a, q, holding);
            failed |= is_holding_lost(holding);
            holding = pti_joint_at(schedule, schedule->after, a, q);
            fill_holding(request, after, lent_after[q / n_local * schedule->n_arrays + a], a, q,
                         holding);
            failed |= is_holding_lost(holding);
        }
    }
    return !failed;
}

static void describe_members(const pti_joint_request *request, int n_local,
                             pti_joint_schedule *schedule) {
    for (int q = 0; q < schedule->n_members; q++) {
        schedule->keeps[q] = request->keeps;
        for (int a = 0; a < schedule->n_arrays; a++)
            if (request->is_shared[a])
                schedule->memory[a * schedule->n_members + q] = q - q % n_local;
    }
    for (int l = 0; l < schedule->n_launches; l++)
        schedule->launch[l] = request->superstep->launch[l].call;
}

static bool fill_schedule(const pti_joint_request *request, int n_local, const pti_copies *before,
                          const pti_copies *after, pti_joint_schedule *schedule) {
    const int n_arrays = schedule->n_arrays;
    bool *lent = calloc((size_t)(n_arrays * schedule->n_lists) + 1, sizeof *lent);
    bool filled = lent != NULL;
    describe_members(request, n_local, schedule);
    for (int k = 0; filled && k < schedule->n_lists; k++) {
        bool *of_list = lent + k * n_arrays;
        memcpy(of_list, request->is_lent, (size_t)n_arrays * sizeof *of_list);
        filled = pti_joint_plan_list(request, k * n_local, n_local, &schedule->list[k]);
        pti_joint_lend(request, k * n_local, n_local, of_list);
    }
    filled = filled && fill_holdings(request, before, after, lent, schedule);
    free(lent);
    return filled;
}

pti_joint_schedule *pti_joint_plan(const pti_joint_request *request, int n_local,
                                   const pti_copies *before, const pti_copies *after) {
    const pti_superstep *superstep = request->superstep;
    pti_joint_schedule *schedule =
        pti_joint_create(superstep->n_members, superstep->n_arrays, superstep->n_launches,
                         superstep->n_members / n_local);
    if (schedule != NULL && !fill_schedule(request, n_local, before, after, schedule)) {
        pti_joint_free(schedule);
        return NULL;
    }
    return schedule;
}
