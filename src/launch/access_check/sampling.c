#include "launch/access_check/sampling.h"

#include "base/checked.h"
#include "base/mix.h"
#include "launch/access_check/element.h"

#include <stdlib.h>
#include <string.h>

/** About how many elements of an operand are tried. */
enum { N_TRIED = 256 };

/** What replaces an element's value, in turn until a result changes. The last one is for elements
 * that may be written: a kernel may read one only to decide, by its sign, whether to write it. */
typedef enum stand_in {
    SMALL,
    SMALL_OTHER,
    OF_ANOTHER_ELEMENT,
    OF_A_THIRD,
    ZERO,
    MINUS_ONE,
    N_STAND_INS,
} stand_in;

/** How many of these show nearly all elements that matter. */
enum { N_EARLY = OF_ANOTHER_ELEMENT };

/** The order of trials: with the first values, with all, with other, different numbers with
 * fractions in all that is only read, and then with other integers of the arrays, too. */
typedef enum pass {
    EARLY,
    LATE,
    FRACTIONS,
    OTHER_INTEGERS,
    N_PASSES,
} pass;

/** How many values are drawn to find another one than an element's. */
enum { N_DRAWN = 8 };

static int64_t most_element_bytes(const pti_trial *trial) {
    int64_t most_bytes = 1;
    for (int o = 0; o < trial->instance->n_operands; o++)
        most_bytes = pti_max(most_bytes, trial->instance->operand[o].element_bytes);
    return most_bytes;
}

static bool has_all(const pti_sampling *sampling) {
    return sampling->n_tried != NULL && sampling->n_read != NULL && sampling->n_late != NULL &&
           sampling->n_left != NULL && sampling->tried != NULL && sampling->value != NULL;
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

polytile_status pti_sampling_keep_results(const pti_trial *trial) {
    polytile_status status = POLYTILE_OK;
    for (int o = 0; o < trial->instance->n_operands; o++) {
        pti_shadow_copy *shadow = &trial->shadow[o];
        PTI_TRY(pti_shadow_copy_keep_results(trial->kernel->object.context, shadow));
        for (int64_t k = 0; k < shadow->n_marked; k++)
            memcpy(pti_shadow_copy_result(shadow, k),
                   pti_shadow_copy_at(shadow, shadow->marked[k].place),
                   (size_t)shadow->operand->element_bytes);
    }
done:
    return status;
}

static bool differs_from_kept(const pti_shadow_copy *shadow, int64_t k) {
    const int64_t place = shadow->marked[k].place;
    return shadow->mark[place] & PTI_MARK_WRITTEN &&
           !pti_poison_is_same(shadow->operand->type, shadow->operand->element_bytes,
                               pti_shadow_copy_result(shadow, k),
                               pti_shadow_copy_at(shadow, place));
}

bool pti_sampling_find_changed(const pti_trial *trial, int *operand, int64_t *place) {
    for (int o = 0; o < trial->instance->n_operands; o++) {
        const pti_shadow_copy *shadow = &trial->shadow[o];
        for (int64_t k = 0; k < shadow->n_marked; k++)
            if (differs_from_kept(shadow, k)) {
                *operand = o;
                *place = shadow->marked[k].place;
                return true;
            }
    }
    return false;
}

bool pti_sampling_has_changed(const pti_trial *trial) {
    int operand;
    int64_t place;
    return pti_trial_has_ended(trial) || pti_sampling_find_changed(trial, &operand, &place);
}

/** Return whether a changed element kept the changed value, and does not always get that value. */
static bool keeps_changed_value(const pti_sampling *sampling, const pti_shadow_copy *shadow,
                                int64_t k) {
    int64_t place = shadow->marked[k].place;
    size_t element_bytes = (size_t)shadow->operand->element_bytes;
    const unsigned char *now = pti_shadow_copy_at(shadow, place);
    return shadow->mark[place] & PTI_MARK_WRITTEN &&
           memcmp(now, sampling->value, element_bytes) == 0 &&
           memcmp(now, pti_shadow_copy_result(shadow, k), element_bytes) != 0;
}

static bool is_element_written(const pti_shadow_copy *shadow, int64_t k) {
    return shadow->mark[shadow->marked[k].place] & PTI_MARK_WRITTEN;
}

/** Return how many values are tried. */
static int n_stand_ins(const pti_shadow_copy *shadow, int64_t k, pass now) {
    if (now == EARLY)
        return N_EARLY;
    if (now >= FRACTIONS)
        return OF_A_THIRD;
    return is_element_written(shadow, k) && pti_poison_has_sign(shadow->operand->type) ? N_STAND_INS
                                                                                       : MINUS_ONE;
}

/** Draw one of the array's values. */
static void draw_value(pti_sampling *sampling, const pti_shadow_copy *shadow, const void *now) {
    const size_t element_bytes = (size_t)shadow->operand->element_bytes;
    for (int n = 0; n < N_DRAWN; n++) {
        memcpy(sampling->value,
               pti_values_get(&shadow->values, (uint64_t)pti_draw(&sampling->drawn, INT64_MAX)),
               element_bytes);
        if (memcmp(sampling->value, now, element_bytes) != 0)
            return;
    }
}

/** Choose the value of a marked element. False: it has that already. */
static bool choose_value(pti_sampling *sampling, const pti_shadow_copy *shadow, int64_t k,
                         stand_in kind) {
    const size_t element_bytes = (size_t)shadow->operand->element_bytes;
    const int64_t place = shadow->marked[k].place;
    const unsigned char *now = pti_shadow_copy_at(shadow, place);
    const int pattern = kind == SMALL ? PTI_PATTERN_EVEN : PTI_PATTERN_ODD;
    if (kind == ZERO || kind == MINUS_ONE)
        memset(sampling->value, kind == ZERO ? 0 : 0xFF, element_bytes);
    else if (kind == OF_ANOTHER_ELEMENT || kind == OF_A_THIRD)
        draw_value(sampling, shadow, now);
    else
        memcpy(sampling->value, pti_shadow_copy_poison(shadow, pattern, place), element_bytes);
    return memcmp(sampling->value, now, element_bytes) != 0;
}

static void begin_pass(const pti_trial *trial, pass now) {
    for (int o = 0; o < trial->instance->n_operands; o++) {
        pti_shadow_copy *shadow = &trial->shadow[o];
        const bool has_fractions = pti_poison_has_fractions(shadow->operand->type);
        pti_shadow_copy_begin(shadow, PTI_PATTERN_EVEN, INT64_MAX, PTI_PATTERN_EVEN);
        if (shadow->operand->writes)
            continue;
        if (now >= FRACTIONS && has_fractions)
            pti_shadow_copy_poison_marked(shadow, PTI_PATTERN_EVEN);
        if (now == OTHER_INTEGERS && !has_fractions)
            pti_shadow_copy_poison_marked(shadow, PTI_PATTERN_DRAWN);
    }
}

/** Return whether anything is written beside the declaration, as if the element said where to
 * write. */
static bool has_strayed(const pti_trial *trial) {
    bool has = false;
    for (int o = 0; !has && o < trial->instance->n_operands; o++) {
        const pti_shadow_copy *shadow = &trial->shadow[o];
        const int64_t n = shadow->operand->writes ? shadow->n_elements : 0;
        for (int64_t k = 0; !has && k < n; k++)
            has = shadow->mark[k] == 0 &&
                  !pti_element_equals(pti_shadow_copy_at(shadow, k),
                                      pti_shadow_copy_poison(shadow, PTI_PATTERN_EVEN, k),
                                      shadow->operand->element_bytes);
    }
    return has;
}

/** Run with another value of an element; is_read: a result has changed. */
static polytile_status try_value(pti_sampling *sampling, pti_trial *trial, pti_tried *tried,
                                 stand_in kind, pass now) {
    const pti_shadow_copy *shadow = &trial->shadow[tried->operand];
    const int64_t place = shadow->marked[tried->k].place;
    polytile_status status = POLYTILE_OK;
    begin_pass(trial, now);
    if (!choose_value(sampling, shadow, tried->k, kind))
        return POLYTILE_OK;
    memcpy(pti_shadow_copy_at(shadow, place), sampling->value,
           (size_t)shadow->operand->element_bytes);
    PTI_TRY(pti_trial_run_strange(trial));
    tried->is_read = pti_sampling_has_changed(trial) || has_strayed(trial);
done:
    return status;
}

static polytile_status try_element(pti_sampling *sampling, pti_trial *trial, pti_tried *tried,
                                   pass now) {
    const pti_shadow_copy *shadow = &trial->shadow[tried->operand];
    const int n_kinds = n_stand_ins(shadow, tried->k, now);
    polytile_status status = POLYTILE_OK;
    for (int kind = now == LATE ? N_EARLY : 0; !tried->is_read && kind < n_kinds; kind++)
        PTI_TRY(try_value(sampling, trial, tried, (stand_in)kind, now));
    if (!tried->is_read)
        return POLYTILE_OK;
    sampling->n_read[tried->operand]++;
    sampling->n_late[tried->operand] += now != EARLY;
    sampling->n_left[tried->operand] += keeps_changed_value(sampling, shadow, tried->k);
    if (now == OTHER_INTEGERS)
        sampling->depends[tried->operand] = true;
done:
    return status;
}

/** Return whether a pass tries an element. Ones that may be written are judged with the program's
 * values. */
static bool is_due(const pti_sampling *sampling, const pti_trial *trial, const pti_tried *tried,
                   pass now) {
    if (now == EARLY)
        return true;
    return !tried->is_read && !sampling->depends[tried->operand] &&
           (now == LATE || !is_element_written(&trial->shadow[tried->operand], tried->k));
}

static bool any_due(const pti_sampling *sampling, const pti_trial *trial, pass now) {
    bool any = false;
    for (int64_t t = 0; !any && t < sampling->n_in_box; t++)
        any = is_due(sampling, trial, &sampling->tried[t], now);
    return any;
}

/** Return whether a pass tries anything that those before did not: the first two always do, later
 * ones if what is only read can hold their numbers. */
static bool tries_anything_new(const pti_trial *trial, pass now) {
    bool has = now <= LATE;
    for (int o = 0; o < trial->instance->n_operands; o++) {
        const pti_operand *operand = &trial->instance->operand[o];
        has = has ||
              (!operand->writes && pti_poison_has_fractions(operand->type) == (now == FRACTIONS));
    }
    return has;
}

static polytile_status try_all_elements(pti_sampling *sampling, pti_trial *trial, pass now) {
    polytile_status status = POLYTILE_OK;
    if (!any_due(sampling, trial, now) || !tries_anything_new(trial, now))
        return POLYTILE_OK;
    begin_pass(trial, now);
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
    const pti_shadow_copy *shadow = &trial->shadow[operand];
    int64_t n = pti_min(pti_ceil_div(N_TRIED, sampling->n_boxes), shadow->n_marked);
    for (int64_t t = 0; t < n; t++) {
        int64_t k = n == shadow->n_marked ? t : pti_draw(&sampling->drawn, shadow->n_marked);
        if (!(shadow->mark[shadow->marked[k].place] & PTI_MARK_READ))
            continue;
        sampling->tried[sampling->n_in_box++] = (pti_tried){operand, k, false};
        sampling->n_tried[operand]++;
    }
}

polytile_status pti_sampling_try(pti_sampling *sampling, pti_trial *trial) {
    sampling->n_in_box = 0;
    if (!pti_trial_may_be_strange(trial) ||
        pti_draw(&sampling->drawn, sampling->n_boxes) >= N_TRIED)
        return POLYTILE_OK;
    for (int o = 0; o < trial->instance->n_operands; o++)
        if (!trial->instance->operand[o].reduces &&
            (!sampling->only_updates || trial->instance->operand[o].writes))
            choose_elements(sampling, trial, o);
    return try_all_elements(sampling, trial, EARLY);
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
        PTI_TRY(try_all_elements(sampling, trial, (pass)now));
done:
    return status;
}
