#ifndef POLYTILE_PARTITION_ARENA_BUILDING_H
#define POLYTILE_PARTITION_ARENA_BUILDING_H

#include "partition/arena/arena.h"
#include <polytile/plan.h>

/* What is known while a schedule is laid out superblock by superblock, for build.c and turn.c. */

/** Where one operand stands while the schedule is laid out, or one strip's piece of it. */
typedef struct pti_piece_state {
    int64_t placement; /* -1: nothing resident */
    int cell;          /* of the operand, or region */
    polytile_domain hull;
    pti_boxes valid;  /* resident elements */
    pti_boxes dirty;  /* resident elements newer than the host's */
    pti_last writers; /* of the resident elements */
    pti_last before;  /* what used its memory before the piece */
    /* Of the whole operand so far: */
    pti_boxes initialised; /* fresh reductions: elements that have their identity or more */
    pti_boxes downloaded;
    bool may_upload_around;
} pti_piece_state;

/** A schedule of one launch while it is made. */
typedef struct pti_building {
    pti_arena arena;           /* first: it is long, and is not zeroed */
    const polytile_link *link; /* NULL: as few bytes as possible */
    /* Sets that are made anew for each piece, in the same memory. */
    pti_boxes needed;
    pti_boxes shared;
    pti_boxes rest;
    pti_builder builder;
    pti_beside beside;
    int strip;               /* of the superblock at hand */
    int n_strips;            /* at least 1 */
    pti_piece_state state[]; /* of each operand, and each strip of it that has a piece of its own */
} pti_building;

#endif
