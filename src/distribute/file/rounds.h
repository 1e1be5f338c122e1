#ifndef POLYTILE_DISTRIBUTE_FILE_ROUNDS_H
#define POLYTILE_DISTRIBUTE_FILE_ROUNDS_H

#include "distribute/file/store.h"

/* A store's elements in rounds: so many at a time as a buffer holds, in the array's C order. What
 * is one stretch moves from or to where it lies. */

/** The usual limits of a round: large enough for a link or a disk to be busy, small beside any
 * array that is worth distributing. */
enum { PTI_ROUND_BYTES = 16 << 20, PTI_ROUND_STRETCHES = 1 << 16 };

typedef struct pti_rounds {
    pti_walk walk;
    int64_t capacity_bytes;
    int capacity_stretches;
    char *buffer;         /* owned */
    pti_stretch *stretch; /* of this round, ascending; owned */
    int n_stretches;
    int64_t n_bytes; /* of this round */
} pti_rounds;

/** Errors: false: memory ran out. Ending is needed all the same. */
bool pti_rounds_begin(const pti_store *store, int64_t capacity_bytes, int capacity_stretches,
                      pti_rounds *rounds);
/** Go on to the next round, the first at first; false, and an empty round, after the last. */
bool pti_rounds_next(pti_rounds *rounds);
void pti_rounds_end(pti_rounds *rounds);

/** The round's elements side by side, to be read until the next round. */
void *pti_round_collect(pti_rounds *rounds);
/** Where the round's elements are to be written side by side; then they are put where they
 * belong. */
void *pti_round_place(pti_rounds *rounds);
void pti_round_spread(pti_rounds *rounds);

#endif
