#ifndef POLYTILE_DISTRIBUTE_POLICY_COUNTER_H
#define POLYTILE_DISTRIBUTE_POLICY_COUNTER_H

#include "base/context.h"

/* Where the units of a launch take rows from, one after the other. Units of one process have a
 * number in common; those of several have words that all processes reach, and see there what the
 * others have done. */

/** What a unit lets units of other processes see: 64 bits each. */
typedef struct pti_shown_unit {
    int64_t taken_rows;
    int64_t done_rows;
    int64_t done_pieces;
    int64_t refused_at; /* as pti_dealt.refused_at */
    double busy_s;
    double squares_s2;
    double slowest_s;
    double begin_s; /* of the oldest piece, if one runs; all processes began the launch at 0 */
} pti_shown_unit;

typedef struct pti_counter pti_counter;

/** What a counter can do. */
typedef struct pti_counter_functions {
    /** Count n more rows as taken; *before: those that were before. It may count more rows than
     * there are. */
    polytile_status (*take)(pti_counter *counter, int64_t n, int64_t *before);
    /** Let other processes see a unit of this one. This and all below are NULL where all units are
     * of one process. */
    polytile_status (*show)(pti_counter *counter, int unit, const pti_shown_unit *shown);
    /** See how many rows are taken, and n_units units, which are all: those of others perhaps in
     * the middle of a change. */
    polytile_status (*look)(pti_counter *counter, int64_t *n_taken, int n_units,
                            pti_shown_unit *shown);
    /** Begin from 0. Nobody takes, shows or looks until all processes have called it and met. */
    polytile_status (*clear)(pti_counter *counter);
    /** Let other processes go on that take, show or look. */
    polytile_status (*serve)(pti_counter *counter);
    /** together: all processes do so now; else this one need not wait for any. */
    void (*close)(pti_counter *counter, bool together);
} pti_counter_functions;

/** The first member of every counter's own structure. */
struct pti_counter {
    const pti_counter_functions *functions;
    /** How often a process calls serve() at least while it waits; 0: it need not. */
    double serve_every_s;
};

/** A counter of one process. */
typedef struct pti_counter_within {
    pti_counter counter;
    int64_t n_taken;
} pti_counter_within;

pti_counter_within pti_counter_of_one_process(void);

#endif
