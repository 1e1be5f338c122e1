#ifndef POLYTILE_PARTITION_PROVE_TILING_CHECK_H
#define POLYTILE_PARTITION_PROVE_TILING_CHECK_H

#include "base/text.h"
#include "partition/schedule/tiling.h"

/**
 * Prove that launches that run tile by tile do to every array that is stored what they do one after
 * the other, knowing only the instances and the margins.
 *
 * Each launch by itself has no conflict. Proves:
 * - Every thread of a launch is in one tile.
 * - What a tile's part of a launch reads was computed in the same tile, by the last launch before
 *   that writes it. If no launch does, it is loaded.
 * - What is loaded is stored by no tile, unless it is stored apart, so that tiles may run in any
 *   order.
 * - What is stored has its last launch's value, and is stored by one tile.
 *
 * Threads that several tiles run get the same inputs in each, by the second of these.
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
