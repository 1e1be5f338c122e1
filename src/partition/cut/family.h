#ifndef POLYTILE_PARTITION_CUT_FAMILY_H
#define POLYTILE_PARTITION_CUT_FAMILY_H

#include "partition/cut/candidate_time.h"
#include "partition/cut/partition.h"

/* The families of shapes. */

/** The numbers of buffers that variants may have. */
typedef struct pti_buffer_range {
    int first;
    int last;
    int most; /* where some pieces have one place only */
} pti_buffer_range;

/** What linear equations say of a launch: superblocks of some blocks along each index take
 * constant_bytes + sum of slope_bytes[d] * blocks along d. */
typedef struct pti_solution {
    double constant_bytes;
    double slope_bytes[POLYTILE_MAX_DIMS];
    int64_t shape[POLYTILE_MAX_DIMS]; /* blocks: the one that they give for the limit */
    polytile_domain sample;           /* the threads of the block from which they are found */
} pti_solution;

/** A family of shapes: what sets its superblocks apart. Functions that are NULL are not asked; one
 * with `next` and `seconds` has `least_seconds`, too. */
struct pti_family {
    const char *name;
    bool for_time; /* with more superblocks, or fewer places: only where the objective is time */
    int64_t multiple_threads; /* of it extents along a variant's index are multiples; 0: even */

    /** The next variant that a launch can be cut by; the first one has no buffers yet. fits: some
     * shape of the one before fits; of a family without estimates: of another family. False if
     * there is none, of a first one: the family does not apply. NULL: not by itself, but where
     * another family or a strategy names it. */
    bool (*next)(const pti_problem *problem, const pti_buffer_range *buffers, bool fits,
                 pti_variant *variant);

    /** The shape that equations give, whether or not it fits; false: not even one block does. NULL:
     * shapes are searched for. */
    bool (*solve)(const pti_problem *problem, const pti_variant *variant, pti_solution *solution);

    /** The places that pieces of an operand have, for superblocks of a shape; 0: as many as
     * buffers, which NULL says of all operands. */
    int (*count_places)(const pti_problem *problem, const pti_variant *variant,
                        const int64_t *shape, int operand);

    /** How long a candidate of several superblocks takes; it may name a family beside. NULL: only
     * whole schedules show it. */
    double (*seconds)(const pti_timing *of, pti_candidate *candidate);

    /** A lower bound of the seconds of all orders of a candidate. */
    double (*least_seconds)(const pti_timing *of, const pti_candidate *candidate);

    /** The superblocks of a candidate; none: it is not worth it, or nothing fits. Errors: false
     * when memory runs out. Owns: the caller frees the partition in either case. */
    bool (*partition)(const pti_problem *problem, const pti_candidate *candidate,
                      pti_partition *partition);
};

/** The table, a row a family. */
enum { PTI_N_FAMILIES = 6 };

extern const pti_family *const pti_families[PTI_N_FAMILIES];

/** Each in the file of its name. */
extern const pti_family pti_family_plain, pti_family_strips, pti_family_lines, pti_family_tapered,
    pti_family_varying, pti_family_paper;

/** The seconds of equal superblocks whose pieces have as many places as there are buffers. */
double pti_plain_seconds(const pti_timing *timing, pti_candidate *candidate);
double pti_plain_least_seconds(const pti_timing *timing, const pti_candidate *candidate);

#endif
