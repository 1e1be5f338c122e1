#ifndef POLYTILE_PARTITION_WINDOW_TILES_ASIDE_H
#define POLYTILE_PARTITION_WINDOW_TILES_ASIDE_H

#include "base/context.h"
#include "base/text.h"
#include "partition/schedule/schedule.h"

/**
 * Find memory for what launches of a schedule that run in two parts store aside (tiling.h): it is
 * apart from all that lies on the device. All of them use the same, one after the other.
 *
 * To be called again when places in the arena have changed. `why` gets how much there is none of;
 * these launches run one by one then.
 *
 * Errors  NO_MEMORY, without a text.
 */
polytile_status pti_tiles_place_aside(pti_schedule *schedule, pti_text *why);

/** So many launches at least, one after the other, are worth memory aside. */
enum { PTI_TILES_LEAST_ASIDE = 5 };

/** Return the bytes that a launch like the one before stores aside if many follow like that; 0: it
 * needs none, or does not run in tiles. */
int64_t pti_tiles_aside_bytes(const pti_call *call, const pti_call *before);

#endif
