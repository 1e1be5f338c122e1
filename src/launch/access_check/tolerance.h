#ifndef POLYTILE_LAUNCH_ACCESS_CHECK_TOLERANCE_H
#define POLYTILE_LAUNCH_ACCESS_CHECK_TOLERANCE_H

#include <polytile/array.h>
#include <polytile/declaration.h>
#include <stdbool.h>

/** Whether two results of a reduction may be the same but for the order in which threads combined:
 * floating-point sums and products that differ in their last digits. */
bool pti_tolerance_is_near(polytile_role role, polytile_type type, const unsigned char *one,
                           const unsigned char *other);

#endif
