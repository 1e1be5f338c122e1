#include "distribute/show/ranks_plan.h"

#include <stdlib.h>
#include <string.h>

static void destroy_ranks_plan(pti_object *object) {
    polytile_ranks_plan *plan = (polytile_ranks_plan *)object;
    polytile_plan_destroy(plan->inner);
    pti_outer_plan_free(&plan->outer);
    pti_launches_free(&plan->launches);
    free(plan->shared);
    free(plan->figures);
    free(plan->layout);
    free(plan);
}

void polytile_ranks_plan_destroy(polytile_ranks_plan *plan) {
    if (plan != NULL)
        pti_object_release(&plan->object);
}

static polytile_status bind(polytile_context *ctx, const polytile_ranks_request *request,
                            polytile_ranks_plan *plan) {
    static const polytile_plan_options no_options;
    const pti_chain_request chain = {
        .ctx = ctx,
        .n_launches = request->n_launches,
        .launch = request->launches,
        .n_scratch = request->n_scratch,
        .scratch = request->scratch,
        .options = request->options == NULL ? &no_options : request->options,
    };
    return pti_launches_bind(&chain, &plan->launches);
}

static polytile_status read_grid(polytile_context *ctx, const polytile_ranks_request *request,
                                 pti_member_grid *grid) {
    if (request->grid == NULL || pti_member_grid_parse(request->grid, grid))
        return POLYTILE_OK;
    return pti_fail(ctx, POLYTILE_INVALID,
                    "grid \"%s\": give the ranks along each dimension, such as 2x2, in all %d",
                    request->grid, request->n_ranks);
}

static polytile_status plan_outside(polytile_context *ctx, const polytile_ranks_request *request,
                                    polytile_ranks_plan *plan) {
    polytile_status status;
    pti_member_grid grid;
    const pti_launches *launches = &plan->launches;
    PTI_TRY(read_grid(ctx, request, &grid));
    plan->layout = strdup(request->layout == NULL ? "block" : request->layout);
    plan->shared = calloc((size_t)launches->n_launches, sizeof *plan->shared);
    if (plan->layout == NULL || plan->shared == NULL)
        PTI_TRY(pti_fail_memory(ctx, "launches over ranks",
                                (double)launches->n_launches * (double)sizeof *plan->shared));
    for (int l = 0; l < launches->n_launches; l++) {
        const pti_launch_kind *kind = &launches->of_kind[launches->kind[l]];
        plan->shared[l] = (pti_shared_launch){.instance = kind->instance, .array = kind->array};
    }
    plan->outer_of = (pti_outer_request){.arrays = launches->arrays,
                                         .n_launches = launches->n_launches,
                                         .launch = plan->shared,
                                         .n_members = request->n_ranks,
                                         .given = request->grid == NULL ? NULL : &grid,
                                         .layout = plan->layout,
                                         .most = request->launches_per_exchange};
    status = pti_outer_plan_create(ctx, &plan->outer_of, &plan->outer);
    plan->outer_of.given = NULL;
done:
    return status;
}

static void note_figures(const polytile_plan *inner, pti_rank_figures *figures) {
    polytile_plan_summary summary = {0};
    if (inner != NULL)
        polytile_plan_get_summary(inner, &summary);
    *figures = (pti_rank_figures){.is_known = true,
                                  .n_kernels = summary.n_kernels,
                                  .h2d_bytes = summary.h2d_bytes,
                                  .d2h_bytes = summary.d2h_bytes,
                                  .peak_device_bytes = summary.peak_device_bytes,
                                  .predicted_s = summary.predicted_seconds};
}

int pti_ranks_with_largest_peak(const polytile_ranks_plan *plan) {
    int largest = plan->outer.busiest;
    for (int q = 0; q < plan->outer.n_members; q++)
        if (plan->figures[q].peak_device_bytes > plan->figures[largest].peak_device_bytes)
            largest = q;
    return largest;
}

static int count_boxes(const pti_outer_plan *outer) {
    int n_boxes = 0;
    for (int q = 0; q < outer->n_members; q++)
        n_boxes += outer->member[q].threads.n_boxes;
    return n_boxes;
}

static polytile_status plan_inside(polytile_context *ctx, const polytile_ranks_request *request,
                                   polytile_ranks_plan *plan) {
    polytile_status status = POLYTILE_OK;
    int n_ranks = plan->outer.n_members, busiest = plan->outer.busiest;
    bool is_long = count_boxes(&plan->outer) > PTI_RANKS_MOST_INNER;
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
    if (request->launches_per_exchange < 0)
        return pti_fail(ctx, POLYTILE_INVALID,
                        "%lld launches an exchange: give at least 1, or 0 to let it be chosen",
                        (long long)request->launches_per_exchange);
    return POLYTILE_OK;
}

polytile_status polytile_ranks_plan_create(const polytile_ranks_request *request,
                                           polytile_ranks_plan **plan) {
    polytile_status status;
    if (plan != NULL)
        *plan = NULL;
    polytile_context *ctx =
        request == NULL ? NULL : pti_chain_context(request->n_launches, request->launches);
    if (ctx == NULL)
        return pti_fail(NULL, POLYTILE_INVALID, "%s: there are no launches with a kernel",
                        __func__);
    pti_clear_error(ctx);
    if (plan == NULL)
        return pti_fail(ctx, POLYTILE_INVALID, "%s: the place for the plan is NULL", __func__);
    polytile_ranks_plan *made = calloc(1, sizeof *made);
    if (made == NULL)
        return pti_fail_memory(ctx, "the plan of ranks", sizeof *made);
    PTI_TRY(check_request(ctx, request));
    PTI_TRY(bind(ctx, request, made));
    PTI_TRY(plan_outside(ctx, request, made));
    PTI_TRY(plan_inside(ctx, request, made));
    pti_object_adopt(ctx, &made->object, destroy_ranks_plan);
    *plan = made;
done:
    if (status != POLYTILE_OK)
        destroy_ranks_plan(&made->object);
    return status;
}

static polytile_ranks_summary summarise(const pti_outer_plan *outer) {
    polytile_ranks_summary summary = {
        .n_ranks = outer->n_members,
        .busiest = outer->busiest,
        .n_exchanges = outer->n_groups,
        .launches_per_exchange = outer->n_longest,
        .exchange_bytes = outer->exchanged_bytes,
        .busiest_bytes = outer->member[outer->busiest].received_bytes,
        .combined_bytes = outer->combined_bytes,
    };
    for (int q = 0; q < outer->n_members; q++) {
        summary.n_threads += outer->member[q].n_threads;
        summary.n_repeated_threads += outer->member[q].n_extra_threads;
    }
    return summary;
}

void polytile_ranks_plan_get_summary(const polytile_ranks_plan *plan,
                                     polytile_ranks_summary *summary) {
    if (summary != NULL)
        *summary = plan == NULL ? (polytile_ranks_summary){0} : summarise(&plan->outer);
}

const polytile_plan *polytile_ranks_plan_get_inner(const polytile_ranks_plan *plan) {
    return plan == NULL ? NULL : plan->inner;
}

polytile_status polytile_ranks_plan_to_string(const polytile_ranks_plan *plan,
                                              polytile_format format, char **text) {
    static polytile_status (*const printers[])(const polytile_ranks_plan *, char **) = {
        [POLYTILE_TEXT] = pti_ranks_to_text,
        [POLYTILE_JSON] = pti_ranks_to_json,
        [POLYTILE_SVG] = pti_ranks_to_svg,
    };
    if (text != NULL)
        *text = NULL;
    if (plan == NULL)
        return pti_fail(NULL, POLYTILE_INVALID, "%s: the plan is NULL", __func__);
    polytile_context *ctx = plan->object.context;
    pti_clear_error(ctx);
    if (text == NULL || (unsigned)format >= sizeof printers / sizeof *printers)
        return pti_fail(ctx, POLYTILE_INVALID,
                        "plan of ranks to string: %s; use POLYTILE_TEXT, POLYTILE_JSON or "
                        "POLYTILE_SVG, and the address of a char *",
                        text == NULL ? "text is NULL" : "there is no such format");
    return printers[format](plan, text);
}
