#include "distribute/exchange.h"

#include "distribute/transfers.h"

/* What a member lacks goes to it from the owners, of which those meet it that are local, or all if
 * the member is. */
static void bring(pti_transfers *transfers, int array, int member, const pti_boxes *missing) {
    bool is_local = pti_transfers_is_local(transfers, member);
    int first = is_local ? 0 : transfers->first;
    int n = is_local ? transfers->group->n_members : transfers->n_local;
    for (int from = first; from < first + n; from++)
        if (from != member)
            pti_transfers_fetch(transfers, array, from, member, missing);
}

/* missing and owned are scratch. */
static void bring_all(pti_transfers *transfers, const pti_work *work, int member,
                      pti_copies *copies, pti_boxes *missing, pti_boxes *owned) {
    for (int a = 0; a < work->n_arrays; a++) {
        pti_boxes *extra = pti_copies_get(copies, a, member);
        if (work->reads[a].n_boxes == 0)
            continue;
        pti_ownership_boxes(&transfers->group->ownerships[a], member, owned);
        pti_boxes_copy(missing, &work->reads[a]);
        pti_boxes_subtract_all(missing, owned);
        pti_boxes_subtract_all(missing, extra);
        if (missing->n_boxes == 0)
            continue;
        bring(transfers, a, member, missing);
        for (int b = 0; b < missing->n_boxes; b++)
            pti_boxes_gather(extra, &missing->box[b]);
        transfers->failed = transfers->failed || extra->failed;
    }
}

bool pti_exchange_before(const pti_group *group, pti_copies *copies, int first, int n_local,
                         pti_exchange *exchange) {
    pti_transfers transfers = pti_transfers_begin(group, first, n_local, exchange);
    pti_boxes missing = {0}, owned = {0};
    for (int q = 0; q < group->n_members && !transfers.failed; q++) {
        pti_work work;
        transfers.failed = !pti_work_create(group, q, &work);
        if (!transfers.failed)
            bring_all(&transfers, &work, q, copies, &missing, &owned);
        transfers.failed = transfers.failed || missing.failed || owned.failed;
        pti_work_free(&work);
    }
    pti_boxes_free(&missing);
    pti_boxes_free(&owned);
    return pti_transfers_end(&transfers);
}
