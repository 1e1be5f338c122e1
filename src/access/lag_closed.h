#ifndef POLYTILE_ACCESS_LAG_CLOSED_H
#define POLYTILE_ACCESS_LAG_CLOSED_H

#include "access/lag.h"

/** One section of a launch that is cut along an index. */
typedef struct pti_cut_section {
    const pti_instance *instance;
    const pti_section *section;
    int index;
} pti_cut_section;

/**
 * Find the exact lag between two sections of one array in closed form, in tenths of a microsecond,
 * without allocation.
 *
 * If they may meet and have no closed form, returns false and leaves *lag unfinished: one is no
 * box, or coefficients take more than PTI_MAX_LAG_PERIOD elements to come back into step.
 */
bool pti_lag_closed(const pti_cut_section *earlier, const pti_cut_section *later, pti_lag *lag);

enum { PTI_MAX_LAG_PERIOD = 64 };

#endif
