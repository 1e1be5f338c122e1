#ifndef POLYTILE_LAUNCH_ACCESS_CHECK_SURVIVOR_H
#define POLYTILE_LAUNCH_ACCESS_CHECK_SURVIVOR_H

#include <polytile/implementation.h>
#include <signal.h>
#include <stdbool.h>
#include <time.h>

/**
 * A host function that also runs on values that the program never had: an index leads anywhere, a
 * divisor is zero, a list never ends. That is no fault of the program, so a run that crashes, or
 * takes much longer than others, is left: it has ended, not returned.
 *
 * It does not move while it is open. The thread that opens it uses it.
 */
typedef struct pti_survivor {
    const polytile_implementation *original; /* borrowed; NULL: it is not open */
    polytile_implementation implementation;  /* to be run in place of the original */
    bool is_strange;                         /* values are such, in the next run */
    bool has_ended;                          /* the newest one of these */
    double usual_s; /* of processor time, which a run on the program's values took at most */
    timer_t timer;
    bool has_timer;
    sigset_t mask; /* the thread's before */
} pti_survivor;

/** Open a survivor of an implementation that has a host function. */
void pti_survivor_open(const polytile_implementation *original, pti_survivor *survivor);
void pti_survivor_close(pti_survivor *survivor);

#endif
