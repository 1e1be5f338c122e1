#include "launch/access_check/finding.h"

#include "launch/access_check/tolerance.h"

#include <string.h>

/** How often a result that seems to depend on poison is asked for again where threads may combine
 * in any order. */
enum { N_REPEATED = 2 };

static void accuse(pti_finding *finding, polytile_violation violation, int operand, int64_t place,
                   int pattern) {
    if (finding->violation == POLYTILE_NO_VIOLATION)
        *finding = (pti_finding){violation, operand, place, pattern};
}

static bool is_same(const pti_trial *trial, const pti_scratch *scratch, const unsigned char *one,
                    const unsigned char *other) {
    const pti_operand *of = scratch->operand;
    return pti_poison_is_same(of->type, of->element_bytes, one, other) ||
           (!pti_trial_repeats(trial) && of->reduces &&
            pti_tolerance_is_near(of->reduction, of->type, one, other));
}

/** What the first two patterns leave in its place, which nowhere have the same value, was not
 * written. */
static bool is_left(const pti_scratch *scratch, int64_t k, int pattern) {
    size_t element_bytes = (size_t)scratch->operand->element_bytes;
    int64_t place = scratch->marked[k].place;
    bool has_poison = !(scratch->mark[place] & PTI_MARK_READ) && !scratch->operand->fresh;
    return has_poison && pattern == 1 &&
           memcmp(pti_scratch_result(scratch, k), pti_scratch_poison(scratch, 0, place),
                  element_bytes) == 0 &&
           memcmp(pti_scratch_at(scratch, place), pti_scratch_poison(scratch, pattern, place),
                  element_bytes) == 0;
}

/** Keep what the first pattern leads to, or compare with that. */
static void look_at_written(const pti_trial *trial, int operand, int64_t k, int pattern,
                            pti_finding *finding) {
    const pti_scratch *scratch = &trial->scratch[operand];
    int64_t place = scratch->marked[k].place;
    const unsigned char *now = pti_scratch_at(scratch, place);
    if (pattern == 0)
        memcpy(pti_scratch_result(scratch, k), now, (size_t)scratch->operand->element_bytes);
    else if (is_left(scratch, k, pattern))
        accuse(finding, POLYTILE_LEAVES_UNWRITTEN, operand, place, pattern);
    else if (!is_same(trial, scratch, pti_scratch_result(scratch, k), now))
        accuse(finding, POLYTILE_READS_UNDECLARED, operand, place, pattern);
}

static bool is_unchanged(const pti_scratch *scratch, const pti_marked *element) {
    return memcmp(pti_scratch_at(scratch, element->place),
                  (const char *)scratch->array->data + element->source_bytes,
                  (size_t)scratch->operand->element_bytes) == 0;
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
        memcpy(pti_scratch_at(scratch, element->place),
               pti_scratch_poison(scratch, pattern, element->place), element_bytes);
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

/** A result that comes out different by itself says nothing. */
static polytile_status confirm(pti_trial *trial, pti_finding *finding) {
    polytile_status status = POLYTILE_OK;
    const pti_scratch *scratch = &trial->scratch[finding->operand];
    if (pti_trial_repeats(trial) || finding->violation != POLYTILE_READS_UNDECLARED)
        return POLYTILE_OK;
    for (int n = 0; n < N_REPEATED; n++) {
        pti_finding again = {0};
        PTI_TRY(pti_trial_run_pattern(trial, 0));
        for (int64_t k = 0; k < scratch->n_marked; k++)
            if (scratch->marked[k].place == finding->place &&
                !is_same(trial, scratch, pti_scratch_result(scratch, k),
                         pti_scratch_at(scratch, finding->place)))
                *finding = again;
    }
done:
    return status;
}

polytile_status pti_finding_look(pti_trial *trial, pti_finding *finding) {
    polytile_status status;
    *finding = (pti_finding){0};
    PTI_TRY(keep_results(trial));
    for (int p = 0; p < trial->n_patterns && finding->violation == POLYTILE_NO_VIOLATION; p++) {
        PTI_TRY(pti_trial_run_pattern(trial, p));
        look_at_run(trial, p, finding);
        PTI_TRY(confirm(trial, finding));
    }
done:
    return status;
}
