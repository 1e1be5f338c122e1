#ifndef POLYTILE_DISTRIBUTE_SHARE_FOOTPRINTS_H
#define POLYTILE_DISTRIBUTE_SHARE_FOOTPRINTS_H

#include "access/footprint/footprint.h"

/** The footprint of several boxes of threads, added to what is in *touched; whether it is exact. */
bool pti_footprint_gather(const pti_instance *instance, int operand, pti_touch touch,
                          const pti_boxes *threads, pti_boxes *touched);

#endif
