#include "distribute/exchange/exchange.h"

#include "access/set/boxes.h"
#include "distribute/exchange/transfers.h"

#include <string.h>

/* Let a local member get what it lacks from its owners, of which few are near. */
static void bring_from_all(pti_transfers *transfers, int array, int member,
                           const pti_boxes *missing) {
    const pti_ownership *ownership = &transfers->superstep->ownerships[array];
    int first[POLYTILE_MAX_DIMS], last[POLYTILE_MAX_DIMS], at[POLYTILE_MAX_DIMS];
    polytile_domain hull = pti_boxes_bounding(missing, ownership->domain.n_dims);
    if (!pti_ownership_find_owners(ownership, &hull, first, last))
        return;
    memcpy(at, first, sizeof at);
    do {
        int from = pti_member_grid_at(&ownership->grid, at);
        if (from != member)
            pti_transfers_add_owned(transfers, array, from, member, missing);
    } while (pti_member_grid_next(&ownership->grid, first, last, at));
}

/* Let another process's member get what it lacks from local owners, which may have only a part of
 * it. */
static void bring_from_local(pti_transfers *transfers, int array, int member,
                             const pti_boxes *missing) {
    for (int from = transfers->first; from < transfers->first + transfers->n_local; from++)
        pti_transfers_add_owned(transfers, array, from, member, missing);
}

/* Add what a member lacks of `missing`, of which what it has is taken away; owned is reused. */
static void bring_missing(pti_transfers *transfers, int array, int member, const pti_boxes *extra,
                          pti_boxes *missing, pti_boxes *owned) {
    pti_ownership_boxes(&transfers->superstep->ownerships[array], member, owned);
    pti_boxes_subtract_all(missing, owned);
    pti_boxes_subtract_all(missing, extra);
    if (missing->n_boxes == 0)
        return;
    if (pti_transfers_is_local(transfers, member))
        bring_from_all(transfers, array, member, missing);
    else
        bring_from_local(transfers, array, member, missing);
}

/* Add all that a member lacks; missing and owned are reused. */
static void bring_all(pti_transfers *transfers, const pti_work *work, int member,
                      pti_copies *copies, pti_boxes *missing, pti_boxes *owned) {
    for (int a = 0; a < work->n_arrays; a++) {
        pti_boxes *extra = pti_copies_get(copies, a, member);
        if (work->reads[a].n_boxes == 0)
            continue;
        pti_boxes_copy(missing, &work->reads[a]);
        bring_missing(transfers, a, member, extra, missing, owned);
        pti_boxes_unite(extra, missing, pti_boxes_gather);
        transfers->failed = transfers->failed || extra->failed;
    }
}

void pti_transfers_add_missing(pti_transfers *transfers, int array, const pti_copies *copies) {
    const pti_superstep *superstep = transfers->superstep;
    pti_boxes missing = {0}, owned = {0};
    for (int q = 0; q < superstep->n_members && !transfers->failed; q++) {
        pti_boxes_assign(&missing, &superstep->ownerships[array].domain);
        bring_missing(transfers, array, q, pti_copies_get(copies, array, q), &missing, &owned);
        transfers->failed = transfers->failed || missing.failed || owned.failed;
    }
    pti_boxes_free(&missing);
    pti_boxes_free(&owned);
}

bool pti_exchange_before(const pti_superstep *superstep, pti_copies *copies, int first, int n_local,
                         pti_exchange *exchange) {
    pti_transfers transfers = pti_transfers_begin(superstep, first, n_local, exchange);
    pti_boxes missing = {0}, owned = {0};
    for (int q = 0; q < superstep->n_members && !transfers.failed; q++) {
        pti_work work;
        transfers.failed = !pti_work_create(superstep, q, &work);
        if (!transfers.failed)
            bring_all(&transfers, &work, q, copies, &missing, &owned);
        transfers.failed = transfers.failed || missing.failed || owned.failed;
        pti_work_free(&work);
    }
    pti_boxes_free(&missing);
    pti_boxes_free(&owned);
    return pti_transfers_end(&transfers);
}
