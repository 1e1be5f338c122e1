#include "partition/candidate.h"

#include "access/footprint.h"
#include "base/checked.h"

#include <math.h>
#include <string.h>

enum { MAX_PERMUTED = 4 };

static bool only_moves(const pti_instance *instance, int d) {
    for (int a = 0; a < instance->n_operands; a++) {
        if (pti_operand_trend(instance, a, d) != PTI_CONSTANT)
            return false;
    }
    return true;
}

pti_problem pti_problem_of(const pti_instance *instance, const polytile_link *link,
                           const int64_t *block, int64_t limit_bytes) {
    pti_problem problem = {.instance = instance,
                           .link = link,
                           .grid = pti_grid_of(&instance->threads, block),
                           .limit_bytes = limit_bytes};
    for (int d = 0; d < instance->n_indices; d++)
        problem.only_moves[d] = only_moves(instance, d);
    return problem;
}

/** What one operand moves for a shape: elements as doubles, since only comparisons follow. */
typedef struct piece {
    double bytes;                          /* of a middle superblock */
    double whole_bytes;                    /* of the whole launch */
    double fresh_bytes[POLYTILE_MAX_DIMS]; /* not shared with the next superblock along an index */
    bool depends[POLYTILE_MAX_DIMS];
    bool uploads;
    bool downloads;
} piece;

typedef struct estimate {
    int n_dims;
    int n_pieces;
    double quotient[POLYTILE_MAX_DIMS];
    piece piece[PTI_MAX_OPERANDS];
} estimate;

static polytile_domain middle_superblock(const pti_problem *problem, const int64_t *shape,
                                         int shifted) {
    int64_t position[POLYTILE_MAX_DIMS] = {0};
    for (int d = 0; d < problem->instance->n_indices; d++) {
        int64_t quotient = pti_grid_quotient(&problem->grid, shape, d);
        position[d] = (quotient - 1) / 2 + (d == shifted);
    }
    return pti_grid_superblock(&problem->grid, shape, position);
}

static void describe_piece(const pti_problem *problem, const int64_t *shape, int operand,
                           estimate *all) {
    const pti_instance *instance = problem->instance;
    const pti_operand *of = &instance->operand[operand];
    piece *made = &all->piece[operand];
    double element_bytes = (double)of->element_bytes;
    polytile_domain threads = middle_superblock(problem, shape, -1);
    polytile_domain hull = pti_footprint_hull(instance, operand, PTI_TOUCHES, &threads);
    polytile_domain whole = pti_footprint_hull(instance, operand, PTI_TOUCHES, &instance->threads);
    *made = (piece){.bytes = (double)pti_box_count(&hull) * element_bytes,
                    .whole_bytes = (double)pti_box_count(&whole) * element_bytes,
                    .uploads = of->reads,
                    .downloads = of->writes};
    for (int d = 0; d < all->n_dims; d++) {
        made->depends[d] = all->quotient[d] > 1 && pti_operand_depends(instance, operand, d);
        if (!made->depends[d])
            continue;
        polytile_domain next = middle_superblock(problem, shape, d);
        polytile_domain next_hull = pti_footprint_hull(instance, operand, PTI_TOUCHES, &next);
        polytile_domain common;
        double shared = pti_box_intersect(&hull, &next_hull, &common)
                            ? (double)pti_box_count(&common) * element_bytes
                            : 0;
        made->fresh_bytes[d] = fmax(made->bytes - shared, 0);
    }
}

/** How often the index changes in a serpentine traversal: once less than its quotient for each
 * outer position. */
static void count_moves(const estimate *all, const int *order, double *moves) {
    double outer = 1;
    for (int k = 0; k < all->n_dims; k++) {
        int d = order[k];
        moves[d] = outer * (all->quotient[d] - 1);
        outer *= all->quotient[d];
    }
}

/** The share of a middle piece that an average one has: the last one along an index may be cut
 * short. */
static double average_share(const estimate *all, const piece *of) {
    double n_pieces = 1;
    double halo_free = of->bytes;
    for (int d = 0; d < all->n_dims; d++) {
        if (!of->depends[d])
            continue;
        n_pieces *= all->quotient[d];
        halo_free *= of->bytes > 0 ? of->fresh_bytes[d] / of->bytes : 0;
    }
    double covered = n_pieces * halo_free;
    return covered > of->whole_bytes && covered > 0 ? of->whole_bytes / covered : 1;
}

static void estimate_order(const estimate *all, const int *order, double *upload_bytes,
                           double *download_bytes) {
    double moves[POLYTILE_MAX_DIMS];
    count_moves(all, order, moves);
    *upload_bytes = 0;
    *download_bytes = 0;
    for (int a = 0; a < all->n_pieces; a++) {
        const piece *of = &all->piece[a];
        double fresh = of->bytes;
        double whole = of->bytes;
        for (int d = 0; d < all->n_dims; d++) {
            fresh += of->depends[d] ? moves[d] * of->fresh_bytes[d] : 0;
            whole += of->depends[d] ? moves[d] * of->bytes : 0;
        }
        double share = average_share(all, of);
        if (of->uploads)
            *upload_bytes += share * (of->downloads ? whole : fresh);
        if (of->downloads)
            *download_bytes += share * whole;
    }
}

static void keep_best(const estimate *all, const int *order, pti_candidate *candidate) {
    double upload_bytes;
    double download_bytes;
    estimate_order(all, order, &upload_bytes, &download_bytes);
    double best = candidate->upload_bytes + candidate->download_bytes;
    if (upload_bytes + download_bytes >= best)
        return;
    candidate->upload_bytes = upload_bytes;
    candidate->download_bytes = download_bytes;
    memcpy(candidate->order, order, sizeof candidate->order);
}

static void swap(int *a, int *b) {
    int old = *a;
    *a = *b;
    *b = old;
}

static void permute(const estimate *all, int *order, int first, pti_candidate *candidate) {
    if (first >= all->n_dims - 1) {
        keep_best(all, order, candidate);
        return;
    }
    for (int k = first; k < all->n_dims; k++) {
        swap(&order[first], &order[k]);
        permute(all, order, first + 1, candidate);
        swap(&order[first], &order[k]);
    }
}

static void rotate(const estimate *all, int *order, int first, pti_candidate *candidate) {
    for (int k = first; k < all->n_dims; k++) {
        swap(&order[k], &order[all->n_dims - 1]);
        keep_best(all, order, candidate);
        swap(&order[k], &order[all->n_dims - 1]);
    }
}

/** The indices that are not split come first, in place; the position of the first one that is
 * split. */
static int order_unsplit_first(const estimate *all, int *order) {
    int n_unsplit = 0;
    int n_split = 0;
    for (int d = 0; d < all->n_dims; d++)
        n_unsplit += all->quotient[d] <= 1;
    int next_unsplit = 0;
    for (int d = 0; d < all->n_dims; d++)
        order[all->quotient[d] > 1 ? n_unsplit + n_split++ : next_unsplit++] = d;
    return n_unsplit;
}

/**
 * One superblock: everything in turn. One buffer: uploads and kernels in turn, downloads beside them.
 * More: the slowest of three streams, plus filling and draining.
 */
static double estimate_seconds(const pti_problem *problem, const estimate *all,
                               const pti_candidate *candidate) {
    const polytile_link *link = problem->link;
    double n_kernels = (double)candidate->n_kernels;
    double touched = 0;
    for (int a = 0; a < all->n_pieces; a++)
        touched += all->piece[a].bytes * n_kernels;
    double compute_s = n_kernels * link->launch_latency_s + touched / link->kernel_bytes_per_s;
    double latency_s = n_kernels * all->n_pieces * link->transfer_latency_s;
    if (candidate->n_kernels <= 1)
        return candidate->upload_bytes / link->upload_bytes_per_s +
               candidate->download_bytes / link->download_bytes_per_s + latency_s + compute_s;
    double in_s = candidate->upload_bytes / link->duplex_bytes_per_s + latency_s;
    double out_s = candidate->download_bytes / link->duplex_bytes_per_s + latency_s;
    double fill_s = (in_s + compute_s + out_s) / n_kernels;
    if (candidate->n_buffers == 1)
        return fmax(in_s + compute_s, out_s) + fill_s;
    return fmax(fmax(in_s, out_s), compute_s) + fill_s;
}

void pti_candidate_estimate(const pti_problem *problem, pti_candidate *candidate) {
    estimate all = {.n_dims = problem->instance->n_indices,
                    .n_pieces = problem->instance->n_operands};
    for (int d = 0; d < all.n_dims; d++)
        all.quotient[d] = (double)pti_grid_quotient(&problem->grid, candidate->shape, d);
    for (int a = 0; a < all.n_pieces; a++)
        describe_piece(problem, candidate->shape, a, &all);
    candidate->n_kernels = pti_grid_n_superblocks(&problem->grid, candidate->shape);
    candidate->upload_bytes = INFINITY;
    candidate->download_bytes = INFINITY;
    int order[POLYTILE_MAX_DIMS] = {0};
    int first = order_unsplit_first(&all, order);
    if (all.n_dims - first <= MAX_PERMUTED)
        permute(&all, order, first, candidate);
    else
        rotate(&all, order, first, candidate);
    candidate->seconds = estimate_seconds(problem, &all, candidate);
}
