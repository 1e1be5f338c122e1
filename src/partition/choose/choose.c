#include "partition/choose/choose.h"

#include "base/checked.h"
#include "base/text.h"
#include "partition/choose/certificate.h"
#include "partition/choose/choose_candidate.h"
#include "partition/choose/paper.h"
#include "partition/cut/fit.h"
#include "partition/memory/build.h"
#include "partition/schedule/builder.h"
#include <polytile/size.h>

#include <stdio.h>
#include <string.h>

enum { MAX_RETRIES = 16, MAX_BUFFERS = 3 };

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
    double patience; /* how many times as long as the plan held one may take that moves less; 1: no
                        longer; below 1: one may take, whatever it moves */
    int64_t max_superblocks;
    int64_t n_offered; /* superblocks of the newest uniform plan */
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
    pti_cost fresh = cost_of(offered), held = cost_of(of->choice);
    bool is_in_time = fresh.seconds <= of->patience * held.seconds;
    if (of->patience < 1)
        return is_in_time;
    bool moves_less = of->patience > 1 && fresh.moved_bytes < held.moved_bytes;
    return of->strategy->is_cheaper(&fresh, &held) || (moves_less && is_in_time);
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

/** A plan that would be but another one need not be possible. */
static polytile_status unless_needed(polytile_status status) {
    bool is_impossible = status == POLYTILE_NO_FIT || status == POLYTILE_UNSUPPORTED;
    return is_impossible ? POLYTILE_OK : status;
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
    return unless_needed(status);
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
    of->n_offered = candidate->n_kernels;
    if (candidate->n_kernels > of->max_superblocks)
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

/** Then offer one that moves less, even if it is somewhat slower. */
static polytile_status offer_less(chooser *of, pti_contest *contest, const pti_candidate *fastest) {
    pti_candidate less;
    int64_t need_bytes;
    polytile_status status = POLYTILE_OK;
    if (pti_contest_less(contest, fastest, &less, &of->patience))
        status = offer_uniform(of, &less, &need_bytes);
    of->patience = 1;
    if (contest->failed)
        return POLYTILE_NO_MEMORY;
    return unless_needed(status);
}

/** What part of the time of the plan held another one may take that was estimated to be slower. */
static const double much_faster = 0.99;

/** Offer candidates, the best first; if that does not fit, none of them. */
static polytile_status offer_all(chooser *of, int n_candidates, const pti_candidate *candidates,
                                 int64_t *need_bytes) {
    polytile_status status = offer_uniform(of, &candidates[0], need_bytes);
    of->patience = much_faster;
    for (int k = 1; k < n_candidates && status == POLYTILE_OK; k++) {
        int64_t unused;
        status = unless_needed(offer_uniform(of, &candidates[k], &unused));
    }
    of->patience = 1;
    return status;
}

/** Uniform superblocks; where the sampled positions missed the worst one, search again below a
 * lower limit. */
static polytile_status choose_uniform(chooser *of) {
    pti_problem problem = of->problem;
    pti_contest contest = {.problem = &problem,
                           .objective = &of->strategy->objective,
                           .first_buffers = of->first_buffers,
                           .last_buffers = of->last_buffers,
                           .line_buffers =
                               of->options->n_buffers == 0 ? MAX_BUFFERS : of->last_buffers};
    int64_t former_need_bytes = INT64_MAX, less_bytes = 0;
    for (int k = 0; k < MAX_RETRIES; k++) {
        pti_candidate best[PTI_N_FAMILIES];
        int64_t need_bytes = 0;
        int n_best = pti_contest_best(&contest, best);
        if (n_best == 0)
            return POLYTILE_NO_FIT;
        polytile_status status = offer_all(of, n_best, best, &need_bytes);
        if (status == POLYTILE_OK)
            return offer_less(of, &contest, &best[0]);
        if (status != POLYTILE_NO_FIT)
            return status;
        /* The same ones again were estimated to need less than that. */
        less_bytes =
            need_bytes < former_need_bytes ? need_bytes - of->options->limit_bytes : 2 * less_bytes;
        former_need_bytes = need_bytes;
        problem.limit_bytes -= less_bytes;
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
        int64_t most = of->choice->schedule == NULL ? of->max_superblocks
                                                    : of->choice->schedule->n_superblocks;
        if (!pti_partition_varying(problem, n, most, &found, &partition))
            return POLYTILE_NO_MEMORY;
        polytile_status status = found ? offer(of, &partition, &need_bytes) : POLYTILE_OK;
        pti_partition_free(&partition);
        if (unless_needed(status) != POLYTILE_OK)
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
    if (!pti_paper_shape(&of->problem, candidate.n_buffers, candidate.shape))
        return POLYTILE_NO_FIT;
    int64_t overshoot = overshoot_bytes(of, candidate.shape);
    polytile_status status = POLYTILE_NO_FIT;
    int64_t need_bytes;
    bool smaller = true;
    while (smaller && status == POLYTILE_NO_FIT) {
        if (!pti_paper_shrink(&of->problem, candidate.n_buffers, candidate.shape))
            break;
        pti_candidate_estimate(&of->problem, &candidate);
        status = offer_uniform(of, &candidate, &need_bytes);
        if (status == POLYTILE_NO_FIT)
            smaller = pti_grid_halve_block(of->problem.instance->n_indices, candidate.shape);
    }
    of->choice->paper_overshoot_bytes = overshoot;
    return status;
}

static int64_t max_superblocks(const pti_instance *instance, const pti_strategy *strategy) {
    int64_t most = pti_builder_most_superblocks(instance);
    return strategy->max_superblocks > 0 ? pti_min(strategy->max_superblocks, most) : most;
}

/** Whether an array has several sections, which may lie far apart, in one piece with all between. */
static bool has_several_sections(const pti_instance *instance) {
    bool has = false;
    for (int a = 0; a < instance->n_operands; a++)
        has |= instance->operand[a].n_sections > 1;
    return has;
}

/** More superblocks than are planned, or more operations. */
static polytile_status explain_many(const chooser *of) {
    const pti_instance *instance = of->problem.instance;
    char size[32], most[96];
    if (of->n_offered > of->max_superblocks)
        snprintf(most, sizeof most, "at most %lld are planned", (long long)of->max_superblocks);
    else
        snprintf(most, sizeof most,
                 "their transfers are too many, or too scattered, to be planned");
    return pti_fail(of->ctx, POLYTILE_UNSUPPORTED,
                    "%s: a limit of %s takes %lld sub-kernels; %s; raise the limit%s",
                    instance->kernel_name, polytile_size_format(of->options->limit_bytes, size),
                    (long long)of->n_offered, most,
                    has_several_sections(instance)
                        ? ", or declare what sections touch far apart in one array as two arrays"
                        : "");
}

static int64_t count_blocks(const pti_grid *grid) {
    int64_t one[POLYTILE_MAX_DIMS];
    for (int d = 0; d < POLYTILE_MAX_DIMS; d++)
        one[d] = 1;
    return pti_grid_n_superblocks(grid, one);
}

/** What planning under another limit ends in. */
static polytile_status try_limit(const chooser *of, int64_t limit_bytes) {
    pti_strategy strategy = *of->strategy;
    polytile_plan_options options = *of->options;
    pti_choice choice;
    strategy.is_trial = true;
    options.limit_bytes = limit_bytes;
    polytile_status status =
        pti_choose(of->ctx, of->problem.instance, &strategy, &options, &choice);
    pti_schedule_free(choice.schedule);
    return status;
}

/** The limit to advise where one block does not fit: enough for it, and where there are more blocks
 * than superblocks are planned, for so many at a time that the plan can be made. */
static int64_t find_limit(const chooser *of) {
    int64_t limit_bytes = pti_certificate_limit(&of->problem, of->first_buffers);
    polytile_status status = POLYTILE_UNSUPPORTED;
    if (limit_bytes == 0 || count_blocks(&of->problem.grid) <= of->max_superblocks)
        return limit_bytes;
    while (limit_bytes < PTI_LARGEST_ADVICE / 2) {
        status = try_limit(of, limit_bytes);
        if (status != POLYTILE_UNSUPPORTED && status != POLYTILE_NO_FIT)
            break;
        limit_bytes = pti_advisable(2 * limit_bytes);
    }
    return status == POLYTILE_OK ? limit_bytes : PTI_NO_ADVICE;
}

static polytile_status fail_choice(const chooser *of, polytile_status status) {
    if (of->strategy->is_trial && status != POLYTILE_NO_MEMORY)
        return status;
    switch (status) {
    case POLYTILE_NO_FIT:
        return pti_certificate(of->ctx, &of->problem, of->first_buffers, find_limit(of));
    case POLYTILE_UNSUPPORTED:
        return explain_many(of);
    default:
        return pti_fail(of->ctx, POLYTILE_NO_MEMORY,
                        "%s: host memory ran out while its sub-kernels were planned; free some or "
                        "use a larger block",
                        of->problem.instance->kernel_name);
    }
}

polytile_status pti_choose(polytile_context *ctx, const pti_instance *instance,
                           const pti_strategy *strategy, const polytile_plan_options *options,
                           pti_choice *choice) {
    *choice = (pti_choice){0};
    chooser of = {.ctx = ctx,
                  .strategy = strategy,
                  .options = options,
                  .link = options->link == NULL ? &polytile_link_default : options->link,
                  .first_buffers = options->n_buffers == 0 ? 1 : options->n_buffers,
                  .last_buffers =
                      options->n_buffers == 0 ? strategy->max_buffers : options->n_buffers,
                  .patience = 1,
                  .max_superblocks = max_superblocks(instance, strategy),
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
    return fail_choice(&of, status);
}
