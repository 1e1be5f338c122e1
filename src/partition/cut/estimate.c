#include "partition/cut/estimate.h"

#include "access/footprint/footprint.h"
#include "access/pieces/shear.h"
#include "base/checked.h"
#include "partition/cost/predict.h"

/** The most positions along an index that are looked at. */
enum { MAX_SEEN = 6 };

/** The pieces of one operand for superblocks along one index, in the middle of the others; each is
 * found once. */
typedef struct line {
    const pti_problem *problem;
    int64_t shape; /* blocks of a superblock along the index */
    int operand;
    int index;
    polytile_domain threads;
    int n_seen;
    int64_t at[MAX_SEEN];
    polytile_domain hull[MAX_SEEN];
} line;

static const polytile_domain *piece_at(line *along, int64_t at) {
    int k = 0;
    while (k < along->n_seen && along->at[k] != at)
        k++;
    if (k == along->n_seen) {
        along->threads.range[along->index] =
            pti_grid_range(&along->problem->grid, along->shape, at, along->index);
        along->at[k] = at;
        pti_footprint_find_hull(along->problem->instance, along->operand, PTI_TOUCHES,
                                &along->threads, &along->hull[k]);
        along->n_seen++;
    }
    return &along->hull[k];
}

/** Return whether what two pieces share can move from one to the other's place within one buffer:
 * they are laid out alike, and the shift is larger than what moves. */
static bool moves_apart(const polytile_domain *before, const polytile_domain *after,
                        const polytile_domain *common) {
    bool apart = false;
    for (int d = 0; d < common->n_dims; d++) {
        int64_t shift = pti_abs(after->range[d].lo - before->range[d].lo);
        apart |= shift > common->range[d].hi - common->range[d].lo;
        if (d > 0 && pti_range_count(before->range[d]) != pti_range_count(after->range[d]))
            return false;
    }
    return apart || pti_box_equals(before, after);
}

/** Return the elements of a piece that do not come from the piece before. stays: that has its place
 * for this one, too. */
static double not_shared(const polytile_domain *before, const polytile_domain *after, bool stays,
                         int n_buffers) {
    polytile_domain common;
    bool shares = pti_box_intersect(before, after, &common) &&
                  (stays || n_buffers > 1 || moves_apart(before, after, &common));
    return (double)pti_box_count(after) - (shares ? (double)pti_box_count(&common) : 0);
}

/** Estimate an operand's traffic along one index from its first, middle and last superblocks: those
 * between are alike. */
static void describe_index(const pti_problem *problem, const pti_candidate *candidate, int operand,
                           int d, const pti_estimate *all, pti_operand_estimate *made) {
    int n_buffers = candidate->variant.n_buffers;
    bool stays = problem->has_largest[operand];
    int64_t quotient = all->n_parts[d];
    double element_bytes = (double)problem->instance->operand[operand].element_bytes;
    line along;
    along.problem = problem;
    along.shape = candidate->shape[d];
    along.operand = operand;
    along.index = d;
    along.threads = all->middle;
    along.n_seen = 0;
    const polytile_domain *first = piece_at(&along, 0);
    const polytile_domain *last = piece_at(&along, quotient - 1);
    double n_between = (double)quotient - 2;
    double between = 0;
    double elements = (double)pti_box_count(first);
    if (quotient > 2) {
        const polytile_domain *middle = piece_at(&along, quotient / 2);
        between =
            n_between * not_shared(piece_at(&along, quotient / 2 - 1), middle, stays, n_buffers);
        elements += n_between * (double)pti_box_count(middle);
    }
    elements += (double)pti_box_count(last);
    made->there_bytes[d] = element_bytes * (between + not_shared(piece_at(&along, quotient - 2),
                                                                 last, stays, n_buffers));
    made->back_bytes[d] =
        element_bytes * (between + not_shared(piece_at(&along, 1), first, stays, n_buffers));
    if (made->bytes > 0)
        made->share[d] = element_bytes * elements / ((double)quotient * made->bytes);
}

/** Describe a piece by itself, of a middle superblock and of the first one. */
static void describe_piece(const pti_problem *problem, int operand, const polytile_domain *origin,
                           pti_estimate *all) {
    const pti_operand *of = &problem->instance->operand[operand];
    polytile_domain first, middle;
    pti_footprint_find_hull(problem->instance, operand, PTI_TOUCHES, origin, &first);
    pti_footprint_find_hull(problem->instance, operand, PTI_TOUCHES, &all->middle, &middle);
    pti_operand_estimate *made = &all->piece[operand];
    made->bytes = (double)pti_box_count(&middle) * (double)of->element_bytes;
    made->first_bytes = (double)pti_box_count(&first) * (double)of->element_bytes;
    made->run_cost = pti_run_cost(problem->link, pti_operand_runs(of, &middle));
    made->n_passes = pti_operand_passes(of);
    made->uploads = of->reads;
    made->downloads = of->writes;
    made->returns = of->fresh;
    for (int d = 0; d < all->n_dims; d++)
        made->depends[d] = all->n_parts[d] > 1 && problem->depends[operand][d];
}

void pti_estimate_pieces(const pti_problem *problem, const pti_candidate *candidate,
                         pti_estimate *all) {
    polytile_domain origin;
    all->n_dims = problem->instance->n_indices;
    all->n_pieces = problem->instance->n_operands;
    all->middle.n_dims = origin.n_dims = all->n_dims;
    for (int d = 0; d < all->n_dims; d++) {
        int64_t shape = candidate->shape[d];
        all->n_parts[d] = pti_grid_quotient(&problem->grid, candidate->shape, d);
        all->quotient[d] = (double)all->n_parts[d];
        origin.range[d] = pti_grid_range(&problem->grid, shape, 0, d);
        all->middle.range[d] = pti_grid_range(&problem->grid, shape, (all->n_parts[d] - 1) / 2, d);
    }
    for (int a = 0; a < all->n_pieces; a++)
        describe_piece(problem, a, &origin, all);
}

void pti_estimate_lines(const pti_problem *problem, const pti_candidate *candidate, bool written,
                        pti_estimate *all) {
    for (int a = 0; a < all->n_pieces; a++) {
        pti_operand_estimate *made = &all->piece[a];
        for (int d = 0; d < all->n_dims && made->downloads == written; d++) {
            made->share[d] = 1;
            if (made->depends[d])
                describe_index(problem, candidate, a, d, all, made);
        }
    }
}
