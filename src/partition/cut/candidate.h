#ifndef POLYTILE_PARTITION_CUT_CANDIDATE_H
#define POLYTILE_PARTITION_CUT_CANDIDATE_H

#include "partition/cost/demand.h"
#include <polytile/plan.h>

/* A way to cut the grid into equal superblocks, with an estimate of what it costs. */

/** How superblocks are cut so that several pieces of what they accumulate are on the device. */
typedef struct pti_strips {
    int accumulated; /* the index along which threads combine into one element; -1: no strips */
    int cut;         /* the index along which superblocks are cut into strips */
    int most;        /* strips of a superblock */
    bool has_own_piece[PTI_MAX_OPERANDS]; /* each strip, as long as the tile stays */
    bool passes[PTI_MAX_OPERANDS];        /* each strip has another piece, which does not stay */
} pti_strips;

/** The most strips of a superblock. */
enum { PTI_MOST_STRIPS = 8 };

/** The slots of an operand; 0: as many as buffers. */
int pti_strips_slots(const pti_strips *strips, int operand, int n_strips);

/** How a launch can be cut into strips; accumulated is -1 where nothing is to be gained. */
pti_strips pti_strips_of(const pti_instance *instance);

/** What all candidates of one search have in common. */
typedef struct pti_problem {
    const pti_instance *instance;
    const polytile_link *link;
    pti_grid grid;
    int64_t limit_bytes;
    bool in_strips;  /* superblocks are cut into strips */
    double enough_s; /* not 0: candidates that run at most so long are equally good, and
                                           nothing else has a price */
    pti_strips strips;
    bool in_lines; /* along one index superblocks follow each other while what does not depend on it
                      stays, in one place */
    int line;      /* that index */
    double n_accesses;                  /* element accesses of all threads, estimated */
    bool only_moves[POLYTILE_MAX_DIMS]; /* along this index no footprint grows or shrinks, clipping
                                           aside */
    bool depends[PTI_MAX_OPERANDS][POLYTILE_MAX_DIMS]; /* pti_operand_depends() */
    bool accumulates[PTI_MAX_OPERANDS];                /* pti_operand_accumulates() */
} pti_problem;

/** The blocks of a strip of a superblock of so many. */
int64_t pti_strip_blocks(const pti_strips *strips, int64_t n_blocks);

pti_problem pti_problem_of(const pti_instance *instance, const polytile_link *link,
                           const int64_t *block, int64_t limit_bytes);

typedef struct pti_candidate {
    int64_t shape[POLYTILE_MAX_DIMS]; /* blocks */
    int order[POLYTILE_MAX_DIMS];     /* index traversed slowest first, fastest last */
    int n_buffers;
    int64_t n_kernels;
    double upload_bytes; /* estimated: what moves when neighbours share what they have in common */
    double download_bytes; /* estimated */
    double run_s;          /* estimated */
    double seconds;        /* the same with small prices on hidden traffic and host time */
    int n_strips;          /* at most, of a superblock; 0: it is not cut into strips */
    bool in_lines;         /* what does not depend on the fastest index stays in one place */
    bool tapers;           /* with small superblocks at both ends it would be faster */
} pti_candidate;

/**
 * Choose the order that moves least for a candidate's shape and buffers, and fill in its estimates.
 *
 * Orders are serpentine, so that one index changes at a time. Up to four split indices are permuted
 * in full; beyond that each takes the fastest place in turn.
 */
void pti_candidate_estimate(const pti_problem *problem, pti_candidate *candidate);

/** An order between candidates in which less of any estimate is never worse. */
typedef bool pti_is_better(const pti_candidate *a, const pti_candidate *b);

/** Whether a candidate is better than the best so far; estimated in full only if a lower bound of
 * its estimates does not tell already. */
bool pti_candidate_improves(const pti_problem *problem, pti_is_better *is_better,
                            const pti_candidate *best, pti_candidate *candidate);

#endif
