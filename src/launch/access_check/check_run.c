#include "access/kernel.h"
#include "launch/access_check/access_check.h"

#include "launch/execute/run_check.h"
#include "launch/execute/run_place.h"
#include "launch/execute/specialise.h"
#include "launch/execute/team_server.h"

static polytile_status refuse_run(const polytile_device *device, const char *why) {
    return pti_fail(device->object.context, POLYTILE_INVALID, "%s: %s", device->text, why);
}

static polytile_status check_device_and_kernel(const polytile_device *device,
                                               const polytile_kernel *kernel) {
    if (device->queue != NULL)
        return refuse_run(device, "the device belongs to a queue; open one for the check");
    if (device->is_running)
        return refuse_run(device,
                          "a run on this device is in progress; a launcher can check on other "
                          "devices only");
    const polytile_status status = pti_run_check_kernel(device, kernel);
    return status == POLYTILE_OK ? pti_team_refuse_copies(device->object.context, kernel) : status;
}

/** Plan as for the device with all its memory free. */
static polytile_status plan_for_device(const polytile_device *device, const polytile_kernel *kernel,
                                       const polytile_domain *domain, int n_arrays,
                                       polytile_array *const *arrays,
                                       const polytile_launch_options *options,
                                       polytile_plan **plan) {
    polytile_launch_options own = {0};
    if (options != NULL)
        own = *options;
    if (own.plan.link == NULL)
        own.plan.link = polytile_device_get_link(device);
    if (own.plan.limit_bytes == 0 ||
        (device->limit_bytes > 0 && device->limit_bytes < own.plan.limit_bytes))
        own.plan.limit_bytes = device->limit_bytes;
    return polytile_plan_create(kernel, domain, n_arrays, arrays, &own, plan);
}

polytile_status pti_access_check_asked(polytile_device *device, const polytile_kernel *kernel,
                                       const pti_instance *instance, polytile_array *const *arrays,
                                       const pti_launch_config *config) {
    const pti_settings *settings = pti_get_settings(device->object.context);
    polytile_status status = POLYTILE_OK;
    if (kernel->implementation.team != NULL)
        return POLYTILE_OK;
    if (settings->check_access || settings->check_wide)
        PTI_TRY(pti_access_check(device, kernel, instance, arrays, config, NULL));
    if (settings->check_wide)
        PTI_TRY(pti_access_warn(device, kernel, instance, arrays, config));
done:
    return status;
}

/** A launch that can run, and is planned. */
typedef struct checked_launch {
    polytile_plan *plan;     /* owned */
    pti_operand_arrays list; /* owned */
    pti_value values[POLYTILE_MAX_PARAMETERS];
    pti_launch_config config;
} checked_launch;

/** Check that a launch can run, and plan it. Call end_check() after errors, too. */
static polytile_status begin_check(polytile_device *device, const polytile_kernel *kernel,
                                   const polytile_domain *domain, int n_arrays,
                                   polytile_array *const *arrays,
                                   const polytile_launch_options *options, checked_launch *made) {
    polytile_status status;
    *made = (checked_launch){0};
    if (device == NULL)
        return pti_fail(NULL, POLYTILE_INVALID, "checking a kernel: the device is NULL");
    polytile_context *ctx = device->object.context;
    pti_clear_error(ctx);
    PTI_TRY(pti_kernel_check_launch(ctx, device->text, kernel, domain));
    PTI_TRY(pti_kernel_check_arrays(ctx, kernel, n_arrays, arrays));
    PTI_TRY(check_device_and_kernel(device, kernel));
    PTI_TRY(pti_arrays_refuse_gpu(n_arrays, arrays, "a check that runs the kernel"));
    PTI_TRY(plan_for_device(device, kernel, domain, n_arrays, arrays, options, &made->plan));
    PTI_TRY(pti_run_check(made->plan, device, kernel, arrays, &made->list));
    PTI_TRY(pti_parameters_bind(ctx, kernel, options == NULL ? 0 : options->n_parameters,
                                options == NULL ? NULL : options->parameters, made->values));
    made->config = pti_launch_config_of(kernel, pti_plan_block(made->plan), made->values);
    PTI_TRY(
        pti_specialise(device, kernel, made->plan->owned_instance, &made->config.implementation));
done:
    return status;
}

static void end_check(checked_launch *launch) {
    pti_operand_arrays_free(&launch->list);
    polytile_plan_destroy(launch->plan);
}

polytile_status polytile_check_run(polytile_device *device, const polytile_kernel *kernel,
                                   const polytile_domain *domain, int n_arrays,
                                   polytile_array *const *arrays,
                                   const polytile_launch_options *options,
                                   polytile_check_report *report) {
    checked_launch of;
    polytile_status status;
    if (report != NULL)
        *report = (polytile_check_report){.shown_array = -1};
    PTI_TRY(begin_check(device, kernel, domain, n_arrays, arrays, options, &of));
    PTI_TRY(pti_access_check(device, kernel, of.plan->owned_instance, of.list.array, &of.config,
                             report));
done:
    end_check(&of);
    return status;
}

/** Keep the uses of arrays, of which the caller has memory for one each. */
static void copy_uses(const pti_instance *instance, const polytile_use *all, polytile_use *uses) {
    for (int o = 0; o < instance->n_operands; o++)
        if (!instance->operand[o].is_scratch)
            *uses++ = all[o];
}

polytile_status polytile_check_use(polytile_device *device, const polytile_kernel *kernel,
                                   const polytile_domain *domain, int n_arrays,
                                   polytile_array *const *arrays,
                                   const polytile_launch_options *options, polytile_use *uses) {
    polytile_use all[PTI_MAX_OPERANDS];
    checked_launch of;
    polytile_status status;
    PTI_TRY(begin_check(device, kernel, domain, n_arrays, arrays, options, &of));
    if (uses == NULL)
        PTI_TRY(refuse_run(device, "uses is NULL; give memory for one use an array of the kernel"));
    const pti_instance *instance = of.plan->owned_instance;
    PTI_TRY(pti_access_check(device, kernel, instance, of.list.array, &of.config, NULL));
    PTI_TRY(pti_access_use(device, kernel, instance, of.list.array, &of.config, all));
    copy_uses(instance, all, uses);
done:
    end_check(&of);
    return status;
}
