#include "launch/access_check/locate.h"

static int64_t count_places(const pti_trial *trial) {
    int64_t n = 0;
    for (int o = 0; o < trial->instance->n_operands; o++)
        n += trial->scratch[o].n_elements;
    return n;
}

static const unsigned char *first_result(const pti_scratch *scratch, int64_t place) {
    int64_t k = 0;
    while (scratch->marked[k].place != place)
        k++;
    return pti_scratch_result(scratch, k);
}

/** Whether the result is that of pattern 0 when the first n places have the other one. */
static polytile_status try_first(pti_trial *trial, const pti_finding *finding, int64_t n,
                                 bool *is_first) {
    const pti_scratch *scratch = &trial->scratch[finding->operand];
    polytile_status status = pti_trial_run_mixed(trial, (int)finding->pattern, n, PTI_PATTERN_EVEN);
    *is_first = pti_finding_is_same(trial, scratch, first_result(scratch, finding->place),
                                    pti_scratch_at(scratch, finding->place));
    return status;
}

/** Which copy a place is of, counted through all of them, and which it is there. */
static void find_copy(const pti_trial *trial, int64_t position, int *operand, int64_t *place) {
    *operand = 0;
    while (position >= trial->scratch[*operand].n_elements)
        position -= trial->scratch[(*operand)++].n_elements;
    *place = position;
}

polytile_status pti_locate_read(pti_trial *trial, const pti_finding *finding, int *operand,
                                int64_t *place) {
    int64_t same = 0, differs = count_places(trial);
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
