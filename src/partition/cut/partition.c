#include "partition/cut/partition.h"

#include "base/checked.h"

#include <stdlib.h>

void pti_partition_free(pti_partition *partition) {
    free(partition->superblock);
    free(partition->strip);
    *partition = (pti_partition){0};
}

bool pti_partition_add(pti_partition *partition, int64_t *capacity,
                       const polytile_domain *threads) {
    if (partition->n_superblocks == *capacity) {
        int64_t larger = *capacity * 2 + 16;
        polytile_domain *grown =
            realloc(partition->superblock, (size_t)larger * sizeof *partition->superblock);
        if (grown == NULL)
            return false;
        partition->superblock = grown;
        *capacity = larger;
    }
    partition->superblock[partition->n_superblocks++] = *threads;
    return true;
}

int pti_partition_strip(const pti_partition *partition, int64_t superblock) {
    return partition->strip == NULL ? 0 : partition->strip[superblock];
}

/** Move one index a step on, in its direction; an index at its end turns round and the next slower
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

bool pti_partition_uniform(const pti_problem *problem, const pti_candidate *candidate,
                           pti_partition *partition) {
    *partition = (pti_partition){.n_buffers = candidate->n_buffers,
                                 .in_lines = candidate->in_lines,
                                 .line = candidate->order[problem->grid.threads.n_dims - 1]};
    int64_t position[POLYTILE_MAX_DIMS] = {0};
    int64_t direction[POLYTILE_MAX_DIMS];
    for (int d = 0; d < problem->instance->n_indices; d++) {
        partition->shape[d] = candidate->shape[d];
        direction[d] = 1;
    }
    int64_t capacity = 0;
    do {
        polytile_domain threads = pti_grid_superblock(&problem->grid, candidate->shape, position);
        if (!pti_partition_add(partition, &capacity, &threads)) {
            pti_partition_free(partition);
            return false;
        }
    } while (next_serpentine(&problem->grid, candidate, position, direction));
    return true;
}
