#ifndef POLYTILE_DISTRIBUTE_STRAYS_H
#define POLYTILE_DISTRIBUTE_STRAYS_H

#include "distribute/transfers.h"

/** Strays are the elements that others than their owners write: bring them home after a group of
 * one launch. */
void pti_strays_bring_home(pti_transfers *transfers);

#endif
