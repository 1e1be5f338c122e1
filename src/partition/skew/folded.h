#ifndef POLYTILE_PARTITION_SKEW_FOLDED_H
#define POLYTILE_PARTITION_SKEW_FOLDED_H

#include "access/set/boxes.h"
#include "partition/schedule/schedule.h"
#include "partition/skew/chain.h"

/*
 * Chains of periodic launches (access/footprint/fold.h). Rows are counted along the fold,
 * from both ends of the arrays to their middle: place 0 is the first row and the last one. Along it
 * a chain is skewed as any other one.
 *
 * The chain that planners see has two launches for each of the program's, one a half of the
 * threads, and two arrays for each, its halves. Those of the upper half go down while those of the
 * lower half go up. pti_folded_finish() makes a schedule of it the program's.
 */
struct pti_folded_chain {
    const pti_instance *arrays; /* the program's; borrowed */
    int n_calls;                /* of the program */
    pti_call *call;             /* as declared; owned, what they point to is not */
    int *array;                 /* the half arrays of all operands of all folded launches; owned */
    pti_instance *half_arrays;  /* of no kernel; owned */
    polytile_range half[2];     /* the places of each half */
    bool *dropped;              /* of each half array; owned */
    pti_boxes *unwritten;       /* of each half array; owned */
};

/**
 * Find how many launches at the beginning of a list are periodic with one length, with their
 * offsets.
 *
 * Shapes  calls: as declared, not in pieces. They and what they point to live as long as the chain.
 * Errors  NO_MEMORY, without a text.
 * Owns    The caller frees *chain with pti_chain_free(), also after an error. Fewer than two
 *         launches: it is none.
 */
polytile_status pti_folded_find(const pti_instance *arrays, int n_calls, const pti_call *calls,
                                pti_chain *chain);

void pti_folded_free(struct pti_folded_chain *folded);

/** Tell the halves what is known of their arrays; unwritten may be NULL. False when memory runs
 * out. */
bool pti_folded_set_states(struct pti_folded_chain *folded, const bool *dropped,
                           const pti_boxes *unwritten);

/** Find how a folded launch touches half an array; false if it does not. */
bool pti_folded_reach(const pti_chain *chain, int launch, int half_array, pti_reach *reach);

/** Return the threads of a folded launch, along its index, that are at some places. */
polytile_range pti_folded_threads(const pti_chain *chain, int launch, polytile_range places);

/** Return the rows of half an array that are at some places; of an array that is not folded, those
 * rows. */
polytile_range pti_folded_rows(const pti_chain *chain, int half_array, polytile_range places);

/** Make a schedule of folded launches and half arrays one of the program's launches and arrays;
 * false when memory runs out. */
bool pti_folded_finish(const pti_chain *chain, pti_schedule *schedule);

#endif
