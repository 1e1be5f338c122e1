#ifndef POLYTILE_ACCESS_FOOTPRINT_NARROW_H
#define POLYTILE_ACCESS_FOOTPRINT_NARROW_H

#include "access/footprint/instance.h"

/**
 * An instance of some threads of a launch that was proved, over arrays that may be smaller.
 *
 * Nothing is proved again, since all that is refused of a launch would have been refused of the
 * whole: two threads of a box conflict there, too; what a thread touches of an array it touches
 * inside that one's smaller array, which contains it; roles, types and parameters are the same. A
 * section that follows the ends of its array keeps those of the whole's, and is clipped. What is
 * known of sections and operands for the threads of the box alone is found anew, in closed form.
 *
 * Shapes  threads: a box inside the whole's. arrays: one an operand, with the type of the whole's
 *         and a domain inside the whole's that contains what the threads touch; where they touch
 *         nothing, any; NULL for scratch, whose domain stays the whole's.
 * Errors  NO_MEMORY.
 * Owns    The caller frees *narrowed with pti_instance_free(); on error it is NULL.
 */
polytile_status pti_instance_narrow(const polytile_kernel *kernel, const pti_instance *whole,
                                    const polytile_domain *threads, polytile_array *const *arrays,
                                    pti_instance **narrowed);

#endif
