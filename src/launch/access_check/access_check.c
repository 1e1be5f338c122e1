#include "launch/access_check/access_check.h"

#include "access/declare/kernel.h"
#include "base/checked.h"
#include "launch/access_check/finding.h"
#include "launch/access_check/message.h"
#include "launch/access_check/walk.h"

/** The most blocks that run alone: fewer if they would take more bytes than the boxes, and than a
 * few, by a sample. */
enum {
    LEAST_ALONE = 8,
    MOST_ALONE = 1024,
    FEW_BYTES = 16 << 20,
    N_SAMPLED = 16,
};

/** The bytes of arrays copied whole, for boxes and for blocks alone. */
enum { WHOLE_WITH_BOXES_BYTES = 32 << 20, WHOLE_ALONE_BYTES = 64 << 10 };

/** The check of one launch. */
typedef struct check {
    pti_trial trial;
    pti_grid grid;
    pti_finding finding;
    int64_t boxes_bytes; /* that copies for boxes took */
    polytile_check_report report;
} check;

static bool has_found(const check *of) {
    return pti_finding_is_any(&of->finding);
}

/** Log the threads before they run, since they may end in a fault. */
static void log_threads(const check *of, const polytile_domain *threads) {
    polytile_context *ctx = of->trial.kernel->object.context;
    pti_text text = {0};
    if (pti_get_settings(ctx)->log_level < PTI_LOG_DEBUG)
        return;
    pti_check_write_threads(&text, threads);
    pti_log(ctx, PTI_LOG_DEBUG, "%s: checks what is touched by %s", of->trial.instance->kernel_name,
            text.failed ? "threads" : text.data);
    pti_text_free(&text);
}

static polytile_status look_at_threads(check *of, const polytile_domain *threads) {
    polytile_status status;
    log_threads(of, threads);
    PTI_TRY(pti_trial_aim(&of->trial, threads));
    PTI_TRY(pti_finding_look(&of->trial, &of->finding));
done:
    return status;
}

static polytile_status look_at_box(const polytile_domain *threads, bool *goes_on, void *user) {
    check *of = user;
    polytile_status status = look_at_threads(of, threads);
    of->report.n_boxes++;
    if (pti_add_overflows(of->boxes_bytes, pti_trial_bytes(&of->trial, threads), &of->boxes_bytes))
        of->boxes_bytes = INT64_MAX;
    *goes_on = !has_found(of);
    return status;
}

/** Return the most bytes that one block of a sample takes. */
static int64_t alone_bytes(const check *of) {
    int64_t most_bytes = 1;
    for (int64_t k = 0; k < pti_check_count_drawn(&of->grid, N_SAMPLED); k++) {
        polytile_domain threads = pti_check_draw_block(&of->grid, N_SAMPLED, k);
        most_bytes = pti_max(most_bytes, pti_trial_bytes(&of->trial, &threads));
    }
    return most_bytes;
}

static int64_t choose_alone(const check *of) {
    int64_t all_bytes = pti_max(FEW_BYTES, of->boxes_bytes);
    return pti_max(LEAST_ALONE, pti_min(MOST_ALONE, all_bytes / alone_bytes(of)));
}

static polytile_status look_alone(check *of) {
    int64_t n_most = choose_alone(of);
    int64_t n = pti_check_count_drawn(&of->grid, n_most);
    polytile_status status = POLYTILE_OK;
    for (int64_t k = 0; k < n && !has_found(of); k++) {
        polytile_domain threads = pti_check_draw_block(&of->grid, n_most, k);
        of->report.n_alone++;
        PTI_TRY(look_at_threads(of, &threads));
    }
done:
    return status;
}

/** Narrow the violation to one block, by halves in which it is found again. */
static polytile_status narrow_to_block(check *of) {
    polytile_domain halves[2];
    polytile_status status = POLYTILE_OK;
    pti_finding found = of->finding;
    polytile_domain threads = of->trial.threads;
    bool goes_on = pti_check_halve(&of->grid, &threads, halves);
    while (goes_on) {
        of->finding = (pti_finding){0};
        for (int k = 0; k < 2 && !has_found(of); k++)
            PTI_TRY(look_at_threads(of, &halves[k]));
        goes_on = has_found(of);
        found = goes_on ? of->finding : found;
        threads = goes_on ? of->trial.threads : threads;
        goes_on = goes_on && pti_check_halve(&of->grid, &threads, halves);
    }
    PTI_TRY(look_at_threads(of, &threads));
    of->finding = found;
done:
    return status;
}

static int64_t count_sampled_places(const pti_trial *trial) {
    int64_t n = 0;
    for (int o = 0; o < trial->instance->n_operands; o++)
        n += trial->shadow[o].n_elements;
    return n;
}

static const unsigned char *first_result(const pti_shadow_copy *shadow, int64_t place) {
    int64_t k = 0;
    while (shadow->marked[k].place != place)
        k++;
    return pti_shadow_copy_result(shadow, k);
}

/** Find out whether the result is that of pattern 0 if the first n places have the other one. */
static polytile_status try_first(pti_trial *trial, const pti_finding *finding, int64_t n,
                                 bool *is_first) {
    const pti_shadow_copy *shadow = &trial->shadow[finding->operand];
    polytile_status status = pti_trial_run_mixed(trial, (int)finding->pattern, n, PTI_PATTERN_EVEN);
    *is_first = pti_finding_is_same(trial, shadow, first_result(shadow, finding->place),
                                    pti_shadow_copy_at(shadow, finding->place));
    return status;
}

/** Find the copy, and the place in it, of a place counted through all copies. */
static void find_copy(const pti_trial *trial, int64_t position, int *operand, int64_t *place) {
    *operand = 0;
    while (position >= trial->shadow[*operand].n_elements)
        position -= trial->shadow[(*operand)++].n_elements;
    *place = position;
}

/** Find the poisoned element on which a result depends, for a trial aimed at the threads and a
 * finding that is a read. Bisection finds the place up to which changed poison changes the
 * result. */
static polytile_status locate_read(pti_trial *trial, const pti_finding *finding, int *operand,
                                   int64_t *place) {
    int64_t same = 0, differs = count_sampled_places(trial);
    polytile_status status = POLYTILE_OK;
    while (differs - same > 1) {
        int64_t middle = same + (differs - same) / 2;
        bool is_first;
        PTI_TRY(try_first(trial, finding, middle, &is_first));
        *(is_first ? &same : &differs) = middle;
    }
done:
    find_copy(trial, differs - 1, operand, place);
    return status;
}

/** Describe the element of the violation. */
static polytile_status describe_violation(check *of) {
    polytile_check_report *report = &of->report;
    const pti_finding *found = &of->finding;
    int operand = found->operand;
    int64_t place = found->place;
    polytile_status status = POLYTILE_OK;
    report->violation = found->violation;
    report->threads = pti_instance_asked_box(of->trial.instance, &of->trial.threads);
    report->shown_array = -1;
    if (found->violation == POLYTILE_READS_UNDECLARED) {
        report->shown_array = operand;
        pti_shadow_copy_find(&of->trial.shadow[operand], place, report->shown);
        PTI_TRY(locate_read(&of->trial, found, &operand, &place));
    }
    report->array = operand;
    pti_shadow_copy_find(&of->trial.shadow[operand], place, report->element);
done:
    return status;
}

static polytile_status look_everywhere(check *of) {
    polytile_status status;
    pti_trial_copy_whole(&of->trial, WHOLE_WITH_BOXES_BYTES);
    PTI_TRY(pti_visit_boxes(&of->trial, &of->grid, look_at_box, of));
    if (!has_found(of)) {
        pti_trial_copy_whole(&of->trial, WHOLE_ALONE_BYTES);
        PTI_TRY(look_alone(of));
    }
    if (has_found(of)) {
        PTI_TRY(narrow_to_block(of));
        PTI_TRY(describe_violation(of));
    }
done:
    return status;
}

polytile_status pti_access_check(polytile_device *device, const polytile_kernel *kernel,
                                 const pti_instance *instance, polytile_array *const *arrays,
                                 const pti_launch_config *config, polytile_check_report *report) {
    instance = pti_instance_as_given(instance);
    check of = {.grid = pti_check_grid_of(&instance->threads, config->block),
                .report = {.shown_array = -1}};
    polytile_status status;
    PTI_TRY(pti_trial_open(device, kernel, instance, arrays, config, &of.trial));
    device->is_running = true;
    status = look_everywhere(&of);
    device->is_running = false;
    PTI_TRY(status);
    if (has_found(&of))
        status = pti_check_fail(kernel, instance, device->text, &of.report, &of.finding);
done:
    of.report.n_runs = of.trial.n_runs;
    pti_trial_close(&of.trial);
    if (report != NULL)
        *report = of.report;
    return status;
}
