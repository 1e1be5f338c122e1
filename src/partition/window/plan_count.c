#include "partition/window/plan_chain.h"

#include "access/set/range.h"
#include "base/checked.h"
#include "partition/bound/bound.h"
#include "partition/schedule/builder.h"
#include <polytile/size.h>

/* How many superblocks a plan of several launches has, and may have. */

/** The most superblocks, those that come again counted once: a second, and about a GiB of host memory
 * where launches are interleaved. Others take more memory: of them there are no more than of a single
 * launch of any of their kinds. */
enum { MOST_SUPERBLOCKS = 1000000 };

static polytile_status check_count(const pti_chain_request *request, const pti_plan_chain *of,
                                   const pti_batch *batch, int64_t n_superblocks, int64_t most) {
    char limit[32];
    if (n_superblocks <= most)
        return POLYTILE_OK;
    return pti_fail(
        request->ctx, POLYTILE_UNSUPPORTED,
        "%s: the first %d of %d launches take more than %lld sub-kernels within %s, which "
        "is the most that are planned together; plan fewer launches, or raise the limit",
        of->launches.arrays->kernel_name, batch->first_launch + batch->n_launches,
        of->launches.n_launches, (long long)most,
        polytile_size_format(request->options->limit_bytes, limit));
}

/** The superblocks of launches that run one after the other. */
static int64_t count_single(const pti_batch *batch) {
    int64_t sum = 0;
    for (int k = 0; k < batch->n_steps; k++)
        if (batch->step[k].kind == PTI_STEP_LAUNCH)
            sum = pti_bound_sum(sum, batch->step[k].partition->n_superblocks);
    return sum;
}

/** The most that a single launch of any kind would have. */
static int64_t most_single(const pti_launches *launches) {
    int64_t most = PTI_MAX_SUPERBLOCKS;
    for (int k = 0; k < launches->n_kinds; k++)
        most = pti_min(most, pti_builder_most_superblocks(launches->of_kind[k].instance));
    return most;
}

polytile_status pti_plan_check_single(const pti_chain_request *request, const pti_plan_chain *of,
                                      const pti_batch *batch) {
    int64_t n_more = count_single(batch);
    int64_t most = most_single(&of->launches);
    polytile_status status;
    PTI_TRY(check_count(request, of, batch, pti_bound_sum(of->n_single, n_more), most));
    PTI_TRY(
        check_count(request, of, batch, pti_bound_sum(of->n_planned, n_more), MOST_SUPERBLOCKS));
done:
    return status;
}

/** The superblocks of launches that are interleaved, about. */
static int64_t count_slabs(const pti_fusion_group *group) {
    int64_t sum = 0;
    for (int l = 0; l < group->chain.n_launches; l++) {
        const pti_cut_launch *cut = &group->chain.launch[l];
        polytile_range range = cut->call.instance->threads.range[cut->index];
        sum = pti_bound_sum(sum, pti_ceil_div(pti_range_count(range), group->shape.slab));
    }
    return sum;
}

polytile_status pti_plan_check_slabs(const pti_chain_request *request, const pti_plan_chain *of,
                                     const pti_batch *batch) {
    int64_t n_superblocks = pti_bound_sum(of->n_planned, count_slabs(batch->group));
    return check_count(request, of, batch, n_superblocks, MOST_SUPERBLOCKS);
}
