#include "access/kernel.h"
#include "launch/clock.h"
#include "launch/execute.h"
#include "launch/run_check.h"
#include "partition/check.h"
#include "partition/plan.h"

/** The limit that holds: the smaller of the device's and the options', where they are given. */
static int64_t limit_of(const polytile_device *device, int64_t asked_bytes) {
    if (device->limit_bytes == 0 || (asked_bytes != 0 && asked_bytes < device->limit_bytes))
        return asked_bytes;
    return device->limit_bytes;
}

/** POLYTILE_CHECK=plan: have the independent checker prove the schedule before it runs. */
static polytile_status check_plan(const polytile_plan *plan) {
    polytile_context *ctx = plan->object.context;
    pti_text why = {0};
    polytile_status status = POLYTILE_OK;
    if (pti_get_settings(ctx)->check_plan && !pti_schedule_check(plan->schedule, &why))
        status = pti_fail(ctx, POLYTILE_INTERNAL,
                          "%s: the plan failed its own check and was not run: %s; please report it",
                          plan->instance->kernel_name, why.data == NULL ? "" : why.data);
    pti_text_free(&why);
    return status;
}

polytile_status polytile_plan_run(const polytile_plan *plan, polytile_device *device,
                                  const polytile_kernel *kernel, polytile_array *const *arrays) {
    polytile_status status = POLYTILE_OK;
    if (device == NULL)
        return POLYTILE_INVALID;
    polytile_context *ctx = device->object.context;
    pti_clear_error(ctx);
    if (plan == NULL || kernel == NULL || arrays == NULL)
        return pti_fail(ctx, POLYTILE_INVALID, "%s: running needs a plan, a kernel and its arrays",
                        device->text);
    device->report = (polytile_report){.plan_s = plan->summary.plan_seconds,
                                       .lower_bound_bytes = plan->summary.lower_bound_bytes};
    PTI_TRY(pti_run_check(plan, device, kernel, arrays));
    PTI_TRY(check_plan(plan));
    PTI_TRY(pti_execute(device, plan, &kernel->implementation, arrays, &device->report));
done:
    return status;
}

polytile_status polytile_run(polytile_device *device, const polytile_kernel *kernel,
                             const polytile_domain *domain, polytile_array *const *arrays,
                             const polytile_plan_options *options) {
    polytile_plan *plan = NULL;
    polytile_status status = POLYTILE_OK;
    if (device == NULL)
        return POLYTILE_INVALID;
    polytile_context *ctx = device->object.context;
    pti_clear_error(ctx);
    if (kernel == NULL || domain == NULL || arrays == NULL)
        return pti_fail(ctx, POLYTILE_INVALID,
                        "%s: running needs a kernel, a launch domain and the kernel's arrays",
                        device->text);
    polytile_plan_options narrowed = options == NULL ? (polytile_plan_options){0} : *options;
    narrowed.limit_bytes = limit_of(device, narrowed.limit_bytes);
    device->report = (polytile_report){0};
    PTI_TRY(pti_run_check_kernel(device, kernel));
    PTI_TRY(polytile_plan_create(kernel, domain, arrays, &narrowed, &plan));
    PTI_TRY(polytile_plan_run(plan, device, kernel, arrays));
done:
    polytile_plan_destroy(plan);
    return status;
}
