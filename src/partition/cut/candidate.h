#ifndef POLYTILE_PARTITION_CUT_CANDIDATE_H
#define POLYTILE_PARTITION_CUT_CANDIDATE_H

#include "partition/cost/demand.h"
#include <polytile/plan.h>

/* A way to cut the grid into equal superblocks, with an estimate of what it costs. */

/** One row of the table of families, see family.h. */
typedef struct pti_family pti_family;

/** The most strips of a superblock. */
enum { PTI_MOST_STRIPS = 8 };

/** A way to cut, whatever the shape: a family, and what differs inside it, in numbers. */
typedef struct pti_variant {
    const pti_family *family;
    int n_buffers; /* superblocks in flight */
    int along;     /* the index along which superblocks follow each other while pieces stay that do
                      not depend on it; -1: any */
    int cut;       /* the index along which superblocks are cut into strips */
    int n_strips;  /* of a superblock, at most; 1: it is not cut */
} pti_variant;

/** A variant without the numbers that only some families have. */
pti_variant pti_variant_of(const pti_family *family, int n_buffers);

/** The blocks of a strip along its index, in a superblock of a shape. */
int64_t pti_strip_blocks(const pti_variant *variant, const int64_t *shape);

/** What all candidates of one search have in common. */
typedef struct pti_problem {
    const pti_instance *instance;
    const polytile_link *link;
    pti_grid grid;
    int64_t limit_bytes;
    double enough_s;   /* not 0: candidates that run at most so long are equally good, and nothing
                        else has a price */
    double n_threads;  /* of the launch */
    double n_accesses; /* element accesses of all threads, estimated */
    int64_t fill_threads;               /* of the launch, that fill the device; 0: not known */
    bool only_moves[POLYTILE_MAX_DIMS]; /* along this index no footprint grows or shrinks, clipping
                                           aside */
    bool depends[PTI_MAX_OPERANDS][POLYTILE_MAX_DIMS]; /* pti_operand_depends() */
    bool accumulates[PTI_MAX_OPERANDS];                /* pti_operand_accumulates() */
    bool has_largest[PTI_MAX_OPERANDS]; /* one piece contains all others, whatever the shape */
    bool keeps_largest; /* that one has a place of its own, also where regions would need less */
} pti_problem;

pti_problem pti_problem_of(const pti_instance *instance, const polytile_link *link,
                           const int64_t *block, int64_t limit_bytes);

/** A variant with a shape and an order, and what is estimated of them. */
typedef struct pti_candidate {
    pti_variant variant;
    int64_t shape[POLYTILE_MAX_DIMS]; /* blocks */
    int order[POLYTILE_MAX_DIMS];     /* index traversed slowest first, fastest last */
    int64_t n_kernels;                /* superblocks, each of which may be several strips */
    double upload_bytes; /* estimated: what moves when neighbours share what they have in common */
    double download_bytes;    /* estimated */
    double run_s;             /* estimated */
    double seconds;           /* the same with small prices on hidden traffic and host time */
    const pti_family *beside; /* may be faster in this shape, too; NULL: none is */
} pti_candidate;

/** What a candidate moves, both ways. */
static inline double pti_candidate_bytes(const pti_candidate *candidate) {
    return candidate->upload_bytes + candidate->download_bytes;
}

/**
 * Choose the order that moves least for a candidate's variant and shape, and fill in its estimates.
 *
 * Orders are serpentine, so that one index changes at a time. Up to four split indices are permuted
 * in full; beyond that each takes the fastest place, one after the other.
 */
void pti_candidate_estimate(const pti_problem *problem, pti_candidate *candidate);

/** An order between candidates in which less of any estimate is never worse. */
typedef bool pti_is_better(const pti_candidate *a, const pti_candidate *b);

/** Return whether a candidate is better than the best so far; estimated in full only if a lower
 * bound of its estimates does not decide already. */
bool pti_candidate_improves(const pti_problem *problem, pti_is_better *is_better,
                            const pti_candidate *best, pti_candidate *candidate);

#endif
