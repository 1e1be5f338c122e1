#include "partition/plan_chain.h"

#include "base/checked.h"
#include "partition/check.h"
#include "partition/plan.h"
#include "partition/predict.h"
#include "partition/strategy.h"
#include <polytile/size.h>

#include <stdlib.h>
#include <string.h>

/* A plan of several launches: fused, if they may take turns and a shape fits, else apart. */

/** Superblocks that are in flight: one comes while another runs and a third goes. */
enum { N_IN_FLIGHT = 3 };

static const polytile_plan_options no_options = {0};

void pti_plan_chain_free(pti_plan_chain *of) {
    if (of == NULL)
        return;
    pti_residency_free(of->residency);
    pti_chain_free(&of->chain);
    pti_launches_free(&of->launches);
    pti_text_free(&of->apart);
    free(of->run_order);
    free(of);
}

static void destroy_plan(pti_object *object) {
    polytile_plan *plan = (polytile_plan *)object;
    pti_schedule_free(plan->owned_schedule);
    pti_plan_chain_free(plan->chain);
    free(plan);
}

static const polytile_link *link_of(const polytile_plan_options *options) {
    return options->link == NULL ? &polytile_link_default : options->link;
}

static const char *strategy_of(const polytile_plan_options *options) {
    return options->strategy == NULL ? "min-time" : options->strategy;
}

static polytile_status fail_memory(const pti_chain_request *request, const pti_plan_chain *of) {
    return pti_fail_memory(request->ctx, of->launches.arrays->kernel_name,
                           request->n_launches * (double)(1 << 16));
}

/* Whether launches are fused. */

/** Reasons that need no look at the launches. */
static void find_reason(const pti_chain_request *request, pti_plan_chain *of) {
    const polytile_plan_options *options = request->options;
    char limit[32];
    if (options->launches_per_pass == 1)
        pti_text_add(&of->apart, "one launch a pass was asked for");
    else if (request->n_launches == 1)
        pti_text_add(&of->apart, "there is one launch");
    else if (pti_launches_fit(&of->launches, options->limit_bytes))
        pti_text_add(&of->apart, "all arrays fit %s together, so that each moves once",
                     polytile_size_format(options->limit_bytes, limit));
}

/** Find the chain, or why it ends before the launches do. */
static polytile_status find_chain(const pti_chain_request *request, pti_plan_chain *of) {
    pti_text why = {0};
    const pti_launches *launches = &of->launches;
    polytile_status status =
        pti_chain_find(launches->arrays, launches->n_launches, launches->cut, &of->chain, &why);
    if (status != POLYTILE_OK)
        status = fail_memory(request, of);
    else if (of->chain.n_launches < launches->n_launches)
        pti_text_add(&of->apart, "launch %d of %d cannot take turns with those before: %s",
                     of->chain.n_launches + 1, launches->n_launches,
                     why.data == NULL ? "no reason is known" : why.data);
    pti_text_free(&why);
    return status;
}

/** Elements of scratch arrays are zero, and nowhere; false when memory runs out. */
static bool find_unwritten(const pti_launches *launches, pti_boxes *unwritten) {
    bool is_found = true;
    for (int a = 0; a < launches->arrays->n_operands; a++) {
        if (launches->is_scratch[a])
            pti_boxes_add(&unwritten[a], &launches->arrays->operand[a].domain);
        is_found &= !unwritten[a].failed;
    }
    return is_found;
}

/** Choose a shape and build its schedule; *schedule stays NULL where none fits. */
static polytile_status skew(const pti_chain_request *request, pti_plan_chain *of,
                            const pti_boxes *unwritten, pti_schedule **schedule) {
    const polytile_plan_options *options = request->options;
    pti_skew_request wanted = {.chain = &of->chain,
                               .unwritten = unwritten,
                               .dropped = of->launches.is_scratch,
                               .arena_bytes = options->limit_bytes,
                               .link = link_of(options),
                               .most_per_pass = options->launches_per_pass,
                               .fewest_bytes = strcmp(strategy_of(options), "min-traffic") == 0};
    if (!pti_skew_choose(&wanted, &of->shape, &of->apart) ||
        !pti_skew_pays(&wanted, &of->shape, &of->apart)) {
        of->shape = (pti_skew_shape){0};
        return of->apart.length == 0 ? fail_memory(request, of) : POLYTILE_OK;
    }
    *schedule = pti_skew_build(&wanted, &of->shape);
    return *schedule == NULL ? fail_memory(request, of) : POLYTILE_OK;
}

static polytile_status fuse(const pti_chain_request *request, pti_plan_chain *of,
                            pti_schedule **schedule) {
    int n_arrays = of->launches.arrays->n_operands;
    pti_boxes *unwritten = calloc((size_t)n_arrays + 1, sizeof *unwritten);
    polytile_status status;
    PTI_TRY(unwritten != NULL && find_unwritten(&of->launches, unwritten)
                ? POLYTILE_OK
                : fail_memory(request, of));
    PTI_TRY(skew(request, of, unwritten, schedule));
done:
    for (int a = 0; unwritten != NULL && a < n_arrays; a++)
        pti_boxes_free(&unwritten[a]);
    free(unwritten);
    return status;
}

/** Fuse the launches if they can be; else *schedule stays NULL and of->apart says why. */
static polytile_status try_to_fuse(const pti_chain_request *request, pti_plan_chain *of,
                                   pti_schedule **schedule) {
    polytile_status status = POLYTILE_OK;
    find_reason(request, of);
    if (of->apart.length == 0)
        PTI_TRY(find_chain(request, of));
    if (of->apart.length == 0)
        PTI_TRY(fuse(request, of, schedule));
    if (of->apart.length > 0)
        pti_log(request->ctx, PTI_LOG_INFO, "%s: not fused: %s", of->launches.arrays->kernel_name,
                of->apart.data);
    status = of->apart.failed ? fail_memory(request, of) : POLYTILE_OK;
done:
    return status;
}

static polytile_status make_schedule(const pti_chain_request *request, polytile_plan *plan) {
    pti_plan_chain *of = plan->chain;
    polytile_status status = POLYTILE_OK;
    if (request->options->limit_bytes == 0) {
        plan->owned_schedule = pti_plan_in_place(&of->launches);
        status = plan->owned_schedule == NULL ? fail_memory(request, of) : POLYTILE_OK;
    } else {
        PTI_TRY(try_to_fuse(request, of, &plan->owned_schedule));
    }
    plan->schedule = plan->owned_schedule;
    if (status == POLYTILE_OK && plan->schedule == NULL)
        status = pti_plan_apart(request, of, &plan->schedule);
done:
    return status;
}

static polytile_status find_run_order(const pti_chain_request *request, polytile_plan *plan) {
    const pti_schedule *schedule = plan->schedule;
    int64_t *order = calloc((size_t)schedule->n_superblocks + 1, sizeof *order), n_run = 0;
    for (int64_t k = 0; order != NULL && k < schedule->n_ops; k++)
        if (schedule->op[k].kind == PTI_LAUNCH)
            order[n_run++] = schedule->op[k].superblock;
    plan->chain->run_order = order;
    return order == NULL ? fail_memory(request, plan->chain) : POLYTILE_OK;
}

/** POLYTILE_CHECK=plan. */
static polytile_status check(const pti_chain_request *request, const polytile_plan *plan) {
    pti_text why = {0};
    polytile_status status = POLYTILE_OK;
    if (pti_get_settings(request->ctx)->check_plan && !pti_schedule_check(plan->schedule, &why))
        status = pti_fail(request->ctx, POLYTILE_INTERNAL,
                          "%s: the plan of %d launches failed its own check: %s; please report it",
                          plan->instance->kernel_name, request->n_launches,
                          why.data == NULL ? "" : why.data);
    pti_text_free(&why);
    return status;
}

/* The figures. */

/** The least of all launches, each by itself from an empty device; INT64_MAX if more. */
static int64_t find_alone_bytes(const pti_launches *launches, int64_t limit_bytes) {
    int64_t sum = 0;
    for (int l = 0; l < launches->n_launches; l++) {
        pti_bound bound = pti_bound_find(launches->cut[l].instance, limit_bytes);
        sum = pti_bound_sum(sum, pti_bound_sum(bound.h2d_bytes, bound.d2h_bytes));
    }
    return sum;
}

static polytile_status find_bounds(const pti_chain_request *request, polytile_plan *plan) {
    const pti_launches *launches = &plan->chain->launches;
    pti_bound_launch *launch = calloc((size_t)launches->n_launches, sizeof *launch);
    if (launch == NULL)
        return fail_memory(request, plan->chain);
    for (int l = 0; l < launches->n_launches; l++)
        launch[l] = (pti_bound_launch){launches->cut[l].instance, launches->cut[l].array};
    plan->bound = pti_bound_find_chain(launches->n_launches, launch, launches->arrays->n_operands,
                                       launches->is_scratch);
    plan->chain->alone_bytes = find_alone_bytes(launches, request->options->limit_bytes);
    free(launch);
    return POLYTILE_OK;
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
    const pti_launches *launches = &plan->chain->launches;
    polytile_plan_summary *s = &plan->summary;
    bool has_block = request->options->block != NULL && plan->chain->shape.slab == 0;
    for (int d = 0; d < plan->instance->n_indices; d++)
        s->block[d] = has_block ? request->options->block[d] : 1;
    pti_grid grid = pti_grid_of(&plan->instance->threads, s->block);
    memcpy(s->grid_blocks, grid.n_blocks, sizeof s->grid_blocks);
    for (int l = 0; l < launches->n_launches; l++)
        if (launches->kind[l] == launches->main_kind)
            include_superblocks(plan->schedule, &plan->schedule->launch[l], s);
}

static double predict(const pti_chain_request *request, const polytile_plan *plan) {
    if (plan->schedule->in_place)
        return 0;
    return plan->chain->shape.slab > 0
               ? plan->chain->shape.seconds
               : pti_schedule_predict(plan->schedule, link_of(request->options));
}

static polytile_status summarise(const pti_chain_request *request, polytile_plan *plan) {
    const pti_plan_chain *of = plan->chain;
    const polytile_plan_options *options = request->options;
    bool in_place = plan->schedule->in_place, is_fused = of->shape.slab > 0;
    polytile_status status = in_place ? POLYTILE_OK : find_bounds(request, plan);
    pti_traffic traffic = pti_schedule_traffic(plan->schedule);
    plan->summary = (polytile_plan_summary){
        .kernel = plan->instance->kernel_name,
        .strategy = pti_strategy_find(strategy_of(options))->name,
        .n_dims = plan->instance->n_indices,
        .n_buffers = in_place ? 1 : N_IN_FLIGHT,
        .limit_bytes = options->limit_bytes,
        .peak_device_bytes = pti_schedule_peak_bytes(plan->schedule),
        .n_kernels = plan->schedule->n_superblocks,
        .h2d_bytes = traffic.h2d_bytes,
        .d2h_bytes = traffic.d2h_bytes,
        .lower_bound_bytes = pti_bound_sum(plan->bound.h2d_bytes, plan->bound.d2h_bytes),
        .predicted_seconds = predict(request, plan),
        .lower_bound_h2d_bytes = plan->bound.h2d_bytes,
        .bound_bytes = plan->bound.goal_bytes,
        .bound = plan->bound.reason,
        .n_launches = request->n_launches,
        .launches_per_pass = is_fused ? of->shape.n_per_pass : 1,
        .n_passes = is_fused ? of->shape.n_passes : request->n_launches,
        .slab_threads = of->shape.slab,
    };
    summarise_shape(request, plan);
    return plan->summary.predicted_seconds < 0 ? fail_memory(request, of) : status;
}

/* The plan. */

static polytile_status fill_plan(const pti_chain_request *request, polytile_plan *plan) {
    polytile_status status;
    plan->chain = calloc(1, sizeof *plan->chain);
    if (plan->chain == NULL)
        return pti_fail_memory(request->ctx, "plan", sizeof *plan->chain);
    PTI_TRY(pti_launches_bind(request, &plan->chain->launches));
    plan->instance = plan->chain->launches.arrays;
    PTI_TRY(make_schedule(request, plan));
    PTI_TRY(find_run_order(request, plan));
    PTI_TRY(check(request, plan));
    PTI_TRY(summarise(request, plan));
done:
    return status;
}

static polytile_status create(const pti_chain_request *request, polytile_plan **plan) {
    double start_s = pti_plan_now_s();
    polytile_status status;
    polytile_plan *made = calloc(1, sizeof *made);
    PTI_TRY(made != NULL ? POLYTILE_OK : pti_fail_memory(request->ctx, "plan", sizeof *made));
    PTI_TRY(fill_plan(request, made));
    made->summary.plan_seconds = pti_plan_now_s() - start_s;
    pti_object_adopt(request->ctx, &made->object, destroy_plan);
    *plan = made;
done:
    if (status != POLYTILE_OK && made != NULL)
        destroy_plan(&made->object);
    return status;
}

polytile_status polytile_plan_create_chain(int n_launches, const polytile_chain_launch *launches,
                                           int n_scratch, polytile_array *const *scratch,
                                           const polytile_plan_options *options,
                                           polytile_plan **plan) {
    if (plan != NULL)
        *plan = NULL;
    if (n_launches < 1 || launches == NULL || launches[0].kernel == NULL)
        return POLYTILE_INVALID;
    polytile_context *ctx = launches[0].kernel->object.context;
    pti_clear_error(ctx);
    if (plan == NULL)
        return pti_fail(ctx, POLYTILE_INVALID, "%s: the place for the plan is NULL",
                        polytile_kernel_get_name(launches[0].kernel));
    pti_chain_request request = {
        .ctx = ctx,
        .n_launches = n_launches,
        .launch = launches,
        .n_scratch = n_scratch,
        .scratch = scratch,
        .options = options == NULL ? &no_options : options,
    };
    return create(&request, plan);
}
