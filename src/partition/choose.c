#include "partition/choose.h"

#include "base/checked.h"
#include "base/text.h"
#include "partition/bound.h"
#include "partition/build.h"
#include "partition/certificate.h"
#include "partition/fit.h"
#include "partition/paper.h"
#include <polytile/size.h>

#include <string.h>

enum { MAX_SUPERBLOCKS = 1 << 22, MAX_RETRIES = 16, MAX_BUFFERS = 3 };

/** With fewer superblocks there is no pipeline to fill and drain; with more, filling and draining
 * it does not matter. */
enum { MIN_TO_TAPER = 4, MAX_TO_TAPER = 1024 };

typedef struct chooser {
    polytile_context *ctx;
    const pti_strategy *strategy;
    const polytile_plan_options *options;
    const polytile_link *link;
    pti_problem problem;
    int first_buffers; /* the numbers of buffers to try */
    int last_buffers;
    int line_buffers; /* the most where some pieces have one place only */
    double patience;  /* how many times as long as the plan held one may take that moves less; 1: no
                        longer */
    pti_choice *choice;
} chooser;

static bool one_block_fits(const pti_problem *problem, int n_buffers) {
    int64_t one[POLYTILE_MAX_DIMS];
    for (int d = 0; d < problem->instance->n_indices; d++)
        one[d] = 1;
    return pti_fit_full(problem, one, n_buffers);
}

/** The user's block, or the default one, halved until it fits where it can. */
static void set_block(chooser *of, const pti_instance *instance) {
    int64_t block[POLYTILE_MAX_DIMS];
    int64_t limit_bytes = of->options->limit_bytes;
    if (of->options->block != NULL) {
        of->problem = pti_problem_of(instance, of->link, of->options->block, limit_bytes);
        return;
    }
    pti_grid_default_block(&instance->threads, block);
    do {
        of->problem = pti_problem_of(instance, of->link, block, limit_bytes);
    } while (!one_block_fits(&of->problem, of->first_buffers) &&
             pti_grid_halve_block(instance->n_indices, block));
}

static pti_cost cost_of(const pti_choice *choice) {
    return (pti_cost){.n_kernels = choice->schedule->n_superblocks,
                      .moved_bytes = choice->traffic.h2d_bytes + choice->traffic.d2h_bytes,
                      .seconds = choice->seconds};
}

/** Whether a plan is to replace the one that is held. */
static bool is_preferred(const chooser *of, const pti_choice *offered) {
    if (of->choice->schedule == NULL)
        return true;
    pti_cost new = cost_of(offered), held = cost_of(of->choice);
    bool moves_less =
        new.moved_bytes < held.moved_bytes &&new.seconds <= of->patience *held.seconds;
    return of->strategy->is_cheaper(&new, &held) || (of->patience > 1 && moves_less);
}

/** Build a partition's schedule; it replaces the choice if that is empty or dearer. */
static polytile_status offer(chooser *of, const pti_partition *partition, int64_t *need_bytes) {
    pti_choice made = {.grid = of->problem.grid, .n_buffers = partition->n_buffers};
    memcpy(made.shape, partition->shape, sizeof made.shape);
    const polytile_link *link = of->strategy->objective.may_be_small ? of->link : NULL;
    polytile_status status =
        pti_schedule_build(of->problem.instance, partition, link, of->options->limit_bytes,
                           need_bytes, &made.schedule);
    if (status != POLYTILE_OK)
        return status;
    made.traffic = pti_schedule_traffic(made.schedule);
    made.seconds = pti_schedule_predict(made.schedule, of->link);
    if (made.seconds < 0) {
        pti_schedule_free(made.schedule);
        return POLYTILE_NO_MEMORY;
    }
    if (!is_preferred(of, &made)) {
        pti_schedule_free(made.schedule);
        return POLYTILE_OK;
    }
    pti_schedule_free(of->choice->schedule);
    *of->choice = made;
    return POLYTILE_OK;
}

/** The same superblocks with small ones at both ends, if the plan is faster with them. */
static polytile_status offer_tapered(chooser *of, const pti_candidate *candidate,
                                     const pti_partition *even) {
    pti_partition tapered;
    int64_t need_bytes;
    if (even->n_superblocks < MIN_TO_TAPER || even->n_superblocks > MAX_TO_TAPER)
        return POLYTILE_OK;
    if (!pti_partition_taper(&of->problem, candidate, even, &tapered))
        return POLYTILE_NO_MEMORY;
    polytile_status status = offer(of, &tapered, &need_bytes);
    pti_partition_free(&tapered);
    return status == POLYTILE_NO_FIT ? POLYTILE_OK : status;
}

/** The superblocks of a candidate in strips. */
static polytile_status offer_in_strips(chooser *of, const pti_candidate *candidate,
                                       const pti_partition *even, int64_t *need_bytes) {
    pti_partition strips;
    pti_problem problem = of->problem;
    problem.strips.most = candidate->n_strips;
    if (!pti_partition_in_strips(&problem, even, &strips))
        return POLYTILE_NO_MEMORY;
    polytile_status status = offer(of, &strips, need_bytes);
    pti_partition_free(&strips);
    return status;
}

static polytile_status offer_uniform(chooser *of, const pti_candidate *candidate,
                                     int64_t *need_bytes) {
    pti_partition partition;
    if (candidate->n_kernels > MAX_SUPERBLOCKS)
        return POLYTILE_UNSUPPORTED;
    if (!pti_partition_uniform(&of->problem, candidate, &partition))
        return POLYTILE_NO_MEMORY;
    polytile_status status = candidate->n_strips > 0
                                 ? offer_in_strips(of, candidate, &partition, need_bytes)
                                 : offer(of, &partition, need_bytes);
    if (status == POLYTILE_OK && of->strategy->objective.may_be_small && candidate->tapers &&
        candidate->n_strips == 0)
        status = offer_tapered(of, candidate, &partition);
    pti_partition_free(&partition);
    return status;
}

static double moved_bytes(const pti_candidate *of) {
    return of->upload_bytes + of->download_bytes;
}

/** How much longer a plan may take, by an estimate, that moves less: estimates are no better than
 * this, and others use the link too. From what multiple of the least that any plan moves on it is
 * worth a look; and how much longer a plan may take that comes so near to what must move in its
 * memory. */
static const double as_good = 1.012, much_traffic = 1.1, long_enough = 1.2;

/** The part of a plan's time from which on the link is busy. */
static const double busy_part = 0.125;

/** What a candidate with fewer strips must move, at most, of what one with more strips does: those
 * hide more. */
static const double much_less = 0.98;

/** Whether superblocks can be cut into strips with these options. */
static bool may_be_in_strips(const chooser *of) {
    return of->problem.strips.accumulated >= 0 && of->last_buffers > 1 &&
           of->strategy->objective.may_be_small;
}

/** Take the best candidate of a problem, if it is better. */
static bool search_one(const chooser *of, const pti_problem *problem, int n_buffers, bool found,
                       pti_candidate *best) {
    pti_candidate candidate;
    if (!pti_search(problem, &of->strategy->objective, n_buffers, &candidate))
        return found;
    if (!found || of->strategy->objective.is_better(&candidate, best))
        *best = candidate;
    return true;
}

/** The same of superblocks that are cut into strips: few where kernels would be small. */
static bool search_in_strips(const chooser *of, const pti_problem *whole, bool found,
                             pti_candidate *best) {
    pti_problem problem = *whole;
    problem.in_strips = true;
    for (int n = PTI_MOST_STRIPS; n > 1; n /= 2) {
        problem.strips.most = n;
        found = search_one(of, &problem, of->last_buffers, found, best);
    }
    return found;
}

/** Whether along an index some pieces stay that are worth the memory of others. */
static bool is_line(const pti_problem *problem, int index) {
    bool stays = false, comes = false;
    for (int a = 0; a < problem->instance->n_operands; a++) {
        stays |= !problem->depends[a][index];
        comes |= problem->depends[a][index];
    }
    return stays && comes;
}

/** The same of superblocks in lines, of which neighbours share what stays: that has one place, and
 * what comes and goes may have three. */
static bool search_in_lines(const chooser *of, const pti_problem *whole, bool found,
                            pti_candidate *best) {
    pti_problem problem = *whole;
    problem.in_lines = true;
    for (int d = 0; d < whole->instance->n_indices; d++) {
        problem.line = d;
        for (int n = of->last_buffers; n <= of->line_buffers && is_line(whole, d); n++)
            found = search_one(of, &problem, n, found, best);
    }
    return found;
}

/** Whether pieces that stay may have fewer places than there are buffers. */
static bool may_be_in_lines(const chooser *of) {
    return of->last_buffers > 1 && of->strategy->objective.may_be_small;
}

/** Of the candidates that take at most `patience` times as long as the fastest, the one that moves
 * least; false if that is the fastest. */
static bool find_least(const chooser *of, const pti_problem *problem, double patience,
                       const pti_candidate *fastest, pti_candidate *least) {
    pti_problem relaxed = *problem;
    relaxed.in_strips = may_be_in_strips(of);
    relaxed.enough_s = patience * fastest->run_s;
    int n_buffers = relaxed.in_strips || fastest->n_buffers > of->last_buffers ? of->last_buffers
                                                                               : fastest->n_buffers;
    *least = *fastest;
    for (int n = relaxed.in_strips ? PTI_MOST_STRIPS : 2; n > 1; n /= 2) {
        pti_candidate candidate;
        relaxed.strips.most = n;
        if (pti_search(&relaxed, &of->strategy->objective, n_buffers, &candidate) &&
            candidate.seconds <= relaxed.enough_s &&
            moved_bytes(&candidate) < much_less * moved_bytes(least))
            *least = candidate;
    }
    return moved_bytes(least) < moved_bytes(fastest);
}

/** Whether a candidate brings in little more than any plan must with so much memory, and that is
 * more than each element once. */
static bool is_near_bound(const pti_problem *problem, const pti_candidate *candidate) {
    pti_bound bound = pti_bound_find(problem->instance, problem->limit_bytes);
    return bound.kind != PTI_BOUND_COMPULSORY &&
           candidate->upload_bytes <= much_traffic * (double)bound.goal_bytes;
}

/** Whether a candidate moves so much that less is worth some time. */
static bool moves_much(const chooser *of, const pti_candidate *candidate) {
    pti_bound least = pti_bound_find(of->problem.instance, INT64_MAX);
    return moved_bytes(candidate) >
           much_traffic * ((double)least.h2d_bytes + (double)least.d2h_bytes);
}

/** Whether a candidate keeps the link busy for a good part of its time. */
static bool fills_link(const chooser *of, const pti_candidate *candidate) {
    double bytes = candidate->upload_bytes > candidate->download_bytes ? candidate->upload_bytes
                                                                       : candidate->download_bytes;
    return bytes / of->link->duplex_bytes_per_s > busy_part * candidate->run_s;
}

/** Then offer one that moves less: hardly more than must move, if the link is busy and that does not
 * take much longer, or what is possible in nearly the same time. */
static polytile_status offer_less(chooser *of, const pti_problem *problem,
                                  const pti_candidate *fastest) {
    pti_candidate least;
    int64_t need_bytes;
    polytile_status status = POLYTILE_OK;
    if (!of->strategy->objective.may_be_small || !moves_much(of, fastest))
        return POLYTILE_OK;
    of->patience = long_enough;
    bool found = fills_link(of, fastest) &&
                 find_least(of, problem, of->patience, fastest, &least) &&
                 is_near_bound(problem, &least);
    if (!found) {
        of->patience = as_good;
        found = find_least(of, problem, of->patience, fastest, &least);
    }
    if (found)
        status = offer_uniform(of, &least, &need_bytes);
    of->patience = 1;
    return status == POLYTILE_NO_FIT ? POLYTILE_OK : status;
}

/** The fastest candidate over all numbers of buffers. */
static bool search_all(const chooser *of, const pti_problem *problem, pti_candidate *best) {
    bool found = false;
    for (int n = of->first_buffers; n <= of->last_buffers; n++) {
        pti_candidate candidate;
        if (!pti_search(problem, &of->strategy->objective, n, &candidate))
            break;
        if (!found || of->strategy->objective.is_better(&candidate, best))
            *best = candidate;
        found = true;
    }
    if (may_be_in_strips(of))
        found = search_in_strips(of, problem, found, best);
    if (may_be_in_lines(of))
        found = search_in_lines(of, problem, found, best);
    return found;
}

/** Uniform superblocks; where the sampled positions missed the worst one, search again below a
 * lower limit. */
static polytile_status choose_uniform(chooser *of) {
    pti_problem problem = of->problem;
    for (int k = 0; k < MAX_RETRIES; k++) {
        pti_candidate best;
        int64_t need_bytes = 0;
        if (!search_all(of, &problem, &best))
            return POLYTILE_NO_FIT;
        polytile_status status = offer_uniform(of, &best, &need_bytes);
        if (status == POLYTILE_OK)
            return offer_less(of, &problem, &best);
        if (status != POLYTILE_NO_FIT)
            return status;
        problem.limit_bytes -= need_bytes - of->options->limit_bytes;
    }
    return POLYTILE_NO_FIT;
}

static polytile_status choose_varying(chooser *of) {
    const pti_problem *problem = &of->problem;
    bool moves = true;
    for (int d = 0; d < problem->instance->n_indices; d++)
        moves &= problem->only_moves[d];
    if (moves)
        return POLYTILE_OK;
    for (int n = of->first_buffers; n <= of->last_buffers; n++) {
        bool found;
        pti_partition partition;
        int64_t need_bytes;
        int64_t most =
            of->choice->schedule == NULL ? MAX_SUPERBLOCKS : of->choice->schedule->n_superblocks;
        if (!pti_partition_varying(problem, n, most, &found, &partition))
            return POLYTILE_NO_MEMORY;
        polytile_status status = found ? offer(of, &partition, &need_bytes) : POLYTILE_OK;
        pti_partition_free(&partition);
        if (status != POLYTILE_OK && status != POLYTILE_NO_FIT)
            return status;
    }
    return POLYTILE_OK;
}

static int64_t overshoot_bytes(const chooser *of, const int64_t *shape) {
    int64_t position[POLYTILE_MAX_DIMS];
    int64_t operand_bytes[PTI_MAX_OPERANDS];
    for (int d = 0; d < of->problem.instance->n_indices; d++)
        position[d] = (pti_grid_quotient(&of->problem.grid, shape, d) - 1) / 2;
    polytile_domain threads = pti_grid_superblock(&of->problem.grid, shape, position);
    int64_t bytes = pti_piece_bytes(of->problem.instance, &threads, operand_bytes);
    return pti_max(bytes - of->problem.limit_bytes, 0);
}

/** The paper's shape, with what it exceeds the limit by, then halved until it really fits. */
static polytile_status choose_paper(chooser *of) {
    pti_candidate candidate = {.n_buffers = of->first_buffers};
    if (!pti_paper_shape(&of->problem, candidate.shape))
        return POLYTILE_NO_FIT;
    int64_t overshoot = overshoot_bytes(of, candidate.shape);
    polytile_status status = POLYTILE_NO_FIT;
    int64_t need_bytes;
    bool smaller = true;
    while (smaller && status == POLYTILE_NO_FIT) {
        if (pti_fit_quick(&of->problem, candidate.shape, candidate.n_buffers)) {
            pti_candidate_estimate(&of->problem, &candidate);
            status = offer_uniform(of, &candidate, &need_bytes);
        }
        if (status == POLYTILE_NO_FIT)
            smaller = pti_grid_halve_block(of->problem.instance->n_indices, candidate.shape);
    }
    of->choice->paper_overshoot_bytes = overshoot;
    return status;
}

static polytile_status explain(const chooser *of, polytile_status status) {
    char size[32];
    switch (status) {
    case POLYTILE_NO_FIT:
        return pti_certificate(of->ctx, &of->problem, of->first_buffers);
    case POLYTILE_UNSUPPORTED:
        return pti_fail(of->ctx, status,
                        "%s: a limit of %s takes more than %d sub-kernels, which is the most that "
                        "are planned; raise the limit",
                        of->problem.instance->kernel_name,
                        polytile_size_format(of->options->limit_bytes, size), (int)MAX_SUPERBLOCKS);
    default:
        return pti_fail_memory(of->ctx, of->problem.instance->kernel_name, 1 << 20);
    }
}

polytile_status pti_choose(polytile_context *ctx, const pti_instance *instance,
                           const pti_strategy *strategy, const polytile_plan_options *options,
                           pti_choice *choice) {
    *choice = (pti_choice){0};
    int most = options->n_buffers == 0 ? strategy->max_buffers : options->n_buffers;
    chooser of = {.ctx = ctx,
                  .strategy = strategy,
                  .options = options,
                  .link = options->link == NULL ? &polytile_link_default : options->link,
                  .first_buffers = options->n_buffers == 0 ? 1 : options->n_buffers,
                  .last_buffers = most,
                  .line_buffers = options->n_buffers == 0 ? MAX_BUFFERS : most,
                  .patience = 1,
                  .choice = choice};
    set_block(&of, instance);
    polytile_status status = strategy->is_paper ? choose_paper(&of) : choose_uniform(&of);
    bool may_vary = !strategy->is_paper && (status == POLYTILE_OK || status == POLYTILE_NO_FIT);
    if (may_vary) {
        polytile_status varied = choose_varying(&of);
        if (varied != POLYTILE_OK)
            status = varied;
    }
    if (choice->schedule != NULL && (status == POLYTILE_OK || status == POLYTILE_NO_FIT))
        return POLYTILE_OK;
    pti_schedule_free(choice->schedule);
    choice->schedule = NULL;
    return explain(&of, status);
}
