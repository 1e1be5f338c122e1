#ifndef POLYTILE_LAUNCH_HOST_BOX_FILL_H
#define POLYTILE_LAUNCH_HOST_BOX_FILL_H

#include "launch/device/device.h"

/** Writes the element with the given indices. */
typedef void pti_element_function(const int64_t *index, void *element, void *user);

/** Write every element of a box in host memory once; of large boxes by several threads. */
void pti_box_fill(const pti_memory_span *to, const polytile_domain *box,
                  pti_element_function *element, void *user);

#endif
