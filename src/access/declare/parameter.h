#ifndef POLYTILE_ACCESS_DECLARE_PARAMETER_H
#define POLYTILE_ACCESS_DECLARE_PARAMETER_H

#include "access/declare/kernel.h"
#include <polytile/launch.h>

/* Values of parameters: what a launch gives, what sections need, what a body gets. */

/** The value of a parameter as its type has it, in the first bytes; the others are zero. */
typedef union pti_value {
    int64_t alignment;
    unsigned char bytes[8];
} pti_value;

/**
 * Match what a launch gives with a declaration, and find the values that sections need.
 *
 * Shapes  values: one a parameter of the declaration; of those that no section needs: 0.
 * Errors  INVALID (a parameter that the declaration does not have, or that is given twice; a value
 *         that its type cannot hold), DECLARATION (none for a parameter that a section needs).
 */
polytile_status pti_parameters_match(polytile_context *ctx, const polytile_declaration *declaration,
                                     int n_parameters, const polytile_parameter *parameters,
                                     int64_t *values);

/** Return how many values a kernel's body gets: one for each parameter that it names, or else for
 * each of the declaration. */
int pti_kernel_n_values(const polytile_kernel *kernel);

/**
 * Find the values that a kernel's body gets from a launch, in the body's order.
 *
 * Shapes  values: pti_kernel_n_values() of them.
 * Errors  INVALID, as pti_parameters_match(); DECLARATION (none for one of the declaration's
 *         parameters, whether or not the body takes it).
 */
polytile_status pti_parameters_bind(polytile_context *ctx, const polytile_kernel *kernel,
                                    int n_parameters, const polytile_parameter *parameters,
                                    pti_value *values);

/** Find which of the declaration's parameters are which values of a kernel's body
 * (polytile_kernel.body_value). The body was checked. */
void pti_parameters_number_values(polytile_kernel *kernel);

/** Refuse a body that takes a parameter which the declaration does not have, or of another type.
 * Errors: DECLARATION. */
polytile_status pti_parameters_check_body(polytile_context *ctx,
                                          const polytile_declaration *declaration,
                                          const polytile_implementation *implementation);

#endif
