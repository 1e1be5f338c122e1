/* Tiles of what is accumulated, cut into strips. While a tile stays, each index along which threads
 * combine is run through panel by panel, and each panel strip by strip. So the first strip of a
 * tile is complete, and goes out, while the others are computed. The next tile's first strip takes
 * its place while the others go out. Neither needs the memory of a second tile. */
#include "access/footprint/footprint.h"
#include "base/checked.h"
#include "partition/cut/family.h"

#include <math.h>

static bool accumulates_over(const pti_problem *problem, int operand, int index) {
    return problem->instance->operand[operand].writes && !problem->depends[operand][index];
}

/** Return the first index that a written operand does not depend on; -1 if there is none. */
static int accumulated_index(const pti_problem *problem) {
    for (int d = 0; d < problem->instance->n_indices; d++)
        for (int a = 0; a < problem->instance->n_operands; a++)
            if (accumulates_over(problem, a, d))
                return d;
    return -1;
}

/** Return whether something accumulated can be cut along an index, and whatever depends on it lies
 * apart: pieces of several strips are newer than the host's at a time, so none may have an element
 * of another. */
static bool can_cut(const pti_problem *problem, int accumulated, int index) {
    bool found = false;
    for (int a = 0; a < problem->instance->n_operands; a++) {
        if (!accumulates_over(problem, a, accumulated) || !problem->depends[a][index])
            continue;
        if (!pti_operand_lies_apart(problem->instance, a, index))
            return false;
        found = true;
    }
    return found;
}

/** Return the first index along which strips can be cut: in memory, they mostly lie apart; -1 if
 * there is none. */
static int index_to_cut(const pti_problem *problem, int accumulated) {
    for (int d = 0; d < problem->instance->n_indices; d++)
        if (can_cut(problem, accumulated, d))
            return d;
    return -1;
}

/** Eight strips of a superblock, four or two: few where kernels would be small. */
static bool next_strips(const pti_problem *problem, const pti_buffer_range *buffers, bool fits,
                        pti_variant *variant) {
    (void)fits;
    if (variant->n_strips > 1) {
        variant->n_strips /= 2;
        return variant->n_strips > 1;
    }
    variant->along = accumulated_index(problem);
    if (variant->along < 0 || buffers->last == 1)
        return false;
    variant->n_buffers = buffers->last;
    variant->n_strips = PTI_MOST_STRIPS;
    variant->cut = index_to_cut(problem, variant->along);
    return variant->cut >= 0;
}

/** Return whether each strip has a piece of an operand of its own, as long as the tile stays. */
static bool has_own_piece(const pti_problem *problem, const pti_variant *variant, int operand) {
    return problem->depends[operand][variant->cut] &&
           accumulates_over(problem, operand, variant->along);
}

/** What each strip has another piece of, which does not stay, is small, and comes in early: so what
 * the next panel's strips have in common, after it, has the time of some strips to come in. */
enum { PLACES_AHEAD = 4 };

static int count_strip_places(const pti_problem *problem, const pti_variant *variant,
                              const int64_t *shape, int operand) {
    if (has_own_piece(problem, variant, operand))
        return (int)pti_ceil_div(shape[variant->cut], pti_strip_blocks(variant, shape));
    return problem->depends[operand][variant->cut] ? PLACES_AHEAD : 0;
}

/** Return the seconds of a tile's way out. */
static double tile_out_seconds(const pti_timing *timing) {
    double seconds = 0;
    for (int a = 0; a < timing->all->n_pieces; a++)
        seconds += pti_piece_seconds(timing, a, true);
    return seconds;
}

/** Return the seconds of filling the pipeline with a panel's first strip. */
static double strip_in_seconds(const pti_timing *timing, const pti_variant *variant) {
    double seconds = 0;
    for (int a = 0; a < timing->all->n_pieces; a++) {
        double part = timing->all->piece[a].depends[variant->cut] ? 1.0 / variant->n_strips : 1;
        seconds += part * pti_piece_seconds(timing, a, false);
    }
    return seconds;
}

static double busiest_seconds(const pti_timing *timing, const pti_candidate *candidate) {
    (void)candidate;
    return fmax(fmax(timing->in_s, timing->out_s), timing->compute_s);
}

/** Predict the seconds of a run in strips: those of the busiest stream; at each change of tiles the
 * part of the tile's way out that the panels before and after it do not hide; and at the ends a
 * strip of a thin panel in, and a strip of a tile out. */
static double seconds_in_strips(const pti_timing *timing, pti_candidate *candidate) {
    const pti_variant *variant = &candidate->variant;
    double n_panels = (double)candidate->n_kernels;
    double n_tiles = n_panels / timing->all->quotient[variant->along];
    double panel_s = fmax(timing->compute_s, timing->in_s) / n_panels;
    double out_s = tile_out_seconds(timing);
    double strip_s = (timing->compute_s / n_panels + out_s) / variant->n_strips;
    double change_s = fmax(0, out_s + strip_s - 2 * panel_s);
    return busiest_seconds(timing, candidate) + (n_tiles - 1) * change_s + strip_s +
           strip_in_seconds(timing, variant) / variant->n_strips;
}

static bool add_strips(pti_partition *made, const polytile_domain *panel) {
    polytile_domain threads = *panel;
    polytile_range whole = panel->range[made->cut];
    bool added = true;
    for (int64_t lo = whole.lo; lo <= whole.hi && added; lo += made->strip_threads) {
        int64_t hi = pti_min(lo + made->strip_threads - 1, whole.hi);
        threads.range[made->cut] = (polytile_range){lo, hi, 1};
        added = pti_partition_add(made, &threads);
    }
    return added;
}

/** Add the first superblock of a panel in parts: an eighth of it twice, then a quarter and a
 * half. */
static bool add_first(pti_partition *made, const polytile_domain *first, int along, int64_t block) {
    static const int eighths[] = {1, 1, 2, 4};
    polytile_domain panel = *first;
    int64_t lo = first->range[along].lo, hi = first->range[along].hi;
    int64_t eighth = pti_ceil_div(pti_ceil_div(hi - lo + 1, block), 8) * block;
    bool added = true;
    for (size_t k = 0; k < sizeof eighths / sizeof *eighths && lo <= hi && added; k++) {
        panel.range[along] = (polytile_range){lo, pti_min(lo + eighths[k] * eighth - 1, hi), 1};
        added = add_strips(made, &panel);
        lo = panel.range[along].hi + 1;
    }
    return added;
}

/** Describe the strips of a tile and their places. */
static void describe_strips(const pti_problem *problem, const pti_candidate *candidate,
                            pti_partition *made) {
    const pti_variant *variant = &candidate->variant;
    int64_t strip_blocks = pti_strip_blocks(variant, candidate->shape);
    int64_t block = problem->grid.block[variant->cut];
    made->n_strips = (int)pti_ceil_div(candidate->shape[variant->cut], strip_blocks);
    made->cut = variant->cut;
    made->cut_lo = problem->grid.threads.range[variant->cut].lo;
    made->strip_threads = strip_blocks * block;
    made->tile_threads = candidate->shape[variant->cut] * block;
    for (int a = 0; a < problem->instance->n_operands; a++) {
        made->n_places[a] = count_strip_places(problem, variant, candidate->shape, a);
        made->has_own_piece[a] = has_own_piece(problem, variant, a);
    }
}

/** Superblocks cut into strips, which follow each other inside each of them: a strip's accumulators
 * stay while others are computed, and go out while those of the next ones come to their end. The
 * first superblock is cut along the accumulated index as well, so that a pipeline fills sooner. */
static bool cut_into_strips(const pti_problem *problem, const pti_candidate *candidate,
                            pti_partition *made) {
    int along = candidate->variant.along;
    pti_partition even;
    bool added = pti_partition_uniform(problem, candidate, &even);
    pti_partition_begin(candidate, made);
    describe_strips(problem, candidate, made);
    for (int64_t k = 0; k < even.n_superblocks && added; k++)
        added = k == 0 ? add_first(made, &even.superblock[k], along, problem->grid.block[along])
                       : add_strips(made, &even.superblock[k]);
    pti_partition_free(&even);
    return added;
}

const pti_family pti_family_strips = {
    .name = "strips",
    .for_time = true,
    .next = next_strips,
    .count_places = count_strip_places,
    .seconds = seconds_in_strips,
    .least_seconds = busiest_seconds,
    .partition = cut_into_strips,
};
