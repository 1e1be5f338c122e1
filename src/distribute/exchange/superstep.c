#include "distribute/exchange/superstep.h"

#include "base/checked.h"
#include "distribute/exchange/depth.h"

#include <stdlib.h>

bool pti_superstep_has_scratch(const pti_superstep *known) {
    const int n_launches = (int)pti_min(known->n_launches, PTI_SUPERSTEP_LAUNCHES);
    bool has = false;
    for (int l = 0; l < n_launches; l++)
        has |= pti_instance_has_scratch(known->launch[l].call.instance);
    return has;
}

bool pti_superstep_shares_results(const pti_call *call, const bool *is_shared) {
    bool shares = false;
    for (int o = 0; o < call->instance->n_operands; o++)
        shares |= call->instance->operand[o].writes && is_shared[call->array[o]];
    return shares;
}

/** Return whether members reduce into the same elements, which are combined; *failed: memory ran
 * out. */
static bool is_combined(const pti_superstep *known, int launch, bool *failed) {
    const pti_home home = pti_home_of(&known->launch[launch], known->ownerships);
    *failed = home.failed;
    return home.splits;
}

/** Return how many of a superstep's launches come before one that is to be alone: all, or all but
 * the last; 0 when memory runs out. */
static int count_before_combined(const pti_superstep *superstep) {
    const int n = superstep->n_launches;
    bool failed = false;
    const bool is_last_alone = n > 1 && is_combined(superstep, n - 1, &failed);
    return failed ? 0 : n - is_last_alone;
}

pti_superstep pti_superstep_next(const pti_superstep *known, const pti_superstep_limits *limits) {
    pti_superstep next = *known;
    int64_t most = pti_min(known->n_launches,
                           limits->sends ? PTI_SENDING_SUPERSTEP_LAUNCHES : PTI_SUPERSTEP_LAUNCHES);
    if (limits->most_launches > 0)
        most = pti_min(most, limits->most_launches);
    next.n_launches = most > 1 && !limits->runs_once
                          ? pti_superstep_depth(known, PTI_DEPTH_FRACTION, (int)most)
                          : 1;
    if (limits->keeps)
        next.n_launches = count_before_combined(&next);
    return next;
}

bool pti_superstep_cut(const pti_superstep *superstep, int first, int n_local, pti_copies *copies,
                       pti_superstep_parts *parts) {
    *parts = (pti_superstep_parts){.first = first, .n_local = n_local};
    parts->work = calloc((size_t)n_local + 1, sizeof *parts->work);
    if (parts->work == NULL)
        return false;
    for (int m = 0; m < n_local; m++)
        if (!pti_work_create(superstep, first + m, &parts->work[m]))
            return false;
    return pti_exchange_before(superstep, copies, first, n_local, &parts->before) &&
           pti_exchange_after(superstep, copies, first, n_local, &parts->after);
}

void pti_superstep_parts_free(pti_superstep_parts *parts) {
    for (int m = 0; parts->work != NULL && m < parts->n_local; m++)
        pti_work_free(&parts->work[m]);
    free(parts->work);
    pti_exchange_free(&parts->before);
    pti_exchange_free(&parts->after);
    *parts = (pti_superstep_parts){0};
}
