#include "launch/access_check/finding.h"

#include "launch/access_check/element.h"
#include "launch/access_check/tolerance.h"

#include <string.h>

/** How often a result that seems to depend on poison is asked for again. */
enum { N_REPEATED = 4 };

bool pti_finding_is_any(const pti_finding *finding) {
    return finding->violation != POLYTILE_NO_VIOLATION || finding->varies;
}

static void accuse(pti_finding *finding, polytile_violation violation, int operand, int64_t place,
                   int pattern) {
    if (finding->violation == POLYTILE_NO_VIOLATION)
        *finding = (pti_finding){
            .violation = violation, .operand = operand, .place = place, .pattern = pattern};
}

bool pti_finding_is_same(const pti_trial *trial, const pti_scratch *scratch,
                         const unsigned char *one, const unsigned char *other) {
    const pti_operand *of = scratch->operand;
    return pti_element_equals(one, other, of->element_bytes) ||
           pti_poison_is_same(of->type, of->element_bytes, one, other) ||
           (!pti_trial_repeats(trial) && of->reduces &&
            pti_tolerance_is_near(of->reduction, of->type, one, other));
}

/** Whether the bytes in which two runs differ hold the poison of each. */
static bool is_left(const pti_scratch *scratch, int64_t k, int pattern) {
    int64_t place = scratch->marked[k].place;
    const unsigned char *first = pti_scratch_result(scratch, k);
    const unsigned char *now = pti_scratch_at(scratch, place);
    const unsigned char *first_poison = pti_scratch_poison(scratch, PTI_PATTERN_EVEN, place);
    const unsigned char *poison = pti_scratch_poison(scratch, pattern, place);
    bool is = !(scratch->mark[place] & PTI_MARK_READ) && !scratch->operand->fresh;
    for (int64_t b = 0; is && b < scratch->operand->element_bytes; b++)
        is = first[b] == now[b] || (first[b] == first_poison[b] && now[b] == poison[b]);
    return is;
}

/** Whether other bytes of what is left are not. */
static bool is_partly_left(const pti_scratch *scratch, int64_t k, int pattern) {
    size_t element_bytes = (size_t)scratch->operand->element_bytes;
    int64_t place = scratch->marked[k].place;
    return memcmp(pti_scratch_result(scratch, k),
                  pti_scratch_poison(scratch, PTI_PATTERN_EVEN, place), element_bytes) != 0 ||
           memcmp(pti_scratch_at(scratch, place), pti_scratch_poison(scratch, pattern, place),
                  element_bytes) != 0;
}

/** Keep what the first pattern leads to, or compare with that. */
static void look_at_written(const pti_trial *trial, int operand, int64_t k, int pattern,
                            pti_finding *finding) {
    const pti_scratch *scratch = &trial->scratch[operand];
    int64_t place = scratch->marked[k].place;
    const unsigned char *now = pti_scratch_at(scratch, place);
    if (pattern == PTI_PATTERN_EVEN)
        pti_element_copy(pti_scratch_result(scratch, k), now, scratch->operand->element_bytes);
    else if (!pti_finding_is_same(trial, scratch, pti_scratch_result(scratch, k), now))
        accuse(finding,
               is_left(scratch, k, pattern) ? POLYTILE_LEAVES_UNWRITTEN : POLYTILE_READS_UNDECLARED,
               operand, place, pattern);
}

static bool is_unchanged(const pti_scratch *scratch, const pti_marked *element) {
    return pti_element_equals(pti_scratch_at(scratch, element->place),
                              (const char *)scratch->array->data + element->source_bytes,
                              scratch->operand->element_bytes);
}

/** Elements that are only read, and poison, must be as they were. What is declared gets poison
 * again, for then all of the copy must be the pattern. */
static void look_at_others(const pti_trial *trial, int operand, int pattern, pti_finding *finding) {
    const pti_scratch *scratch = &trial->scratch[operand];
    size_t element_bytes = (size_t)scratch->operand->element_bytes;
    for (int64_t k = 0; k < scratch->n_marked; k++) {
        const pti_marked *element = &scratch->marked[k];
        if (!(scratch->mark[element->place] & PTI_MARK_WRITTEN) && !is_unchanged(scratch, element))
            accuse(finding, POLYTILE_WRITES_UNDECLARED, operand, element->place, pattern);
        pti_element_copy(pti_scratch_at(scratch, element->place),
                         pti_scratch_poison(scratch, pattern, element->place),
                         scratch->operand->element_bytes);
    }
    if (memcmp(scratch->memory.bytes, scratch->poison[pattern],
               (size_t)scratch->n_elements * element_bytes) == 0)
        return;
    int64_t place = 0;
    while (memcmp(pti_scratch_at(scratch, place), pti_scratch_poison(scratch, pattern, place),
                  element_bytes) == 0)
        place++;
    accuse(finding, POLYTILE_WRITES_UNDECLARED, operand, place, pattern);
}

/** What is written beside the declaration goes before results that differ. */
static void look_at_run(const pti_trial *trial, int pattern, pti_finding *finding) {
    pti_finding written = {0};
    for (int o = 0; o < trial->instance->n_operands; o++) {
        const pti_scratch *scratch = &trial->scratch[o];
        for (int64_t k = 0; k < scratch->n_marked; k++)
            if (scratch->mark[scratch->marked[k].place] & PTI_MARK_WRITTEN)
                look_at_written(trial, o, k, pattern, finding);
        look_at_others(trial, o, pattern, &written);
    }
    if (written.violation != POLYTILE_NO_VIOLATION)
        *finding = written;
}

static polytile_status keep_results(const pti_trial *trial) {
    polytile_status status = POLYTILE_OK;
    for (int o = 0; o < trial->instance->n_operands; o++)
        PTI_TRY(pti_scratch_keep_results(trial->kernel->object.context, &trial->scratch[o]));
done:
    return status;
}

static int64_t find_marked(const pti_scratch *scratch, int64_t place) {
    int64_t k = 0;
    while (scratch->marked[k].place != place)
        k++;
    return k;
}

/** What was left before holds poison of any bits, too; else it was poison by chance. */
static polytile_status confirm_left(pti_trial *trial, pti_finding *finding) {
    const pti_scratch *scratch = &trial->scratch[finding->operand];
    int64_t k = find_marked(scratch, finding->place);
    polytile_status status;
    PTI_TRY(pti_trial_run_pattern(trial, PTI_PATTERN_NO_NUMBER));
    finding->is_partial = is_partly_left(scratch, k, PTI_PATTERN_NO_NUMBER);
    bool is_same = memcmp(pti_scratch_result(scratch, k), pti_scratch_at(scratch, finding->place),
                          (size_t)scratch->operand->element_bytes) == 0;
    if (is_same || !is_left(scratch, k, PTI_PATTERN_NO_NUMBER))
        finding->violation = POLYTILE_READS_UNDECLARED;
done:
    return status;
}

/** A reduction may be made in any order: it is looked at less closely from now on. Anything else
 * that comes out different by itself says nothing of what was read, and on the host is told. */
static void excuse(pti_trial *trial, const pti_scratch *scratch, int64_t k, pti_finding *finding) {
    trial->varies = true;
    finding->violation = POLYTILE_NO_VIOLATION;
    finding->varies =
        trial->own != NULL && !pti_finding_is_same(trial, scratch, pti_scratch_result(scratch, k),
                                                   pti_scratch_at(scratch, finding->place));
}

/** A result that seems to depend on poison comes out the same with the same poison. */
static polytile_status confirm_read(pti_trial *trial, pti_finding *finding) {
    const pti_scratch *scratch = &trial->scratch[finding->operand];
    int64_t k = find_marked(scratch, finding->place);
    polytile_status status = POLYTILE_OK;
    for (int n = 0; n < N_REPEATED && finding->violation == POLYTILE_READS_UNDECLARED; n++) {
        PTI_TRY(pti_trial_run_pattern(trial, PTI_PATTERN_EVEN));
        if (!pti_finding_is_same(trial, scratch, pti_scratch_result(scratch, k),
                                 pti_scratch_at(scratch, finding->place)))
            excuse(trial, scratch, k, finding);
    }
done:
    return status;
}

static polytile_status run_all(pti_trial *trial, pti_finding *finding) {
    polytile_status status = POLYTILE_OK;
    *finding = (pti_finding){0};
    for (int p = 0; p < trial->n_patterns && !pti_finding_is_any(finding); p++) {
        PTI_TRY(pti_trial_run_pattern(trial, p));
        look_at_run(trial, p, finding);
        if (finding->violation == POLYTILE_LEAVES_UNWRITTEN)
            PTI_TRY(confirm_left(trial, finding));
        if (finding->violation == POLYTILE_READS_UNDECLARED)
            PTI_TRY(confirm_read(trial, finding));
    }
done:
    return status;
}

polytile_status pti_finding_look(pti_trial *trial, pti_finding *finding) {
    bool had_repeated = pti_trial_repeats(trial);
    polytile_status status;
    PTI_TRY(keep_results(trial));
    PTI_TRY(run_all(trial, finding));
    if (had_repeated && !pti_trial_repeats(trial) && !pti_finding_is_any(finding))
        PTI_TRY(run_all(trial, finding));
done:
    return status;
}
