#ifndef POLYTILE_ACCESS_BIND_INSPECT_H
#define POLYTILE_ACCESS_BIND_INSPECT_H

#include "access/declare/declaration.h"
#include "access/footprint/indirection.h"

/* access/bind: bound launches made ready for planners. Views are rebased (rebase.h), sections
 * united (unite.h), and the inspector reads index arrays, and checks what they hold. */

/**
 * Inspect the index arrays of a launch, whose sections are filled in, and check what they hold.
 *
 * Does nothing for a declaration that looks nothing up. Reads index arrays on the host, here and
 * for each hull from then on: they must stay as they are until the launch is done. An array that a
 * queue has is read once, until pti_array_forget_indices().
 *
 * Errors  DECLARATION (an index array that is neither i32 nor i64; an element that is no index of
 *         the array in which it is looked up; a range whose upper end is more than one before its
 *         lower one: each with the thread, the elements and their values), INVALID (an index array
 *         that is not in the host's memory), UNSUPPORTED (a view with steps), OVERFLOW, NO_MEMORY.
 */
polytile_status pti_instance_inspect(polytile_context *ctx, const polytile_declaration *declaration,
                                     polytile_array *const *arrays, pti_instance *instance);

/** Refuse to run a launch that was inspected over arrays of the same domains in which index arrays
 * hold something else. arrays: one an operand. Errors: INVALID, NO_MEMORY. */
polytile_status pti_inspection_compare(polytile_context *ctx, const pti_instance *instance,
                                       polytile_array *const *arrays);

/** Check what a section looks up, once those sections are checked whose elements it looks up: a
 * step of pti_instance_inspect(). Errors: DECLARATION. */
polytile_status pti_inspection_check(polytile_context *ctx, const pti_instance *instance,
                                     const pti_section *section);

#endif
