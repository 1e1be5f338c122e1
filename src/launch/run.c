#include "access/array/array.h"
#include "access/bind/inspect.h"
#include "access/kernel.h"
#include "base/checked.h"
#include "launch/access_check/access_check.h"
#include "launch/device/fill.h"
#include "launch/device/lanes.h"
#include "launch/device/trace.h"
#include "launch/execute/execute.h"
#include "launch/execute/run_check.h"
#include "launch/execute/run_place.h"
#include "launch/execute/specialise.h"
#include "launch/execute/team_server.h"
#include "partition/window/plan.h"
#include <polytile/size.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/** How often a run is planned again if the device's memory is taken. */
enum { MAX_NEW_PLANS = 3 };

/** Refuse a launcher that uses the device that calls it: memory and streams are the run's. */
static polytile_status check_idle(const polytile_device *device) {
    if (device->queue != NULL)
        return pti_fail(device->object.context, POLYTILE_INVALID,
                        "%s: the device belongs to a queue; launch through the queue, or open the "
                        "device for runs of its own",
                        device->text);
    if (!device->is_running)
        return POLYTILE_OK;
    return pti_fail(device->object.context, POLYTILE_INVALID,
                    "%s: a run on this device is in progress; a launcher can run on other devices "
                    "only",
                    device->text);
}

static polytile_status execute_plan(polytile_device *device, const polytile_plan *plan,
                                    const pti_launch_config *config,
                                    polytile_array *const *arrays) {
    const int n_operands = plan->instance->n_operands;
    polytile_array **of_operand = calloc((size_t)n_operands, sizeof(polytile_array *));
    if (of_operand == NULL)
        return pti_fail_memory(device->object.context, plan->instance->kernel_name,
                               n_operands * (double)sizeof(polytile_array *));
    for (int o = 0; o < n_operands; o++)
        of_operand[o] = pti_array_planned(arrays[pti_operand_array(plan->instance, o)]);
    device->is_running = true;
    device->cancel_number = device->runs.newest;
    polytile_status status =
        pti_execute(device, plan->schedule, config, of_operand, &device->report);
    device->cancel_number = PTI_NOT_CANCELLABLE;
    device->is_running = false;
    free(of_operand);
    device->report.n_launches += status == POLYTILE_OK;
    return status;
}

static bool is_given(const polytile_launch_options *options, const char *name) {
    for (int p = 0; p < options->n_parameters; p++)
        if (options->parameters[p].name != NULL && strcmp(options->parameters[p].name, name) == 0)
            return true;
    return false;
}

/** Refuse a value other than the one that a plan was made with. */
static polytile_status check_planned(polytile_context *ctx, const polytile_plan *plan,
                                     const polytile_declaration *declaration,
                                     const int64_t *values) {
    for (int p = 0; p < declaration->n_parameters; p++) {
        if (values[p] != plan->instance->parameter[p])
            return pti_fail(ctx, POLYTILE_INVALID,
                            "%s: the plan was made with %s=%" PRId64 ", not %" PRId64
                            "; make another plan, since subscripts need it",
                            declaration->name, declaration->parameter_name[p],
                            plan->instance->parameter[p], values[p]);
    }
    return POLYTILE_OK;
}

/** Find the values that the body gets. Those that the plan was made with need not be given
 * again. */
static polytile_status bind_values(const polytile_plan *plan, const polytile_kernel *kernel,
                                   const polytile_launch_options *options, pti_value *values) {
    polytile_context *ctx = kernel->object.context;
    const polytile_declaration *declaration = kernel->declaration;
    polytile_parameter given[2 * POLYTILE_MAX_PARAMETERS];
    int64_t needed[POLYTILE_MAX_PARAMETERS] = {0};
    int n_given = options->n_parameters;
    polytile_status status;
    if (n_given < 0 || n_given > POLYTILE_MAX_PARAMETERS ||
        (n_given > 0 && options->parameters == NULL))
        return pti_parameters_bind(ctx, kernel, n_given, options->parameters, values);
    for (int p = 0; p < n_given; p++)
        given[p] = options->parameters[p];
    for (int p = 0; p < declaration->n_parameters; p++)
        if (declaration->is_in_subscripts[p] && !is_given(options, declaration->parameter_name[p]))
            given[n_given++] = polytile_parameter_signed(declaration->parameter_name[p],
                                                         plan->instance->parameter[p]);
    PTI_TRY(pti_parameters_match(ctx, declaration, n_given, given, needed));
    PTI_TRY(check_planned(ctx, plan, declaration, needed));
    PTI_TRY(pti_parameters_bind(ctx, kernel, n_given, given, values));
done:
    return status;
}

/** From here on the device's newest run is this one, and can be cancelled. */
static void begin_run(polytile_device *device) {
    pti_cancel_note(&device->runs, device->runs.newest + 1);
}

/** Run a plan as part of the device's newest run. */
static polytile_status run_plan(const polytile_plan *plan, polytile_device *device,
                                const polytile_kernel *kernel, int n_arrays,
                                polytile_array *const *arrays,
                                const polytile_launch_options *options) {
    static const polytile_launch_options defaults = {0};
    pti_value values[POLYTILE_MAX_PARAMETERS];
    pti_operand_arrays list = {0};
    pti_launch_config config;
    pti_server_part *part = NULL;
    polytile_status status = POLYTILE_OK;
    polytile_context *ctx = device->object.context;
    if (plan == NULL)
        return pti_fail(ctx, POLYTILE_INVALID,
                        "%s: the plan is NULL; give one that polytile_plan_create() made, or use "
                        "polytile_run()",
                        device->text);
    PTI_TRY(pti_kernel_check_launch(ctx, device->text, kernel, &plan->instance->threads));
    PTI_TRY(pti_kernel_check_arrays(ctx, kernel, n_arrays, arrays));
    PTI_TRY(check_idle(device));
    device->report = (polytile_report){.plan_s = plan->summary.plan_seconds,
                                       .lower_bound_bytes = plan->summary.lower_bound_bytes};
    PTI_TRY(pti_run_check(plan, device, kernel, arrays, &list));
    PTI_TRY(bind_values(plan, kernel, options == NULL ? &defaults : options, values));
    config = pti_launch_config_of(kernel, pti_plan_block(plan), values);
    PTI_TRY(pti_specialise(device, kernel, plan->owned_instance, &config.implementation));
    PTI_TRY(pti_access_check_asked(device, kernel, plan->owned_instance, list.array, &config));
    PTI_TRY(pti_team_server_create(kernel, &plan->instance->threads,
                                   options == NULL ? &defaults : options, false, &part));
    config.part = part;
    pti_trace_bound(device, plan->summary.lower_bound_bytes);
    PTI_TRY(execute_plan(device, plan, &config, list.array));
done:
    pti_operand_arrays_free(&list);
    pti_team_server_end(part, NULL);
    return status;
}

/** Refuse a plan whose index arrays hold something else by now; what else differs is refused
 * later. */
static polytile_status compare_index_arrays(const polytile_plan *plan,
                                            const polytile_kernel *kernel, int n_arrays,
                                            polytile_array *const *arrays) {
    polytile_array *operands[PTI_MAX_OPERANDS];
    polytile_status status = POLYTILE_OK;
    if (plan == NULL || kernel == NULL || plan->owned_instance == NULL ||
        plan->owned_instance->inspection == NULL)
        return POLYTILE_OK;
    PTI_TRY(pti_kernel_check_arrays(kernel->object.context, kernel, n_arrays, arrays));
    if (kernel->declaration->n_arrays != plan->owned_instance->n_operands)
        return POLYTILE_OK;
    pti_kernel_list_operands(kernel, arrays, operands);
    PTI_TRY(pti_inspection_compare(kernel->object.context, plan->owned_instance, operands));
done:
    return status;
}

polytile_status polytile_plan_run(const polytile_plan *plan, polytile_device *device,
                                  const polytile_kernel *kernel, int n_arrays,
                                  polytile_array *const *arrays,
                                  const polytile_launch_options *options) {
    PTI_ENTER(device, device->object.context, "device");
    const polytile_status status = compare_index_arrays(plan, kernel, n_arrays, arrays);
    if (status != POLYTILE_OK)
        return status;
    if (!device->is_running)
        begin_run(device);
    return run_plan(plan, device, kernel, n_arrays, arrays, options);
}

/** A run that needs a plan. */
typedef struct run_request {
    polytile_device *device;
    const polytile_kernel *kernel;
    const polytile_domain *domain;
    int n_arrays;
    polytile_array *const *arrays;
    polytile_launch_options options; /* plan.limit_bytes: what can be had at present; 0: no limit */
    int64_t wanted_bytes;            /* the limit if all of the device's were free; 0: none */
    bool on_gpu;                     /* all arrays lie there and are used in place */
    int64_t refused_bytes; /* what the last plan needed and the device did not have; 0: nothing */
} run_request;

/** Return the tighter of two limits; 0 is none. */
static int64_t tighter_limit(int64_t one_bytes, int64_t other_bytes) {
    if (one_bytes == 0)
        return other_bytes;
    return other_bytes == 0 ? one_bytes : pti_min(one_bytes, other_bytes);
}

/** Set limit, link and what fills the device: what it can give now, and its own unless the user
 * gives others. */
static polytile_status take_stock(run_request *of, const polytile_launch_options *options) {
    int64_t usable_bytes = 0;
    polytile_status status = of->device->functions->usable(of->device, &usable_bytes);
    if (options != NULL)
        of->options = *options;
    if (of->options.plan.link == NULL)
        of->options.plan.link = polytile_device_get_link(of->device);
    if (of->options.plan.n_streams == 0 && pti_runs_in_lanes(&of->kernel->implementation))
        of->options.plan.n_streams =
            pti_lanes_choose(of->device, pti_lanes_key(of->kernel->declaration_hash, of->domain));
    of->options.plan.fill_threads =
        pti_device_planned_fill_threads(of->device, &of->kernel->implementation, &of->options.plan);
    if (of->on_gpu) {
        of->options.plan.limit_bytes = 0;
        return status;
    }
    of->wanted_bytes = tighter_limit(of->device->limit_bytes, of->options.plan.limit_bytes);
    of->options.plan.limit_bytes = tighter_limit(of->wanted_bytes, usable_bytes);
    return status;
}

/** Lower the limit to a tenth less than the last plan needed, which was not there. */
static polytile_status ask_for_less(run_request *of, int64_t missing_bytes) {
    int64_t usable_bytes = 0;
    polytile_status status = of->device->functions->usable(of->device, &usable_bytes);
    int64_t had_bytes =
        tighter_limit(tighter_limit(of->options.plan.limit_bytes, usable_bytes), missing_bytes);
    of->refused_bytes = missing_bytes;
    of->options.plan.limit_bytes = pti_max(had_bytes - pti_ceil_div(had_bytes, 10), 1);
    return status;
}

static bool is_narrowed(const run_request *of) {
    return of->options.plan.limit_bytes != of->wanted_bytes;
}

/** Say in a certificate that the limit is lower than the device's. */
static polytile_status explain_limit(const run_request *of) {
    char free_text[32], wanted[32], refused[32];
    polytile_context *ctx = of->device->object.context;
    if (of->refused_bytes > 0)
        return pti_fail(
            ctx, POLYTILE_NO_FIT, "%s; planned for %s of %s, since %s refused the %s of a plan",
            polytile_last_error(ctx), polytile_size_format(of->options.plan.limit_bytes, free_text),
            polytile_size_format(of->wanted_bytes, wanted), of->device->text,
            polytile_size_format(of->refused_bytes, refused));
    return pti_fail(
        ctx, POLYTILE_NO_FIT,
        "%s; only %s of %s on %s are free at present (other programs may hold the rest)",
        polytile_last_error(ctx), polytile_size_format(of->options.plan.limit_bytes, free_text),
        polytile_size_format(of->wanted_bytes, wanted), of->device->text);
}

static polytile_status plan_request(const run_request *of, polytile_plan **plan) {
    char free_text[32], wanted[32];
    polytile_status status =
        polytile_plan_create(of->kernel, of->domain, of->n_arrays, of->arrays, &of->options, plan);
    if (!is_narrowed(of))
        return status;
    if (status == POLYTILE_NO_FIT)
        return explain_limit(of);
    if (status == POLYTILE_OK)
        pti_log(of->device->object.context, PTI_LOG_INFO,
                "%s: %s has only %s free of %s; planned for that", (*plan)->instance->kernel_name,
                of->device->text, polytile_size_format(of->options.plan.limit_bytes, free_text),
                polytile_size_format(of->wanted_bytes, wanted));
    return status;
}

/** Note how long a run took, if that tells of its lanes. */
static void note_lanes(const run_request *of, const pti_schedule *schedule) {
    const int64_t n_lanes = of->options.plan.n_streams;
    const uint64_t key = pti_lanes_key(of->kernel->declaration_hash, of->domain);
    if (pti_lanes_are_told(schedule, n_lanes))
        pti_lanes_note(of->device, key, n_lanes, of->device->report.run_s);
    else
        pti_lanes_note_untold(of->device, key);
}

/** Plan and run. missing_bytes: what the plan needed and the device did not have; 0: it had it. */
static polytile_status plan_and_run(const run_request *of, int64_t *missing_bytes) {
    polytile_plan *plan = NULL;
    polytile_status status;
    *missing_bytes = 0;
    PTI_TRY(plan_request(of, &plan));
    status = run_plan(plan, of->device, of->kernel, of->n_arrays, of->arrays, &of->options);
    if (status == POLYTILE_NO_FIT && of->kernel->implementation.team == NULL)
        *missing_bytes = plan->schedule->arena_bytes;
    if (status == POLYTILE_OK)
        note_lanes(of, plan->schedule);
done:
    polytile_plan_destroy(plan);
    return status;
}

/** Give up: every plan for less was refused like the first. */
static polytile_status give_up(const run_request *of) {
    char refused[32];
    polytile_context *ctx = of->device->object.context;
    return pti_fail(ctx, POLYTILE_NO_FIT,
                    "%s; this was the last of %d plans for ever less, and the one before needed %s",
                    polytile_last_error(ctx), 1 + MAX_NEW_PLANS,
                    polytile_size_format(of->refused_bytes, refused));
}

polytile_status polytile_run(polytile_device *device, const polytile_kernel *kernel,
                             const polytile_domain *domain, int n_arrays,
                             polytile_array *const *arrays,
                             const polytile_launch_options *options) {
    polytile_status status = POLYTILE_OK;
    int64_t missing_bytes;
    PTI_ENTER(device, device->object.context, "device");
    polytile_context *ctx = device->object.context;
    PTI_TRY(pti_kernel_check_launch(ctx, device->text, kernel, domain));
    PTI_TRY(pti_kernel_check_arrays(ctx, kernel, n_arrays, arrays));
    run_request run = {.device = device,
                       .kernel = kernel,
                       .domain = domain,
                       .n_arrays = n_arrays,
                       .arrays = arrays};
    PTI_TRY(check_idle(device));
    begin_run(device);
    device->report = (polytile_report){0};
    PTI_TRY(pti_run_check_kernel(device, kernel));
    PTI_TRY(pti_run_find_place(device, kernel, n_arrays, arrays, &run.on_gpu));
    PTI_TRY(take_stock(&run, options));
    status = plan_and_run(&run, &missing_bytes);
    for (int k = 0; missing_bytes > 0 && k < MAX_NEW_PLANS; k++) {
        PTI_TRY(ask_for_less(&run, missing_bytes));
        status = plan_and_run(&run, &missing_bytes);
    }
    if (missing_bytes > 0)
        status = give_up(&run);
done:
    return status;
}
