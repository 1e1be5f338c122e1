#include "partition/window/plan.h"

#include "access/array/array.h"
#include "access/bind/inspect.h"
#include "access/bind/rebase.h"
#include "access/bind/unite.h"
#include "access/conflict.h"
#include "access/kernel.h"
#include "base/checked.h"
#include "base/clock.h"
#include "partition/arena/build.h"
#include "partition/choose/choose_pieces.h"
#include "partition/window/plan_chain.h"

#include <stdlib.h>
#include <string.h>

static void destroy_plan(pti_object *object) {
    polytile_plan *plan = (polytile_plan *)object;
    pti_schedule_free(plan->owned_schedule);
    pti_ways_free(&plan->ways);
    pti_instance_free(plan->owned_instance);
    free(plan);
}

void polytile_plan_destroy(polytile_plan *plan) {
    if (plan != NULL)
        pti_object_release(&plan->object);
}

static const polytile_launch_options no_options = {0};

static polytile_status check_block(polytile_context *ctx, const polytile_kernel *kernel,
                                   const polytile_plan_options *options) {
    int n_indices = polytile_kernel_get_n_indices(kernel);
    for (int d = 0; options->block != NULL && d < n_indices; d++) {
        if (options->block[d] < 1)
            return pti_fail(ctx, POLYTILE_INVALID,
                            "%s: a block of %lld threads along index %d; it must be at least 1",
                            polytile_kernel_get_name(kernel), (long long)options->block[d], d);
    }
    return POLYTILE_OK;
}

static polytile_status check_plan_options(polytile_context *ctx, const polytile_kernel *kernel,
                                          const polytile_plan_options *options,
                                          const pti_strategy *strategy) {
    const char *name = polytile_kernel_get_name(kernel);
    if (strategy == NULL)
        return pti_fail(ctx, POLYTILE_INVALID, "%s: unknown strategy \"%s\"; there are %s", name,
                        options->strategy, pti_strategy_names());
    if (options->n_buffers < 0 || options->n_buffers > 3)
        return pti_fail(ctx, POLYTILE_INVALID,
                        "%s: %d buffers; there can be 1, 2 or 3, or 0 to let the strategy choose",
                        name, options->n_buffers);
    if (options->limit_bytes < 0)
        return pti_fail(ctx, POLYTILE_INVALID,
                        "%s: a limit of %lld bytes; it must be positive, or 0 for none", name,
                        (long long)options->limit_bytes);
    if (options->n_streams < 0 || options->n_streams > PTI_MAX_LANES)
        return pti_fail(
            ctx, POLYTILE_INVALID,
            "%s: %lld streams; there can be 1 to %d, or 0 for as many as the device has", name,
            (long long)options->n_streams, PTI_MAX_LANES);
    if (options->fill_threads < 0)
        return pti_fail(ctx, POLYTILE_INVALID,
                        "%s: %lld threads fill the device; it must be at least 1, or 0 if that is "
                        "not known",
                        name, (long long)options->fill_threads);
    if (options->launches_per_pass < 0)
        return pti_fail(ctx, POLYTILE_INVALID,
                        "%s: %lld launches a pass; there must be at least 1, or 0 to let the "
                        "planner choose",
                        name, (long long)options->launches_per_pass);
    return check_block(ctx, kernel, options);
}

/** A program that was compiled for a later version may fill what this one does not know. */
static polytile_status check_options(polytile_context *ctx, const polytile_kernel *kernel,
                                     const polytile_launch_options *options,
                                     const pti_strategy *strategy) {
    const char *name = polytile_kernel_get_name(kernel);
    polytile_status status;
    PTI_TRY(pti_check_reserved(ctx, name, "polytile_launch_options", options->reserved));
    PTI_TRY(pti_check_reserved(ctx, name, "polytile_plan_options", options->plan.reserved));
    PTI_TRY(check_plan_options(ctx, kernel, &options->plan, strategy));
done:
    return status;
}

static polytile_status check_link(polytile_context *ctx, const polytile_link *link) {
    if (link == NULL)
        return POLYTILE_OK;
    bool rates = link->upload_bytes_per_s > 0 && link->download_bytes_per_s > 0 &&
                 link->duplex_bytes_per_s > 0 && link->kernel_bytes_per_s > 0;
    bool latencies = link->transfer_latency_s >= 0 && link->launch_latency_s >= 0 &&
                     link->run_overhead_bytes >= 0 && link->kernel_accesses_per_s >= 0 &&
                     link->cache_bytes >= 0 && link->cache_bytes_per_s >= 0;
    if (rates && latencies)
        return pti_check_reserved(ctx, "link", "polytile_link", link->reserved);
    return pti_fail(
        ctx, POLYTILE_INVALID,
        "link: every rate must be above 0 bytes/s and every latency and overhead at least 0");
}

static polytile_status check_operands(const polytile_kernel *kernel) {
    if (kernel->declaration->n_arrays > PTI_MAX_OPERANDS)
        return pti_fail(kernel->object.context, POLYTILE_UNSUPPORTED,
                        "%s: %d arrays; a kernel can have %d", kernel->declaration->name,
                        kernel->declaration->n_arrays, (int)PTI_MAX_OPERANDS);
    return POLYTILE_OK;
}

/** Bind, and prove that the launch is sound. On error *instance is NULL. */
static polytile_status bind_operands(const polytile_kernel *kernel, const polytile_domain *domain,
                                     polytile_array *const *operands,
                                     const polytile_launch_options *options,
                                     pti_instance **instance) {
    polytile_context *ctx = kernel->object.context;
    polytile_status status;
    *instance = NULL;
    PTI_TRY(check_link(ctx, options->plan.link));
    PTI_TRY(pti_instance_create(kernel, domain, operands, options->n_parameters,
                                options->parameters, instance));
    PTI_TRY(pti_instance_inspect(ctx, kernel->declaration, operands, *instance));
    PTI_TRY(pti_conflict_check(kernel, *instance));
    PTI_TRY(pti_instance_unite_sections(ctx, instance));
done:
    if (status != POLYTILE_OK) {
        pti_instance_free(*instance);
        *instance = NULL;
    }
    return status;
}

static polytile_status bind_launch(const polytile_kernel *kernel, const polytile_domain *domain,
                                   int n_arrays, polytile_array *const *arrays,
                                   const polytile_launch_options *options,
                                   pti_instance **instance) {
    polytile_context *ctx = kernel->object.context;
    polytile_array *operands[PTI_MAX_OPERANDS];
    polytile_status status;
    *instance = NULL;
    PTI_TRY(pti_kernel_check_launch(ctx, __func__, kernel, domain));
    PTI_TRY(pti_kernel_check_arrays(ctx, kernel, n_arrays, arrays));
    PTI_TRY(check_operands(kernel));
    pti_kernel_list_operands(kernel, arrays, operands);
    PTI_TRY(bind_operands(kernel, domain, operands, options, instance));
done:
    return status;
}

static polytile_status choose_in_place(polytile_context *ctx, const pti_instance *instance,
                                       const polytile_plan_options *options, pti_choice *choice) {
    int64_t block[POLYTILE_MAX_DIMS];
    pti_grid_default_block(&instance->threads, block);
    *choice = (pti_choice){.partition = {.n_buffers = 1}};
    choice->grid = pti_grid_of(&instance->threads, options->block ? options->block : block);
    memcpy(choice->partition.shape, choice->grid.n_blocks, sizeof choice->partition.shape);
    if (pti_schedule_build_in_place(instance, &choice->schedule) != POLYTILE_OK)
        return pti_fail_memory(ctx, instance->kernel_name, PTI_UNKNOWN_BYTES);
    return POLYTILE_OK;
}

/** Choose a way to hold the arrays, and how the launch is cut. */
static polytile_status choose_way(const polytile_kernel *kernel, const pti_strategy *strategy,
                                  const polytile_plan_options *options, pti_choice *choice,
                                  polytile_plan *plan) {
    polytile_context *ctx = kernel->object.context;
    polytile_plan_options lanes = *options;
    pti_strategy repeating = *strategy;
    polytile_status status;
    int way = 0;
    repeating.may_repeat = true;
    plan->ways = pti_ways_of((pti_call){.instance = plan->owned_instance},
                             pti_takes_pieces(&kernel->implementation));
    plan->ways.may_shear = plan->ways.may_split;
    if (!pti_runs_in_lanes(&kernel->implementation))
        lanes.n_streams = 1;
    PTI_TRY(options->limit_bytes == 0
                ? choose_in_place(ctx, plan->owned_instance, options, choice)
                : pti_choose_pieces(ctx, &plan->ways, &repeating, &lanes, choice, &way));
    plan->instance = plan->ways.call[way].instance;
    plan->schedule = plan->owned_schedule = choice->schedule;
done:
    return status;
}

/** Fill in the summary of a plan of one launch. */
static polytile_status summarise_launch(polytile_context *ctx, polytile_plan *plan,
                                        const pti_choice *choice, const char *strategy,
                                        int64_t limit_bytes) {
    if (!plan->schedule->in_place)
        plan->bound = pti_bound_find(plan->owned_instance, limit_bytes);
    if (plan->bound.failed)
        return pti_fail_memory(ctx, plan->instance->kernel_name, PTI_UNKNOWN_BYTES);
    polytile_plan_summary *summary = &plan->summary;
    *summary = (polytile_plan_summary){
        .kernel = plan->instance->kernel_name,
        .strategy = strategy,
        .n_dims = plan->instance->n_indices,
        .n_buffers = choice->partition.n_buffers,
        .limit_bytes = limit_bytes,
        .peak_device_bytes = pti_schedule_peak_bytes(plan->schedule),
        .n_kernels = pti_schedule_n_kernels(plan->schedule),
        .h2d_bytes = choice->traffic.h2d_bytes,
        .d2h_bytes = choice->traffic.d2h_bytes,
        .lower_bound_bytes = pti_add_saturated(plan->bound.h2d_bytes, plan->bound.d2h_bytes),
        .predicted_seconds = choice->seconds,
        .lower_bound_h2d_bytes = plan->bound.h2d_bytes,
        .bound_bytes = plan->bound.goal_bytes,
        .bound = plan->bound.reason,
    };
    plan->chain_summary =
        (polytile_chain_summary){.n_launches = 1, .launches_per_pass = 1, .n_passes = 1};
    memcpy(summary->block, choice->grid.block, sizeof summary->block);
    memcpy(summary->grid_blocks, choice->grid.n_blocks, sizeof summary->grid_blocks);
    memcpy(summary->superblock_blocks, choice->partition.shape, sizeof summary->superblock_blocks);
    plan->solution = choice->solution;
    plan->paper_overshoot_bytes = choice->overshoot_bytes;
    return POLYTILE_OK;
}

polytile_status pti_plan_bind(const polytile_kernel *kernel, const polytile_domain *domain,
                              int n_arrays, polytile_array *const *arrays,
                              const polytile_launch_options *options, pti_instance **instance) {
    options = options == NULL ? &no_options : options;
    const pti_strategy *strategy = pti_strategy_find(options->plan.strategy);
    polytile_status status;
    *instance = NULL;
    PTI_TRY(check_options(kernel->object.context, kernel, options, strategy));
    PTI_TRY(bind_launch(kernel, domain, n_arrays, arrays, options, instance));
done:
    return status;
}

polytile_status pti_plan_bind_operands(const polytile_kernel *kernel, const polytile_domain *domain,
                                       polytile_array *const *operands,
                                       const polytile_launch_options *options,
                                       pti_instance **instance) {
    const pti_strategy *strategy = pti_strategy_find(options->plan.strategy);
    polytile_status status;
    *instance = NULL;
    PTI_TRY(check_options(kernel->object.context, kernel, options, strategy));
    PTI_TRY(bind_operands(kernel, domain, operands, options, instance));
done:
    return status;
}

/** Let a launch be planned over arrays without gaps. */
static polytile_status rebase_launch(const polytile_kernel *kernel, polytile_array *const *arrays,
                                     pti_instance **instance) {
    polytile_array *given[PTI_MAX_OPERANDS], *planned[PTI_MAX_OPERANDS];
    pti_kernel_list_operands(kernel, arrays, given);
    for (int o = 0; o < (*instance)->n_operands; o++)
        planned[o] = given[o] == NULL ? NULL : pti_array_planned(given[o]);
    return pti_instance_rebase(kernel->object.context, given, planned, instance);
}

polytile_status polytile_plan_create(const polytile_kernel *kernel, const polytile_domain *domain,
                                     int n_arrays, polytile_array *const *arrays,
                                     const polytile_launch_options *options, polytile_plan **plan) {
    double start_s = pti_now_s();
    if (plan != NULL)
        *plan = NULL;
    PTI_ENTER(kernel, kernel->object.context, "kernel");
    polytile_context *ctx = kernel->object.context;
    if (plan == NULL)
        return pti_fail(ctx, POLYTILE_INVALID, "%s: the place for the plan is NULL",
                        polytile_kernel_get_name(kernel));
    options = options == NULL ? &no_options : options;
    const polytile_plan_options *how = &options->plan;
    const pti_strategy *strategy = pti_strategy_find(how->strategy);
    pti_choice choice = {0};
    polytile_plan *made = NULL;
    polytile_status status;
    PTI_TRY(check_options(ctx, kernel, options, strategy));
    made = calloc(1, sizeof *made);
    PTI_TRY(made != NULL ? POLYTILE_OK : pti_fail_memory(ctx, "plan", sizeof *made));
    PTI_TRY(bind_launch(kernel, domain, n_arrays, arrays, options, &made->owned_instance));
    PTI_TRY(rebase_launch(kernel, arrays, &made->owned_instance));
    PTI_TRY(choose_way(kernel, strategy, how, &choice, made));
    PTI_TRY(summarise_launch(ctx, made, &choice, strategy->name, how->limit_bytes));
    made->has_block = how->block != NULL;
    made->summary.plan_seconds = pti_now_s() - start_s;
    pti_object_adopt(ctx, &made->object, destroy_plan);
    *plan = made;
done:
    if (status != POLYTILE_OK && made != NULL)
        destroy_plan(&made->object);
    return status;
}

void polytile_plan_get_summary(const polytile_plan *plan, polytile_plan_summary *summary) {
    static const polytile_plan_summary none = {.kernel = "", .strategy = "", .bound = ""};
    if (summary != NULL)
        *summary = plan == NULL ? none : plan->summary;
}

void polytile_plan_get_chain_summary(const polytile_plan *plan, polytile_chain_summary *summary) {
    static const polytile_chain_summary none;
    if (summary != NULL)
        *summary = plan == NULL ? none : plan->chain_summary;
}

/** The threads of the k-th superblock of a chain in run order; k counts through all launches. */
static polytile_domain find_chain_superblock(const pti_plan_chain *chain, int64_t k) {
    int64_t run = 0;
    while (k >= pti_schedule_n_kernels(chain->subplan[chain->run[run]].schedule))
        k -= pti_schedule_n_kernels(chain->subplan[chain->run[run++]].schedule);
    const pti_subplan *subplan = &chain->subplan[chain->run[run]];
    return pti_schedule_asked_kernel(subplan->schedule, subplan->run_order, k);
}

polytile_status polytile_plan_get_superblock(const polytile_plan *plan, int64_t k,
                                             polytile_domain *threads) {
    PTI_ENTER(plan, plan->object.context, "plan");
    if (threads == NULL)
        return pti_fail(plan->object.context, POLYTILE_INVALID,
                        "%s: the place for the superblock is NULL", plan->summary.kernel);
    if (k < 0 || k >= plan->summary.n_kernels)
        return pti_fail(plan->object.context, POLYTILE_INVALID,
                        "%s: superblock %lld of %lld; they count from 0", plan->summary.kernel,
                        (long long)k, (long long)plan->summary.n_kernels);
    *threads = plan->chain == NULL ? pti_schedule_asked_kernel(plan->schedule, NULL, k)
                                   : find_chain_superblock(plan->chain, k);
    return POLYTILE_OK;
}
