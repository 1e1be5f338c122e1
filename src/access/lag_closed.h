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
 * The lag between two sections of one array in closed form, exactly; no allocation, tenths of a
 * microsecond.
 *
 * False, and *lag is unfinished, if they meet, or may, and have no closed form: one is no box, or
 * windows follow both indices by coefficients that it takes more than PTI_MAX_LAG_PERIOD elements
 * to bring back into step.
 */
bool pti_lag_closed(const pti_cut_section *earlier, const pti_cut_section *later, pti_lag *lag);

enum { PTI_MAX_LAG_PERIOD = 64 };

#endif
