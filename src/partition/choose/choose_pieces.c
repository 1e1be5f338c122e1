#include "partition/choose/choose_pieces.h"

#include "access/footprint/split.h"

/** The ways to hold the arrays of a launch: as declared, and in ever more pieces. */
enum { MAX_WAYS = 1 + PTI_N_TOGETHER };

/** How many times as many superblocks one way may have as another to be compared with it. */
enum { MAX_MORE_SUPERBLOCKS = 4 };

typedef struct ways {
    int n_ways;
    pti_instance *split[MAX_WAYS]; /* owned; NULL: as declared */
} ways;

static void free_ways(ways *of) {
    for (int w = 0; w < of->n_ways; w++)
        pti_instance_free(of->split[w]);
}

/** Find the ways that differ. Errors: NO_MEMORY. */
static polytile_status find_ways(polytile_context *ctx, const pti_instance *instance, ways *of) {
    polytile_status status = POLYTILE_OK;
    int n_operands = instance->n_operands;
    *of = (ways){.n_ways = 1};
    for (int together = 0; together < PTI_N_TOGETHER; together++) {
        pti_instance *split;
        PTI_TRY(pti_instance_split(ctx, instance, (pti_together)together, &split));
        if (split == NULL || split->n_operands == n_operands) {
            pti_instance_free(split);
            continue;
        }
        n_operands = split->n_operands;
        of->split[of->n_ways++] = split;
    }
done:
    return status;
}

/** Whether a launch can be planned in some other way, or not at all. */
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

/** Plan in one way, with no more superblocks than can pay beside the best plan so far. */
static polytile_status try_way(polytile_context *ctx, const pti_instance *instance,
                               const pti_strategy *strategy, const polytile_plan_options *options,
                               pti_choice *best, bool *is_taken) {
    pti_choice made;
    pti_strategy trial = *strategy;
    trial.is_trial = true;
    if (best->schedule != NULL)
        trial.max_superblocks = MAX_MORE_SUPERBLOCKS * best->schedule->n_superblocks;
    polytile_status status = pti_choose(ctx, instance, &trial, options, &made);
    *is_taken = status == POLYTILE_OK && take_cheaper(strategy, best, &made);
    return is_no_plan(status) ? POLYTILE_OK : status;
}

/** Plan in all ways, that with the most pieces first. taken: the number of the one that was chosen. */
static polytile_status try_ways(polytile_context *ctx, const pti_instance *instance,
                                const pti_strategy *strategy, const polytile_plan_options *options,
                                const ways *of, pti_choice *choice, int *taken) {
    polytile_status status = POLYTILE_OK;
    for (int w = of->n_ways - 1; w >= 0; w--) {
        bool is_taken;
        PTI_TRY(
            try_way(ctx, w == 0 ? instance : of->split[w], strategy, options, choice, &is_taken));
        *taken = is_taken ? w : *taken;
    }
done:
    return status;
}

polytile_status pti_choose_pieces(polytile_context *ctx, const pti_instance *instance,
                                  const pti_strategy *strategy,
                                  const polytile_plan_options *options, pti_choice *choice,
                                  pti_instance **split) {
    ways of;
    int taken = 0;
    polytile_status status;
    *choice = (pti_choice){0};
    *split = NULL;
    PTI_TRY(find_ways(ctx, instance, &of));
    taken = of.n_ways - 1;
    if (of.n_ways > 1)
        PTI_TRY(try_ways(ctx, instance, strategy, options, &of, choice, &taken));
    if (choice->schedule == NULL)
        PTI_TRY(
            pti_choose(ctx, taken == 0 ? instance : of.split[taken], strategy, options, choice));
    *split = of.split[taken];
    of.split[taken] = NULL;
done:
    if (status != POLYTILE_OK) {
        pti_schedule_free(choice->schedule);
        choice->schedule = NULL;
    }
    free_ways(&of);
    return status;
}
