#include "launch/access_check/rehearsal.h"

#include "access/declare/access_text.h"
#include "access/footprint/narrow.h"
#include "access/kernel.h"
#include "access/set/boxes.h"
#include "launch/access_check/blocks.h"
#include "launch/access_check/message.h"
#include "launch/access_check/sampling.h"

#include <stdlib.h>
#include <string.h>

/** The most bytes of copies. */
enum { MOST_BYTES = 16 << 20 };

/** Owns copies of all that the thread runs with. */
struct pti_rehearsal {
    const polytile_kernel *kernel; /* retained */
    pti_instance *instance;        /* of its threads alone; owned */
    polytile_implementation implementation;
    int64_t block[POLYTILE_MAX_DIMS];
    pti_value values[POLYTILE_MAX_PARAMETERS];
    pti_trial trial; /* of these; without a device, but while it runs */
};

void pti_rehearsal_free(pti_rehearsal *rehearsal) {
    if (rehearsal == NULL)
        return;
    if (rehearsal->instance != NULL)
        pti_trial_close(&rehearsal->trial);
    pti_instance_free(rehearsal->instance);
    pti_kernel_release(rehearsal->kernel);
    free(rehearsal);
}

/** Return a launch configuration with copies of what another one points to. */
static pti_launch_config copy_config(pti_rehearsal *rehearsal, const pti_launch_config *config) {
    if (config->block != NULL)
        memcpy(rehearsal->block, config->block,
               (size_t)rehearsal->kernel->declaration->n_indices * sizeof *rehearsal->block);
    if (config->n_values > 0)
        memcpy(rehearsal->values, config->values,
               (size_t)config->n_values * sizeof *rehearsal->values);
    rehearsal->implementation = *config->implementation;
    pti_launch_config own = pti_launch_config_of(
        rehearsal->kernel, config->block == NULL ? NULL : rehearsal->block, rehearsal->values);
    own.implementation = &rehearsal->implementation;
    return own;
}

/** Choose one block, which is none of the corners if there are others. */
static polytile_domain choose_block(const polytile_domain *threads, const int64_t *block) {
    const pti_grid grid = pti_check_grid_of(threads, block);
    return pti_check_draw_block(&grid, 1, INT64_C(1) << threads->n_dims);
}

static void begin_copies(pti_trial *trial) {
    for (int o = 0; o < trial->instance->n_operands; o++)
        pti_shadow_copy_begin(&trial->shadow[o], PTI_PATTERN_EVEN, INT64_MAX, PTI_PATTERN_EVEN);
}

static polytile_status run_first(pti_trial *trial, const polytile_domain *threads) {
    polytile_status status;
    PTI_TRY(pti_trial_aim(trial, threads));
    begin_copies(trial);
    for (int o = 0; o < trial->instance->n_operands; o++)
        pti_shadow_copy_keep_begin(&trial->shadow[o]);
    PTI_TRY(pti_trial_run(trial));
    PTI_TRY(pti_sampling_keep_results(trial));
done:
    return status;
}

static polytile_status fill_rehearsal(polytile_device *device, const polytile_kernel *kernel,
                                      const pti_instance *instance, const polytile_domain *threads,
                                      polytile_array *const *arrays,
                                      const pti_launch_config *config, pti_rehearsal *made) {
    polytile_status status;
    pti_kernel_retain(kernel);
    made->kernel = kernel;
    PTI_TRY(pti_instance_narrow(kernel, instance, threads, arrays, &made->instance));
    const pti_launch_config own = copy_config(made, config);
    PTI_TRY(pti_trial_open(device, kernel, made->instance, arrays, &own, &made->trial));
done:
    return status;
}

polytile_status pti_rehearsal_run(polytile_device *device, const polytile_kernel *kernel,
                                  const pti_instance *instance, polytile_array *const *arrays,
                                  const pti_launch_config *config, pti_rehearsal **rehearsal) {
    instance = pti_instance_as_given(instance);
    const polytile_domain threads = choose_block(&instance->threads, config->block);
    polytile_status status;
    bool is_kept = false;
    pti_rehearsal *made = calloc(1, sizeof *made);
    *rehearsal = NULL;
    if (made == NULL)
        return pti_fail_memory(device->object.context, instance->kernel_name, sizeof *made);
    PTI_TRY(fill_rehearsal(device, kernel, instance, &threads, arrays, config, made));
    is_kept =
        pti_trial_repeats(&made->trial) && pti_trial_bytes(&made->trial, &threads) <= MOST_BYTES;
    if (is_kept)
        PTI_TRY(run_first(&made->trial, &threads));
    pti_trial_close_device(&made->trial);
done:
    is_kept = is_kept && status == POLYTILE_OK;
    if (!is_kept)
        pti_rehearsal_free(made);
    *rehearsal = is_kept ? made : NULL;
    return status;
}

static polytile_status refuse_change(const pti_rehearsal *rehearsal, int operand, int64_t place) {
    polytile_context *ctx = rehearsal->kernel->object.context;
    const pti_shadow_copy *shadow = &rehearsal->trial.shadow[operand];
    polytile_status status;
    int64_t element[POLYTILE_MAX_DIMS];
    pti_text text = {0};
    const polytile_domain asked =
        pti_instance_asked_box(rehearsal->trial.instance, &rehearsal->trial.threads);
    pti_check_write_threads(&text, &asked);
    pti_text_add(&text, " set%s %s", pti_box_count(&rehearsal->trial.threads) == 1 ? "s" : "",
                 shadow->operand->name);
    pti_shadow_copy_find(shadow, place, element);
    pti_point_write(&text, element, shadow->operand->domain.n_dims);
    status =
        text.failed
            ? pti_fail_memory(ctx, "an error's text", PTI_UNKNOWN_BYTES)
            : pti_fail(ctx, POLYTILE_INVALID,
                       "%s: its body reads what the program changed after the launch: %s to "
                       "another value now than when the launch was made; a launch runs later, "
                       "with what a global or static variable, or the memory that user points to, "
                       "holds then; declare a parameter, as in %s[i](f32 a), and give its "
                       "value at the launch",
                       rehearsal->instance->kernel_name, text.data,
                       rehearsal->instance->kernel_name);
    pti_text_free(&text);
    return status;
}

polytile_status pti_rehearsal_repeat(pti_rehearsal *rehearsal) {
    pti_trial *trial = &rehearsal->trial;
    polytile_status status;
    int operand;
    int64_t place;
    PTI_TRY(pti_trial_open_device(trial));
    for (int o = 0; o < trial->instance->n_operands; o++)
        pti_shadow_copy_begin_again(&trial->shadow[o]);
    PTI_TRY(pti_trial_run(trial));
    if (pti_sampling_find_changed(trial, &operand, &place))
        status = refuse_change(rehearsal, operand, place);
done:
    pti_trial_close_device(trial);
    return status;
}
