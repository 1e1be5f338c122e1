#ifndef POLYTILE_DISTRIBUTE_FILE_ROUNDS_H
#define POLYTILE_DISTRIBUTE_FILE_ROUNDS_H

#include "distribute/file/store.h"

/* A store's elements in rounds, each what a buffer holds, in the array's C order. A round of one
 * run moves without the buffer. */

/** The usual limits of a round: large enough to keep a link or a disk busy, small beside any
 * distributed array. */
enum { PTI_ROUND_BYTES = 16 << 20, PTI_ROUND_RUNS = 1 << 16 };

/** A store's rounds, and the current one. */
typedef struct pti_rounds {
    pti_walk walk;
    int64_t capacity_bytes;
    int capacity_runs;
    char *buffer;      /* owned */
    pti_file_run *run; /* of this round, ascending; owned */
    int n_runs;
    int64_t n_bytes; /* of this round */
} pti_rounds;

/** Begin the rounds of a store. False: memory ran out; end them all the same. */
bool pti_rounds_begin(const pti_store *store, int64_t capacity_bytes, int capacity_runs,
                      pti_rounds *rounds);
/** Go to the next round; false, and an empty round, after the last. */
bool pti_rounds_next(pti_rounds *rounds);
void pti_rounds_end(pti_rounds *rounds);

/** Return the round's elements side by side, readable until the next round. */
void *pti_round_collect(pti_rounds *rounds);
/** Return where to write the round's elements side by side, before they are put where they
 * belong. */
void *pti_round_place(pti_rounds *rounds);
void pti_round_spread(pti_rounds *rounds);

#endif
