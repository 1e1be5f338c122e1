#ifndef POLYTILE_PARTITION_PROVE_SHAPE_SHAPE_H
#define POLYTILE_PARTITION_PROVE_SHAPE_SHAPE_H

#include "access/set/box_text.h"
#include "access/set/boxes.h"
#include "partition/schedule/schedule.h"

/* partition/prove/shape: whether a schedule is well formed, as far as that needs no replay: numbers
 * in range, boxes inside arrays and memory, threads that are run once, and conflicts in order. */

/** Write a violation's text; the value is false, to be returned. */
#define PTI_REJECT(why, ...) (pti_text_add((why), __VA_ARGS__), false)

/** Return whether a box of unknown origin is well formed and lies inside a domain known to be. */
bool pti_check_box_inside(const polytile_domain *box, const polytile_domain *domain);

/** The operands of every launch are arrays of the schedule; what is written through one operand is
 * not used through another; in place no data lies on a device before or after, and every array
 * holds what it is to hold. */
bool pti_check_launches(const pti_schedule *schedule, pti_text *why);

/** The launches' superblocks follow one another, as do the lists of their placements, and together
 * are all. */
bool pti_check_ranges(const pti_schedule *schedule, pti_text *why);

/** Each launch's superblocks follow the former's, as do their placements in the list; they are
 * non-empty boxes of its domain, pairwise disjoint, and cover it. */
bool pti_check_superblocks(const pti_schedule *schedule, pti_text *why);

/** Placements lie in the arena, the arena in the limit, and no two elements of a placement share
 * bytes; in place each is the whole array. */
bool pti_check_placements(const pti_schedule *schedule, pti_text *why);

/** Invalidations are of elements of arrays, and in order. */
bool pti_check_invalidations(const pti_schedule *schedule, pti_text *why);

/** All numbers in operations and waits are in range, waits point backwards, every box lies in its
 * placement, every superblock is one of the operation's launch, and each is launched once, those of
 * one launch in their order. */
bool pti_check_ops(const pti_schedule *schedule, pti_text *why);

/** Return whether a box, held by two placements that overlap in memory, has no byte of the one
 * place in the other. */
bool pti_check_copy_apart(const pti_placement *source, const pti_placement *target,
                          const polytile_domain *box, int64_t element_bytes);

/** Return whether a box moves along the memory of both, which lie at the same place, so that it can
 * be copied slice by slice (access/set/overlapping_copy.h). */
bool pti_check_copy_overlaps(const pti_placement *source, const pti_placement *target,
                             const polytile_domain *box, int64_t element_bytes);

/* order.c */

/**
 * Prove that launches whose superblocks are interleaved give what they give one after the other.
 *
 * Of two launches that touch an element, one of them writing it, the earlier must be done with it
 * before the later begins: nothing is read that a later launch wrote already, and nothing is
 * written that a later launch read or wrote already. Then the newest version that a superblock
 * finds, by the list's order, is the one that its launch is to find. A list in launch order is not
 * looked at; of sections whose elements are not known exactly, all that they may touch counts.
 *
 * Shapes  schedule: its launches, superblocks and operations are well formed.
 * Errors  False with the operation, both launches, the array and the box in *why.
 */
bool pti_check_order(const pti_schedule *schedule, pti_text *why);

#endif
