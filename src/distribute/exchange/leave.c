#include "distribute/exchange/transfers.h"

/** Members of a process have one memory: what they lack of other processes arrives once, at the
 * first of them. */
static void keep_one_a_process(int n_local, pti_exchange *exchange) {
    int n_kept = 0;
    for (int t = 0; t < exchange->n_transfers; t++) {
        pti_transfer *transfer = &exchange->transfer[t];
        if (transfer->to % n_local == 0 && transfer->from / n_local != transfer->to / n_local)
            exchange->transfer[n_kept++] = *transfer;
        else
            pti_boxes_free(&transfer->boxes);
    }
    exchange->n_transfers = n_kept;
}

bool pti_exchange_at_end(const pti_superstep *all, const bool *leaves, const pti_copies *copies,
                         const pti_processes *processes, pti_exchange *exchange) {
    pti_transfers transfers =
        pti_transfers_begin(all, processes->first, processes->n_listed, exchange);
    for (int a = 0; a < all->n_arrays; a++)
        if (leaves[a])
            pti_transfers_add_missing(&transfers, a, copies);
    const bool is_made = pti_transfers_end(&transfers);
    keep_one_a_process(processes->n_local, exchange);
    return is_made;
}
