#ifndef POLYTILE_PARTITION_PROVE_TILING_CHECK_H
#define POLYTILE_PARTITION_PROVE_TILING_CHECK_H

#include "base/text.h"
#include "partition/schedule/tiling.h"

/**
 * Prove that launches that run tile by tile do to every array that is stored what they do one after
 * the other, knowing only the instances and the margins.
 *
 * Each launch by itself has no conflict. Proves that every thread of a launch is in one tile; that
 * whatever a tile's part of a launch reads was computed by the last launch before that writes it,
 * in the same tile, if there is one, or is loaded; that what is loaded is nowhere stored, by no
 * tile, so that tiles may run in any order; that what is stored has its last launch's value, and is
 * stored by one tile. Threads that several tiles run get the same inputs in each, by the second of
 * these.
 *
 * Only sections are known whose dimensions follow one index each, by constant offsets, or none.
 * Tiles that meet no end of a launch domain or an array along an index are alike: of these one
 * stands for all.
 *
 * Returns true if all holds; otherwise false with the first violation in *why, or with why->failed
 * set: memory ran out.
 */
bool pti_tiling_check(const pti_tiling *tiling, pti_text *why);

#endif
