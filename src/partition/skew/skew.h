#ifndef POLYTILE_PARTITION_SKEW_SKEW_H
#define POLYTILE_PARTITION_SKEW_SKEW_H

#include "partition/schedule/schedule.h"
#include "partition/skew/chain.h"
#include <polytile/plan.h>

/* partition/skew: chains of launches, interleaved slab by slab, so that data moves once for many
 * launches. chain.h finds the launches; the other files choose slabs and make the schedule. */

/*
 * Time skewing: a chain of launches as a stream of slabs.
 *
 * The chain runs in passes of some launches. In a pass the arrays go through the device once: a
 * slab of rows comes in, all launches of the pass run on it, each after the former by its offset,
 * and what no later slab touches goes out. Rows in between stay: the band.
 *
 *      rows of an array   ->
 *      gone | band of slab k: last launch ... first launch | comes with slab k+1
 *
 * An array's band lies in an image of more rows, and moves along it for a lap of some slabs. Then
 * what is still needed is copied to the beginning of the same memory, the image of the next lap.
 *
 * Source  Wonnacott, "Achieving scalable locality with time skewing", 2002;
 *         docs/time_skewing.md.
 */

/** What to run, and with what. */
typedef struct pti_skew_request {
    const pti_chain *chain;
    const pti_boxes *unwritten; /* of each array: elements that are zero and nowhere; NULL: none */
    const bool *dropped;        /* of each array: what it holds at the end does not matter */
    int64_t arena_bytes;
    const polytile_link *link;
    int64_t most_per_pass; /* launches; 0: chosen */
    bool fewest_bytes;     /* rather than the least time */
    int64_t turn_kernels;  /* the fewest of a turn of the schedule's period; 0: it has none */
    int64_t turn_slabs;    /* the fewest slabs of such a turn; 0 is as 1 */
    bool one_after_other;  /* no two slabs side by side: launches share what is theirs */
    int64_t core_bytes;    /* in place: of the caches of one core; 0: columns are of no use */
    int64_t n_workers;     /* in place: cores that take columns */
} pti_skew_request;

/** How a chain is cut. */
typedef struct pti_skew_shape {
    int n_passes;
    int n_per_pass;    /* launches of each but the last pass */
    int64_t slab;      /* threads of a slab along its index */
    int64_t n_per_lap; /* slabs of each but the last lap of a pass */
    bool concurrent;   /* every other slab runs on the second of the streams for launches */
    int64_t column;    /* coordinates of a column, of schedule/columns.h; 0: there are none */
    double seconds;    /* predicted */
    int64_t h2d_bytes;
    int64_t d2h_bytes;
} pti_skew_shape;

/** Return the fewest passes that a request allows. */
int pti_skew_fewest_passes(const pti_skew_request *request);

/** Return the most passes: of two launches, and the rest of an odd number; none for a single
 * launch. */
int pti_skew_most_passes(const pti_skew_request *request);

/**
 * Choose the shape of least time or fewest bytes.
 *
 * False if no shape of two launches a pass or more fits the arena; `why` gets the reason, or
 * nothing if memory ran out.
 */
bool pti_skew_choose(const pti_skew_request *request, pti_skew_shape *shape, pti_text *why);

/**
 * The same of a chain, the request's or a copy of it. Memory aside takes room from slabs: where the
 * chain has such and is no better for it, its launches run one by one, and its tiles are freed.
 * False as pti_skew_choose().
 */
bool pti_skew_choose_tiled(const pti_skew_request *request, pti_chain *chain, pti_skew_shape *shape,
                           pti_text *why);

/**
 * Return whether a shape moves less than its launches in sequence, each of which finds as large a
 * part of its data on the device as the arena is of all; else `why` gets the reason, or nothing if
 * memory ran out.
 */
bool pti_skew_pays(const pti_skew_request *request, const pti_skew_shape *shape, pti_text *why);

/** Return how many superblocks a schedule of a shape would list, about: those of a period once. */
int64_t pti_skew_n_listed(const pti_skew_request *request, const pti_skew_shape *shape);

/**
 * Build the schedule of a shape, with a period if one is asked for and there is one (turns.h).
 * Nothing is on the device before or after it; whole arrays come in first.
 *
 * NULL when memory runs out. The caller frees it with pti_schedule_free(); it borrows the chain's
 * instances.
 */
pti_schedule *pti_skew_build(const pti_skew_request *request, const pti_skew_shape *shape);

#endif
