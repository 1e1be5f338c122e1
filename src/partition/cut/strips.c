/* Tiles of what is accumulated, cut into strips. While a tile stays, each index along which threads
 * combine is run through panel by panel, and each panel strip by strip: the first strip of a tile
 * is complete, and goes out, while the others are computed, and the next tile's first strip takes
 * its place while the others go out. So neither needs the memory of a second tile. */
#include "access/footprint/footprint.h"
#include "base/checked.h"
#include "partition/cut/partition.h"

#include <stdlib.h>

/** The first index that a written operand does not depend on; -1 if there is none. */
static int accumulated_index(const pti_instance *instance) {
    for (int d = 0; d < instance->n_indices; d++) {
        for (int a = 0; a < instance->n_operands; a++) {
            if (instance->operand[a].writes && !pti_operand_depends(instance, a, d))
                return d;
        }
    }
    return -1;
}

static bool accumulates(const pti_instance *instance, int operand, int index) {
    return index >= 0 && instance->operand[operand].writes &&
           !pti_operand_depends(instance, operand, index);
}

/** Whether something accumulated can be cut along an index, and whatever depends on it lies apart:
 * pieces of several strips are newer than the host's at a time, so none may have an element of
 * another. */
static bool can_cut(const pti_instance *instance, int accumulated, int index) {
    bool found = false;
    for (int a = 0; a < instance->n_operands; a++) {
        if (!accumulates(instance, a, accumulated) || !pti_operand_depends(instance, a, index))
            continue;
        if (!pti_operand_lies_apart(instance, a, index))
            return false;
        found = true;
    }
    return found;
}

/** The first index along which strips can be cut: in memory, they mostly lie apart; -1 if there is
 * none. */
static int index_to_cut(const pti_instance *instance, int accumulated) {
    for (int d = 0; d < instance->n_indices; d++)
        if (can_cut(instance, accumulated, d))
            return d;
    return -1;
}

pti_strips pti_strips_of(const pti_instance *instance) {
    int accumulated = accumulated_index(instance);
    pti_strips strips = {.accumulated = accumulated,
                         .cut = index_to_cut(instance, accumulated),
                         .most = PTI_MOST_STRIPS};
    if (strips.cut < 0)
        strips.accumulated = -1;
    for (int a = 0; a < instance->n_operands && strips.cut >= 0; a++) {
        bool depends = pti_operand_depends(instance, a, strips.cut);
        strips.has_own_piece[a] = depends && accumulates(instance, a, accumulated);
        strips.passes[a] = depends && !strips.has_own_piece[a];
    }
    return strips;
}

/** What passes is small, and comes in early: so what the next panel's strips have in common, behind
 * it, has the time of some strips to come in. */
enum { SLOTS_AHEAD = 4 };

int pti_strips_slots(const pti_strips *strips, int operand, int n_strips) {
    if (strips->passes[operand])
        return SLOTS_AHEAD;
    return strips->has_own_piece[operand] ? n_strips : 0;
}

int64_t pti_strip_blocks(const pti_strips *strips, int64_t n_blocks) {
    return pti_ceil_div(n_blocks, strips->most);
}

/** A range of threads cut into parts of equal length, the last one as long as is left. */
typedef struct cut_range {
    polytile_range whole;
    int64_t part_threads;
} cut_range;

static int64_t n_parts_of(const cut_range *cut) {
    return pti_ceil_div(pti_range_count(cut->whole), cut->part_threads);
}

static polytile_range part_of(const cut_range *cut, int64_t at) {
    int64_t lo = cut->whole.lo + at * cut->part_threads;
    return (polytile_range){lo, pti_min(lo + cut->part_threads - 1, cut->whole.hi), 1};
}

/** What is being made, and what strips and panels are. */
typedef struct making {
    const pti_problem *problem;
    pti_partition *made;
    int64_t capacity;
    int64_t strip_capacity;
    int64_t strip_threads;
} making;

static bool add_strip(making *of, const polytile_domain *threads, int strip) {
    pti_partition *made = of->made;
    if (made->n_superblocks == of->strip_capacity) {
        int64_t larger = 2 * of->strip_capacity + 16;
        int *grown = realloc(made->strip, (size_t)larger * sizeof *grown);
        if (grown == NULL)
            return false;
        made->strip = grown;
        of->strip_capacity = larger;
    }
    made->strip[made->n_superblocks] = strip;
    return pti_partition_add(made, &of->capacity, threads);
}

static bool add_strips(making *of, const polytile_domain *panel) {
    int d = of->problem->strips.cut;
    cut_range strips = {panel->range[d], of->strip_threads};
    polytile_domain threads = *panel;
    bool added = true;
    for (int64_t s = 0; s < n_parts_of(&strips) && added; s++) {
        threads.range[d] = part_of(&strips, s);
        added = add_strip(of, &threads, (int)s);
    }
    return added;
}

/** The first superblock: an eighth of a panel twice, then a quarter and a half of it. */
static bool add_first(making *of, const polytile_domain *first) {
    static const int eighths[] = {1, 1, 2, 4};
    int d = of->problem->strips.accumulated;
    int64_t block = of->problem->grid.block[d];
    int64_t n_blocks = pti_ceil_div(pti_range_count(first->range[d]), block);
    int64_t eighth = pti_ceil_div(n_blocks, 8) * block;
    polytile_domain panel = *first;
    int64_t lo = first->range[d].lo, hi = first->range[d].hi;
    bool added = true;
    for (size_t k = 0; k < sizeof eighths / sizeof *eighths && lo <= hi && added; k++) {
        panel.range[d] = (polytile_range){lo, pti_min(lo + eighths[k] * eighth - 1, hi), 1};
        added = add_strips(of, &panel);
        lo = panel.range[d].hi + 1;
    }
    return added;
}

bool pti_partition_in_strips(const pti_problem *problem, const pti_partition *even,
                             pti_partition *made) {
    int cut = problem->strips.cut;
    int64_t strip_blocks = pti_strip_blocks(&problem->strips, even->shape[cut]);
    *made = *even;
    made->superblock = NULL;
    made->n_superblocks = 0;
    made->strips = problem->strips;
    made->n_strips = (int)pti_ceil_div(even->shape[cut], strip_blocks);
    making of = {
        .problem = problem, .made = made, .strip_threads = strip_blocks * problem->grid.block[cut]};
    bool added = true;
    for (int64_t k = 0; k < even->n_superblocks && added; k++)
        added =
            k == 0 ? add_first(&of, &even->superblock[k]) : add_strips(&of, &even->superblock[k]);
    if (!added)
        pti_partition_free(made);
    return added;
}
