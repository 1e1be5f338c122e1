#include "partition/cut/partition.h"

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
