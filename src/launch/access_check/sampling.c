#include "launch/access_check/sampling.h"

#include "base/checked.h"

#include <stdlib.h>
#include <string.h>

/** Elements of an operand that are tried, about, and values that each is given. */
enum { N_TRIED = 256, N_VALUES = 3 };

polytile_status pti_sampling_make(polytile_context *ctx, int n_operands, pti_sampling *sampling) {
    sampling->n_tried = calloc((size_t)n_operands, sizeof *sampling->n_tried);
    sampling->n_read = calloc((size_t)n_operands, sizeof *sampling->n_read);
    if (sampling->n_tried != NULL && sampling->n_read != NULL)
        return POLYTILE_OK;
    pti_sampling_free(sampling);
    return pti_fail_memory(ctx, "counts of accesses", (double)n_operands * sizeof(int64_t));
}

void pti_sampling_free(pti_sampling *sampling) {
    free(sampling->n_tried);
    free(sampling->n_read);
    *sampling = (pti_sampling){0};
}

/** Any number below n. */
static int64_t draw(pti_sampling *sampling, int64_t n) {
    sampling->drawn =
        sampling->drawn * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int64_t)((sampling->drawn >> 33) % (uint64_t)n);
}

static polytile_status keep_results(const pti_trial *trial) {
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

/** Whether any written element is another than it was; the one that was changed counts if it does
 * not hold what it was changed to. */
static bool has_changed(const pti_trial *trial, const pti_scratch *tried, int64_t place,
                        const void *value) {
    bool has = false;
    for (int o = 0; !has && o < trial->instance->n_operands; o++) {
        const pti_scratch *scratch = &trial->scratch[o];
        for (int64_t k = 0; !has && k < scratch->n_marked; k++) {
            int64_t at = scratch->marked[k].place;
            bool is_left = scratch == tried && at == place &&
                           memcmp(pti_scratch_at(scratch, at), value,
                                  (size_t)scratch->operand->element_bytes) == 0;
            bool counts = scratch->mark[at] & PTI_MARK_WRITTEN && !is_left;
            has = counts &&
                  !pti_poison_is_same(scratch->operand->type, scratch->operand->element_bytes,
                                      pti_scratch_result(scratch, k), pti_scratch_at(scratch, at));
        }
    }
    return has;
}

/** Give a marked element another value, which is returned: that of another one, or a small
 * number. */
static const void *change(pti_sampling *sampling, const pti_scratch *scratch, int64_t k,
                          int value) {
    size_t element_bytes = (size_t)scratch->operand->element_bytes;
    const pti_marked *other = &scratch->marked[draw(sampling, scratch->n_marked)];
    int64_t place = scratch->marked[k].place;
    const void *from = value < 2 ? (const void *)pti_scratch_poison(scratch, value, place)
                                 : (const char *)scratch->array->data + other->source_bytes;
    memcpy(pti_scratch_at(scratch, place), from, element_bytes);
    return from;
}

static polytile_status try_element(pti_sampling *sampling, pti_trial *trial, int operand, int64_t k,
                                   bool *is_read) {
    polytile_status status = POLYTILE_OK;
    const pti_scratch *scratch = &trial->scratch[operand];
    *is_read = false;
    for (int value = 0; !*is_read && value < N_VALUES; value++) {
        for (int o = 0; o < trial->instance->n_operands; o++)
            pti_scratch_begin(&trial->scratch[o], 0, INT64_MAX, 0);
        const void *now = change(sampling, scratch, k, value);
        PTI_TRY(pti_trial_run(trial));
        *is_read = has_changed(trial, scratch, scratch->marked[k].place, now);
    }
done:
    return status;
}

static polytile_status try_operand(pti_sampling *sampling, pti_trial *trial, int operand) {
    const pti_scratch *scratch = &trial->scratch[operand];
    int64_t n = pti_min(pti_ceil_div(N_TRIED, sampling->n_boxes), scratch->n_marked);
    polytile_status status = POLYTILE_OK;
    for (int64_t t = 0; t < n; t++) {
        int64_t k = n == scratch->n_marked ? t : draw(sampling, scratch->n_marked);
        bool is_read;
        if (!(scratch->mark[scratch->marked[k].place] & PTI_MARK_READ))
            continue;
        PTI_TRY(try_element(sampling, trial, operand, k, &is_read));
        sampling->n_tried[operand]++;
        sampling->n_read[operand] += is_read;
    }
done:
    return status;
}

polytile_status pti_sampling_try(pti_sampling *sampling, pti_trial *trial) {
    polytile_status status = POLYTILE_OK;
    if (draw(sampling, sampling->n_boxes) >= N_TRIED)
        return POLYTILE_OK;
    PTI_TRY(pti_trial_run_pattern(trial, 0));
    PTI_TRY(keep_results(trial));
    for (int o = 0; o < trial->instance->n_operands; o++)
        if (!trial->instance->operand[o].reduces)
            PTI_TRY(try_operand(sampling, trial, o));
done:
    return status;
}
