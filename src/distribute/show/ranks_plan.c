#include "distribute/show/ranks_plan.h"

#include <stdlib.h>
#include <string.h>

static void destroy_ranks_plan(pti_object *object) {
    polytile_ranks_plan *plan = (polytile_ranks_plan *)object;
    polytile_plan_destroy(plan->inner);
    pti_members_plan_free(&plan->members);
    pti_ranks_members_free(&plan->of);
    pti_launches_free(&plan->launches);
    free(plan->shared);
    free(plan->figures);
    free(plan->is_attached);
    free(plan->is_everywhere);
    free(plan->layout);
    free(plan);
}

void polytile_ranks_plan_destroy(polytile_ranks_plan *plan) {
    if (plan != NULL)
        pti_object_release(&plan->object);
}

/** Return a request for the launches of all ranks; of none where it is NULL. */
static pti_chain_request request_chain(const polytile_ranks_request *request) {
    if (request == NULL)
        return (pti_chain_request){0};
    return (pti_chain_request){.n_launches = request->n_launches,
                               .launch = request->launches,
                               .n_scratch = request->n_scratch,
                               .scratch = request->scratch,
                               .options = request->options};
}

static polytile_status read_grid(polytile_context *ctx, const polytile_ranks_request *request,
                                 int n_members, pti_member_grid *grid) {
    if (request->share.grid == NULL || pti_member_grid_parse(request->share.grid, grid))
        return POLYTILE_OK;
    return pti_fail(ctx, POLYTILE_INVALID,
                    "grid \"%s\": give the members along each dimension, such as 2x2, in all %d",
                    request->share.grid, n_members);
}

/** Describe what members have at first: of attached arrays everything. Of scratch nobody lacks
 * anything, since nobody wrote it. */
static bool describe_first_state(polytile_ranks_plan *plan) {
    const pti_launches *launches = &plan->launches;
    const size_t n_arrays = (size_t)launches->arrays->n_operands + 1;
    plan->is_attached = calloc(n_arrays, sizeof *plan->is_attached);
    plan->is_everywhere = calloc(n_arrays, sizeof *plan->is_everywhere);
    if (plan->is_attached == NULL || plan->is_everywhere == NULL)
        return false;
    for (int a = 0; a < launches->arrays->n_operands; a++) {
        plan->is_attached[a] = plan->of.are_attached && !launches->is_scratch[a];
        plan->is_everywhere[a] = plan->is_attached[a] || launches->is_scratch[a];
    }
    return true;
}

static pti_dry_run_members describe_members(polytile_context *ctx,
                                            const polytile_ranks_plan *plan) {
    const pti_settings *settings = pti_get_settings(ctx);
    return (pti_dry_run_members){.n_local = plan->of.n_local,
                                 .is_alone = plan->of.n_ranks == 0,
                                 .are_linked = plan->of.are_linked,
                                 .checks_access = settings->check_access || settings->check_wide,
                                 .usable_bytes = plan->of.limit_bytes,
                                 .is_attached = plan->is_attached,
                                 .is_everywhere = plan->is_everywhere};
}

/** Plan who owns what, and what travels between members. */
static polytile_status plan_outside(polytile_context *ctx, const polytile_ranks_request *request,
                                    polytile_ranks_plan *plan) {
    polytile_status status;
    pti_member_grid grid;
    const char *layout;
    const pti_launches *launches = &plan->launches;
    PTI_TRY(read_grid(ctx, request, pti_ranks_members_count(&plan->of), &grid));
    PTI_TRY(pti_ranks_find_layout(ctx, request, launches, &plan->of, &layout));
    plan->layout = strdup(layout);
    plan->shared = calloc((size_t)launches->n_launches, sizeof *plan->shared);
    if (plan->layout == NULL || plan->shared == NULL || !describe_first_state(plan))
        PTI_TRY(pti_fail_memory(ctx, "launches over ranks",
                                (double)launches->n_launches * (double)sizeof *plan->shared));
    for (int l = 0; l < launches->n_launches; l++) {
        const pti_launch_kind *kind = &launches->of_kind[launches->kind[l]];
        plan->shared[l] = (pti_shared_launch){.call = {kind->instance, kind->array}};
    }
    plan->asked_of = (pti_members_plan_request){.arrays = launches->arrays,
                                                .n_launches = launches->n_launches,
                                                .launch = plan->shared,
                                                .n_members = pti_ranks_members_count(&plan->of),
                                                .members = describe_members(ctx, plan),
                                                .word = pti_ranks_word(plan),
                                                .given = request->share.grid == NULL ? NULL : &grid,
                                                .layout = plan->layout,
                                                .most = request->share.launches_per_exchange};
    status = pti_members_plan_create(ctx, &plan->asked_of, &plan->members);
    plan->asked_of.given = NULL;
done:
    return status;
}

static void note_figures(const polytile_plan *inner, pti_rank_figures *figures) {
    polytile_plan_summary summary;
    polytile_plan_get_summary(inner, &summary);
    *figures = (pti_rank_figures){.is_known = true,
                                  .n_kernels = summary.n_kernels,
                                  .h2d_bytes = summary.h2d_bytes,
                                  .d2h_bytes = summary.d2h_bytes,
                                  .peak_device_bytes = summary.peak_device_bytes,
                                  .predicted_s = summary.predicted_seconds};
}

static int count_exchanged_boxes(const pti_members_plan *members) {
    int n_boxes = 0;
    for (int q = 0; q < members->n_members; q++)
        n_boxes += members->member[q].threads.n_boxes;
    return n_boxes;
}

/** Plan what members do on their devices: the busiest one, and all if there is little to plan. */
static polytile_status plan_inside(polytile_context *ctx, const polytile_ranks_request *request,
                                   polytile_ranks_plan *plan) {
    polytile_status status = POLYTILE_OK;
    int n_ranks = plan->members.n_members, busiest = plan->members.busiest;
    bool is_long = count_exchanged_boxes(&plan->members) > PTI_RANKS_MOST_INNER;
    plan->figures = calloc((size_t)n_ranks, sizeof *plan->figures);
    if (plan->figures == NULL)
        return pti_fail_memory(ctx, "the plan of ranks",
                               (double)n_ranks * (double)sizeof *plan->figures);
    for (int q = 0; q < n_ranks; q++) {
        polytile_plan *inner;
        if (q != busiest && is_long)
            continue;
        PTI_TRY(pti_ranks_plan_inner(request, plan, q, &inner));
        note_figures(inner, &plan->figures[q]);
        if (q == busiest)
            plan->inner = inner;
        else
            polytile_plan_destroy(inner);
    }
done:
    return status;
}

static polytile_status check_request(polytile_context *ctx, const polytile_ranks_request *request) {
    polytile_status status;
    PTI_TRY(pti_check_reserved(ctx, "ranks", "polytile_ranks_request", request->reserved));
    PTI_TRY(pti_check_reserved(ctx, "ranks", "polytile_share_options", request->share.reserved));
    if (request->share.launches_per_exchange < 0)
        PTI_TRY(pti_fail(ctx, POLYTILE_INVALID,
                         "%lld launches an exchange: give at least 1, or 0 to let it be chosen",
                         (long long)request->share.launches_per_exchange));
done:
    return status;
}

polytile_status polytile_ranks_plan_create(const polytile_ranks_request *request,
                                           polytile_ranks_plan **plan) {
    polytile_status status;
    if (plan != NULL)
        *plan = NULL;
    pti_chain_request chain = request_chain(request);
    status = pti_chain_request_complete(__func__, &chain);
    if (status != POLYTILE_OK)
        return status;
    polytile_context *ctx = chain.ctx;
    if (plan == NULL)
        return pti_fail(ctx, POLYTILE_INVALID, "%s: the place for the plan is NULL", __func__);
    polytile_ranks_plan *made = calloc(1, sizeof *made);
    if (made == NULL)
        return pti_fail_memory(ctx, "the plan of ranks", sizeof *made);
    PTI_TRY(check_request(ctx, request));
    PTI_TRY(pti_launches_bind(&chain, &made->launches));
    PTI_TRY(pti_ranks_members_read(ctx, request, &made->of));
    PTI_TRY(plan_outside(ctx, request, made));
    PTI_TRY(plan_inside(ctx, request, made));
    pti_object_adopt(ctx, &made->object, destroy_ranks_plan);
    *plan = made;
done:
    if (status != POLYTILE_OK)
        destroy_ranks_plan(&made->object);
    return status;
}

static polytile_ranks_summary summarise_members(const pti_members_plan *members) {
    polytile_ranks_summary summary = {
        .n_ranks = members->n_members,
        .busiest = members->busiest,
        .n_exchanges = members->n_supersteps,
        .launches_per_exchange = members->n_longest,
        .exchange_bytes = members->exchanged_bytes,
        .busiest_bytes = members->member[members->busiest].received_bytes,
        .combined_bytes = members->combined_bytes,
        .pulled_bytes = members->pulled_bytes,
    };
    for (int q = 0; q < members->n_members; q++) {
        summary.n_threads += members->member[q].n_threads;
        summary.n_repeated_threads += members->member[q].n_extra_threads;
    }
    return summary;
}

void polytile_ranks_plan_get_summary(const polytile_ranks_plan *plan,
                                     polytile_ranks_summary *summary) {
    if (summary != NULL)
        *summary = plan == NULL ? (polytile_ranks_summary){0} : summarise_members(&plan->members);
}

const polytile_plan *polytile_ranks_plan_get_inner(const polytile_ranks_plan *plan) {
    return plan == NULL ? NULL : plan->inner;
}
