#include "launch/access_check/use.h"

#include "access/kernel.h"
#include "base/checked.h"
#include "launch/access_check/record.h"
#include "launch/access_check/sampling.h"
#include "launch/access_check/walk.h"
#include <polytile/size.h>

#include <stdlib.h>

/** The bytes that arrays copied whole take. */
enum { WHOLE_BYTES = 8 << 20 };

/** What is known of an array's element. */
enum { DECLARED = 1, READ = 2 };

typedef struct usage {
    pti_trial trial;
    pti_units units;
    unsigned char *
        *element; /* of each operand, one byte an element of its array; owned, as it is */
    bool is_recorded;
    pti_sampling sampling;
} usage;

static polytile_status make_elements(usage *of) {
    const pti_instance *instance = of->trial.instance;
    polytile_context *ctx = of->trial.kernel->object.context;
    of->element = calloc((size_t)instance->n_operands, sizeof *of->element);
    for (int o = 0; of->element != NULL && o < instance->n_operands; o++) {
        int64_t n = pti_box_count(&instance->operand[o].domain);
        of->element[o] = calloc((size_t)n, 1);
        if (of->element[o] == NULL)
            return pti_fail_memory(ctx, instance->operand[o].name, (double)n);
    }
    return of->element == NULL ? pti_fail_memory(ctx, instance->kernel_name, 0) : POLYTILE_OK;
}

static void free_elements(usage *of, int n_operands) {
    for (int o = 0; of->element != NULL && o < n_operands; o++)
        free(of->element[o]);
    free(of->element);
}

/** Note what is declared to be read, and what of it was reached for. */
static void note_elements(usage *of, const pti_record *record) {
    for (int o = 0; o < of->trial.instance->n_operands; o++) {
        const pti_scratch *scratch = &of->trial.scratch[o];
        for (int64_t k = 0; k < scratch->n_marked; k++) {
            const pti_marked *at = &scratch->marked[k];
            int64_t number = at->source_bytes / scratch->operand->element_bytes;
            bool is_read = record->reached != NULL && record->reached[o][at->place];
            if (scratch->mark[at->place] & PTI_MARK_READ)
                of->element[o][number] |= (unsigned char)(DECLARED | (is_read ? READ : 0));
        }
    }
}

/** Run a box while it is recorded. */
static polytile_status record_box(const polytile_domain *threads, bool *goes_on, void *user) {
    usage *of = user;
    polytile_context *ctx = of->trial.kernel->object.context;
    pti_record record = {0};
    polytile_status status;
    PTI_TRY(pti_trial_aim(&of->trial, threads));
    PTI_TRY(pti_record_make(ctx, of->trial.instance->n_operands, of->trial.scratch, &record));
    pti_record *before = pti_record_set(&record);
    status = pti_trial_run_pattern(&of->trial, 0);
    pti_record_set(before);
    note_elements(of, &record);
    of->is_recorded = of->is_recorded || record.n_calls > 0;
    *goes_on = of->is_recorded;
done:
    pti_record_free(&record);
    return status;
}

static polytile_status count_box(const polytile_domain *threads, bool *goes_on, void *user) {
    usage *of = user;
    (void)threads;
    of->sampling.n_boxes++;
    *goes_on = true;
    return POLYTILE_OK;
}

/** Try some elements of a box. */
static polytile_status sample_box(const polytile_domain *threads, bool *goes_on, void *user) {
    usage *of = user;
    polytile_status status;
    const pti_record nothing = {0};
    PTI_TRY(pti_trial_aim(&of->trial, threads));
    note_elements(of, &nothing);
    PTI_TRY(pti_sampling_try(&of->sampling, &of->trial));
    *goes_on = true;
done:
    return status;
}

static void count(const usage *of, polytile_use *uses) {
    for (int o = 0; o < of->trial.instance->n_operands; o++) {
        int64_t n = pti_box_count(&of->trial.instance->operand[o].domain);
        uses[o] = (polytile_use){.is_recorded = of->is_recorded};
        for (int64_t k = 0; k < n; k++) {
            uses[o].n_declared += of->element[o][k] != 0;
            uses[o].n_read += (of->element[o][k] & READ) != 0;
        }
        uses[o].n_tried = of->is_recorded ? uses[o].n_declared : of->sampling.n_tried[o];
        uses[o].n_read = of->is_recorded ? uses[o].n_read : of->sampling.n_read[o];
    }
}

static polytile_status find(usage *of) {
    polytile_status status = POLYTILE_OK;
    pti_trial_copy_whole(&of->trial, WHOLE_BYTES);
    if (pti_trial_repeats(&of->trial))
        PTI_TRY(pti_walk_boxes(&of->trial, &of->units, record_box, of));
    if (of->is_recorded)
        goto done;
    PTI_TRY(pti_walk_boxes(&of->trial, &of->units, count_box, of));
    PTI_TRY(pti_walk_boxes(&of->trial, &of->units, sample_box, of));
done:
    return status;
}

polytile_status pti_access_use(polytile_device *device, const polytile_kernel *kernel,
                               const pti_instance *instance, polytile_array *const *arrays,
                               const int64_t *block, polytile_use *uses) {
    usage of = {.units = pti_units_of(&instance->threads, block)};
    polytile_status status;
    PTI_TRY(pti_trial_open(device, kernel, instance, arrays, block, &of.trial));
    PTI_TRY(make_elements(&of));
    PTI_TRY(pti_sampling_make(device->object.context, instance->n_operands, &of.sampling));
    device->is_running = true;
    status = find(&of);
    device->is_running = false;
    PTI_TRY(status);
    count(&of, uses);
done:
    pti_sampling_free(&of.sampling);
    free_elements(&of, instance->n_operands);
    pti_trial_close(&of.trial);
    return status;
}

/** "A: of 4096 declared elements 2048 are read", or of those that were tried. */
static void warn(polytile_context *ctx, const pti_instance *instance, int operand,
                 const polytile_use *use) {
    const pti_operand *of = &instance->operand[operand];
    char all[32], unread[32];
    double share = 1 - (double)use->n_read / (double)use->n_tried;
    int64_t unread_bytes = (int64_t)(share * (double)use->n_declared) * of->element_bytes;
    polytile_size_format(use->n_declared * of->element_bytes, all);
    polytile_size_format(unread_bytes, unread);
    if (use->is_recorded)
        pti_log(ctx, PTI_LOG_WARN,
                "%s: declared too wide: %s: %lld of %lld elements that are declared to be read are "
                "never read, %s of %s",
                instance->kernel_name, of->name, (long long)(use->n_declared - use->n_read),
                (long long)use->n_declared, unread, all);
    else
        pti_log(ctx, PTI_LOG_WARN,
                "%s: perhaps declared too wide: %s: of %lld elements tried no result depends on "
                "%lld, about %s of %s; compile the kernel with POLYTILE_RECORD_ACCESS to be sure",
                instance->kernel_name, of->name, (long long)use->n_tried,
                (long long)(use->n_tried - use->n_read), unread, all);
}

polytile_status pti_access_warn(polytile_device *device, const polytile_kernel *kernel,
                                const pti_instance *instance, polytile_array *const *arrays,
                                const int64_t *block) {
    polytile_context *ctx = device->object.context;
    polytile_use *uses = calloc((size_t)instance->n_operands, sizeof *uses);
    if (uses == NULL)
        return pti_fail_memory(ctx, instance->kernel_name, 0);
    polytile_status status = pti_access_use(device, kernel, instance, arrays, block, uses);
    for (int o = 0; status == POLYTILE_OK && o < instance->n_operands; o++)
        if (uses[o].n_read < uses[o].n_tried)
            warn(ctx, instance, o, &uses[o]);
    free(uses);
    return status;
}
