#include "launch/access_check/sampling.h"

#include "base/checked.h"
#include "launch/access_check/element.h"

#include <stdlib.h>
#include <string.h>

/** Elements of an operand that are tried, about. */
enum { N_TRIED = 256 };

/** What stands in for an element's value, one after the other until a result changes. The last one
 * is for elements that may be written: what looks at one only to see whether to write it may do so
 * for one sign. */
typedef enum stand_in {
    SMALL,
    SMALL_OTHER,
    OF_ANOTHER_ELEMENT,
    OF_A_THIRD,
    ZERO,
    MINUS_ONE,
    N_STAND_INS,
} stand_in;

/** Of these are enough to show nearly all elements that matter. */
enum { N_EARLY = OF_ANOTHER_ELEMENT };

/** In which order elements are tried: with the first values, then with all, then while what is only
 * read holds other numbers, all different, where they have fractions, and then others of the
 * arrays' integers, too. */
typedef enum pass {
    EARLY,
    LATE,
    FRACTIONS,
    OTHER_INTEGERS,
    N_PASSES,
} pass;

/** Values that are drawn until there is another one than an element's. */
enum { N_DRAWN = 8 };

static int64_t most_element_bytes(const pti_trial *trial) {
    int64_t most_bytes = 1;
    for (int o = 0; o < trial->instance->n_operands; o++)
        most_bytes = pti_max(most_bytes, trial->instance->operand[o].element_bytes);
    return most_bytes;
}

static bool has_all(const pti_sampling *of) {
    return of->n_tried != NULL && of->n_read != NULL && of->n_late != NULL && of->n_left != NULL &&
           of->tried != NULL && of->value != NULL;
}

polytile_status pti_sampling_make(const pti_trial *trial, pti_sampling *sampling) {
    size_t n_operands = (size_t)trial->instance->n_operands;
    int64_t value_bytes = most_element_bytes(trial);
    sampling->n_tried = calloc(n_operands, sizeof *sampling->n_tried);
    sampling->n_read = calloc(n_operands, sizeof *sampling->n_read);
    sampling->n_late = calloc(n_operands, sizeof *sampling->n_late);
    sampling->n_left = calloc(n_operands, sizeof *sampling->n_left);
    sampling->tried = calloc(n_operands * N_TRIED, sizeof *sampling->tried);
    sampling->value = calloc((size_t)value_bytes, 1);
    if (has_all(sampling))
        return POLYTILE_OK;
    pti_sampling_free(sampling);
    return pti_fail_memory(trial->kernel->object.context, "counts of accesses",
                           (double)(n_operands * N_TRIED * sizeof *sampling->tried));
}

void pti_sampling_free(pti_sampling *sampling) {
    free(sampling->n_tried);
    free(sampling->n_read);
    free(sampling->n_late);
    free(sampling->n_left);
    free(sampling->tried);
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
    bool has = pti_trial_has_ended(trial);
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

static bool is_written(const pti_scratch *scratch, int64_t k) {
    return scratch->mark[scratch->marked[k].place] & PTI_MARK_WRITTEN;
}

/** How many are tried in all. */
static int n_stand_ins(const pti_scratch *scratch, int64_t k, pass now) {
    if (now == EARLY)
        return N_EARLY;
    if (now >= FRACTIONS)
        return OF_A_THIRD;
    return is_written(scratch, k) && pti_poison_has_sign(scratch->operand->type) ? N_STAND_INS
                                                                                 : MINUS_ONE;
}

/** One of the array's values. */
static void draw_value(pti_sampling *sampling, const pti_scratch *scratch, const void *now) {
    const size_t element_bytes = (size_t)scratch->operand->element_bytes;
    for (int n = 0; n < N_DRAWN; n++) {
        memcpy(sampling->value,
               pti_values_get(&scratch->values, (uint64_t)draw(sampling, INT64_MAX)),
               element_bytes);
        if (memcmp(sampling->value, now, element_bytes) != 0)
            return;
    }
}

/** What a marked element gets. False: it has that already. */
static bool choose_value(pti_sampling *sampling, const pti_scratch *scratch, int64_t k,
                         stand_in kind) {
    const size_t element_bytes = (size_t)scratch->operand->element_bytes;
    const int64_t place = scratch->marked[k].place;
    const unsigned char *now = pti_scratch_at(scratch, place);
    const int pattern = kind == SMALL ? PTI_PATTERN_EVEN : PTI_PATTERN_ODD;
    if (kind == ZERO || kind == MINUS_ONE)
        memset(sampling->value, kind == ZERO ? 0 : 0xFF, element_bytes);
    else if (kind == OF_ANOTHER_ELEMENT || kind == OF_A_THIRD)
        draw_value(sampling, scratch, now);
    else
        memcpy(sampling->value, pti_scratch_poison(scratch, pattern, place), element_bytes);
    return memcmp(sampling->value, now, element_bytes) != 0;
}

static void begin(const pti_trial *trial, pass now) {
    for (int o = 0; o < trial->instance->n_operands; o++) {
        pti_scratch *scratch = &trial->scratch[o];
        const bool has_fractions = pti_poison_has_fractions(scratch->operand->type);
        pti_scratch_begin(scratch, PTI_PATTERN_EVEN, INT64_MAX, PTI_PATTERN_EVEN);
        if (scratch->operand->writes)
            continue;
        if (now >= FRACTIONS && has_fractions)
            pti_scratch_poison_marked(scratch, PTI_PATTERN_EVEN);
        if (now == OTHER_INTEGERS && !has_fractions)
            pti_scratch_poison_marked(scratch, PTI_PATTERN_DRAWN);
    }
}

/** Whether anything is written beside what is declared, as where the element says where to write. */
static bool has_strayed(const pti_trial *trial) {
    bool has = false;
    for (int o = 0; !has && o < trial->instance->n_operands; o++) {
        const pti_scratch *scratch = &trial->scratch[o];
        const int64_t n = scratch->operand->writes ? scratch->n_elements : 0;
        for (int64_t k = 0; !has && k < n; k++)
            has = scratch->mark[k] == 0 &&
                  !pti_element_equals(pti_scratch_at(scratch, k),
                                      pti_scratch_poison(scratch, PTI_PATTERN_EVEN, k),
                                      scratch->operand->element_bytes);
    }
    return has;
}

/** Run with another value of an element; is_read: a result has changed. */
static polytile_status try_value(pti_sampling *sampling, pti_trial *trial, pti_tried *tried,
                                 stand_in kind, pass now) {
    const pti_scratch *scratch = &trial->scratch[tried->operand];
    const int64_t place = scratch->marked[tried->k].place;
    polytile_status status = POLYTILE_OK;
    begin(trial, now);
    if (!choose_value(sampling, scratch, tried->k, kind))
        return POLYTILE_OK;
    memcpy(pti_scratch_at(scratch, place), sampling->value,
           (size_t)scratch->operand->element_bytes);
    PTI_TRY(pti_trial_run_strange(trial));
    tried->is_read = pti_sampling_has_changed(trial) || has_strayed(trial);
done:
    return status;
}

static polytile_status try_element(pti_sampling *sampling, pti_trial *trial, pti_tried *tried,
                                   pass now) {
    const pti_scratch *scratch = &trial->scratch[tried->operand];
    const int n_kinds = n_stand_ins(scratch, tried->k, now);
    polytile_status status = POLYTILE_OK;
    for (int kind = now == LATE ? N_EARLY : 0; !tried->is_read && kind < n_kinds; kind++)
        PTI_TRY(try_value(sampling, trial, tried, (stand_in)kind, now));
    if (!tried->is_read)
        return POLYTILE_OK;
    sampling->n_read[tried->operand]++;
    sampling->n_late[tried->operand] += now != EARLY;
    sampling->n_left[tried->operand] += is_left(sampling, scratch, tried->k);
    if (now == OTHER_INTEGERS)
        sampling->depends[tried->operand] = true;
done:
    return status;
}

/** Elements that may be written are judged by what the program does with them. */
static bool is_due(const pti_sampling *sampling, const pti_trial *trial, const pti_tried *tried,
                   pass now) {
    if (now == EARLY)
        return true;
    return !tried->is_read && !sampling->depends[tried->operand] &&
           (now == LATE || !is_written(&trial->scratch[tried->operand], tried->k));
}

static bool any_due(const pti_sampling *sampling, const pti_trial *trial, pass now) {
    bool any = false;
    for (int64_t t = 0; !any && t < sampling->n_in_box; t++)
        any = is_due(sampling, trial, &sampling->tried[t], now);
    return any;
}

/** Whether what is only read is other than in the passes before. */
static bool has_backdrop(const pti_trial *trial, pass now) {
    bool has = now <= LATE;
    for (int o = 0; o < trial->instance->n_operands; o++) {
        const pti_operand *operand = &trial->instance->operand[o];
        has = has ||
              (!operand->writes && pti_poison_has_fractions(operand->type) == (now == FRACTIONS));
    }
    return has;
}

static polytile_status try_all(pti_sampling *sampling, pti_trial *trial, pass now) {
    polytile_status status = POLYTILE_OK;
    if (!any_due(sampling, trial, now) || !has_backdrop(trial, now))
        return POLYTILE_OK;
    begin(trial, now);
    PTI_TRY(now <= LATE ? pti_trial_run(trial) : pti_trial_run_strange(trial));
    if (now > LATE && pti_trial_has_ended(trial))
        return POLYTILE_OK;
    PTI_TRY(pti_sampling_keep_results(trial));
    for (int64_t t = 0; t < sampling->n_in_box; t++)
        if (is_due(sampling, trial, &sampling->tried[t], now))
            PTI_TRY(try_element(sampling, trial, &sampling->tried[t], now));
done:
    return status;
}

static void choose_elements(pti_sampling *sampling, const pti_trial *trial, int operand) {
    const pti_scratch *scratch = &trial->scratch[operand];
    int64_t n = pti_min(pti_ceil_div(N_TRIED, sampling->n_boxes), scratch->n_marked);
    for (int64_t t = 0; t < n; t++) {
        int64_t k = n == scratch->n_marked ? t : draw(sampling, scratch->n_marked);
        if (!(scratch->mark[scratch->marked[k].place] & PTI_MARK_READ))
            continue;
        sampling->tried[sampling->n_in_box++] = (pti_tried){operand, k, false};
        sampling->n_tried[operand]++;
    }
}

polytile_status pti_sampling_try(pti_sampling *sampling, pti_trial *trial) {
    sampling->n_in_box = 0;
    if (!pti_trial_may_be_strange(trial) || draw(sampling, sampling->n_boxes) >= N_TRIED)
        return POLYTILE_OK;
    for (int o = 0; o < trial->instance->n_operands; o++)
        if (!trial->instance->operand[o].reduces &&
            (!sampling->only_updates || trial->instance->operand[o].writes))
            choose_elements(sampling, trial, o);
    return try_all(sampling, trial, EARLY);
}

bool pti_sampling_is_open(const pti_sampling *sampling) {
    bool is_open = false;
    for (int64_t t = 0; t < sampling->n_in_box; t++) {
        const pti_tried *tried = &sampling->tried[t];
        is_open = is_open || (!tried->is_read && !sampling->depends[tried->operand]);
    }
    return is_open;
}

polytile_status pti_sampling_try_again(pti_sampling *sampling, pti_trial *trial) {
    polytile_status status = POLYTILE_OK;
    for (int now = LATE; now < N_PASSES; now++)
        PTI_TRY(try_all(sampling, trial, (pass)now));
done:
    return status;
}
