#ifndef POLYTILE_PARTITION_CHOOSE_STRATEGY_H
#define POLYTILE_PARTITION_CHOOSE_STRATEGY_H

#include "partition/choose/search.h"
#include "partition/cut/family.h"

/* Strategies: what a plan is to be best at. */

/** What a finished plan costs, for choosing between plans. */
typedef struct pti_cost {
    int64_t n_kernels;
    int64_t moved_bytes;
    double seconds;
} pti_cost;

/** A way to choose among plans that fit: one row of a table, found by its name. */
typedef struct pti_strategy {
    const char *name;
    pti_objective objective;
    bool (*is_cheaper)(const pti_cost *a, const pti_cost *b);
    const pti_family *solved; /* the family whose equations give the shape; NULL: the best of those
                                 whose shapes are searched for */
    int max_buffers;          /* tried where the user leaves the number to us */
    int64_t max_superblocks;  /* of a plan; 0: as many as are ever planned */
    bool fewest_bytes;        /* chains of launches: the least traffic rather than the least time */
    bool may_repeat;          /* plans may have a period, and then any number of superblocks */
    bool is_trial; /* of a limit that nobody gave: what cannot be planned is no error, and
                                has no text */
} pti_strategy;

/** The strategy of a name, or the default for NULL; NULL when there is none of this name. */
const pti_strategy *pti_strategy_find(const char *name);

/** How many lanes a launch is dealt to, of those that are asked for; fewest kernels are in one. */
int pti_strategy_lanes(const pti_strategy *strategy, const pti_instance *instance, int64_t n_asked);

/** The names of all strategies, for messages: "min-time, min-traffic, ...". */
const char *pti_strategy_names(void);

#endif
