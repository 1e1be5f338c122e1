#ifndef POLYTILE_PARTITION_MEMORY_RECOVERY_H
#define POLYTILE_PARTITION_MEMORY_RECOVERY_H

#include "partition/schedule/schedule.h"

/**
 * Bring to the host what a schedule that failed cannot have harmed of what lay on the device
 * before.
 *
 * An array is saved if none of the operations that had begun writes it, or may have written over
 * what was newer there than on the host. The new schedule downloads this, and nothing else.
 *
 * n_begun: operations of the schedule, from its first, that may have begun; the others have not.
 * Shapes  is_saved: one an operand of the schedule's instance, all false; true of arrays of which
 *         something was newer and is saved whole.
 * Owns    The caller frees the result, which has the same instance; NULL when memory runs out.
 */
pti_schedule *pti_recovery_build(const pti_schedule *failed, int64_t n_begun, bool *is_saved);

#endif
