#ifndef POLYTILE_ACCESS_BIND_MEET_H
#define POLYTILE_ACCESS_BIND_MEET_H

#include "access/footprint/instance.h"
#include "base/context.h"

/** Two threads that meet at an element: the first one writes it, the second one touches it. */
typedef struct pti_meeting {
    bool is_found;
    bool are_told_apart; /* what they look up shows that none meet; no element was compared */
    int access[2];       /* of the declaration, by which they do */
    int64_t thread[2][POLYTILE_MAX_DIMS];
    int64_t element[POLYTILE_MAX_DIMS];
} pti_meeting;

/** Return whether threads write elements of an operand that they look up, and do not combine into
 * them. */
bool pti_operand_is_written_by_lookup(const pti_instance *instance, int operand);

/**
 * Find two threads of an inspected launch that meet at an element of such an operand.
 *
 * One pass over what threads look up is enough where that shows that none meet: each element is
 * gathered once, or ranges follow one another. Else it goes through all elements of all threads.
 * Both take a bit for each element of the array, and say with POLYTILE_LOG=info how long.
 *
 * Errors  NO_MEMORY.
 */
polytile_status pti_inspection_find_meeting(polytile_context *ctx, const pti_instance *instance,
                                            int operand, pti_meeting *meeting);

#endif
