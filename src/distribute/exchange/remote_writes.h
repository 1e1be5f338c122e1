#ifndef POLYTILE_DISTRIBUTE_EXCHANGE_REMOTE_WRITES_H
#define POLYTILE_DISTRIBUTE_EXCHANGE_REMOTE_WRITES_H

#include "distribute/exchange/transfers.h"

/** Strays are the elements that others than their owners write: bring them home after a group of
 * one launch. */
void pti_remote_writes_bring_home(pti_transfers *transfers);

#endif
