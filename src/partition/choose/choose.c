#include "partition/choose/choose.h"

#include "base/checked.h"
#include "partition/arena/build.h"
#include "partition/choose/certificate.h"
#include "partition/choose/choose_candidate.h"
#include "partition/cut/fit.h"
#include "partition/schedule/builder.h"
#include <polytile/size.h>

#include <stdio.h>
#include <string.h>

enum { MAX_RETRIES = 16, MAX_BUFFERS = 3 };

/** A choice while plans are compared. */
typedef struct chooser {
    polytile_context *ctx;
    const pti_strategy *strategy;
    const polytile_plan_options *options;
    const polytile_link *link;
    pti_problem problem;
    pti_buffer_range buffers;
    /* A new plan replaces the current one if it takes at most this many times as long and, above 1,
     * moves less; below 1 time alone decides; at 1 only the strategy does. */
    double max_time_ratio;
    int64_t max_superblocks;
    int64_t n_offered; /* superblocks of the newest uniform plan */
    int n_lanes;       /* that superblocks are to be dealt to */
    pti_choice *choice;
} chooser;

/** Take all slots of a team kernel as one block. */
static void set_team_block(chooser *of, const pti_instance *instance) {
    int64_t block[POLYTILE_MAX_DIMS];
    for (int d = 0; d < instance->n_indices; d++)
        block[d] = pti_range_count(instance->threads.range[d]);
    of->problem = pti_problem_of(instance, of->link, block, of->options->limit_bytes);
}

/** Find the default block: a warp if threads have scratch, which takes work and memory. */
static void find_default_block(const pti_instance *instance, int64_t *block) {
    enum { WARP_THREADS = 32 };
    int64_t n_threads = 1;
    pti_grid_default_block(&instance->threads, block);
    for (int d = 0; d < instance->n_indices; d++)
        n_threads *= block[d];
    for (; pti_instance_has_scratch(instance) && n_threads > WARP_THREADS; n_threads /= 2)
        pti_grid_halve_block(instance->n_indices, block);
}

/** Take the user's block, or the default one, halved until it fits where it can. */
static void set_block(chooser *of, const pti_instance *instance) {
    int64_t block[POLYTILE_MAX_DIMS];
    int64_t limit_bytes = of->options->limit_bytes;
    if (instance->is_team) {
        set_team_block(of, instance);
        return;
    }
    if (of->options->block != NULL) {
        of->problem = pti_problem_of(instance, of->link, of->options->block, limit_bytes);
        return;
    }
    find_default_block(instance, block);
    if (of->n_lanes > 1)
        block[0] = 1;
    do {
        of->problem = pti_problem_of(instance, of->link, block, limit_bytes);
    } while (!pti_fit_block(&of->problem, of->buffers.first) &&
             pti_grid_halve_block(instance->n_indices, block));
}

pti_cost pti_choice_cost(const pti_choice *choice) {
    return (pti_cost){.n_kernels = pti_schedule_n_kernels(choice->schedule),
                      .moved_bytes = choice->traffic.h2d_bytes + choice->traffic.d2h_bytes,
                      .seconds = choice->seconds};
}

/** Return whether a plan is to replace the current one. */
static bool is_preferred(const chooser *of, const pti_choice *offered) {
    if (of->choice->schedule == NULL)
        return true;
    pti_cost fresh = pti_choice_cost(offered), best = pti_choice_cost(of->choice);
    bool is_in_time = fresh.seconds <= of->max_time_ratio * best.seconds;
    if (of->max_time_ratio < 1)
        return is_in_time;
    bool moves_less = of->max_time_ratio > 1 && fresh.moved_bytes < best.moved_bytes;
    return of->strategy->is_cheaper(&fresh, &best) || (moves_less && is_in_time);
}

/** Build a partition's schedule; it replaces the choice if that is empty or dearer. */
static polytile_status offer_partition(chooser *of, const pti_family *family,
                                       const pti_partition *partition, int64_t *need_bytes) {
    pti_choice made = {.family = family, .grid = of->problem.grid, .partition = *partition};
    made.partition.superblock = NULL;
    made.partition.n_superblocks = made.partition.n_allocated = 0;
    made.partition.repeat = (pti_repeat){0};
    const polytile_link *link = of->strategy->objective.for_time ? of->link : NULL;
    polytile_status status =
        pti_schedule_build(of->problem.instance, partition, link, of->options->limit_bytes,
                           need_bytes, &made.schedule);
    if (status != POLYTILE_OK)
        return status;
    made.traffic = pti_schedule_traffic(made.schedule);
    made.seconds = pti_schedule_predict(made.schedule, of->link, of->options->fill_threads);
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

/** There is a plan already, so that an alternative that does not fit is no error. */
static polytile_status status_of_alternative(polytile_status status) {
    bool is_impossible = status == POLYTILE_NO_FIT || status == POLYTILE_UNSUPPORTED;
    return is_impossible ? POLYTILE_OK : status;
}

/** Offer the superblocks that a candidate has in a family. */
static polytile_status offer_in(chooser *of, const pti_family *family,
                                const pti_candidate *candidate, int64_t *need_bytes) {
    pti_partition partition;
    polytile_status status = POLYTILE_OK;
    if (!family->partition(&of->problem, candidate, &partition))
        status = POLYTILE_NO_MEMORY;
    else if (partition.n_superblocks > 0)
        status = offer_partition(of, family, &partition, need_bytes);
    pti_partition_free(&partition);
    return status;
}

/** Offer equal superblocks that are dealt to lanes, with memory for one of each lane. */
static polytile_status offer_in_lanes(chooser *of, const pti_candidate *candidate, int n_lanes,
                                      int64_t *need_bytes) {
    pti_partition partition;
    polytile_status status = POLYTILE_NO_MEMORY;
    if (pti_partition_uniform(&of->problem, candidate, &partition)) {
        partition.n_lanes = n_lanes;
        status = offer_partition(of, candidate->variant.family, &partition, need_bytes);
    }
    pti_partition_free(&partition);
    return status;
}

/** Offer equal superblocks that repeat, which are listed once. UNSUPPORTED where they do not, or
 * where what they are given does not. */
static polytile_status offer_repeated(chooser *of, const pti_candidate *candidate,
                                      int64_t *need_bytes) {
    pti_partition partition = {0};
    polytile_status status = POLYTILE_UNSUPPORTED;
    const int64_t most = of->strategy->max_superblocks;
    if (!of->strategy->may_repeat || candidate->variant.family != &pti_family_plain ||
        (most > 0 && candidate->n_kernels > most))
        return status;
    if (!pti_partition_repeated(&of->problem, candidate, &partition))
        status = POLYTILE_NO_MEMORY;
    else if (partition.n_superblocks > 0)
        status = offer_partition(of, candidate->variant.family, &partition, need_bytes);
    pti_partition_free(&partition);
    return status;
}

/** Offer a candidate, and the same shape in the family that it names beside. */
static polytile_status offer_uniform(chooser *of, const pti_candidate *candidate,
                                     int64_t *need_bytes) {
    int64_t unused;
    of->n_offered = candidate->n_kernels;
    polytile_status status = offer_repeated(of, candidate, need_bytes);
    if (status == POLYTILE_UNSUPPORTED && candidate->n_kernels <= of->max_superblocks)
        status = offer_in(of, candidate->variant.family, candidate, need_bytes);
    const pti_family *beside = candidate->beside;
    if (status != POLYTILE_OK || beside == NULL ||
        !pti_objective_wants(&of->strategy->objective, beside))
        return status;
    return status_of_alternative(offer_in(of, beside, candidate, &unused));
}

/** Offer a candidate that moves less, even if it is somewhat slower. */
static polytile_status offer_frugal(chooser *of, pti_contest *contest,
                                    const pti_candidate *fastest) {
    pti_candidate less;
    int64_t need_bytes;
    polytile_status status = POLYTILE_OK;
    if (pti_contest_less(contest, fastest, &less, &of->max_time_ratio))
        status = offer_uniform(of, &less, &need_bytes);
    of->max_time_ratio = 1;
    if (contest->failed)
        return POLYTILE_NO_MEMORY;
    return status_of_alternative(status);
}

/** The time ratio up to which a plan that was estimated to be slower replaces the current one. */
static const double much_faster = 0.99;

/** Offer candidates, the best first; if that does not fit, none of them. */
static polytile_status offer_all(chooser *of, int n_candidates, const pti_candidate *candidates,
                                 int64_t *need_bytes) {
    polytile_status status = offer_uniform(of, &candidates[0], need_bytes);
    of->max_time_ratio = much_faster;
    for (int k = 1; k < n_candidates && status == POLYTILE_OK; k++) {
        int64_t unused;
        status = status_of_alternative(offer_uniform(of, &candidates[k], &unused));
    }
    of->max_time_ratio = 1;
    return status;
}

/** Offer uniform superblocks. Where the sampled positions missed the worst one, search again below
 * a lower limit, and below less than that where the same ones come again, or have pieces that
 * clash. */
static polytile_status choose_uniform(chooser *of) {
    pti_problem problem = of->problem;
    pti_contest contest = {
        .problem = &problem, .objective = &of->strategy->objective, .buffers = of->buffers};
    int64_t former_need_bytes = INT64_MAX, less_bytes = 0;
    for (int k = 0; k < MAX_RETRIES; k++) {
        pti_candidate best[PTI_N_FAMILIES];
        int64_t need_bytes = 0;
        int n_best = pti_contest_best(&contest, best);
        if (n_best == 0 && problem.keeps_largest) {
            problem.keeps_largest = false;
            n_best = pti_contest_best(&contest, best);
        }
        if (n_best == 0)
            return POLYTILE_NO_FIT;
        polytile_status status = offer_all(of, n_best, best, &need_bytes);
        if (status == POLYTILE_OK)
            return offer_frugal(of, &contest, &best[0]);
        if (status != POLYTILE_NO_FIT)
            return status;
        less_bytes = need_bytes == INT64_MAX          ? pti_ceil_div(problem.limit_bytes, 2)
                     : need_bytes < former_need_bytes ? need_bytes - of->options->limit_bytes
                                                      : 2 * less_bytes;
        former_need_bytes = need_bytes;
        problem.limit_bytes -= less_bytes;
    }
    return POLYTILE_NO_FIT;
}

/** Offer the variants of a family whose candidates have no estimates. */
static polytile_status offer_variants(chooser *of, const pti_family *family) {
    pti_candidate candidate = {.variant = pti_variant_of(family, 0)};
    const bool fits = of->choice->schedule != NULL;
    polytile_status status = POLYTILE_OK;
    while (status == POLYTILE_OK &&
           family->next(&of->problem, &of->buffers, fits, &candidate.variant)) {
        int64_t need_bytes;
        candidate.n_kernels =
            of->choice->schedule == NULL
                ? of->max_superblocks
                : pti_min(of->max_superblocks, pti_schedule_n_kernels(of->choice->schedule));
        status = status_of_alternative(offer_in(of, family, &candidate, &need_bytes));
    }
    return status;
}

/** Offer the families whose shapes are searched for, and then those without estimates. */
static polytile_status choose_best(chooser *of) {
    polytile_status status = choose_uniform(of);
    polytile_status other = POLYTILE_OK;
    bool may_be_other = status == POLYTILE_OK || status == POLYTILE_NO_FIT;
    for (int k = 0; k < PTI_N_FAMILIES && may_be_other && other == POLYTILE_OK; k++) {
        const pti_family *family = pti_families[k];
        if (family->next != NULL && family->seconds == NULL &&
            pti_objective_wants(&of->strategy->objective, family))
            other = offer_variants(of, family);
    }
    return other == POLYTILE_OK ? status : other;
}

/** Offer the best plan's shape, cut along the first index to at most most_blocks blocks, in n_lanes
 * lanes, in place of the choice. */
static polytile_status offer_best_in_lanes(chooser *of, const pti_choice *best, int64_t most_blocks,
                                           int n_lanes) {
    pti_candidate candidate = {.variant = pti_variant_of(&pti_family_plain, n_lanes)};
    const int64_t n_wanted = PTI_SUPERBLOCKS_A_LANE * (int64_t)n_lanes;
    int64_t need_bytes;
    memcpy(candidate.shape, best->partition.shape, sizeof candidate.shape);
    candidate.shape[0] = pti_min(most_blocks, pti_max(1, of->problem.grid.n_blocks[0] / n_wanted));
    pti_candidate_estimate(&of->problem, &candidate);
    if (candidate.n_kernels > of->max_superblocks)
        return POLYTILE_UNSUPPORTED;
    *of->choice = (pti_choice){0};
    polytile_status status = offer_in_lanes(of, &candidate, n_lanes, &need_bytes);
    if (status == POLYTILE_OK)
        pti_schedule_free(best->schedule);
    else
        *of->choice = *best;
    return status;
}

/** Put a plan whose superblocks are dealt to lanes, with memory side by side, in place of the
 * choice; one of fewer lanes where there is no memory for more, one of smaller superblocks where
 * there is none for two, and none if one block a lane is too much. */
static polytile_status deal_to_lanes(chooser *of) {
    const pti_choice best = *of->choice;
    polytile_status status = POLYTILE_NO_FIT;
    for (int64_t n = best.partition.shape[0]; status == POLYTILE_NO_FIT && n > 0; n /= 2)
        for (int n_lanes = of->n_lanes; status == POLYTILE_NO_FIT && n_lanes > 1; n_lanes /= 2)
            status = offer_best_in_lanes(of, &best, n, n_lanes);
    return status == POLYTILE_NO_MEMORY ? status : POLYTILE_OK;
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

/** Offer the shape that a family's equations give, halved until it really fits; note by how much
 * it exceeded the limit. */
static polytile_status choose_solved(chooser *of) {
    const pti_family *family = of->strategy->solved;
    pti_candidate candidate = {.variant = pti_variant_of(family, of->buffers.first)};
    pti_solution solution;
    if (!family->solve(&of->problem, &candidate.variant, &solution))
        return POLYTILE_NO_FIT;
    memcpy(candidate.shape, solution.shape, sizeof candidate.shape);
    int64_t overshoot = overshoot_bytes(of, candidate.shape);
    polytile_status status = POLYTILE_NO_FIT;
    int64_t need_bytes;
    while (status == POLYTILE_NO_FIT &&
           pti_fit_shrink(&of->problem, &candidate.variant, candidate.shape)) {
        pti_candidate_estimate(&of->problem, &candidate);
        status = offer_uniform(of, &candidate, &need_bytes);
        if (status == POLYTILE_NO_FIT &&
            !pti_grid_halve_block(of->problem.instance->n_indices, candidate.shape))
            break;
    }
    of->choice->solution = solution;
    of->choice->overshoot_bytes = overshoot;
    return status;
}

static int64_t max_superblocks(const pti_instance *instance, const pti_strategy *strategy) {
    int64_t most = pti_builder_most_superblocks(instance);
    return strategy->max_superblocks > 0 ? pti_min(strategy->max_superblocks, most) : most;
}

/** Return whether an array has several sections, which may lie far apart, in one piece with all
 * between. */
static bool has_several_sections(const pti_instance *instance) {
    bool has = false;
    for (int a = 0; a < instance->n_operands; a++)
        has |= instance->operand[a].n_sections > 1;
    return has;
}

/** More superblocks than are planned, or more operations. */
static polytile_status explain_many(const chooser *of) {
    const pti_instance *instance = of->problem.instance;
    char size[32], most[192];
    if (of->n_offered > of->max_superblocks)
        snprintf(most, sizeof most, "at most %lld are planned", (long long)of->max_superblocks);
    else
        snprintf(most, sizeof most, "their transfers are " PTI_FULL, PTI_FULL_NUMBERS);
    return pti_fail(of->ctx, POLYTILE_UNSUPPORTED,
                    "%s: a limit of %s takes %lld sub-kernels; %s; raise the limit%s",
                    instance->kernel_name, polytile_size_format(of->options->limit_bytes, size),
                    (long long)of->n_offered, most,
                    has_several_sections(instance)
                        ? ", or declare what sections touch far apart in one array as two arrays"
                        : "");
}

/** Try to plan under another limit. Returns the status of that. */
static polytile_status plan_within_limit(const chooser *of, int64_t limit_bytes) {
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

/** Return the limit to advise where one block does not fit: enough for it, and where there are more
 * blocks than superblocks can be planned, for several blocks at a time. */
static int64_t find_limit(const chooser *of) {
    int64_t limit_bytes = pti_certificate_limit(&of->problem, of->buffers.first);
    polytile_status status = POLYTILE_UNSUPPORTED;
    if (limit_bytes == 0 ||
        pti_grid_n_superblocks(&of->problem.grid, pti_one_block) <= of->max_superblocks)
        return limit_bytes;
    while (limit_bytes < PTI_LARGEST_ADVICE / 2) {
        status = plan_within_limit(of, limit_bytes);
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
        return pti_certificate(of->ctx, &of->problem, of->buffers.first, find_limit(of));
    case POLYTILE_UNSUPPORTED:
        return explain_many(of);
    default:
        return pti_fail(of->ctx, POLYTILE_NO_MEMORY,
                        "%s: host memory ran out while its sub-kernels were planned; free some or "
                        "use a larger block",
                        of->problem.instance->kernel_name);
    }
}

/** Return the numbers of buffers that are tried: the user's, or those of the strategy. */
static pti_buffer_range buffers_of(const pti_strategy *strategy, int n_buffers) {
    if (n_buffers != 0)
        return (pti_buffer_range){n_buffers, n_buffers, n_buffers};
    return (pti_buffer_range){1, strategy->max_buffers, MAX_BUFFERS};
}

polytile_status pti_choose(polytile_context *ctx, const pti_instance *instance,
                           const pti_strategy *strategy, const polytile_plan_options *options,
                           pti_choice *choice) {
    *choice = (pti_choice){0};
    chooser of = {.ctx = ctx,
                  .strategy = strategy,
                  .options = options,
                  .link = options->link == NULL ? &polytile_link_default : options->link,
                  .buffers = buffers_of(strategy, options->n_buffers),
                  .max_time_ratio = 1,
                  .max_superblocks = max_superblocks(instance, strategy),
                  .n_lanes = pti_strategy_lanes(strategy, instance, options->n_streams),
                  .choice = choice};
    set_block(&of, instance);
    of.problem.keeps_largest = !strategy->objective.fewest_kernels;
    of.problem.fill_threads = options->fill_threads;
    polytile_status status = strategy->solved == NULL ? choose_best(&of) : choose_solved(&of);
    if (choice->schedule != NULL && status == POLYTILE_OK && of.n_lanes > 1)
        status = deal_to_lanes(&of);
    if (choice->schedule != NULL && (status == POLYTILE_OK || status == POLYTILE_NO_FIT))
        return POLYTILE_OK;
    pti_schedule_free(choice->schedule);
    choice->schedule = NULL;
    return fail_choice(&of, status);
}
