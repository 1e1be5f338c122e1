#include "launch/access_check/trial.h"

#include "base/mix.h"
#include "launch/access_check/record.h"
#include "launch/access_check/sampling.h"

#include <string.h>

/** The most integers of an operand that are changed in each box. */
enum { N_CHANGED = 8 };

/** A marked element of an operand, and what it is changed to; NULL: poison. */
typedef struct change {
    int operand;
    int64_t k;
    const unsigned char *value;
} change;

static bool holds_indices(const pti_operand *operand) {
    return operand->type >= POLYTILE_I8 && operand->type <= POLYTILE_U64 && operand->reads &&
           !operand->writes;
}

bool pti_dependence_is_possible(const pti_instance *instance) {
    bool is_possible = false;
    for (int o = 0; o < instance->n_operands; o++)
        is_possible = is_possible || holds_indices(&instance->operand[o]);
    return is_possible;
}

/** Draw a value of the array: an index to what another box of threads reads. */
static const unsigned char *draw_index_value(pti_dependence *dependence,
                                             const pti_shadow_copy *shadow) {
    return pti_values_get(&shadow->values, (uint64_t)pti_draw(&dependence->drawn, INT64_MAX));
}

/** Begin a box with different numbers: zeros or ones could hide that results depend on an index. */
static void begin_dependence(const pti_dependence *dependence, pti_trial *trial) {
    for (int o = 0; o < trial->instance->n_operands; o++) {
        pti_shadow_copy *shadow = &trial->shadow[o];
        pti_shadow_copy_begin(shadow, PTI_PATTERN_EVEN, INT64_MAX, PTI_PATTERN_EVEN);
        if (!dependence->is_recorded && pti_poison_has_fractions(shadow->operand->type) &&
            !shadow->operand->writes)
            pti_shadow_copy_poison_marked(shadow, PTI_PATTERN_EVEN);
    }
}

static void apply_change(const pti_trial *trial, const change *made) {
    const pti_shadow_copy *shadow = &trial->shadow[made->operand];
    const int64_t place = shadow->marked[made->k].place;
    const unsigned char *value =
        made->value != NULL ? made->value : pti_shadow_copy_poison(shadow, PTI_PATTERN_ODD, place);
    memcpy(pti_shadow_copy_at(shadow, place), value, (size_t)shadow->operand->element_bytes);
}

/** Run with up to two changes; NULL: none. */
static polytile_status run_changed(const pti_dependence *dependence, pti_trial *trial,
                                   const change *one, const change *other) {
    begin_dependence(dependence, trial);
    if (one != NULL)
        apply_change(trial, one);
    if (other != NULL)
        apply_change(trial, other);
    return pti_trial_run_strange(trial);
}

/* Kernels that record. */

static polytile_status record_touched(const pti_dependence *dependence, pti_trial *trial,
                                      const change *made, pti_record *touched) {
    polytile_status status;
    PTI_TRY(pti_record_make(trial->kernel->object.context, trial->instance->n_operands,
                            trial->shadow, touched));
    pti_record_confine(touched);
    pti_record *before = pti_record_set(touched);
    status = run_changed(dependence, trial, made, NULL);
    pti_record_set(before);
done:
    return status;
}

static void compare_touched(pti_dependence *dependence, const pti_trial *trial,
                            const pti_record *one, const pti_record *other) {
    for (int o = 0; o < trial->instance->n_operands; o++)
        dependence->depends[o] =
            dependence->depends[o] ||
            memcmp(one->touched[o], other->touched[o], (size_t)trial->shadow[o].n_elements) != 0;
}

/** Return the next touched element from a random one on; -1: none. */
static int64_t draw_touched(pti_dependence *dependence, const pti_shadow_copy *shadow,
                            const unsigned char *touched) {
    const int64_t n = shadow->n_marked, first = n > 0 ? pti_draw(&dependence->drawn, n) : 0;
    for (int64_t step = 0; step < n; step++) {
        const int64_t k = (first + step) % n;
        if (touched[shadow->marked[k].place])
            return k;
    }
    return -1;
}

static polytile_status look_at_touched(pti_dependence *dependence, pti_trial *trial, int operand,
                                       const pti_record *first) {
    const pti_shadow_copy *shadow = &trial->shadow[operand];
    polytile_status status = POLYTILE_OK;
    pti_record second = {0};
    for (int t = 0; t < N_CHANGED; t++) {
        change made = {.operand = operand,
                       .k = draw_touched(dependence, shadow, first->touched[operand])};
        if (made.k < 0)
            break;
        made.value = draw_index_value(dependence, shadow);
        PTI_TRY(record_touched(dependence, trial, &made, &second));
        compare_touched(dependence, trial, first, &second);
        pti_record_free(&second);
    }
done:
    pti_record_free(&second);
    return status;
}

static polytile_status look_recorded(pti_dependence *dependence, pti_trial *trial) {
    polytile_status status;
    pti_record first = {0};
    PTI_TRY(record_touched(dependence, trial, NULL, &first));
    for (int o = 0; o < trial->instance->n_operands; o++)
        if (holds_indices(&trial->instance->operand[o]))
            PTI_TRY(look_at_touched(dependence, trial, o, &first));
done:
    pti_record_free(&first);
    return status;
}

/* Kernels that do not record. */

static int64_t integer_of(const pti_operand *operand, const unsigned char *value) {
    const int n_unused = 64 - 8 * (int)operand->element_bytes;
    uint64_t bits = 0;
    memcpy(&bits, value, (size_t)operand->element_bytes);
    return pti_poison_has_sign(operand->type) ? (int64_t)(bits << n_unused) >> n_unused
                                              : (int64_t)bits;
}

/** Return the first marked element with an index along the first dimension; -1: none. */
static int64_t find_marked_at_index(const pti_shadow_copy *shadow, int64_t index) {
    const polytile_range *range = &shadow->array->domain.range[0];
    if (index < range->lo || index > range->hi)
        return -1;
    const int64_t row_bytes = shadow->array->layout.stride_bytes[0];
    for (int64_t k = 0; k < shadow->n_marked; k++)
        if (shadow->marked[k].source_bytes == (index - range->lo) * row_bytes)
            return k;
    return -1;
}

/** Find out whether a result depends on an element, with an integer changed or not. A run that ends
 * before it returns cannot be compared. */
static polytile_status find_whether_matters(const pti_dependence *dependence, pti_trial *trial,
                                            const change *integer, const change *to, bool *matters,
                                            bool *is_known) {
    polytile_status status;
    *matters = *is_known = false;
    PTI_TRY(run_changed(dependence, trial, integer, NULL));
    *is_known = !pti_trial_has_ended(trial);
    if (!*is_known)
        return POLYTILE_OK;
    PTI_TRY(pti_sampling_keep_results(trial));
    PTI_TRY(run_changed(dependence, trial, to, integer));
    *matters = pti_sampling_has_changed(trial);
done:
    return status;
}

/** Find out whether a result depends on an element only when another one is changed. */
static polytile_status compare_results(pti_dependence *dependence, pti_trial *trial,
                                       const change *integer, const change *to) {
    bool matters, mattered, is_known;
    polytile_status status;
    PTI_TRY(find_whether_matters(dependence, trial, integer, to, &matters, &is_known));
    if (!matters)
        return POLYTILE_OK;
    PTI_TRY(find_whether_matters(dependence, trial, NULL, to, &mattered, &is_known));
    dependence->depends[to->operand] = is_known && !mattered;
done:
    return status;
}

/** Try the element that an integer names as an index, and the one before, if it ends a range. */
static polytile_status look_where_it_points(pti_dependence *dependence, pti_trial *trial,
                                            const change *integer, int operand) {
    const pti_shadow_copy *shadow = &trial->shadow[operand];
    const int64_t index = integer_of(&trial->instance->operand[integer->operand], integer->value);
    polytile_status status = POLYTILE_OK;
    for (int64_t before = 0; before < 2 && !dependence->depends[operand]; before++) {
        const change to = {.operand = operand, .k = find_marked_at_index(shadow, index - before)};
        const bool is_itself = operand == integer->operand && to.k == integer->k;
        if (to.k >= 0 && !is_itself)
            PTI_TRY(compare_results(dependence, trial, integer, &to));
    }
done:
    return status;
}

static polytile_status look_at_results(pti_dependence *dependence, pti_trial *trial, int operand) {
    const pti_shadow_copy *shadow = &trial->shadow[operand];
    polytile_status status = POLYTILE_OK;
    for (int t = 0; t < N_CHANGED && shadow->n_marked > 0; t++) {
        const change integer = {.operand = operand,
                                .k = pti_draw(&dependence->drawn, shadow->n_marked),
                                .value = draw_index_value(dependence, shadow)};
        for (int o = 0; o < trial->instance->n_operands; o++)
            if (!dependence->depends[o] && !trial->instance->operand[o].writes)
                PTI_TRY(look_where_it_points(dependence, trial, &integer, o));
    }
done:
    return status;
}

polytile_status pti_dependence_look(pti_dependence *dependence, pti_trial *trial) {
    polytile_status status = POLYTILE_OK;
    if (dependence->is_recorded)
        return look_recorded(dependence, trial);
    for (int o = 0; o < trial->instance->n_operands; o++)
        if (holds_indices(&trial->instance->operand[o]))
            PTI_TRY(look_at_results(dependence, trial, o));
done:
    return status;
}
