#include "partition/window/plan_chain.h"

#include "base/checked.h"
#include "base/clock.h"
#include "partition/choose/strategy.h"
#include "partition/window/plan.h"
#include <polytile/size.h>

#include <stdlib.h>
#include <string.h>

/* A plan of several launches: its subplans, and their figures together. */

/** Superblocks that are in flight: one comes while another runs and a third goes. */
enum { N_IN_FLIGHT = 3 };

static void free_subplans(pti_plan_chain *chain) {
    for (int k = 0; k < chain->n_subplans; k++) {
        pti_schedule_free(chain->subplan[k].schedule);
        free(chain->subplan[k].run_order);
        pti_text_free(&chain->subplan[k].tiles);
    }
    for (int p = 0; p < chain->n_groups; p++) {
        pti_fusion_group_free(&chain->group[p].group);
        pti_text_free(&chain->group[p].reason);
    }
    free(chain->subplan);
    free(chain->group);
    free(chain->run);
}

static void free_chain(pti_plan_chain *chain) {
    if (chain == NULL)
        return;
    free_subplans(chain);
    pti_residency_free(chain->residency);
    pti_launches_free(&chain->launches);
    pti_text_free(&chain->apart);
    free(chain->step);
    free(chain->asked);
    free(chain->later_use);
    free(chain);
}

const pti_subplan *pti_plan_shown(const pti_plan_chain *chain) {
    return &chain->subplan[chain->shown];
}

const pti_fusion_group *pti_plan_interleaved(const pti_plan_chain *chain,
                                             const pti_subplan *subplan) {
    return subplan->group < 0 ? NULL : &chain->group[subplan->group].group;
}

static void destroy_chain_plan(pti_object *object) {
    polytile_plan *plan = (polytile_plan *)object;
    free_chain(plan->chain);
    free(plan);
}

/* The subplans. */

static polytile_status plan_in_place(const pti_chain_request *request, pti_plan_chain *chain) {
    pti_subplan subplan = {.n_launches = chain->launches.n_launches, .group = -1};
    subplan.schedule = pti_plan_in_place(&chain->launches);
    return subplan.schedule == NULL ? pti_plan_fail_memory(request, chain)
                                    : pti_plan_add_subplan(request, chain, &subplan);
}

/** Why no launches are interleaved, where that needs no look at them. */
static polytile_status find_reason(const pti_chain_request *request, pti_plan_chain *chain) {
    const polytile_plan_options *options = request->options;
    char limit[32];
    bool has_reason = options->limit_bytes == 0;
    for (int p = 0; p < chain->n_groups; p++)
        has_reason |= chain->group[p].reason.length > 0 || chain->group[p].group.n_launches > 0;
    if (has_reason)
        return POLYTILE_OK;
    if (options->launches_per_pass == 1)
        pti_text_add(&chain->apart, "one launch a pass was asked for");
    else if (request->n_launches == 1)
        pti_text_add(&chain->apart, "there is one launch");
    else if (pti_launches_fit(&chain->launches, options->limit_bytes))
        pti_text_add(&chain->apart, "all arrays fit %s together, so that each moves once",
                     polytile_size_format(options->limit_bytes, limit));
    return chain->apart.failed ? pti_plan_fail_memory(request, chain) : POLYTILE_OK;
}

/** What a queue would say of the launches. */
static void log_fusion(const pti_chain_request *request, const pti_plan_chain *chain) {
    const char *name = chain->launches.arrays->kernel_name;
    for (int p = 0; p < chain->n_groups; p++)
        if (chain->group[p].reason.length > 0)
            pti_log(request->ctx, PTI_LOG_INFO, "%s: %s",
                    chain->step[chain->group[p].first].call.instance->kernel_name,
                    chain->group[p].reason.data);
    if (chain->apart.length > 0)
        pti_log(request->ctx, PTI_LOG_INFO, "%s: not fused: %s", name, chain->apart.data);
}

/** The first subplan of launches that are interleaved; else the first that has launches. */
static int find_shown_subplan(const pti_plan_chain *chain) {
    int shown = 0;
    for (int k = chain->n_subplans - 1; k >= 0; k--)
        shown = chain->subplan[k].n_launches > 0 ? k : shown;
    for (int k = chain->n_subplans - 1; k >= 0; k--)
        shown = chain->subplan[k].group >= 0 ? k : shown;
    return shown;
}

static polytile_status make_subplans(const pti_chain_request *request, polytile_plan *plan) {
    pti_plan_chain *chain = plan->chain;
    polytile_status status;
    PTI_TRY(request->options->limit_bytes == 0 ? plan_in_place(request, chain)
                                               : pti_plan_subplans(request, chain));
    PTI_TRY(find_reason(request, chain));
    log_fusion(request, chain);
    chain->shown = find_shown_subplan(chain);
    plan->schedule = pti_plan_shown(chain)->schedule;
done:
    return status;
}

/* The figures. */

/** How many launches there are of each kind; NULL when memory runs out. The caller frees it. */
static int64_t *count_kinds(const pti_launches *launches) {
    int64_t *n_of_kind = calloc((size_t)launches->n_kinds + 1, sizeof *n_of_kind);
    for (int l = 0; l < launches->n_launches && n_of_kind != NULL; l++)
        n_of_kind[launches->kind[l]]++;
    return n_of_kind;
}

/** The least of all launches, each by itself from an empty device; INT64_MAX if more. */
static int64_t find_alone_bytes(const pti_launches *launches, const int64_t *n_of_kind,
                                int64_t limit_bytes, bool *failed) {
    int64_t sum = 0;
    for (int k = 0; k < launches->n_kinds; k++) {
        pti_bound bound = pti_bound_find(launches->of_kind[k].instance, limit_bytes);
        int64_t bytes = pti_add_saturated(bound.h2d_bytes, bound.d2h_bytes);
        *failed = *failed || bound.failed;
        sum = pti_add_saturated(sum, pti_mul_saturated(bytes, n_of_kind[k]));
    }
    return sum;
}

/** Find the lower bounds of a chain, and of its launches one by one. */
static polytile_status find_bounds(const pti_chain_request *request, polytile_plan *plan) {
    const pti_launches *launches = &plan->chain->launches;
    int64_t limit_bytes = request->options->limit_bytes;
    int64_t *n_of_kind = count_kinds(launches);
    pti_call *launch = calloc((size_t)launches->n_launches, sizeof *launch);
    bool has_memory = launch != NULL && n_of_kind != NULL;
    for (int l = 0; l < launches->n_launches && has_memory; l++)
        launch[l] = launches->cut[l].call;
    int n_arrays = launches->arrays->n_operands;
    if (has_memory) {
        plan->bound =
            pti_bound_find_chain(launches->n_launches, launch, n_arrays, launches->is_scratch);
        has_memory = pti_bound_raise_stencil(launches->n_launches, launch, n_arrays,
                                             launches->is_scratch, limit_bytes, &plan->bound);
        plan->chain->alone_bytes =
            find_alone_bytes(launches, n_of_kind, limit_bytes, &plan->bound.failed);
        has_memory = has_memory && !plan->bound.failed;
    }
    free(launch);
    free(n_of_kind);
    return has_memory ? POLYTILE_OK : pti_plan_fail_memory(request, plan->chain);
}

/** Let the largest superblock, in blocks, be no smaller than one of a launch. */
static void include_superblocks(const pti_schedule *schedule, const pti_schedule_launch *launch,
                                polytile_plan_summary *s) {
    const polytile_domain *box = &schedule->superblock[launch->first_superblock];
    for (int64_t k = 0; k < launch->n_superblocks; k++)
        for (int d = 0; d < box[k].n_dims; d++) {
            int64_t n_threads = box[k].range[d].hi - box[k].range[d].lo + 1;
            s->superblock_blocks[d] =
                pti_max(s->superblock_blocks[d], pti_ceil_div(n_threads, s->block[d]));
        }
}

/** Superblocks of the main kind in blocks: those asked for where launches are cut by them, else of
 * one thread. */
static void summarise_shape(const pti_chain_request *request, polytile_plan *plan) {
    const pti_plan_chain *chain = plan->chain;
    const pti_launches *launches = &chain->launches;
    polytile_plan_summary *s = &plan->summary;
    bool has_block = request->options->block != NULL && pti_plan_shown(chain)->group < 0;
    for (int d = 0; d < plan->instance->n_indices; d++)
        s->block[d] = has_block ? request->options->block[d] : 1;
    pti_grid grid = pti_grid_of(&plan->instance->threads, s->block);
    memcpy(s->grid_blocks, grid.n_blocks, sizeof s->grid_blocks);
    for (int k = 0; k < chain->n_subplans; k++)
        for (int l = 0; l < chain->subplan[k].n_launches; l++)
            if (launches->kind[chain->subplan[k].first + l] == launches->main_kind)
                include_superblocks(chain->subplan[k].schedule,
                                    &chain->subplan[k].schedule->launch[l], s);
}

/** Count a subplan as often as it comes. */
static void add_figures(const pti_plan_chain *plan_chain, const pti_subplan *subplan,
                        polytile_plan *plan) {
    polytile_plan_summary *s = &plan->summary;
    polytile_chain_summary *chain = &plan->chain_summary;
    const pti_fusion_group *interleaved = pti_plan_interleaved(plan_chain, subplan);
    int64_t n_passes = interleaved == NULL ? subplan->n_launches : interleaved->shape.n_passes;
    s->peak_device_bytes =
        pti_max(s->peak_device_bytes, pti_schedule_peak_bytes(subplan->schedule));
    s->n_kernels += subplan->n_times * pti_schedule_n_kernels(subplan->schedule);
    s->h2d_bytes = pti_add_saturated(
        s->h2d_bytes, pti_mul_saturated(subplan->n_times, subplan->traffic.h2d_bytes));
    s->d2h_bytes = pti_add_saturated(
        s->d2h_bytes, pti_mul_saturated(subplan->n_times, subplan->traffic.d2h_bytes));
    s->predicted_seconds += (double)subplan->n_times * subplan->seconds;
    chain->n_passes += subplan->n_times * n_passes;
    if (interleaved != NULL)
        chain->launches_per_pass =
            pti_max(chain->launches_per_pass,
                    interleaved->shape.n_per_pass / pti_chain_unit(&interleaved->chain));
}

/** Fill in the summaries of a plan of a chain. */
static polytile_status summarise_chain(const pti_chain_request *request, polytile_plan *plan) {
    const pti_plan_chain *chain = plan->chain;
    const polytile_plan_options *options = request->options;
    const pti_fusion_group *interleaved = pti_plan_interleaved(chain, pti_plan_shown(chain));
    bool in_place = plan->schedule->in_place;
    polytile_status status = in_place ? POLYTILE_OK : find_bounds(request, plan);
    plan->summary = (polytile_plan_summary){
        .kernel = plan->instance->kernel_name,
        .strategy = pti_strategy_find(options->strategy)->name,
        .n_dims = plan->instance->n_indices,
        .n_buffers = in_place ? 1 : N_IN_FLIGHT,
        .limit_bytes = options->limit_bytes,
        .lower_bound_bytes = pti_add_saturated(plan->bound.h2d_bytes, plan->bound.d2h_bytes),
        .lower_bound_h2d_bytes = plan->bound.h2d_bytes,
        .bound_bytes = plan->bound.goal_bytes,
        .bound = plan->bound.reason,
    };
    plan->chain_summary = (polytile_chain_summary){
        .n_launches = request->n_launches,
        .launches_per_pass = 1,
        .slab_threads = interleaved == NULL ? 0 : interleaved->shape.slab,
    };
    for (int k = 0; k < chain->n_subplans; k++)
        add_figures(chain, &chain->subplan[k], plan);
    summarise_shape(request, plan);
    return status;
}

/* The plan. */

static polytile_status fill_plan(const pti_chain_request *request, polytile_plan *plan) {
    polytile_status status;
    plan->chain = calloc(1, sizeof *plan->chain);
    if (plan->chain == NULL)
        return pti_fail_memory(request->ctx, "plan", sizeof *plan->chain);
    PTI_TRY(pti_launches_bind(request, &plan->chain->launches));
    plan->instance = plan->chain->launches.arrays;
    PTI_TRY(make_subplans(request, plan));
    PTI_TRY(summarise_chain(request, plan));
done:
    return status;
}

static polytile_status create_chain_plan(const pti_chain_request *request, polytile_plan **plan) {
    double start_s = pti_now_s();
    polytile_status status;
    polytile_plan *made = calloc(1, sizeof *made);
    PTI_TRY(made != NULL ? POLYTILE_OK : pti_fail_memory(request->ctx, "plan", sizeof *made));
    PTI_TRY(fill_plan(request, made));
    made->summary.plan_seconds = pti_now_s() - start_s;
    pti_object_adopt(request->ctx, &made->object, destroy_chain_plan);
    *plan = made;
done:
    if (status != POLYTILE_OK && made != NULL)
        destroy_chain_plan(&made->object);
    return status;
}

polytile_status polytile_plan_create_chain(int n_launches, const polytile_chain_launch *launches,
                                           int n_scratch, polytile_array *const *scratch,
                                           const polytile_plan_options *options,
                                           polytile_plan **plan) {
    if (plan != NULL)
        *plan = NULL;
    pti_chain_request request = {.n_launches = n_launches,
                                 .launch = launches,
                                 .n_scratch = n_scratch,
                                 .scratch = scratch,
                                 .options = options};
    polytile_status status = pti_chain_request_complete(__func__, &request);
    if (status == POLYTILE_OK && plan == NULL)
        status =
            pti_fail(request.ctx, POLYTILE_INVALID, "%s: the place for the plan is NULL", __func__);
    return status == POLYTILE_OK ? create_chain_plan(&request, plan) : status;
}
