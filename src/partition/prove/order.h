#ifndef POLYTILE_PARTITION_PROVE_ORDER_H
#define POLYTILE_PARTITION_PROVE_ORDER_H

#include "base/text.h"
#include "partition/schedule/schedule.h"

/**
 * Prove that launches whose superblocks are interleaved give what they give one after the other.
 *
 * Of two launches that touch an element, one of them writing it, the earlier must be done with it
 * before the later begins: nothing is read that a later launch wrote already, and nothing is
 * written that a later launch read or wrote already. Then the newest version that a superblock
 * finds, by the list's order, is the one that its launch is to find. A list in launch order is not
 * looked at; of sections whose elements are not known exactly, all that they may touch counts.
 *
 * Shapes  schedule: its launches, superblocks and operations are well formed.
 * Errors  False with the operation, both launches, the array and the box in *why.
 */
bool pti_check_order(const pti_schedule *schedule, pti_text *why);

#endif
