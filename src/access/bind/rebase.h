#ifndef POLYTILE_ACCESS_BIND_REBASE_H
#define POLYTILE_ACCESS_BIND_REBASE_H

#include "access/footprint/instance.h"
#include "base/context.h"

/**
 * Rewrite an instance over views into one over the arrays that have their elements, so that
 * planners need not know that there are views. What the program gave stays with it
 * (pti_instance.given).
 *
 * Threads touch the same elements. A section of a view becomes one of the base: dimensions that
 * were one in the base are one again. Where that is no strided interval, or where the view clips it
 * and the base would not, the section is not exact, and is one that contains it.
 *
 * Shapes  given: one an operand, as the instance was created with, NULL for scratch; planned: one
 *         an operand, given[o] or its base. Nothing happens if all are the same.
 * Errors  INVALID (a view of which indices of its base cannot be told; a view beside another name
 *         of its base of which one is written), DECLARATION (a section that names indices between
 *         those of a view), UNSUPPORTED (as pti_instance_create(); a team kernel with a view),
 *         OVERFLOW, NO_MEMORY. *instance is then as it was.
 */
polytile_status pti_instance_rebase(polytile_context *ctx, polytile_array *const *given,
                                    polytile_array *const *planned, pti_instance **instance);

/** Return whether two instances of one kernel were given the same launch domain and views of the
 * same indices in the same places of their bases. */
bool pti_instance_is_given_as(const pti_instance *one, const pti_instance *other);

#endif
