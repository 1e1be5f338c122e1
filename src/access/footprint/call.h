#ifndef POLYTILE_ACCESS_FOOTPRINT_CALL_H
#define POLYTILE_ACCESS_FOOTPRINT_CALL_H

#include "access/footprint/instance.h"

/** Return the last operand by which a call has an array; -1: none. */
static inline int pti_call_find_operand(const pti_call *call, int array) {
    int operand = call->instance->n_operands - 1;
    while (operand >= 0 && call->array[operand] != array)
        operand--;
    return operand;
}

/** Return whether a call has an array by some operand. */
static inline bool pti_call_has_array(const pti_call *call, int array) {
    return pti_call_find_operand(call, array) >= 0;
}

/** Return whether a call writes an array. */
static inline bool pti_call_writes(const pti_call *call, int array) {
    for (int o = 0; o < call->instance->n_operands; o++)
        if (call->array[o] == array && call->instance->operand[o].writes)
            return true;
    return false;
}

#endif
