#ifndef POLYTILE_PARTITION_COST_DEMAND_H
#define POLYTILE_PARTITION_COST_DEMAND_H

#include "access/set/memory_layout.h"
#include "partition/cost/grid.h"

/* How much device memory superblocks need. */

/** Find the bytes of each operand's piece for one box of threads. Returns their sum, INT64_MAX if
 * it exceeds 64 bits, or if no memory would do since pieces of one array clash. */
int64_t pti_piece_bytes(const pti_instance *instance, const polytile_domain *threads,
                        int64_t *operand_bytes);

/** The largest demand of the superblocks so far. Zero-initialise. Where pieces of one array
 * clash in one, no division has room. */
typedef struct pti_demand {
    int64_t operand_bytes[PTI_MAX_OPERANDS]; /* each operand's largest piece */
    int64_t superblock_bytes;                /* the largest sum of one superblock */
} pti_demand;

void pti_demand_add(pti_demand *demand, const pti_instance *instance,
                    const polytile_domain *threads);

/** The most cells of an arena: with more operands in more lanes it is divided by regions. */
enum { PTI_MOST_CELLS = 8 * PTI_MAX_OPERANDS };

/**
 * How the arena is divided.
 *
 * By cells: each operand has a cell for each buffer, or for each different piece if these are
 * fewer. By regions: each buffer is a region with the packed pieces of one superblock. Regions need
 * no more with one buffer, or when superblocks vary; cells need less when several buffers share a
 * piece that stays.
 */
typedef struct pti_division {
    bool by_cells;
    int n_cells[PTI_MAX_OPERANDS];
    int64_t arena_bytes;
} pti_division;

/**
 * Choose the division for a demand: cells if both fit the limit, and they are not too many.
 *
 * n_pieces: for each operand, how many different pieces the superblocks have (INT64_MAX: many).
 * n_places: for each operand, a fixed number of cells; 0: as many as buffers. With fixed numbers
 * the division is by cells.
 * n_lanes: that superblocks are dealt to; scratch has a cell for each buffer if there are several,
 * else one, since nothing of it moves while another superblock runs.
 */
pti_division pti_demand_divide(const pti_demand *demand, const pti_instance *instance,
                               const int64_t *n_pieces, const int *n_places, int n_buffers,
                               int n_lanes, int64_t limit_bytes);

/** Return the alignment of an operand's pieces: the largest power of two in its element, at most 16
 * bytes. */
int64_t pti_operand_alignment(const pti_operand *operand);

#endif
