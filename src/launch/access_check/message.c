#include "launch/access_check/message.h"

#include "access/declare/access_text.h"
#include "access/declare/kernel.h"
#include "access/footprint/footprint.h"
#include "access/set/boxes.h"

static void write_element(pti_text *text, const pti_operand *operand, const int64_t *element) {
    pti_text_add(text, "%s", operand->name);
    pti_point_write(text, element, operand->domain.n_dims);
}

static void write_thread(pti_text *text, const polytile_domain *threads) {
    int64_t index[POLYTILE_MAX_DIMS];
    for (int k = 0; k < threads->n_dims; k++)
        index[k] = threads->range[k].lo;
    pti_point_write(text, index, threads->n_dims);
}

void pti_check_write_threads(pti_text *text, const polytile_domain *threads) {
    bool is_one = pti_box_count(threads) == 1;
    pti_text_add(text, is_one ? "thread " : "the threads ");
    if (is_one)
        write_thread(text, threads);
    else
        pti_domain_write(text, threads);
}

/** Write "in A[i, j-1:j+1], A[i-1:i+1, j]". */
static void write_declared(pti_text *text, const polytile_declaration *declaration, int array) {
    bool is_first = true;
    for (int a = 0; a < declaration->n_accesses; a++) {
        if (declaration->access[a].array != array)
            continue;
        pti_text_add(text, is_first ? "" : ", ");
        pti_access_write_declared(text, declaration, &declaration->access[a]);
        is_first = false;
    }
}

static bool is_outside(const pti_operand *operand, const int64_t *element) {
    bool is_inside = true;
    for (int d = 0; d < operand->domain.n_dims; d++)
        is_inside = is_inside && pti_range_has(operand->domain.range[d], element[d]);
    return !is_inside;
}

/** Write ", which lies outside the array B[0:99]". */
static void write_outside(pti_text *text, const pti_operand *operand, const int64_t *element) {
    if (!is_outside(operand, element))
        return;
    pti_text_add(text, ", which lies outside the array %s", operand->name);
    pti_domain_write(text, &operand->domain);
}

/** The words for each violation: what one thread, or several, do to an element, what else they may
 * do, what it means, and what helps. */
typedef struct words {
    const char *does, *several_do;
    const char *or_else;
    const char *means;
    const char *help;
} words;

static const words of_violation[] = {
    [POLYTILE_READS_UNDECLARED] = {"reads", "read", "", "is not declared to be read there",
                                   "declare what is read, or read no more than that"},
    [POLYTILE_WRITES_UNDECLARED] = {"writes", "write", "", "is not declared to be written there",
                                    "declare what is written, or write no more than that"},
    [POLYTILE_LEAVES_UNWRITTEN] = {"does not write", "do not write", ", or writes what it held",
                                   "is declared to be overwritten there",
                                   "declare it inout if what it holds is read or kept, as by +=; "
                                   "else write all of it, or narrow the section"},
};

static const words of_bytes = {
    "does not write all bytes of", "do not write all bytes of", "",
    "is declared to be overwritten there",
    "write the others, too, or declare it inout; if they are padding, which assigning an element "
    "may leave out, make it members of the struct, and set these"};

static const words of_scratch = {
    "reads", "read", "", "is scratch that it did not write before",
    "write what is read of it first: scratch holds nothing when a thread begins"};

/** Return whether threads read what they have as scratch. */
static bool is_own_scratch(const pti_instance *instance, const polytile_check_report *report) {
    polytile_domain own =
        pti_footprint_hull(instance, report->array, PTI_TOUCHES, &report->threads);
    bool is_inside = true;
    for (int d = 0; d < own.n_dims; d++)
        is_inside = is_inside && pti_range_has(own.range[d], report->element[d]);
    return report->violation == POLYTILE_READS_UNDECLARED &&
           instance->operand[report->array].is_scratch && is_inside;
}

static const words *words_for(const pti_instance *instance, const polytile_check_report *report,
                              const pti_finding *finding) {
    if (is_own_scratch(instance, report))
        return &of_scratch;
    return finding->is_partial ? &of_bytes : &of_violation[report->violation];
}

static void write_report(pti_text *text, const polytile_kernel *kernel,
                         const pti_instance *instance, const char *device,
                         const polytile_check_report *report, const words *of) {
    const pti_operand *operand = &instance->operand[report->array];
    bool is_one = pti_box_count(&report->threads) == 1;
    pti_text_add(text, "%s: its declaration is wrong: ", instance->kernel_name);
    pti_check_write_threads(text, &report->threads);
    pti_text_add(text, " %s ", is_one ? of->does : of->several_do);
    write_element(text, operand, report->element);
    write_outside(text, operand, report->element);
    pti_text_add(text, "%s", of->or_else);
    if (report->shown_array >= 0) {
        pti_text_add(text, " (");
        write_element(text, &instance->operand[report->shown_array], report->shown);
        pti_text_add(text, " depends on it)");
    }
    pti_text_add(text, ", and it %s: ", of->means);
    write_declared(text, kernel->declaration, report->array);
    pti_text_add(text, "; %s (found on %s)", of->help, device);
}

static void write_varies(pti_text *text, const pti_instance *instance, const char *device,
                         const polytile_check_report *report) {
    bool is_one = pti_box_count(&report->threads) == 1;
    pti_text_add(text, "%s: its declaration cannot be checked: ", instance->kernel_name);
    pti_check_write_threads(text, &report->threads);
    pti_text_add(text, is_one ? " leaves " : " leave ");
    write_element(text, &instance->operand[report->array], report->element);
    pti_text_add(text,
                 " with another value when run again on the same values; let the kernel do the "
                 "same each time, without counters, clocks or a random state of its own, or do not "
                 "check it (found on %s)",
                 device);
}

polytile_status pti_check_fail(const polytile_kernel *kernel, const pti_instance *instance,
                               const char *device, const polytile_check_report *report,
                               const pti_finding *finding) {
    pti_text text = {0};
    polytile_context *ctx = kernel->object.context;
    if (finding->varies)
        write_varies(&text, instance, device, report);
    else
        write_report(&text, kernel, instance, device, report, words_for(instance, report, finding));
    polytile_status status =
        text.failed ? pti_fail_memory(ctx, "an error's text", PTI_UNKNOWN_BYTES)
                    : pti_fail(ctx, finding->varies ? POLYTILE_UNSUPPORTED : POLYTILE_INVALID, "%s",
                               text.data);
    pti_text_free(&text);
    return status;
}
