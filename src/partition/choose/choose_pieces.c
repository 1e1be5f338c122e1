#include "partition/choose/choose_pieces.h"

#include "base/checked.h"

#include <inttypes.h>
#include <limits.h>

/** How many times as many superblocks one way may have as another to be compared with it, and how
 * many times where these are few: those take little time to plan, and may move less. */
enum { MAX_TIMES = 4, MAX_TIMES_OF_FEW = 16, FEW_SUPERBLOCKS = 4096 };

/** Return whether a launch can be planned in some other way, or not at all. */
static bool is_no_plan(polytile_status status) {
    return status == POLYTILE_NO_FIT || status == POLYTILE_UNSUPPORTED;
}

/** Keep the cheaper one of two choices, of which the first may be none, and free the other. Returns
 * whether it is the second. */
static bool take_cheaper(const pti_strategy *strategy, pti_choice *best, pti_choice *made) {
    bool is_better = best->schedule == NULL;
    if (!is_better) {
        const pti_cost fresh = pti_choice_cost(made), old = pti_choice_cost(best);
        is_better = strategy->is_cheaper(&fresh, &old);
    }
    pti_schedule_free(is_better ? best->schedule : made->schedule);
    if (is_better)
        *best = *made;
    return is_better;
}

/** What was tried so far. */
typedef struct piece_trial {
    polytile_context *ctx;
    const pti_strategy *strategy;
    const polytile_plan_options *options;
    pti_ways *ways;
    pti_choice *best; /* no schedule: none */
    int way;          /* of the best */
    unsigned tried;   /* ways, as bits */
} piece_trial;

/** Superblocks by which sections are united: where sections move apart, these differ most. */
typedef enum sample { FIRST, MIDDLE, LAST, N_SAMPLES } sample;

/** The threads of some superblocks of a plan. */
typedef struct samples {
    polytile_domain threads[N_SAMPLES];
} samples;

/** Return the most superblocks of a way that is compared with a plan of n_superblocks. */
static int64_t most_superblocks(int64_t n_superblocks) {
    const int64_t of_few = pti_min(MAX_TIMES_OF_FEW * n_superblocks, FEW_SUPERBLOCKS);
    return pti_max(MAX_TIMES * n_superblocks, of_few);
}

/** Plan in one way, with no more superblocks than can pay beside the best plan so far. found:
 * becomes that plan's, if there is one. */
static polytile_status try_way(piece_trial *of, int way, samples *found) {
    pti_choice made;
    pti_strategy strategy = *of->strategy;
    of->tried |= 1u << way;
    strategy.is_trial = true;
    if (of->best->schedule != NULL)
        strategy.max_superblocks = most_superblocks(pti_schedule_n_kernels(of->best->schedule));
    polytile_status status =
        pti_choose(of->ctx, of->ways->call[way].instance, &strategy, of->options, &made);
    if (status != POLYTILE_OK)
        return is_no_plan(status) ? POLYTILE_OK : status;
    const int64_t last = made.schedule->n_superblocks - 1;
    for (int s = 0; s < N_SAMPLES; s++)
        found->threads[s] = made.schedule->superblock[last * s / LAST];
    if (take_cheaper(of->strategy, of->best, &made))
        of->way = way;
    return POLYTILE_OK;
}

/** Single threads, where there is no plan to take superblocks of. */
static samples sample_threads(const pti_instance *instance) {
    samples made;
    for (int s = 0; s < N_SAMPLES; s++) {
        made.threads[s] = instance->threads;
        for (int d = 0; d < instance->n_indices; d++) {
            polytile_range *range = &made.threads[s].range[d];
            range->lo += (range->hi - range->lo) / LAST * s;
            range->hi = range->lo;
        }
    }
    return made;
}

/** Plan with ever fewer pieces than a way has, whose superblocks were found: those become one whose
 * union takes the least in one of these. */
static polytile_status try_fewer(piece_trial *of, int way, samples found, sample by) {
    polytile_status status;
    PTI_TRY(pti_ways_find(of->ctx, of->ways, &found.threads[by], way, &way));
    while (way > 0 && (of->tried >> way & 1) == 0) {
        PTI_TRY(try_way(of, way, &found));
        PTI_TRY(pti_ways_find(of->ctx, of->ways, &found.threads[by], way, &way));
    }
done:
    return status;
}

/** Plan with each union of a few pieces. n_tried: of how many. */
static polytile_status try_covers(piece_trial *of, int *n_tried) {
    samples unused;
    polytile_status status;
    int way;
    *n_tried = 0;
    PTI_TRY(pti_ways_cover(of->ctx, of->ways, 0, &way));
    while (way > 0) {
        PTI_TRY(try_way(of, way, &unused));
        PTI_TRY(pti_ways_cover(of->ctx, of->ways, ++*n_tried, &way));
    }
done:
    return status;
}

/** Plan with all pieces, with ever fewer, and with one piece an array: in all ways where pieces and
 * superblocks are few, and else by superblocks that were found. */
static polytile_status try_pieces(piece_trial *of, int finest) {
    samples found = sample_threads(of->ways->call[0].instance);
    polytile_status status;
    int n_covers = 0;
    PTI_TRY(try_way(of, finest, &found));
    if (of->best->schedule == NULL || pti_schedule_n_kernels(of->best->schedule) <= FEW_SUPERBLOCKS)
        PTI_TRY(try_covers(of, &n_covers));
    for (int s = 0; n_covers == 0 && s < N_SAMPLES; s++)
        PTI_TRY(try_fewer(of, finest, found, (sample)s));
    PTI_TRY(try_way(of, 0, &found));
done:
    return status;
}

/** Arrays that must be in one piece may take this many times as many superblocks. */
enum { MAX_TIMES_BY_HAND = 64 };

/** Count the superblocks of a plan with each section in a piece of its own, if there are
 * MAX_TIMES_BY_HAND times fewer than now; else 0. */
static polytile_status count_in_pieces(const piece_trial *of, int64_t n_now,
                                       int64_t *n_superblocks) {
    pti_instance *split = NULL;
    pti_choice made = {0};
    pti_strategy strategy = *of->strategy;
    polytile_status status;
    *n_superblocks = 0;
    PTI_TRY(pti_instance_split(of->ctx, of->ways->call[0].instance, NULL, INT_MAX, &split));
    if (split == NULL)
        return status;
    strategy.is_trial = true;
    strategy.max_superblocks = (n_now - 1) / MAX_TIMES_BY_HAND;
    status = pti_choose(of->ctx, split, &strategy, of->options, &made);
    if (status == POLYTILE_OK && pti_schedule_n_kernels(made.schedule) <= strategy.max_superblocks)
        *n_superblocks = pti_schedule_n_kernels(made.schedule);
    status = is_no_plan(status) ? POLYTILE_OK : status;
done:
    pti_schedule_free(made.schedule);
    pti_instance_free(split);
    return status;
}

/** Refuse a plan with arrays in one piece if pieces would need far fewer superblocks, but what runs
 * the call takes arrays in one piece alone: most memory would be for elements that nobody
 * touches. */
static polytile_status refuse_far_hulls(const piece_trial *of) {
    polytile_status status = POLYTILE_OK;
    const pti_instance *instance = of->ways->call[0].instance;
    const int64_t n_now = pti_schedule_n_kernels(of->best->schedule);
    int64_t n_in_pieces = 0;
    if (of->ways->may_split || of->strategy->solved != NULL || n_now <= MAX_TIMES_BY_HAND)
        return status;
    PTI_TRY(count_in_pieces(of, n_now, &n_in_pieces));
    if (n_in_pieces > 0)
        status = pti_fail(of->ctx, POLYTILE_NO_FIT,
                          "%s: %" PRId64 " sub-kernels with each array in one piece, %" PRId64
                          " with sections that lie apart by themselves",
                          instance->kernel_name, n_now, n_in_pieces);
done:
    return status;
}

polytile_status pti_choose_pieces(polytile_context *ctx, pti_ways *ways,
                                  const pti_strategy *strategy,
                                  const polytile_plan_options *options, pti_choice *choice,
                                  int *way) {
    piece_trial of = {
        .ctx = ctx, .strategy = strategy, .options = options, .ways = ways, .best = choice};
    polytile_status status = POLYTILE_OK;
    samples found = sample_threads(ways->call[0].instance);
    int finest = 0, sheared = 0;
    *choice = (pti_choice){0};
    if (strategy->solved == NULL) {
        PTI_TRY(pti_ways_find(ctx, ways, NULL, 0, &finest));
        PTI_TRY(pti_ways_shear(ctx, ways, finest, &sheared));
    }
    of.way = finest;
    if (sheared > 0)
        PTI_TRY(try_way(&of, sheared, &found));
    if (finest > 0)
        PTI_TRY(try_pieces(&of, finest));
    else if (sheared > 0)
        PTI_TRY(try_way(&of, finest, &found));
    if (choice->schedule == NULL)
        PTI_TRY(pti_choose(ctx, ways->call[of.way].instance, strategy, options, choice));
    PTI_TRY(refuse_far_hulls(&of));
done:
    *way = of.way;
    if (status != POLYTILE_OK) {
        pti_schedule_free(choice->schedule);
        choice->schedule = NULL;
    }
    return is_no_plan(status) ? pti_ways_explain(ctx, ways, status) : status;
}
