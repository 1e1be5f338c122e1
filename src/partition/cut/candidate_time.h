#ifndef POLYTILE_PARTITION_CUT_CANDIDATE_TIME_H
#define POLYTILE_PARTITION_CUT_CANDIDATE_TIME_H

#include "partition/cut/estimate.h"

/* How long a candidate takes, in closed form: what all families have in common. */

/** What an order moves each way, in bytes, and with the price of short runs. */
typedef struct pti_moved {
    double upload_bytes;
    double download_bytes;
    double upload_cost_bytes;
    double download_cost_bytes;
    double back_cost_bytes; /* uploaded of pieces that are downloaded as well */
    bool comes_back;        /* there are such */
} pti_moved;

/** What a candidate is timed by. */
typedef struct pti_timing {
    const pti_problem *problem;
    const pti_estimate *all;
    const pti_moved *moves;
    double in_s; /* how long each stream is busy */
    double out_s;
    double compute_s;
} pti_timing;

/** What the host spends on planning and running one more superblock: a price also where it is
 * hidden, for the host has other work. */
extern const double pti_superblock_host_s;

/** The seconds of a middle superblock's piece of an operand on its way in, or out; 0 if it does not
 * go there. */
double pti_piece_seconds(const pti_timing *timing, int operand, bool out);

/** The sub-kernels of a candidate: its superblocks, or their strips. */
double pti_candidate_launches(const pti_candidate *candidate);

/** One superblock: everything in sequence. More: as its family says. */
double pti_candidate_seconds(const pti_problem *problem, const pti_estimate *all,
                             pti_candidate *candidate, const pti_moved *moves);

/** A lower bound of the seconds of all orders of a candidate, if none moves less than this. */
double pti_candidate_least_seconds(const pti_problem *problem, const pti_estimate *all,
                                   const pti_candidate *candidate, const pti_moved *least);

/** The seconds by which candidates are compared, with prices on traffic and sub-kernels. */
double pti_candidate_priced(const pti_problem *problem, const pti_candidate *candidate,
                            double n_kernels);

#endif
