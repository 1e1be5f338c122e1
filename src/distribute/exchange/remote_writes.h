#ifndef POLYTILE_DISTRIBUTE_EXCHANGE_REMOTE_WRITES_H
#define POLYTILE_DISTRIBUTE_EXCHANGE_REMOTE_WRITES_H

#include "distribute/exchange/transfers.h"

/** Bring remote writes home after a superstep of one launch: elements that others than their owners
 * wrote. */
void pti_remote_writes_bring_home(pti_transfers *transfers);

#endif
