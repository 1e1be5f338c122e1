#include "partition/cut/partition.h"

#include "access/footprint/moved.h"
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
    const int64_t n = pti_min(n_blocks, n_lanes);
    polytile_domain threads = instance->threads;
    bool added = true;
    int64_t end = 0;
    *partition = (pti_partition){.n_buffers = n_lanes, .n_lanes = n_lanes};
    for (int d = 0; d < instance->n_indices; d++)
        partition->shape[d] = 1;
    for (int64_t k = 0; added && k < n; k++) {
        threads.range[0].lo = all.lo + end * block * all.step;
        end += n_blocks / n + (k < n_blocks % n);
        threads.range[0].hi = pti_min(all.hi, all.lo + (end * block - 1) * all.step);
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

/** Move one index by a step in its direction; an index at its end reverses, and the next slower
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

/** A walk over superblocks in serpentine order, of which some repeat. Slow counts along the slowest
 * index that is cut. */
typedef struct repetition {
    int slowest;
    int64_t n_slow;
    int64_t n_each;      /* superblocks for each step of it */
    int64_t slow_a_turn; /* there and back, as often as there are buffers: then all are as before */
    int64_t first_slow;  /* of the first turn */
    int64_t times;
} repetition;

/** Fewer superblocks are listed, as are those of which fewer repeat. A turn has no more than this
 * many. */
enum { FEWEST_SUPERBLOCKS = 2048, MOST_IN_A_TURN = 1 << 14, FEWEST_TIMES = 4, MOST_CLIPPED = 8 };

/** The turns before the first that must be like it: one fills all places, one reuses them, one is
 * compared with the first. */
enum { N_ALIKE = 3 };

static repetition measure_turn(const pti_grid *grid, const pti_candidate *candidate) {
    repetition of = {.n_each = pti_grid_n_superblocks(grid, candidate->shape)};
    int k = 0;
    while (k + 1 < grid->threads.n_dims &&
           pti_grid_quotient(grid, candidate->shape, candidate->order[k]) == 1)
        k++;
    of.slowest = candidate->order[k];
    of.n_slow = pti_grid_quotient(grid, candidate->shape, of.slowest);
    of.n_each /= of.n_slow;
    of.slow_a_turn = (of.n_each == 1 ? 1 : 2) * candidate->variant.n_buffers;
    return of;
}

/** Return the threads from a step along the slowest index up to another one. */
static polytile_domain threads_between(const pti_grid *grid, const pti_candidate *candidate,
                                       const repetition *of, int64_t first, int64_t end) {
    int64_t from[POLYTILE_MAX_DIMS] = {0}, to[POLYTILE_MAX_DIMS] = {0};
    polytile_domain threads = grid->threads;
    from[of->slowest] = first;
    to[of->slowest] = end - 1;
    threads.range[of->slowest] =
        pti_grid_superblock(grid, candidate->shape, from).range[of->slowest];
    threads.range[of->slowest].hi =
        pti_grid_superblock(grid, candidate->shape, to).range[of->slowest].hi;
    return threads;
}

/** Find the turns between what arrays clip at both ends. False if they are too few. */
static bool find_repetition(const pti_problem *problem, const pti_candidate *candidate,
                            repetition *of, pti_shift *shift) {
    pti_shift arrays[PTI_MAX_OPERANDS];
    bool repeats = false;
    for (int64_t n = 0; n < MOST_CLIPPED && !repeats; n++) {
        of->first_slow = n + N_ALIKE * of->slow_a_turn;
        of->times = (of->n_slow - n - 1 - of->first_slow) / of->slow_a_turn;
        if (of->times < FEWEST_TIMES)
            return false;
        const int64_t end = of->first_slow + of->times * of->slow_a_turn;
        const polytile_domain threads = threads_between(&problem->grid, candidate, of, n, end);
        const polytile_domain one =
            threads_between(&problem->grid, candidate, of, n, n + of->slow_a_turn);
        *shift = (pti_shift){{0}};
        shift->by[of->slowest] = pti_range_count(one.range[of->slowest]);
        repeats = pti_instance_find_shifts(problem->instance, &threads, shift, arrays);
    }
    return repeats;
}

bool pti_partition_repeated(const pti_problem *problem, const pti_candidate *candidate,
                            pti_partition *partition) {
    const pti_grid *grid = &problem->grid;
    int64_t position[POLYTILE_MAX_DIMS] = {0}, direction[POLYTILE_MAX_DIMS];
    repetition of = measure_turn(grid, candidate);
    pti_repeat repeat = {.n = of.slow_a_turn * of.n_each};
    pti_partition_begin(candidate, partition);
    if (candidate->n_kernels < FEWEST_SUPERBLOCKS || repeat.n > MOST_IN_A_TURN ||
        !find_repetition(problem, candidate, &of, &repeat.shift))
        return true;
    repeat.first = of.first_slow * of.n_each;
    repeat.times = of.times;
    partition->repeat = repeat;
    for (int d = 0; d < grid->threads.n_dims; d++)
        direction[d] = 1;
    bool added;
    do {
        polytile_domain threads = pti_grid_superblock(grid, candidate->shape, position);
        added = pti_partition_add(partition, &threads);
        if (partition->n_superblocks == repeat.first + repeat.n)
            position[of.slowest] += (of.times - 1) * of.slow_a_turn;
    } while (added && next_serpentine(grid, candidate, position, direction));
    return added;
}
