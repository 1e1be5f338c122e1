#ifndef POLYTILE_ACCESS_LAG_ISL_H
#define POLYTILE_ACCESS_LAG_ISL_H

#include "access/lag_closed.h"

#include <isl/ctx.h>

/**
 * The lag between two sections of one array through isl, exactly; tenths of a millisecond at best.
 * Where isl gives up, they conflict, and the lag is what the launch domains allow.
 *
 * Errors  NO_MEMORY (no text).
 */
polytile_status pti_lag_isl(isl_ctx *isl, const pti_cut_section *earlier,
                            const pti_cut_section *later, pti_lag *lag);

#endif
