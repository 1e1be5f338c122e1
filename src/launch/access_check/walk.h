#ifndef POLYTILE_LAUNCH_ACCESS_CHECK_WALK_H
#define POLYTILE_LAUNCH_ACCESS_CHECK_WALK_H

#include "launch/access_check/cover.h"
#include "launch/access_check/trial.h"

/** Called with a box of threads; *goes_on becomes false where that is enough. */
typedef polytile_status pti_walk_visit(const polytile_domain *threads, bool *goes_on, void *user);

/** Visit boxes of blocks that together are the launch: several if there are as many blocks, and as
 * many as it takes for the copies of one to be small. Errors: those of a visit, which is the
 * last. */
polytile_status pti_walk_boxes(const pti_trial *trial, const pti_units *units,
                               pti_walk_visit *visit, void *user);

#endif
