#ifndef POLYTILE_ACCESS_FOOTPRINT_SECTION_H
#define POLYTILE_ACCESS_FOOTPRINT_SECTION_H

#include "base/context.h"

#include "access/footprint/instance.h"

/* The steps of making an instance that have files of their own. */

/** No index, step or value of an expression exceeds this, so that sums of two are safe. */
#define PTI_INDEX_LIMIT (INT64_C(1) << 61)

/** Allocate an instance with a declaration's names, and nothing filled in. NULL: no memory. */
pti_instance *pti_instance_allocate(const polytile_declaration *declaration);

/**
 * Fill one section of an instance from an access of its kernel: with parameter values, constants
 * for whole dimensions, and ends on the lattice of the step where all threads allow it.
 *
 * The instance has its kernel_name, threads and parameters, and the operand its domain.
 *
 * Errors  OVERFLOW.
 */
polytile_status pti_section_fill(polytile_context *ctx, const pti_instance *instance,
                                 const pti_access *access, pti_section *section);

/** Fill in an expression that stands in dimension d of a section. Errors: OVERFLOW. */
polytile_status pti_section_fill_affine(polytile_context *ctx, const pti_instance *instance,
                                        const pti_section *section, int d,
                                        const polytile_affine *declared, pti_affine *affine);

/**
 * Put a section whose subscripts are filled in into its normal form, and find out what it is like.
 *
 * Errors  OVERFLOW (a subscript leaves +-PTI_INDEX_LIMIT for some thread).
 */
polytile_status pti_section_settle(polytile_context *ctx, const pti_instance *instance,
                                   pti_section *section);

/** Return whether a section may be empty for some thread of a box, the array's ends aside. */
bool pti_section_may_be_empty(const pti_section *section, const polytile_domain *threads);

/** Note that an operand has a section, by its role. */
void pti_operand_add_role(pti_operand *operand, const pti_section *section);

/** Return whether what some of a box's threads write of an operand may take more boxes to say than
 * PTI_MAX_WRITE_BOXES. */
bool pti_operand_writes_unknown(const pti_instance *instance, const pti_operand *operand,
                                const polytile_domain *threads);

/** Find what a kernel does with an operand whose elements are known, as its roles say. */
void pti_operand_set_known(const pti_instance *instance, pti_operand *operand);

/** Forget what the kernel does with an operand. */
void pti_operand_forget_roles(pti_operand *operand);

/**
 * What the kernel does with an operand, out of its sections, which are filled in.
 *
 * Errors  INVALID, DECLARATION, UNSUPPORTED: as pti_instance_create().
 */
polytile_status pti_operand_fill_roles(polytile_context *ctx, const pti_instance *instance,
                                       pti_operand *operand);

/** Find what the kernel does with each operand. Errors: as pti_operand_fill_roles(). */
polytile_status pti_instance_fill_roles(polytile_context *ctx, pti_instance *instance);

/**
 * Refuse a thread whose section is not empty but has no element in its array. The section is as
 * declared: those that its edges make of it have more elements where they are many.
 *
 * Refuses only with a witness; sections that are not exact are not checked.
 *
 * Errors  DECLARATION.
 */
polytile_status pti_outside_check(polytile_context *ctx, const pti_instance *instance,
                                  const pti_section *declared);

/** Record the error for a thread whose section has no element in its array, but one elsewhere. */
polytile_status pti_outside_accuse(polytile_context *ctx, const pti_instance *instance, int operand,
                                   const int64_t *thread, const int64_t *element);

#endif
