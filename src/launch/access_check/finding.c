#include "launch/access_check/finding.h"

#include "access/array/type.h"
#include "base/half.h"
#include "launch/access_check/element.h"

#include <math.h>
#include <string.h>

/** How often a result that seems to depend on poison is repeated. */
enum { N_REPEATED = 4 };

bool pti_finding_is_any(const pti_finding *finding) {
    return finding->violation != POLYTILE_NO_VIOLATION || finding->varies;
}

static void accuse_element(pti_finding *finding, polytile_violation violation, int operand,
                           int64_t place, int pattern) {
    if (finding->violation == POLYTILE_NO_VIOLATION)
        *finding = (pti_finding){
            .violation = violation, .operand = operand, .place = place, .pattern = pattern};
}

static double read_f16(const unsigned char *element) {
    uint16_t value;
    memcpy(&value, element, sizeof value);
    return (double)pti_half_to_float(value);
}

static double read_bf16(const unsigned char *element) {
    uint16_t value;
    memcpy(&value, element, sizeof value);
    return (double)pti_brain_to_float(value);
}

static double read_f32(const unsigned char *element) {
    float value;
    memcpy(&value, element, sizeof value);
    return (double)value;
}

static double read_f64(const unsigned char *element) {
    double value;
    memcpy(&value, element, sizeof value);
    return value;
}

/** Types in which combining rounds, with the tolerance: about half the digits. */
static const struct {
    polytile_type type;
    double (*read)(const unsigned char *element);
    double share;
} rounded[] = {{POLYTILE_F16, read_f16, 1.0 / 32},
               {POLYTILE_BF16, read_bf16, 1.0 / 8},
               {POLYTILE_F32, read_f32, 1e-4},
               {POLYTILE_F64, read_f64, 1e-8}};

/** Return the distance of two numbers, of one part or two parts, and the larger magnitude. */
static double distance_of(const unsigned char *one, const unsigned char *other, int n_parts,
                          int64_t part_bytes, double (*read)(const unsigned char *element),
                          double *largest) {
    double distance = 0, one_length = 0, other_length = 0;
    for (int p = 0; p < n_parts; p++) {
        const double a = read(one + p * part_bytes), b = read(other + p * part_bytes);
        distance = hypot(distance, a - b);
        one_length = hypot(one_length, a);
        other_length = hypot(other_length, b);
    }
    *largest = fmax(one_length, other_length);
    return distance;
}

/** Return whether the order of combining explains that two results of a reduction differ:
 * floating-point sums and products that differ in their last digits. */
static bool are_within_tolerance(polytile_role role, polytile_type type, const unsigned char *one,
                                 const unsigned char *other) {
    const int part = pti_type_part(type), n_parts = part < 0 ? 1 : 2;
    const polytile_type of_part = part < 0 ? type : part;
    for (size_t k = 0; k < sizeof rounded / sizeof *rounded; k++) {
        if (rounded[k].type != of_part || (role != POLYTILE_SUM && role != POLYTILE_PROD))
            continue;
        double largest;
        const double distance = distance_of(one, other, n_parts, polytile_type_get_bytes(of_part),
                                            rounded[k].read, &largest);
        return distance <= rounded[k].share * largest;
    }
    return false;
}

bool pti_finding_is_same(const pti_trial *trial, const pti_shadow_copy *shadow,
                         const unsigned char *one, const unsigned char *other) {
    const pti_operand *operand = shadow->operand;
    return pti_element_equals(one, other, operand->element_bytes) ||
           pti_poison_is_same(operand->type, operand->element_bytes, one, other) ||
           (!pti_trial_repeats(trial) && operand->reduces &&
            are_within_tolerance(operand->reduction, operand->type, one, other));
}

/** Return whether the bytes in which two runs differ hold the poison of each. */
static bool holds_poison(const pti_shadow_copy *shadow, int64_t k, int pattern) {
    int64_t place = shadow->marked[k].place;
    const unsigned char *first = pti_shadow_copy_result(shadow, k);
    const unsigned char *now = pti_shadow_copy_at(shadow, place);
    const unsigned char *first_poison = pti_shadow_copy_poison(shadow, PTI_PATTERN_EVEN, place);
    const unsigned char *poison = pti_shadow_copy_poison(shadow, pattern, place);
    bool is = !(shadow->mark[place] & PTI_MARK_READ) && !shadow->operand->fresh;
    for (int64_t b = 0; is && b < shadow->operand->element_bytes; b++)
        is = first[b] == now[b] || (first[b] == first_poison[b] && now[b] == poison[b]);
    return is;
}

/** Return whether other bytes of the element are written. */
static bool is_partly_left(const pti_shadow_copy *shadow, int64_t k, int pattern) {
    size_t element_bytes = (size_t)shadow->operand->element_bytes;
    int64_t place = shadow->marked[k].place;
    return memcmp(pti_shadow_copy_result(shadow, k),
                  pti_shadow_copy_poison(shadow, PTI_PATTERN_EVEN, place), element_bytes) != 0 ||
           memcmp(pti_shadow_copy_at(shadow, place), pti_shadow_copy_poison(shadow, pattern, place),
                  element_bytes) != 0;
}

/** Keep the result of the first pattern, or compare with it. */
static void look_at_written(const pti_trial *trial, int operand, int64_t k, int pattern,
                            pti_finding *finding) {
    const pti_shadow_copy *shadow = &trial->shadow[operand];
    int64_t place = shadow->marked[k].place;
    const unsigned char *now = pti_shadow_copy_at(shadow, place);
    if (pattern == PTI_PATTERN_EVEN)
        pti_element_copy(pti_shadow_copy_result(shadow, k), now, shadow->operand->element_bytes);
    else if (!pti_finding_is_same(trial, shadow, pti_shadow_copy_result(shadow, k), now))
        accuse_element(finding,
                       holds_poison(shadow, k, pattern) ? POLYTILE_LEAVES_UNWRITTEN
                                                        : POLYTILE_READS_UNDECLARED,
                       operand, place, pattern);
}

static bool is_unchanged(const pti_shadow_copy *shadow, const pti_marked *element) {
    return pti_element_equals(pti_shadow_copy_at(shadow, element->place),
                              (const char *)shadow->array->data + element->source_bytes,
                              shadow->operand->element_bytes);
}

/** Check that elements that are only read, and poison, are as they were. Poisons the declared
 * elements again, so that the whole copy must be the pattern. */
static void look_at_others(const pti_trial *trial, int operand, int pattern, pti_finding *finding) {
    const pti_shadow_copy *shadow = &trial->shadow[operand];
    size_t element_bytes = (size_t)shadow->operand->element_bytes;
    for (int64_t k = 0; k < shadow->n_marked; k++) {
        const pti_marked *element = &shadow->marked[k];
        if (!(shadow->mark[element->place] & (PTI_MARK_WRITTEN | PTI_MARK_SCRATCH)) &&
            !is_unchanged(shadow, element))
            accuse_element(finding, POLYTILE_WRITES_UNDECLARED, operand, element->place, pattern);
        pti_element_copy(pti_shadow_copy_at(shadow, element->place),
                         pti_shadow_copy_poison(shadow, pattern, element->place),
                         shadow->operand->element_bytes);
    }
    if (memcmp(shadow->memory.bytes, shadow->poison[pattern],
               (size_t)shadow->n_elements * element_bytes) == 0)
        return;
    int64_t place = 0;
    while (memcmp(pti_shadow_copy_at(shadow, place), pti_shadow_copy_poison(shadow, pattern, place),
                  element_bytes) == 0)
        place++;
    accuse_element(finding, POLYTILE_WRITES_UNDECLARED, operand, place, pattern);
}

/** Check one run. Writes beside the declaration go before results that differ. */
static void look_at_run(const pti_trial *trial, int pattern, pti_finding *finding) {
    pti_finding written = {0};
    for (int o = 0; o < trial->instance->n_operands; o++) {
        const pti_shadow_copy *shadow = &trial->shadow[o];
        for (int64_t k = 0; k < shadow->n_marked; k++)
            if (shadow->mark[shadow->marked[k].place] & PTI_MARK_WRITTEN)
                look_at_written(trial, o, k, pattern, finding);
        look_at_others(trial, o, pattern, &written);
    }
    if (written.violation != POLYTILE_NO_VIOLATION)
        *finding = written;
}

static polytile_status keep_results(const pti_trial *trial) {
    polytile_status status = POLYTILE_OK;
    for (int o = 0; o < trial->instance->n_operands; o++)
        PTI_TRY(pti_shadow_copy_keep_results(trial->kernel->object.context, &trial->shadow[o]));
done:
    return status;
}

static int64_t find_marked_at_place(const pti_shadow_copy *shadow, int64_t place) {
    int64_t k = 0;
    while (shadow->marked[k].place != place)
        k++;
    return k;
}

/** Confirm that an element is not written: it holds poison of random bits, too. */
static polytile_status confirm_left(pti_trial *trial, pti_finding *finding) {
    const pti_shadow_copy *shadow = &trial->shadow[finding->operand];
    int64_t k = find_marked_at_place(shadow, finding->place);
    polytile_status status;
    PTI_TRY(pti_trial_run_pattern(trial, PTI_PATTERN_NO_NUMBER));
    finding->is_partial = is_partly_left(shadow, k, PTI_PATTERN_NO_NUMBER);
    bool is_same =
        memcmp(pti_shadow_copy_result(shadow, k), pti_shadow_copy_at(shadow, finding->place),
               (size_t)shadow->operand->element_bytes) == 0;
    if (is_same || !holds_poison(shadow, k, PTI_PATTERN_NO_NUMBER))
        finding->violation = POLYTILE_READS_UNDECLARED;
done:
    return status;
}

/** Excuse results that vary by themselves. A reduction, whose order is free, is compared with a
 * tolerance from now on. Others say nothing of what was read; on the host they are reported. */
static void excuse_result(pti_trial *trial, const pti_shadow_copy *shadow, int64_t k,
                          pti_finding *finding) {
    trial->varies = true;
    finding->violation = POLYTILE_NO_VIOLATION;
    finding->varies =
        trial->own != NULL && !pti_finding_is_same(trial, shadow, pti_shadow_copy_result(shadow, k),
                                                   pti_shadow_copy_at(shadow, finding->place));
}

/** Confirm a read: the same poison gives the same result. */
static polytile_status confirm_read(pti_trial *trial, pti_finding *finding) {
    const pti_shadow_copy *shadow = &trial->shadow[finding->operand];
    int64_t k = find_marked_at_place(shadow, finding->place);
    polytile_status status = POLYTILE_OK;
    for (int n = 0; n < N_REPEATED && finding->violation == POLYTILE_READS_UNDECLARED; n++) {
        PTI_TRY(pti_trial_run_pattern(trial, PTI_PATTERN_EVEN));
        if (!pti_finding_is_same(trial, shadow, pti_shadow_copy_result(shadow, k),
                                 pti_shadow_copy_at(shadow, finding->place)))
            excuse_result(trial, shadow, k, finding);
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
