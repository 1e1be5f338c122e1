#ifndef POLYTILE_LAUNCH_HOST_BOX_FILL_H
#define POLYTILE_LAUNCH_HOST_BOX_FILL_H

#include "launch/device/device.h"

/** Writes one element, whose indices are given. */
typedef void pti_element_function(const int64_t *index, void *element, void *user);

/** Have every element of a box in host memory written once; of large boxes by several threads. */
void pti_box_fill(const pti_image *to, const polytile_domain *box, pti_element_function *element,
                  void *user);

#endif
