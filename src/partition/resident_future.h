#ifndef POLYTILE_PARTITION_RESIDENT_FUTURE_H
#define POLYTILE_PARTITION_RESIDENT_FUTURE_H

#include "partition/resident_image.h"

/* What a window of launches will touch, superblock by superblock in the order of running. */

/** The box around what one superblock touches of one array. */
typedef struct pti_piece {
    int array;
    int64_t time;  /* of the superblock */
    int64_t next;  /* of the same array, -1: none */
    int64_t bytes; /* of an image of it */
    polytile_domain hull;
} pti_piece;

/** One superblock's run. */
typedef struct pti_turn {
    int launch; /* of the schedule */
    const polytile_domain *threads;
    int64_t first_piece;
    int n_pieces;
} pti_turn;

typedef struct pti_future {
    int64_t n_turns;
    pti_turn *turn;
    int64_t n_pieces;
    int64_t capacity;
    pti_piece *piece;
} pti_future;

/**
 * Look through the steps, and decide in which direction each launch's superblocks run.
 *
 * Errors  NO_MEMORY; NO_FIT (a superblock that needs more than the arena). Nothing else is changed
 *         then. Free the future in any case.
 */
polytile_status pti_future_create(pti_residency *of, int n_steps, const pti_step *steps,
                                  pti_future *future);
void pti_future_free(pti_future *future);

/** The time of the first superblock, from `now` on, that touches anything of an image; INT64_MAX if
 * none does. now never falls from call to call. */
int64_t pti_future_next_use(const pti_future *future, pti_resident_image *image, int64_t now);

#endif
