#ifndef POLYTILE_PARTITION_CUT_ESTIMATE_H
#define POLYTILE_PARTITION_CUT_ESTIMATE_H

#include "partition/cut/candidate.h"

/* What the superblocks of a candidate touch and share with each other, from a few of them. */

/** What one operand moves for a shape, in bytes; doubles, since only comparisons follow. */
typedef struct pti_operand_estimate {
    double bytes;       /* of a middle superblock */
    double first_bytes; /* of the first superblock */
    double run_cost;    /* factor, at least 1: how much dearer short runs make transfers */
    /* For each index: the bytes that a superblock does not share with the one before it on a line
     * along this index, on the way there and on the way back; and how large an average piece of the
     * line is, as a part of a middle one. */
    double there_bytes[POLYTILE_MAX_DIMS];
    double back_bytes[POLYTILE_MAX_DIMS];
    double share[POLYTILE_MAX_DIMS];
    bool depends[POLYTILE_MAX_DIMS];
    int n_passes; /* of a kernel through it */
    bool uploads;
    bool downloads;
    bool returns; /* starts from the identity, and is uploaded from the second visit on */
} pti_operand_estimate;

/** What a shape takes, operand by operand. */
typedef struct pti_estimate {
    int n_dims;
    int n_pieces;
    int64_t n_parts[POLYTILE_MAX_DIMS]; /* superblocks along each index */
    double quotient[POLYTILE_MAX_DIMS]; /* the same */
    polytile_domain middle;             /* threads of the superblock in the middle */
    pti_operand_estimate piece[PTI_MAX_OPERANDS];
} pti_estimate;

/** Describe each operand's piece by itself, of a middle superblock and of the first one. */
void pti_estimate_pieces(const pti_problem *problem, const pti_candidate *candidate,
                         pti_estimate *all);

/** Then the lines of superblocks along each index: of all pieces that are written, or of all
 * others.
 */
void pti_estimate_lines(const pti_problem *problem, const pti_candidate *candidate, bool written,
                        pti_estimate *all);

#endif
