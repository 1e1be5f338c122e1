#ifndef POLYTILE_PARTITION_PING_PONG_MARGINS_H
#define POLYTILE_PARTITION_PING_PONG_MARGINS_H

#include "base/context.h"
#include "base/text.h"
#include "partition/schedule/tiling.h"

/**
 * Find the least margins with which launches that read at constant offsets run tile by tile, and
 * which arrays can be stored: those of which no launch reads an element that only later ones write.
 *
 * `why` gets the reason if there are none; the tiling is then empty. What is found passes
 * pti_tiling_check().
 *
 * Shapes  tiling: n_launches, call, n_arrays, rounds and tile are given.
 * Errors  NO_MEMORY, without a text. Owns    The caller frees *tiling with pti_tiling_free(), also
 *         after an error.
 */
polytile_status pti_margins_find(pti_tiling *tiling, pti_text *why);

#endif
