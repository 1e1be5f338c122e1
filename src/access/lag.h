#ifndef POLYTILE_ACCESS_LAG_H
#define POLYTILE_ACCESS_LAG_H

#include "access/footprint/instance.h"

/* How far a launch must stay behind an earlier one when their slabs are interleaved. */

/** A launch over arrays that it shares with others, cut into slabs along one of its indices. */
typedef struct pti_cut_launch {
    pti_call call;
    int index;
    int64_t offset; /* by which its slabs stay behind those of the first of several launches, in
                       threads: found out of lags, which do not depend on it */
} pti_cut_launch;

/** What keeps two launches apart. */
typedef struct pti_lag {
    bool conflicts;  /* they touch a common element, and one of them writes it */
    int64_t threads; /* the most by which the index of a thread of the earlier launch exceeds that
                        of a thread of the later one that it conflicts with; 0 if none does */
} pti_lag;

/**
 * Find the lag of a later launch behind an earlier one: all conflicts keep their order if thread j
 * of the later one runs after all threads i <= j + lag of the earlier one.
 *
 * A negative lag lets the later launch run ahead. Combining counts as reading and writing. The lag
 * is never too small, and exact if sections are and no operand is partial; of a partial one every
 * thread touches the launch's whole hull. Closed forms find it if sections are boxes; else isl
 * does, with the sections around braces; if isl gives up, it is what the launch domains allow.
 *
 * Errors  NO_MEMORY (isl), without a text, since there is no context here; *lag is then as it was.
 */
polytile_status pti_launch_lag(const pti_cut_launch *earlier, const pti_cut_launch *later,
                               pti_lag *lag);

/**
 * Bound the lag of a later launch in closed form: no conflict has a longer one.
 *
 * Returns whether it is the lag itself, as pti_launch_lag() finds it. Else *lag says that they
 * conflict, which they need not.
 */
bool pti_launch_lag_bound(const pti_cut_launch *earlier, const pti_cut_launch *later, pti_lag *lag);

/* lag_closed.c */

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

/** Bound the lag between two sections whose hulls meet, box or not, by each dimension that rises or
 * falls with the indices along which both launches are cut. */
int64_t pti_lag_most(const pti_cut_section *earlier, const pti_cut_section *later);

enum { PTI_MAX_LAG_PERIOD = 64 };

#endif
