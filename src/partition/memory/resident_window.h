#ifndef POLYTILE_PARTITION_MEMORY_RESIDENT_WINDOW_H
#define POLYTILE_PARTITION_MEMORY_RESIDENT_WINDOW_H

#include "partition/memory/resident_future.h"

/* A window of steps while it is turned into operations: for each superblock images are placed in
 * the arena, and filled with what it needs. */

/** A window, and how far it is. */
typedef struct pti_resident_window {
    pti_resident_emit *emit;
    pti_residency *of;
    pti_future *future;
    const polytile_link *link;                   /* NULL: as few bytes as possible */
    const pti_step *end;                         /* of the steps */
    int64_t now;                                 /* time of the next superblock to run */
    pti_resident_image *image[PTI_MAX_OPERANDS]; /* of each piece of the current superblock */
} pti_resident_window;

/** Find or make an image for each piece of the current superblock, in an arena emptied for it if
 * there is no other way; false if even that fails. */
bool pti_resident_window_place(pti_resident_window *at, const pti_superblock_run *run);

/** Find memory for superblocks that run later, as far as there is any to spare. */
void pti_resident_window_look_ahead(pti_resident_window *at);

/** Bring into an image what a superblock of a launch needs of a piece that it has there. */
void pti_resident_window_bring(pti_resident_window *at, pti_resident_image *image,
                               const pti_piece *piece, const pti_step *step,
                               const polytile_domain *threads);

/** Bring into an image, which a launch of one superblock writes, the few elements that the next one
 * reads there beside what this one writes, such as the edge of a field: then nothing moves between
 * the two launches. Shapes  run: the superblock of the launch, and of the next one. */
void pti_resident_window_bring_ahead(pti_resident_window *at, pti_resident_image *image,
                                     const pti_superblock_run *run, const pti_step *step);

/** Bring a box into an image, which is made if there is none that contains it; emit->builder says
 * if there is no room. */
void pti_resident_window_bring_box(pti_resident_window *at, int array, const polytile_domain *box);

/** Find or make an image of a box of an array; NULL if there is no room. */
pti_resident_image *pti_resident_window_place_box(pti_resident_window *at, int array,
                                                  const polytile_domain *box);

/* resident_plan.c */

/**
 * Turn steps into operations, superblock by superblock, of a schedule that has been begun.
 *
 * Memory for the next superblocks is found, and what lies there downloaded, before a superblock is
 * launched, so that moving overlaps computing. emit->builder says whether memory ran out.
 */
void pti_resident_add_steps(pti_resident_emit *emit, pti_future *future, int n_steps,
                            const pti_step *steps, const polytile_link *link);

/* residency.c */

/** Return whether memory ran out in a set of the residency, which then no longer says what it
 * should; the sets may be used again. */
bool pti_resident_take_failures(pti_residency *residency);

#endif
