#ifndef POLYTILE_LAUNCH_ACCESS_CHECK_DEPENDENCE_H
#define POLYTILE_LAUNCH_ACCESS_CHECK_DEPENDENCE_H

#include "launch/access_check/trial.h"

/** Which operands are read where data say, as a sparse matrix by its stored indices. Their sections
 * cannot be narrower than all that the data may say. */
typedef struct pti_dependence {
    bool *depends;    /* of each operand; borrowed */
    bool is_recorded; /* the kernel records what it reaches */
    uint64_t drawn;
} pti_dependence;

/** Return whether a launch reads integers, which may be indices. */
bool pti_dependence_is_possible(const pti_instance *instance);

/**
 * Search, in the threads of a trial, for operands of which other elements are read when an integer
 * changes.
 *
 * An integer gets the value of another one of its array, since it may be an index. If the kernel
 * does not record, the elements to which that value points are changed as well: one that matters
 * only then is read because of it.
 * Errors  NO_MEMORY, those of the device.
 */
polytile_status pti_dependence_look(pti_dependence *of, pti_trial *trial);

#endif
