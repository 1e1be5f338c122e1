#include "distribute/policy/counter.h"

static polytile_status take_within(pti_counter *counter, int64_t n, int64_t *before) {
    pti_counter_within *within = (pti_counter_within *)counter;
    *before = within->n_taken;
    within->n_taken += n;
    return POLYTILE_OK;
}

pti_counter_within pti_counter_of_one_process(void) {
    static const pti_counter_functions functions = {.take = take_within};
    return (pti_counter_within){.counter = {.functions = &functions}};
}
