#ifndef POLYTILE_DISTRIBUTE_EXCHANGE_TRANSFERS_H
#define POLYTILE_DISTRIBUTE_EXCHANGE_TRANSFERS_H

#include "distribute/exchange/exchange.h"

/* An exchange while it is made: those of all transfers that concern some members. */

/** An exchange while transfers are added. */
typedef struct pti_transfers {
    const pti_superstep *superstep; /* borrowed */
    int first;                      /* the members first .. first + n_local - 1 */
    int n_local;
    pti_exchange *exchange; /* what is made; borrowed */
    int64_t capacity;
    bool failed;
    pti_boxes reused; /* owned */
} pti_transfers;

/** Begin with no transfer; the exchange need not be initialised. */
pti_transfers pti_transfers_begin(const pti_superstep *superstep, int first, int n_local,
                                  pti_exchange *exchange);

/** Bring the exchange into order; false, with an empty one, if memory ran out. */
bool pti_transfers_end(pti_transfers *transfers);

/** Add a transfer of those of `elements` that `from` owns, to `to`. */
void pti_transfers_add_owned(pti_transfers *transfers, int array, int from, int to,
                             const pti_boxes *elements);

/** Add a transfer of `elements`, which `from` has, to `to`. */
void pti_transfers_add(pti_transfers *transfers, int array, int from, int to,
                       const pti_boxes *elements);

/** Add transfers of all that members lack of an array. */
void pti_transfers_add_missing(pti_transfers *transfers, int array, const pti_copies *copies);

static inline bool pti_transfers_is_local(const pti_transfers *transfers, int member) {
    return member >= transfers->first && member < transfers->first + transfers->n_local;
}

/** Bring remote writes to their owners after a superstep of one launch: elements that others than
 * their owners wrote. */
void pti_remote_writes_to_owners(pti_transfers *transfers);

#endif
