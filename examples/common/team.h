#ifndef EXAMPLES_TEAM_H
#define EXAMPLES_TEAM_H

#include "session.h"

/* What the examples share whose threads send each other messages. */

/** A launch of a team kernel. */
typedef struct team_launch {
    const char *declaration;
    const polytile_implementation *implementation;
    int64_t n_slots;
    int n_arrays;
    polytile_array *const *arrays;
    void (*fill)(polytile_array *const *arrays); /* sets the arrays before each repetition */
    /** The program's part in the messages, of several ranks the first one's; NULL: it has none, or
     * there is no queue. */
    polytile_status (*talk)(session *s, polytile_array *const *arrays);
} team_launch;

/** Plan a launch, and run it as often as asked for, unless only planning. */
polytile_status team_run(session *s, const team_launch *launch, result *r);

/** Return how many slots keep the machine's cores busy, one more being busy with messages; of
 * several ranks those of the largest machine. All ranks call it. */
int64_t team_count_slots(const session *s);

#endif
