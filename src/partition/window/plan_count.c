#include "partition/window/plan_chain.h"

#include "base/checked.h"
#include "partition/schedule/builder.h"
#include <polytile/size.h>

/* How many superblocks a plan of several launches has, and may have. */

/** The most superblocks, those that come again counted once: a second, and about a GiB of host
 * memory where launches are interleaved. Others take more memory: of them there are no more than of
 * a single launch of any of their kinds. */
enum { MOST_SUPERBLOCKS = 1000000 };

/** Refuse more than `most` superblocks of the first n_launches launches. */
static polytile_status check_n_superblocks(const pti_chain_request *request,
                                           const pti_plan_chain *chain, int n_launches,
                                           int64_t n_superblocks, int64_t most) {
    char limit[32];
    if (n_superblocks <= most)
        return POLYTILE_OK;
    return pti_fail(
        request->ctx, POLYTILE_UNSUPPORTED,
        "%s: the first %d of %d launches take more than %lld sub-kernels within %s, which "
        "is the most that are planned together; plan fewer launches, or raise the limit",
        chain->launches.arrays->kernel_name, n_launches, chain->launches.n_launches,
        (long long)most, polytile_size_format(request->options->limit_bytes, limit));
}

/** Consecutive single steps of a batch that are planned as one batch, from `step` on. */
typedef struct steps {
    const pti_batch *among;
    const pti_step *step;
    int n_steps;
} steps;

static steps steps_from(const pti_batch *among, int first) {
    const int end = pti_batch_find_end(among->step, first, among->n_single);
    return (steps){among, among->step + first, end - first};
}

static int end_of(steps of) {
    return (int)(of.step - of.among->step) + of.n_steps;
}

static int count_launches_until(steps of) {
    int n_launches = of.among->first_launch;
    for (int k = 0; k < end_of(of); k++)
        n_launches += of.among->step[k].kind == PTI_STEP_LAUNCH;
    return n_launches;
}

static int64_t count_step_superblocks(steps of) {
    int64_t sum = 0;
    for (int k = 0; k < of.n_steps; k++)
        if (of.step[k].kind == PTI_STEP_LAUNCH)
            sum = pti_add_saturated(sum, of.step[k].partition->n_superblocks);
    return sum;
}

static bool are_same_steps(steps one, steps other) {
    bool are_same = one.n_steps == other.n_steps;
    for (int k = 0; are_same && k < one.n_steps; k++)
        are_same = pti_plan_is_same_step(&one.step[k], &other.step[k]);
    return are_same;
}

/** Return whether steps come again: they may find the same resident, and become what they became.
 * None finds nothing resident, as the first do. */
static bool come_again(steps of) {
    steps before = steps_from(of.among, end_of(steps_from(of.among, 0)));
    while (before.step < of.step && !are_same_steps(before, of))
        before = steps_from(of.among, end_of(before));
    return before.step < of.step;
}

/** The most that a single launch of any kind would have. */
static int64_t most_single(const pti_launches *launches) {
    int64_t most = PTI_MAX_SUPERBLOCKS;
    for (int k = 0; k < launches->n_kinds; k++)
        most = pti_min(most, pti_builder_most_superblocks(launches->of_kind[k].instance));
    return most;
}

polytile_status pti_plan_check_single(const pti_chain_request *request, const pti_plan_chain *chain,
                                      const pti_batch *batch) {
    const int64_t most = most_single(&chain->launches);
    const int end = chain->n_subplans == 0 ? batch->n_single : batch->n_steps;
    int64_t n_more = 0;
    polytile_status status = POLYTILE_OK;
    for (int k = 0; k < end;) {
        const steps at = steps_from(batch, k);
        const int n_launches = count_launches_until(at);
        n_more = pti_add_saturated(n_more, come_again(at) ? 0 : count_step_superblocks(at));
        PTI_TRY(check_n_superblocks(request, chain, n_launches,
                                    pti_add_saturated(chain->n_single, n_more), most));
        PTI_TRY(check_n_superblocks(request, chain, n_launches,
                                    pti_add_saturated(chain->n_planned, n_more), MOST_SUPERBLOCKS));
        k = end_of(at);
    }
done:
    return status;
}

polytile_status pti_plan_check_slabs(const pti_chain_request *request, const pti_plan_chain *chain,
                                     const pti_batch *batch) {
    int64_t n_superblocks =
        pti_add_saturated(chain->n_planned, pti_fusion_group_n_listed(batch->window, batch->group));
    return check_n_superblocks(request, chain, batch->first_launch + batch->n_launches,
                               n_superblocks, MOST_SUPERBLOCKS);
}
