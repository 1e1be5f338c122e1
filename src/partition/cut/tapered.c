/* Equal boxes, of which the first and the last one are cut so that a pipeline fills and drains
 * sooner. They are cut along the fastest index, where uploads and downloads depend on it: into an
 * eighth, an eighth, a quarter and a half of a superblock, and the same the other way round. */
#include "base/checked.h"
#include "partition/cut/family.h"

/** With fewer superblocks there is no pipeline to fill and drain; with more, filling and draining
 * it does not matter. */
enum { MIN_TO_TAPER = 4, MAX_TO_TAPER = 1024 };

/** The parts of a tapered superblock, smallest first, each a fraction of it; the last one is what
 * is left. */
static const int parts_of[] = {8, 8, 4, 1};

enum { N_PARTS = sizeof parts_of / sizeof *parts_of };

/** A superblock to be cut along one index, from its first threads to its last or backwards. */
typedef struct cutting {
    const polytile_domain *threads;
    int index;
    int64_t block; /* threads of a block along the index */
    bool is_backward;
} cutting;

/** Return the threads of blocks first .. end - 1 of the superblock's n_blocks along the index, in
 * the order of traversal. */
static polytile_domain threads_of_blocks(const cutting *of, int64_t n_blocks, int64_t first,
                                         int64_t end) {
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
static bool add_parts(const cutting *of, bool grows, pti_partition *tapered) {
    int64_t n_blocks = pti_ceil_div(pti_range_count(of->threads->range[of->index]), of->block);
    int64_t size[N_PARTS];
    int64_t n_left = n_blocks;
    for (int k = 0; k < N_PARTS; k++)
        n_left -= size[k] = pti_min(pti_ceil_div(n_blocks, parts_of[k]), n_left);
    int64_t first = 0;
    for (int k = 0; k < N_PARTS; k++) {
        int64_t n = size[grows ? k : N_PARTS - 1 - k];
        polytile_domain part = threads_of_blocks(of, n_blocks, first, first + n);
        if (n > 0 && !pti_partition_add(tapered, &part))
            return false;
        first += n;
    }
    return true;
}

/** Return whether first uploads (or last downloads) are smaller for small superblocks, since a
 * piece depends on the index. */
static bool shrinks_along(const pti_problem *problem, int index, bool uploads) {
    for (int a = 0; a < problem->instance->n_operands; a++) {
        const pti_operand *operand = &problem->instance->operand[a];
        if ((uploads ? operand->reads : operand->writes) && problem->depends[a][index])
            return true;
    }
    return false;
}

static bool add_tapered_superblocks(const pti_problem *problem, int fastest,
                                    const pti_partition *even, pti_partition *tapered) {
    int64_t last = even->n_superblocks - 1;
    cutting of = {.index = fastest, .block = problem->grid.block[fastest]};
    bool at_first = shrinks_along(problem, fastest, true);
    bool at_last = shrinks_along(problem, fastest, false);
    bool added = true;
    for (int64_t k = 0; k <= last && added; k++) {
        of.threads = &even->superblock[k];
        of.is_backward = k > 0 && of.threads->range[fastest].lo < of.threads[-1].range[fastest].lo;
        added = (k == 0 && at_first) || (k == last && at_last)
                    ? add_parts(&of, k == 0, tapered)
                    : pti_partition_add(tapered, of.threads);
    }
    return added;
}

static bool taper_ends(const pti_problem *problem, const pti_candidate *candidate,
                       pti_partition *tapered) {
    int fastest = candidate->order[problem->grid.threads.n_dims - 1];
    pti_partition even;
    pti_partition_begin(candidate, tapered);
    if (candidate->n_kernels < MIN_TO_TAPER || candidate->n_kernels > MAX_TO_TAPER)
        return true;
    bool made = pti_partition_uniform(problem, candidate, &even) &&
                add_tapered_superblocks(problem, fastest, &even, tapered);
    pti_partition_free(&even);
    return made;
}

const pti_family pti_family_tapered = {
    .name = "tapered", .for_time = true, .partition = taper_ends};
