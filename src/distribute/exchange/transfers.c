#include "distribute/exchange/transfers.h"

#include "access/set/boxes.h"
#include "base/list.h"

#include <stdlib.h>

pti_transfers pti_transfers_begin(const pti_superstep *superstep, int first, int n_local,
                                  pti_exchange *exchange) {
    *exchange = (pti_exchange){0};
    return (pti_transfers){
        .superstep = superstep, .first = first, .n_local = n_local, .exchange = exchange};
}

void pti_exchange_free(pti_exchange *exchange) {
    for (int t = 0; t < exchange->n_transfers; t++)
        pti_boxes_free(&exchange->transfer[t].boxes);
    free(exchange->transfer);
    *exchange = (pti_exchange){0};
}

static int compare_transfers(const void *first, const void *second) {
    const pti_transfer *a = first, *b = second;
    int order = (a->array > b->array) - (a->array < b->array);
    if (order == 0)
        order = (a->from > b->from) - (a->from < b->from);
    return order != 0 ? order : (a->to > b->to) - (a->to < b->to);
}

bool pti_transfers_end(pti_transfers *transfers) {
    pti_exchange *exchange = transfers->exchange;
    for (int t = 0; t < exchange->n_transfers; t++)
        transfers->failed = transfers->failed || exchange->transfer[t].boxes.failed;
    transfers->failed = transfers->failed || transfers->reused.failed;
    pti_boxes_free(&transfers->reused);
    if (transfers->failed)
        pti_exchange_free(exchange);
    else if (exchange->n_transfers > 0)
        qsort(exchange->transfer, (size_t)exchange->n_transfers, sizeof *exchange->transfer,
              compare_transfers);
    return !transfers->failed;
}

static bool grow_transfers(pti_transfers *transfers) {
    pti_exchange *exchange = transfers->exchange;
    if (!PTI_GROW(exchange->transfer, exchange->n_transfers, &transfers->capacity))
        transfers->failed = true;
    return !transfers->failed;
}

void pti_transfers_add(pti_transfers *transfers, int array, int from, int to,
                       const pti_boxes *elements) {
    if (elements->n_boxes == 0 || !grow_transfers(transfers))
        return;
    pti_exchange *exchange = transfers->exchange;
    pti_transfer *transfer = &exchange->transfer[exchange->n_transfers++];
    *transfer = (pti_transfer){.array = array, .from = from, .to = to};
    pti_boxes_copy(&transfer->boxes, elements);
    pti_boxes_merge(&transfer->boxes);
    transfer->n_elements = pti_boxes_count(&transfer->boxes);
}

void pti_transfers_add_owned(pti_transfers *transfers, int array, int from, int to,
                             const pti_boxes *elements) {
    const pti_ownership *ownership = &transfers->superstep->ownerships[array];
    polytile_domain hull = pti_ownership_hull(ownership, from);
    if (!pti_boxes_meet(elements, &hull))
        return;
    pti_boxes owned = {0};
    pti_ownership_boxes(ownership, from, &owned);
    pti_boxes_intersect(&transfers->reused, elements, &owned);
    pti_transfers_add(transfers, array, from, to, &transfers->reused);
    pti_boxes_free(&owned);
}
