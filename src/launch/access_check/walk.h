#ifndef POLYTILE_LAUNCH_ACCESS_CHECK_WALK_H
#define POLYTILE_LAUNCH_ACCESS_CHECK_WALK_H

#include "launch/access_check/blocks.h"
#include "launch/access_check/trial.h"

/* The walk over the boxes of threads that the check runs. */

/** Visits a box of threads; sets *goes_on to false to end the walk. */
typedef polytile_status pti_box_visit(const polytile_domain *threads, bool *goes_on, void *user);

/** Visit boxes of blocks that together are the launch: several if there are enough blocks, each
 * with small copies. Errors: those of a visit, which is the last. */
polytile_status pti_visit_boxes(const pti_trial *trial, const pti_grid *grid, pti_box_visit *visit,
                                void *user);

#endif
