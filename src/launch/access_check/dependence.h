#ifndef POLYTILE_LAUNCH_ACCESS_CHECK_DEPENDENCE_H
#define POLYTILE_LAUNCH_ACCESS_CHECK_DEPENDENCE_H

#include "launch/access_check/trial.h"

/** Which operands are read where the data say, as a matrix by the indices that are stored with it:
 * no section can be narrower than all that these may say. */
typedef struct pti_dependence {
    bool *depends;    /* of each operand; borrowed */
    bool is_recorded; /* the kernel tells of what it reaches for */
    uint64_t drawn;
} pti_dependence;

/** Whether a launch reads integers, which may be indices. */
bool pti_dependence_is_possible(const pti_instance *instance);

/**
 * Look for operands of which other elements are read when an integer is changed, in the threads
 * that a trial is aimed at.
 *
 * An integer gets the value of another one of its array, for it may be an index. Where the kernel
 * does not tell, the elements to which that would point are changed as well: one that matters now,
 * and did not before, is read because of it.
 * Errors  NO_MEMORY, those of the device.
 */
polytile_status pti_dependence_look(pti_dependence *of, pti_trial *trial);

#endif
