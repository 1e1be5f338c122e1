#ifndef POLYTILE_ACCESS_PIECES_SPLIT_H
#define POLYTILE_ACCESS_PIECES_SPLIT_H

#include "access/footprint/footprint.h"
#include "base/context.h"

/* access/pieces: launches whose arrays are held in several pieces (here), or by sheared indices
 * (shear.h), as instances of their own; and all these ways to hold the arrays of one call
 * (ways.h). */

/** The most operands of a launch, pieces included: planners and proofs have room for as many. */
enum { PTI_MAX_SPLIT_OPERANDS = 64 };

/**
 * A copy of an instance in which sections of one array that do not stay together are operands of
 * their own, as if the array had been given for several names: the box around sections that lie far
 * apart is mostly elements that nobody touches.
 *
 * Sections stay together that follow the threads in the same way and lie side by side, or nearly.
 * If threads are given, those of a superblock, groups stay together, too, whose union takes no more
 * memory than they do one by one, padded. Where there would be more than POLYTILE_MAX_PIECES
 * pieces, or than most_further further ones, the unions that take the least are made first.
 *
 * Only arrays whose sections are exact are split, in launches that are given no views. Sections
 * that were united (bind/unite.h) are as declared again. Of an array that is written the groups
 * touch different elements: threads do, as was proved, and each thread for itself. Elements that
 * threads combine into may be of several groups, in different threads. Pieces of arrays that are
 * written are for boxes of threads that keep them apart: pti_pieces_clash(). The first piece of an
 * array keeps its operand; the others come after all arrays (pti_instance.n_further).
 *
 * instance: proved to have no conflict. threads: inside its launch domain, or NULL.
 * Errors  NO_MEMORY.
 * Owns    The caller frees *split with pti_instance_free(); NULL: no array is split; and on error.
 */
polytile_status pti_instance_split(polytile_context *ctx, const pti_instance *instance,
                                   const polytile_domain *threads, int most_further,
                                   pti_instance **split);

/**
 * The same for the k-th way to unite the pieces of an array that has three of them, or four, where
 * no other array has several: one piece each, and one in all, are not among these ways.
 *
 * k: from 0 on, up to the first for which there is none.
 * Errors  NO_MEMORY.
 * Owns    The caller frees *split with pti_instance_free(); NULL: there is no such way; and on
 *         error.
 */
polytile_status pti_instance_split_by_cover(polytile_context *ctx, const pti_instance *instance,
                                            int k, pti_instance **split);

/**
 * Add to what a superblock reads of an operand what it reads of other pieces of the same array
 * inside the operand's box: bodies find an element in the first piece around it, which must have it
 * although none of its own sections does.
 *
 * scratch: replaced.
 */
void pti_pieces_add_met(const pti_instance *instance, int operand, const polytile_domain *threads,
                        int max_boxes, pti_boxes *scratch, pti_boxes *boxes);

/** Return whether a box of threads must not have a written array in pieces: pieces meet, so that an
 * element could be found in two of them, or what one writes takes too many boxes to list. */
bool pti_pieces_clash(const pti_instance *instance, const polytile_domain *threads);

/** Return how many operands hold an array: one, or as many as it has pieces. */
int pti_instance_count_pieces(const pti_instance *instance, int array);

#endif
