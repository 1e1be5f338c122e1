#include "launch/access_check/access_check.h"

#include "access/declare/kernel.h"
#include "base/checked.h"
#include "launch/access_check/message.h"
#include "launch/access_check/record.h"
#include "launch/access_check/sampling.h"
#include "launch/access_check/trial.h"
#include "launch/access_check/walk.h"
#include <polytile/size.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/** The bytes of arrays copied whole. */
enum { WHOLE_BYTES = 32 << 20 };

/** The search for what one launch reads. */
typedef struct usage {
    pti_trial trial;
    pti_grid grid;
    polytile_use *uses; /* of each operand */
    bool *updates;      /* of each operand: elements that were touched may be written, too; owned */
    bool *leaves;       /* of those, some are left as they were; owned */
    unsigned char *
        *seen; /* of each operand, one byte an element of the array: marks as below; owned,
                             as they are; NULL: too many to have */
    bool is_recorded;
    pti_sampling sampling;
    pti_dependence dependence; /* what it depends on is owned */
    int n_looked;              /* boxes in which it was looked for */
} usage;

/** The most boxes that are searched for reads that depend on data. */
enum { MOST_LOOKED = 64 };

/** An element that some box declares to read, and one that a box touched. */
enum { SEEN_DECLARED = 1, SEEN_REACHED = 2 };

/** The most elements of an array for which this is recorded. */
enum { MOST_SEEN = 32 << 20 };

/** Return how many places for elements an array's memory has, gaps included. */
static int64_t n_places_of(const polytile_array *array) {
    return pti_ceil_div(pti_array_span_bytes(array), array->element_bytes);
}

/** Count what a box declares to read, and what of it the kernel touched. */
static void count_calls(usage *of, const pti_record *record) {
    for (int o = 0; o < of->trial.instance->n_operands; o++) {
        const pti_shadow_copy *shadow = &of->trial.shadow[o];
        for (int64_t k = 0; k < shadow->n_marked; k++) {
            int64_t place = shadow->marked[k].place;
            bool is_declared = shadow->mark[place] & PTI_MARK_READ;
            bool is_updated = is_declared && shadow->mark[place] & PTI_MARK_WRITTEN;
            of->uses[o].n_declared += is_declared;
            bool is_read = is_declared && record != NULL && record->touched[o][place];
            of->uses[o].n_read += is_read;
            if (of->seen[o] != NULL && is_declared)
                of->seen[o][shadow->marked[k].source_bytes / shadow->operand->element_bytes] |=
                    (unsigned char)(SEEN_DECLARED | (is_read ? SEEN_REACHED : 0));
            of->updates[o] = of->updates[o] || (is_updated && !shadow->operand->reduces);
        }
    }
}

/** Run a box and record its accesses. */
static polytile_status record_box(const polytile_domain *threads, bool *goes_on, void *user) {
    usage *of = user;
    polytile_context *ctx = of->trial.kernel->object.context;
    pti_record record = {0};
    polytile_status status;
    PTI_TRY(pti_trial_aim(&of->trial, threads));
    PTI_TRY(pti_record_make(ctx, of->trial.instance->n_operands, of->trial.shadow, &record));
    pti_record *before = pti_record_set(&record);
    status = pti_trial_run_pattern(&of->trial, 0);
    pti_record_set(before);
    count_calls(of, &record);
    of->is_recorded = of->is_recorded || record.n_calls > 0;
    *goes_on = true;
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

/** Search for reads that depend on data. Kernels that do not record are searched before elements
 * are tried again, which takes much longer. */
static polytile_status look_for_data(usage *of) {
    if (of->is_recorded || !pti_sampling_is_open(&of->sampling) || of->n_looked == MOST_LOOKED ||
        !pti_dependence_is_possible(of->trial.instance))
        return POLYTILE_OK;
    of->n_looked++;
    return pti_dependence_look(&of->dependence, &of->trial);
}

/** Try some elements of a box. */
static polytile_status sample_box(const polytile_domain *threads, bool *goes_on, void *user) {
    usage *of = user;
    polytile_status status;
    PTI_TRY(pti_trial_aim(&of->trial, threads));
    if (!of->is_recorded)
        count_calls(of, NULL);
    PTI_TRY(pti_sampling_try(&of->sampling, &of->trial));
    PTI_TRY(look_for_data(of));
    PTI_TRY(pti_sampling_try_again(&of->sampling, &of->trial));
    *goes_on = true;
done:
    return status;
}

/** Do not count as many elements as showed late that they matter: as many others may matter,
 * too. */
static void note_sample(usage *of, int operand) {
    polytile_use *use = &of->uses[operand];
    use->n_tried = of->sampling.n_tried[operand];
    use->n_read = of->sampling.n_read[operand];
    if (use->n_tried - use->n_read <= of->sampling.n_late[operand])
        use->n_tried = use->n_read;
    use->n_never = -1;
    use->depends_on_data = of->dependence.depends[operand];
    of->leaves[operand] = of->updates[operand] && of->sampling.n_left[operand] > 0;
}

static int64_t count_never(const usage *of, int operand) {
    const unsigned char *seen = of->seen[operand];
    int64_t n_never = 0;
    if (seen == NULL)
        return -1;
    for (int64_t e = 0; e < n_places_of(of->trial.shadow[operand].array); e++)
        n_never += seen[e] == SEEN_DECLARED;
    return n_never;
}

static void note_record(usage *of, int operand) {
    of->uses[operand].n_tried = of->uses[operand].n_declared;
    of->uses[operand].n_never = count_never(of, operand);
    of->uses[operand].is_recorded = true;
}

/** Return whether an operand is declared too wide. One that is written where data say must keep
 * what it held, and one that is read where data say cannot be declared otherwise. */
static bool is_too_wide(const usage *of, int operand) {
    const polytile_use *use = &of->uses[operand];
    return use->n_read < use->n_tried && !of->leaves[operand] && !use->depends_on_data;
}

/** Take index arrays as read, whatever of them bodies read: subscripts look them up. */
static void note_looked_up(usage *of) {
    for (int o = 0; o < of->trial.instance->n_operands; o++)
        if (of->trial.shadow[o].holds_indices)
            of->uses[o].n_read = of->uses[o].n_tried;
}

static bool any_updates(const usage *of) {
    bool any = false;
    for (int o = 0; o < of->trial.instance->n_operands; o++)
        any = any || of->updates[o];
    return any;
}

static void forget_counts(usage *of) {
    memset(of->uses, 0, (size_t)of->trial.instance->n_operands * sizeof *of->uses);
}

static polytile_status sample_boxes(usage *of) {
    polytile_status status;
    of->sampling.only_updates = of->is_recorded;
    PTI_TRY(pti_visit_boxes(&of->trial, &of->grid, count_box, of));
    PTI_TRY(pti_visit_boxes(&of->trial, &of->grid, sample_box, of));
done:
    return status;
}

static bool any_too_wide(const usage *of) {
    bool any = false;
    for (int o = 0; o < of->trial.instance->n_operands; o++)
        any = any || is_too_wide(of, o);
    return any;
}

/** Try a box; go on until no operand seems too wide. */
static polytile_status look_in_box(const polytile_domain *threads, bool *goes_on, void *user) {
    usage *of = user;
    polytile_status status;
    PTI_TRY(pti_trial_aim(&of->trial, threads));
    PTI_TRY(pti_dependence_look(&of->dependence, &of->trial));
    for (int o = 0; o < of->trial.instance->n_operands; o++)
        of->uses[o].depends_on_data = of->dependence.depends[o];
    *goes_on = any_too_wide(of) && ++of->n_looked < MOST_LOOKED;
done:
    return status;
}

/** Find the use of what is read. A record does not say whether an element was read or written, so
 * operands with both are sampled in any case. */
static polytile_status find_use_of_reads(usage *of) {
    polytile_status status = POLYTILE_OK;
    pti_trial_copy_whole(&of->trial, WHOLE_BYTES);
    if (pti_trial_repeats(&of->trial))
        PTI_TRY(pti_visit_boxes(&of->trial, &of->grid, record_box, of));
    if (!of->is_recorded)
        forget_counts(of);
    if (!of->is_recorded || any_updates(of))
        PTI_TRY(sample_boxes(of));
    for (int o = 0; o < of->trial.instance->n_operands; o++)
        if (of->is_recorded && !of->updates[o])
            note_record(of, o);
        else
            note_sample(of, o);
    note_looked_up(of);
    of->dependence.is_recorded = of->is_recorded;
    if (of->is_recorded && any_too_wide(of) && pti_dependence_is_possible(of->trial.instance))
        PTI_TRY(pti_visit_boxes(&of->trial, &of->grid, look_in_box, of));
done:
    return status;
}

/** Find the use of all operands. updates, leaves: one an operand, false at first. */
static polytile_status find_use(polytile_device *device, const polytile_kernel *kernel,
                                const pti_instance *instance, polytile_array *const *arrays,
                                const pti_launch_config *config, usage *of) {
    polytile_status status;
    memset(of->uses, 0, (size_t)instance->n_operands * sizeof *of->uses);
    of->grid = pti_check_grid_of(&instance->threads, config->block);
    PTI_TRY(pti_trial_open(device, kernel, instance, arrays, config, &of->trial));
    PTI_TRY(pti_trial_survive(&of->trial));
    PTI_TRY(pti_sampling_make(&of->trial, &of->sampling));
    of->sampling.depends = of->dependence.depends;
    device->is_running = true;
    status = find_use_of_reads(of);
    device->is_running = false;
done:
    pti_sampling_free(&of->sampling);
    pti_trial_close(&of->trial);
    return status;
}

/** Allocate memory for the records of each operand. */
static bool allocate_records(usage *of, const pti_instance *instance,
                             polytile_array *const *arrays) {
    const size_t n_operands = (size_t)instance->n_operands;
    of->updates = calloc(n_operands, sizeof *of->updates);
    of->leaves = calloc(n_operands, sizeof *of->leaves);
    of->dependence.depends = calloc(n_operands, sizeof *of->dependence.depends);
    of->seen = calloc(n_operands, sizeof *of->seen);
    bool has_all = of->updates != NULL && of->leaves != NULL && of->dependence.depends != NULL &&
                   of->seen != NULL;
    for (size_t o = 0; has_all && o < n_operands; o++) {
        if (n_places_of(arrays[o]) > MOST_SEEN)
            continue;
        of->seen[o] = calloc((size_t)n_places_of(arrays[o]), 1);
        has_all = of->seen[o] != NULL;
    }
    return has_all;
}

static void free_records(usage *of, int n_operands) {
    for (int o = 0; of->seen != NULL && o < n_operands; o++)
        free(of->seen[o]);
    free(of->seen);
    free(of->dependence.depends);
    free(of->updates);
    free(of->leaves);
}

polytile_status pti_access_use(polytile_device *device, const polytile_kernel *kernel,
                               const pti_instance *instance, polytile_array *const *arrays,
                               const pti_launch_config *config, polytile_use *uses) {
    instance = pti_instance_as_given(instance);
    usage of = {.uses = uses};
    polytile_status status =
        allocate_records(&of, instance, arrays)
            ? find_use(device, kernel, instance, arrays, config, &of)
            : pti_fail_memory(device->object.context, instance->kernel_name, PTI_UNKNOWN_BYTES);
    free_records(&of, instance->n_operands);
    return status;
}

/** Return advice for an operand with elements on which no result depends. */
static const char *advice_for(const usage *of, int operand) {
    if (!of->updates[operand])
        return "compile the kernel with POLYTILE_RECORD_ACCESS to be sure";
    if (of->uses[operand].n_read == 0)
        return "declare it out if it is never read, and written whatever it held";
    return "if a section holds just those that are never read, and written whatever they held, "
           "declare it out";
}

/** Write "A: of 4096 declared elements 2048 are read", or of those that were tried. */
static void write_use(pti_text *text, const pti_instance *instance, const usage *of, int operand) {
    const pti_operand *array = &instance->operand[operand];
    const polytile_use *use = &of->uses[operand];
    char all[32], unread[32], never[32];
    double share = 1 - (double)use->n_read / (double)use->n_tried;
    int64_t unread_bytes = (int64_t)(share * (double)use->n_declared) * array->element_bytes;
    polytile_size_format(use->n_declared * array->element_bytes, all);
    polytile_size_format(unread_bytes, unread);
    if (use->is_recorded)
        pti_text_add(text,
                     "declared too wide: %s: %lld of %lld elements that boxes of threads are "
                     "declared to read are not read there, %s of %s",
                     array->name, (long long)(use->n_declared - use->n_read),
                     (long long)use->n_declared, unread, all);
    if (use->is_recorded && use->n_never > 0)
        pti_text_add(text, "; %lld elements of it are never read, %s", (long long)use->n_never,
                     polytile_size_format(use->n_never * array->element_bytes, never));
    if (!use->is_recorded)
        pti_text_add(text,
                     "perhaps declared too wide: %s: of %lld elements tried no result depends on "
                     "%lld, about %s of %s; %s",
                     array->name, (long long)use->n_tried, (long long)(use->n_tried - use->n_read),
                     unread, all, advice_for(of, operand));
}

/** Return whether this is the first warning of an operand, and remember it. */
static bool is_news(const polytile_kernel *kernel, const pti_instance *instance, int operand) {
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    polytile_kernel *noted = (polytile_kernel *)kernel;
    bool is_new = true;
    pthread_mutex_lock(&mutex);
    if (noted->warned == NULL)
        noted->warned = calloc((size_t)instance->n_operands, sizeof *noted->warned);
    if (noted->warned != NULL) {
        is_new = !noted->warned[operand];
        noted->warned[operand] = true;
    }
    pthread_mutex_unlock(&mutex);
    return is_new;
}

/** Warn of an operand. The text names the threads, since of a queue's members, which check their
 * own parts, the first one to find something warns. */
static polytile_status warn_of_operand(const polytile_device *device, const pti_instance *instance,
                                       const usage *of, int operand) {
    polytile_context *ctx = device->object.context;
    const polytile_domain asked = pti_instance_asked_box(instance, &instance->threads);
    pti_text text = {0};
    write_use(&text, instance, of, operand);
    pti_text_add(&text, " (found on %s for ", device->text);
    pti_check_write_threads(&text, &asked);
    pti_text_add(&text, ")");
    polytile_status status =
        text.failed ? pti_fail_memory(ctx, "a warning's text", PTI_UNKNOWN_BYTES) : POLYTILE_OK;
    if (status == POLYTILE_OK)
        pti_log(ctx, PTI_LOG_WARN, "%s: %s", instance->kernel_name, text.data);
    pti_text_free(&text);
    return status;
}

polytile_status pti_access_warn(polytile_device *device, const polytile_kernel *kernel,
                                const pti_instance *instance, polytile_array *const *arrays,
                                const pti_launch_config *config) {
    instance = pti_instance_as_given(instance);
    polytile_context *ctx = device->object.context;
    usage of = {.uses = calloc((size_t)instance->n_operands, sizeof *of.uses)};
    bool has_all = allocate_records(&of, instance, arrays) && of.uses != NULL;
    polytile_status status = has_all
                                 ? find_use(device, kernel, instance, arrays, config, &of)
                                 : pti_fail_memory(ctx, instance->kernel_name, PTI_UNKNOWN_BYTES);
    for (int o = 0; status == POLYTILE_OK && o < instance->n_operands; o++)
        if (is_too_wide(&of, o) && is_news(kernel, instance, o))
            status = warn_of_operand(device, instance, &of, o);
    free(of.uses);
    free_records(&of, instance->n_operands);
    return status;
}
