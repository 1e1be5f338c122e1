#ifndef POLYTILE_DISTRIBUTE_POLICY_DEAL_H
#define POLYTILE_DISTRIBUTE_POLICY_DEAL_H

#include "distribute/policy/counter.h"
#include "distribute/policy/policy.h"

/* Dealing out the rows of one launch. Each row is dealt out once, whatever a policy answers.
 * Callers lock it, and say what time it is. */

/** The pieces that a unit may have at a time: one that it runs, and one after it. */
enum { PTI_DEAL_MAX_PIECES = 32 };

/** Consecutive rows of a launch. */
typedef struct pti_rows {
    int64_t first; /* from 0 */
    int64_t count; /* 0: none */
} pti_rows;

/** A unit while a launch is dealt out. */
typedef struct pti_dealt {
    pti_rows own; /* that it gets without asking the policy: of policies that split */
    int n_pieces; /* that it has, oldest first */
    int64_t piece[PTI_DEAL_MAX_PIECES]; /* rows of each */
    double begin_s;                     /* of the oldest */
    /** When nothing was for it: 1 and the pieces that all units had done then; 0: that was not so
     * since it last took some. */
    int64_t refused_at;
} pti_dealt;

/** A launch while its rows are dealt out. */
typedef struct pti_deal {
    polytile_context *ctx;
    const pti_policy *policy; /* borrowed */
    polytile_work work;
    polytile_unit *unit; /* owned, as is dealt; work.units */
    pti_dealt *dealt;
    bool was_clamped;
    pti_counter_within within; /* of one process */
    pti_counter *counter;      /* that, or of several processes; borrowed then */
    int first_own;             /* the units first_own .. first_own + n_own - 1 are this process's */
    int n_own;
    pti_shown_unit *shown;  /* of all units, where there are others; owned */
    polytile_status status; /* of the counter: if it has failed, nobody here takes any more */
} pti_deal;

/**
 * Begin to deal out a launch.
 *
 * Shapes  units: copied, n_units of them, at most PTI_DEAL_MAX_UNITS; what they have done is 0.
 * Errors  NO_MEMORY.
 * Owns    The caller ends it with pti_deal_end(), in any case.
 */
polytile_status pti_deal_begin(polytile_context *ctx, const pti_policy *policy, const char *kernel,
                               int64_t n_rows, int n_units, const polytile_unit *units,
                               pti_deal *deal);

/**
 * Have units of other processes, too, which take from a counter that all of these have cleared.
 *
 * Rows are dealt out by a policy that takes, then; all processes begin at time 0.
 * Errors  NO_MEMORY.
 */
polytile_status pti_deal_join(pti_deal *deal, pti_counter *counter, int first_own, int n_own);

/** The rows that a unit of this process gets next, now. None: nothing is left for it, or it has to
 * ask again when some unit is done with a piece. Where the policy refuses rows to all units and
 * none has any, they go to the fastest unit when it asks next. */
pti_rows pti_deal_take(pti_deal *deal, int unit, double now_s);

/** A unit is done with its oldest piece. */
void pti_deal_done(pti_deal *deal, int unit, double now_s);

/** Return whether all rows are dealt out, as far as is known here. */
bool pti_deal_is_over(const pti_deal *deal);

/** Deal out no more rows, in any process: the launch has failed. One that was never begun is
 * left alone: other processes then go on to the end. */
void pti_deal_stop(pti_deal *deal);

/** Say in the log if a plug-in's answers were clamped. */
void pti_deal_end(pti_deal *deal);

#endif
