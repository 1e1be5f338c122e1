#ifndef POLYTILE_POLICY_H
#define POLYTILE_POLICY_H

#include <polytile/plan.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Policies: which unit runs which rows of a launch, and when. A row is all threads that agree in
 * the launch's first index. docs/policies.md has those of the library. */

/** A device, or a group of host threads, that runs rows. */
typedef struct polytile_unit {
    const char *device;  /* its text, such as "cuda:0" */
    int node;            /* that it belongs to, from 0 */
    int n_threads;       /* that run rows of it side by side; 0: as many as the device likes */
    int64_t fill_rows;   /* at least 1; with fewer at a time a part of it is idle */
    int64_t taken_rows;  /* of this launch, by this unit */
    int64_t done_rows;   /* of these */
    int64_t done_pieces; /* in which it did them */
    double piece_s;      /* that a piece costs beside its rows, about */
    double busy_s;       /* that the done rows took */
    double squares_s2;   /* of each done piece its seconds squared, over its rows, added up: more
                                than busy_s squared over done_rows, if rows differ */
    double slowest_s;    /* the most that a done piece took beyond what its other rows take on
                                average: as long as its slowest row, about */
    double running_s;    /* since it began the oldest piece that is not done; 0: all are */
    double prior_rows_per_s; /* as measured in earlier launches of the kernel; 0: not yet */
    int64_t reserved[4];     /* zeros */
} polytile_unit;

/** What is known of a launch while its rows are dealt out. */
typedef struct polytile_work {
    const char *kernel;
    int64_t n_rows;
    int64_t rows_left; /* that nobody has taken; the next ones taken are the first of these */
    int n_units;
    const polytile_unit *units;
    int64_t reserved[4]; /* zeros */
} polytile_work;

/**
 * A policy: one of the two functions, the other one is NULL.
 *
 * It answers by what it is given alone, keeps nothing, and may be called by any thread, by one at a
 * time for each launch. Whatever it answers, each row is run once, and results are the same:
 * answers are clamped, and the log says so once. If no unit gets anything while none runs, the
 * fastest one gets all that is left.
 */
typedef struct polytile_policy {
    const char
        *name; /* letters, digits, '_', '-' and '.', a letter first; as the text of a policy */
    /** Before the launch: a weight for each unit, which gets consecutive rows in
     * proportion to it. Those that are negative, or no finite number, count as 0. */
    void (*weigh)(const polytile_work *work, double *weights, void *user);
    /** When a unit is free: how many rows it takes; 0: none, until some unit is done with others.
     * Negative numbers count as 0, and larger ones than there are left as all of these. */
    int64_t (*take)(const polytile_work *work, int unit, void *user);
    void *user;          /* handed to the function */
    int64_t reserved[4]; /* zeros */
} polytile_policy;

/**
 * Give a context a policy, for the options of queues, by its name.
 *
 * Errors  INVALID (a name that is none, or that there is already; none of the functions, or both),
 *         NO_MEMORY.
 * Owns    The policy is copied; what `user` points to lives as long as the context.
 */
polytile_status polytile_policy_register(polytile_context *ctx, const polytile_policy *policy);

/** What to simulate; zero or NULL in a member means its default. */
typedef struct polytile_simulation_request {
    int n_units;           /* 1 to 1024 */
    const double *speeds;  /* of each unit: rows of cost 1 a second */
    int n_nodes;           /* 0: one that has all units */
    const int *node_units; /* of each node: how many of the units it has, in their order */
    int64_t n_rows;        /* 1 to 16,777,216 */
    const double *costs;   /* of each row; NULL: 1 each */
    int n_policies;        /* 0: equal, equal(node), weighted, self(1) and guided */
    const char *const *policies;
    int64_t reserved[4]; /* zeros */
} polytile_simulation_request;

/** Policies on simulated units: what each unit would run, and when; immutable. */
typedef struct polytile_simulation polytile_simulation;

/**
 * Simulate policies. A unit of speed s takes c / s seconds for a row of cost c; pieces cost
 * nothing, one row fills a unit, and of those that ask at the same time the first one is served
 * first. Policies that weigh know the speeds, as of earlier launches; those that take begin
 * without.
 *
 * Errors  INVALID (a number out of range, a speed that is not above 0, a cost below 0, another
 *         number of units than the nodes have, an unknown policy, one for another number of units;
 *         the text names number and value), OVERFLOW (of the sum of the costs), NO_MEMORY.
 * Owns    The context owns the simulation, which polytile_simulation_destroy() can end sooner; on
 *         error it is NULL.
 */
polytile_status polytile_simulation_create(polytile_context *ctx,
                                           const polytile_simulation_request *request,
                                           polytile_simulation **simulation);

/** End a simulation; NULL does nothing. */
void polytile_simulation_destroy(polytile_simulation *simulation);

/** Seconds that any policy takes at least: for the costs by all speeds together, and for the
 * largest one by the largest speed. */
double polytile_simulation_get_lower_bound(const polytile_simulation *simulation);

typedef struct polytile_simulated_policy {
    const char *policy; /* lives as long as the simulation */
    double makespan_s;  /* until all rows are done */
    int64_t n_pieces;
    int64_t reserved[4]; /* zeros */
} polytile_simulated_policy;

/** How a policy did, 0 <= k < n_policies. Errors: INVALID. */
polytile_status polytile_simulation_get_policy(const polytile_simulation *simulation, int k,
                                               polytile_simulated_policy *result);

typedef struct polytile_simulated_unit {
    int64_t n_rows;
    double busy_s;
    int64_t reserved[4]; /* zeros */
} polytile_simulated_unit;

/** What a unit did under a policy. Errors: INVALID. */
polytile_status polytile_simulation_get_unit(const polytile_simulation *simulation, int k, int unit,
                                             polytile_simulated_unit *result);

/** Write it as text for people, JSON for programs, or a Gantt picture. Owns: the caller frees *text
 * with free(). */
polytile_status polytile_simulation_to_string(const polytile_simulation *simulation,
                                              polytile_format format, char **text);

#ifdef __cplusplus
}
#endif

#endif
