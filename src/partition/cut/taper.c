#include "access/footprint/footprint.h"
#include "base/checked.h"
#include "partition/cut/partition.h"

/** The parts of a tapered superblock, smallest first, each a fraction of it. */
static const int parts_of[] = {8, 8, 4, 2};

enum { N_PARTS = sizeof parts_of / sizeof *parts_of };

/** A superblock to be cut along one index, from its first threads to its last or backwards. */
typedef struct cutting {
    const polytile_domain *threads;
    int index;
    int64_t block; /* threads of a block along the index */
    bool is_backward;
} cutting;

/** The blocks of a part: its fraction, rounded up, of what there is, out of those that are left. */
static int64_t blocks_of_part(int64_t n_blocks, int k, int64_t n_left) {
    return k == N_PARTS - 1 ? n_left : pti_min(pti_ceil_div(n_blocks, parts_of[k]), n_left);
}

/** The threads of the blocks first .. end - 1 along the index, in the order of traversal. */
static polytile_domain slice(const cutting *of, int64_t n_blocks, int64_t first, int64_t end) {
    polytile_domain part = *of->threads;
    polytile_range *range = &part.range[of->index];
    int64_t lo = range->lo, hi = range->hi;
    int64_t from = of->is_backward ? n_blocks - end : first;
    int64_t to = of->is_backward ? n_blocks - first : end;
    range->lo = lo + from * of->block;
    range->hi = pti_min(hi, lo + to * of->block - 1);
    return part;
}

/** Add a superblock in parts, growing or shrinking along the traversal. */
static bool add_parts(const cutting *of, bool grows, pti_partition *tapered, int64_t *capacity) {
    int64_t n_blocks = pti_ceil_div(pti_range_count(of->threads->range[of->index]), of->block);
    int64_t size[N_PARTS];
    int64_t n_left = n_blocks;
    for (int k = 0; k < N_PARTS; k++)
        n_left -= size[k] = blocks_of_part(n_blocks, k, n_left);
    int64_t first = 0;
    for (int k = 0; k < N_PARTS; k++) {
        int64_t n = size[grows ? k : N_PARTS - 1 - k];
        polytile_domain part = slice(of, n_blocks, first, first + n);
        if (n > 0 && !pti_partition_add(tapered, capacity, &part))
            return false;
        first += n;
    }
    return true;
}

/** Whether the traversal comes to a superblock from the one before with falling indices. */
static bool comes_backward(const pti_partition *even, int64_t k, int index) {
    return even->superblock[k].range[index].lo < even->superblock[k - 1].range[index].lo;
}

/** Whether small superblocks make first uploads (or last downloads) small: of pieces that depend on
 * the index. */
static bool shrinks(const pti_instance *instance, int index, bool uploads) {
    for (int a = 0; a < instance->n_operands; a++) {
        const pti_operand *operand = &instance->operand[a];
        if ((uploads ? operand->reads : operand->writes) && pti_operand_depends(instance, a, index))
            return true;
    }
    return false;
}

bool pti_partition_taper(const pti_problem *problem, const pti_candidate *candidate,
                         const pti_partition *even, pti_partition *tapered) {
    int64_t capacity = 0, last = even->n_superblocks - 1;
    int fastest = candidate->order[problem->grid.threads.n_dims - 1];
    cutting of = {.index = fastest, .block = problem->grid.block[fastest]};
    bool at_first = shrinks(problem->instance, fastest, true);
    bool at_last = shrinks(problem->instance, fastest, false);
    *tapered = *even;
    tapered->superblock = NULL;
    tapered->n_superblocks = 0;
    bool added = true;
    for (int64_t k = 0; k <= last && added; k++) {
        of.threads = &even->superblock[k];
        of.is_backward = k > 0 && comes_backward(even, k, fastest);
        added = (k == 0 && at_first) || (k == last && at_last)
                    ? add_parts(&of, k == 0, tapered, &capacity)
                    : pti_partition_add(tapered, &capacity, of.threads);
    }
    if (!added)
        pti_partition_free(tapered);
    return added;
}
