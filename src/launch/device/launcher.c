#include "launch/device/launcher.h"

#include "access/declare/access_text.h"

static polytile_status fail_launcher(polytile_context *ctx, const pti_sub_kernel *sub_kernel,
                                     int returned) {
    pti_text box = {0};
    pti_domain_write(&box, sub_kernel->threads);
    polytile_status status =
        pti_fail(ctx, POLYTILE_DEVICE, "%s: the launcher returned %d for the threads %s",
                 sub_kernel->instance->kernel_name, returned, box.failed ? "" : box.data);
    pti_text_free(&box);
    return status;
}

polytile_status pti_launcher_call(polytile_context *ctx, polytile_launcher *launcher,
                                  const pti_sub_kernel *sub_kernel, void *stream) {
    polytile_repetition once = {0};
    polytile_sub_kernel told = {
        .threads = sub_kernel->threads,
        .n_views = pti_instance_n_arrays(sub_kernel->instance),
        .n_parameters = sub_kernel->config.n_values,
        .views = sub_kernel->views,
        .is_first = sub_kernel->is_first,
        .stream = stream,
        .user = sub_kernel->config.implementation->user,
        .repetition = sub_kernel->repetition == NULL ? &once : sub_kernel->repetition};
    int returned = launcher(&told);
    return returned == 0 ? POLYTILE_OK : fail_launcher(ctx, sub_kernel, returned);
}

static bool goes_on(const polytile_repetition *repetition) {
    return repetition->condition != NULL && *repetition->condition != 0;
}

polytile_status pti_launcher_run(pti_execution *execution, polytile_launcher *launcher,
                                 const pti_sub_kernel *sub_kernel) {
    polytile_context *ctx = execution->device->object.context;
    polytile_repetition repetition = {0};
    pti_sub_kernel repeated = *sub_kernel;
    polytile_status status;
    repeated.repetition = &repetition;
    PTI_TRY(pti_launcher_call(ctx, launcher, &repeated, NULL));
    while (goes_on(&repetition)) {
        repetition.round++;
        if (pti_execution_is_cancelled(execution)) {
            execution->is_cancelled = true;
            return pti_fail(ctx, POLYTILE_CANCELLED,
                            "%s: cancelled on %s, after %lld rounds of a launcher",
                            sub_kernel->instance->kernel_name, execution->device->text,
                            (long long)repetition.round);
        }
        repetition.condition = NULL;
        repeated.is_first = false;
        PTI_TRY(pti_launcher_call(ctx, launcher, &repeated, NULL));
    }
done:
    return status;
}
