#ifndef POLYTILE_LAUNCH_DEVICE_REDUCTION_H
#define POLYTILE_LAUNCH_DEVICE_REDUCTION_H

#include "launch/device/device.h"

/* The reducing roles on elements in host memory. */

enum { PTI_MAX_SCALAR_BYTES = 16 };

/** Return whether the role has an identity over the type: a reducing role over no raw bytes, for
 * which the type has what the role needs. */
bool pti_reduction_is_known(polytile_role role, polytile_type type);

/** Write the identity: 0, 1, the largest, or the smallest value; of argmin and argmax with the
 * largest index. */
void pti_reduction_identity(polytile_role role, polytile_type type,
                            unsigned char element[PTI_MAX_SCALAR_BYTES]);

/** Combine `from` into `to` for every element of the box; integers wrap around. */
void pti_reduction_combine(polytile_role role, polytile_type type, const pti_move *move);

#endif
