#include "partition/cut/partition.h"

#include "base/checked.h"
#include "base/list.h"

#include <stdlib.h>
#include <string.h>

void pti_partition_free(pti_partition *partition) {
    free(partition->superblock);
    *partition = (pti_partition){0};
}

bool pti_partition_add(pti_partition *partition, const polytile_domain *threads) {
    if (!PTI_GROW(partition->superblock, partition->n_superblocks, &partition->n_allocated))
        return false;
    partition->superblock[partition->n_superblocks++] = *threads;
    return true;
}

int pti_partition_lanes(const pti_instance *instance, int64_t n_asked) {
    bool is_apart = !instance->is_team;
    for (int o = 0; o < instance->n_operands; o++)
        is_apart = is_apart && !instance->operand[o].reduces && !instance->operand[o].fresh &&
                   (!instance->operand[o].is_scratch || instance->n_indices == 1);
    return is_apart ? (int)pti_max(1, n_asked) : 1;
}

bool pti_partition_for_lanes(const pti_instance *instance, int64_t block, int n_lanes,
                             pti_partition *partition) {
    const polytile_range all = instance->threads.range[0];
    const int64_t n_blocks = pti_ceil_div(pti_range_count(all), block);
    const int64_t n_each = pti_max(1, n_blocks / (PTI_SUPERBLOCKS_A_LANE * n_lanes));
    polytile_domain threads = instance->threads;
    bool added = true;
    *partition = (pti_partition){.n_buffers = n_lanes, .n_lanes = n_lanes};
    for (int d = 0; d < instance->n_indices; d++)
        partition->shape[d] = 1;
    for (int64_t lo = all.lo; added && lo <= all.hi; lo += n_each * block * all.step) {
        threads.range[0].lo = lo;
        threads.range[0].hi = pti_min(all.hi, lo + (n_each * block - 1) * all.step);
        added = pti_partition_add(partition, &threads);
    }
    return added;
}

int pti_partition_strip(const pti_partition *partition, int64_t superblock) {
    if (partition->n_strips == 0)
        return 0;
    int64_t lo = partition->superblock[superblock].range[partition->cut].lo - partition->cut_lo;
    return (int)(lo % partition->tile_threads / partition->strip_threads);
}

/** Moves one index a step on, in its direction; an index at its end reverses, and the next slower
 * one moves. */
static bool next_serpentine(const pti_grid *grid, const pti_candidate *candidate, int64_t *position,
                            int64_t *direction) {
    for (int k = grid->threads.n_dims - 1; k >= 0; k--) {
        int d = candidate->order[k];
        int64_t next = position[d] + direction[d];
        if (next >= 0 && next < pti_grid_quotient(grid, candidate->shape, d)) {
            position[d] = next;
            return true;
        }
        direction[d] = -direction[d];
    }
    return false;
}

void pti_partition_begin(const pti_candidate *candidate, pti_partition *partition) {
    *partition = (pti_partition){.n_buffers = candidate->variant.n_buffers};
    memcpy(partition->shape, candidate->shape, sizeof partition->shape);
}

bool pti_partition_uniform(const pti_problem *problem, const pti_candidate *candidate,
                           pti_partition *partition) {
    int64_t position[POLYTILE_MAX_DIMS] = {0};
    int64_t direction[POLYTILE_MAX_DIMS];
    for (int d = 0; d < problem->instance->n_indices; d++)
        direction[d] = 1;
    pti_partition_begin(candidate, partition);
    bool added;
    do {
        polytile_domain threads = pti_grid_superblock(&problem->grid, candidate->shape, position);
        added = pti_partition_add(partition, &threads);
    } while (added && next_serpentine(&problem->grid, candidate, position, direction));
    return added;
}
