#ifndef POLYTILE_ACCESS_FOOTPRINT_SECTION_H
#define POLYTILE_ACCESS_FOOTPRINT_SECTION_H

#include "base/context.h"

#include "access/footprint/instance.h"

/* The steps of making an instance that have files of their own. */

/** No index, step or value of an expression exceeds this, so that sums of two are safe. */
#define PTI_INDEX_LIMIT (INT64_C(1) << 61)

/**
 * One section of an instance from one access of its kernel: parameter values filled in, whole
 * dimensions made constants, ends put on the lattice of the step where that is possible everywhere.
 *
 * The instance's kernel_name, threads, parameters and the operand's domain are there already.
 *
 * Errors  OVERFLOW.
 */
polytile_status pti_section_fill(polytile_context *ctx, const pti_instance *instance,
                                 const pti_access *access, pti_section *section);

/**
 * The values of a declaration's parameters, in its own order.
 *
 * Errors  INVALID (unknown, repeated or nameless parameter), DECLARATION (one without a value).
 */
polytile_status pti_parameters_match(polytile_context *ctx, const polytile_declaration *declaration,
                                     int n_parameters, const polytile_parameter *parameters,
                                     int64_t *values);

/**
 * Refuse a thread whose section is not empty but has no element in its array.
 *
 * Accuses only with a witness in hand; sections that are not exact are not looked at.
 *
 * Errors  DECLARATION.
 */
polytile_status pti_outside_check(polytile_context *ctx, const pti_instance *instance);

/** The error for a thread whose section has no element in its array, and one that it has
 * elsewhere. */
polytile_status pti_outside_accuse(polytile_context *ctx, const pti_instance *instance, int operand,
                                   const int64_t *thread, const int64_t *element);

#endif
