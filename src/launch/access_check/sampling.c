#include "launch/access_check/sampling.h"

#include "base/checked.h"

#include <stdlib.h>
#include <string.h>

/** Elements of an operand that are tried, about. */
enum { N_TRIED = 256 };

/** What stands in for an element's value, one after the other until a result changes. The last two
 * are for elements that may be written: what looks at one only to see whether to write it may do so
 * for one sign, or for all but zero. */
typedef enum stand_in {
    SMALL,
    SMALL_OTHER,
    OF_ANOTHER_ELEMENT,
    ZERO,
    MINUS_ONE,
    N_STAND_INS,
} stand_in;

static int64_t most_element_bytes(const pti_trial *trial) {
    int64_t most_bytes = 1;
    for (int o = 0; o < trial->instance->n_operands; o++)
        most_bytes = pti_max(most_bytes, trial->instance->operand[o].element_bytes);
    return most_bytes;
}

polytile_status pti_sampling_make(const pti_trial *trial, pti_sampling *sampling) {
    size_t n_operands = (size_t)trial->instance->n_operands;
    int64_t value_bytes = most_element_bytes(trial);
    sampling->n_tried = calloc(n_operands, sizeof *sampling->n_tried);
    sampling->n_read = calloc(n_operands, sizeof *sampling->n_read);
    sampling->n_left = calloc(n_operands, sizeof *sampling->n_left);
    sampling->value = calloc((size_t)value_bytes, 1);
    if (sampling->n_tried != NULL && sampling->n_read != NULL && sampling->n_left != NULL &&
        sampling->value != NULL)
        return POLYTILE_OK;
    pti_sampling_free(sampling);
    return pti_fail_memory(trial->kernel->object.context, "counts of accesses",
                           3 * (double)n_operands * sizeof(int64_t) + (double)value_bytes);
}

void pti_sampling_free(pti_sampling *sampling) {
    free(sampling->n_tried);
    free(sampling->n_read);
    free(sampling->n_left);
    free(sampling->value);
    *sampling = (pti_sampling){0};
}

/** Any number below n. */
static int64_t draw(pti_sampling *sampling, int64_t n) {
    sampling->drawn =
        sampling->drawn * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int64_t)((sampling->drawn >> 33) % (uint64_t)n);
}

polytile_status pti_sampling_keep_results(const pti_trial *trial) {
    polytile_status status = POLYTILE_OK;
    for (int o = 0; o < trial->instance->n_operands; o++) {
        pti_scratch *scratch = &trial->scratch[o];
        PTI_TRY(pti_scratch_keep_results(trial->kernel->object.context, scratch));
        for (int64_t k = 0; k < scratch->n_marked; k++)
            memcpy(pti_scratch_result(scratch, k),
                   pti_scratch_at(scratch, scratch->marked[k].place),
                   (size_t)scratch->operand->element_bytes);
    }
done:
    return status;
}

bool pti_sampling_has_changed(const pti_trial *trial) {
    bool has = false;
    for (int o = 0; !has && o < trial->instance->n_operands; o++) {
        const pti_scratch *scratch = &trial->scratch[o];
        for (int64_t k = 0; !has && k < scratch->n_marked; k++) {
            int64_t at = scratch->marked[k].place;
            has = scratch->mark[at] & PTI_MARK_WRITTEN &&
                  !pti_poison_is_same(scratch->operand->type, scratch->operand->element_bytes,
                                      pti_scratch_result(scratch, k), pti_scratch_at(scratch, at));
        }
    }
    return has;
}

/** Whether a marked element that was changed came out as what it was changed to, and not as it does
 * in any case. */
static bool is_left(const pti_sampling *sampling, const pti_scratch *scratch, int64_t k) {
    int64_t place = scratch->marked[k].place;
    size_t element_bytes = (size_t)scratch->operand->element_bytes;
    const unsigned char *now = pti_scratch_at(scratch, place);
    return scratch->mark[place] & PTI_MARK_WRITTEN &&
           memcmp(now, sampling->value, element_bytes) == 0 &&
           memcmp(now, pti_scratch_result(scratch, k), element_bytes) != 0;
}

static int n_stand_ins(const pti_scratch *scratch, int64_t k) {
    if (!(scratch->mark[scratch->marked[k].place] & PTI_MARK_WRITTEN))
        return ZERO;
    return pti_poison_has_sign(scratch->operand->type) ? N_STAND_INS : MINUS_ONE;
}

/** What a marked element gets. */
static void choose_value(pti_sampling *sampling, const pti_scratch *scratch, int64_t k,
                         stand_in kind) {
    size_t element_bytes = (size_t)scratch->operand->element_bytes;
    int64_t place = scratch->marked[k].place;
    const pti_marked *other = &scratch->marked[draw(sampling, scratch->n_marked)];
    if (kind == ZERO || kind == MINUS_ONE)
        memset(sampling->value, kind == ZERO ? 0 : 0xFF, element_bytes);
    else if (kind == OF_ANOTHER_ELEMENT)
        memcpy(sampling->value, (const char *)scratch->array->data + other->source_bytes,
               element_bytes);
    else
        memcpy(
            sampling->value,
            pti_scratch_poison(scratch, kind == SMALL ? PTI_PATTERN_EVEN : PTI_PATTERN_ODD, place),
            element_bytes);
}

static polytile_status try_value(pti_sampling *sampling, pti_trial *trial, int operand, int64_t k,
                                 stand_in kind) {
    const pti_scratch *scratch = &trial->scratch[operand];
    for (int o = 0; o < trial->instance->n_operands; o++)
        pti_scratch_begin(&trial->scratch[o], PTI_PATTERN_EVEN, INT64_MAX, PTI_PATTERN_EVEN);
    choose_value(sampling, scratch, k, kind);
    memcpy(pti_scratch_at(scratch, scratch->marked[k].place), sampling->value,
           (size_t)scratch->operand->element_bytes);
    return pti_trial_run(trial);
}

static polytile_status try_element(pti_sampling *sampling, pti_trial *trial, int operand,
                                   int64_t k) {
    const pti_scratch *scratch = &trial->scratch[operand];
    int n_kinds = n_stand_ins(scratch, k);
    polytile_status status = POLYTILE_OK;
    bool is_read = false;
    for (int kind = 0; !is_read && kind < n_kinds; kind++) {
        PTI_TRY(try_value(sampling, trial, operand, k, (stand_in)kind));
        is_read = pti_sampling_has_changed(trial);
    }
    sampling->n_tried[operand]++;
    sampling->n_read[operand] += is_read;
    sampling->n_left[operand] += is_read && is_left(sampling, scratch, k);
done:
    return status;
}

static polytile_status try_operand(pti_sampling *sampling, pti_trial *trial, int operand) {
    const pti_scratch *scratch = &trial->scratch[operand];
    int64_t n = pti_min(pti_ceil_div(N_TRIED, sampling->n_boxes), scratch->n_marked);
    polytile_status status = POLYTILE_OK;
    for (int64_t t = 0; t < n; t++) {
        int64_t k = n == scratch->n_marked ? t : draw(sampling, scratch->n_marked);
        if (scratch->mark[scratch->marked[k].place] & PTI_MARK_READ)
            PTI_TRY(try_element(sampling, trial, operand, k));
    }
done:
    return status;
}

polytile_status pti_sampling_try(pti_sampling *sampling, pti_trial *trial) {
    polytile_status status = POLYTILE_OK;
    if (draw(sampling, sampling->n_boxes) >= N_TRIED)
        return POLYTILE_OK;
    PTI_TRY(pti_trial_run_pattern(trial, PTI_PATTERN_EVEN));
    PTI_TRY(pti_sampling_keep_results(trial));
    for (int o = 0; o < trial->instance->n_operands; o++)
        if (!trial->instance->operand[o].reduces)
            PTI_TRY(try_operand(sampling, trial, o));
done:
    return status;
}
