#ifndef POLYTILE_DISTRIBUTE_SHARE_FOOTPRINTS_H
#define POLYTILE_DISTRIBUTE_SHARE_FOOTPRINTS_H

#include "access/footprint/footprint.h"

/** The footprint of several boxes of threads, added to what is in *touched; whether it is exact. */
bool pti_footprint_gather(const pti_instance *instance, int operand, pti_touch touch,
                          const pti_boxes *threads, pti_boxes *touched);

/** The box from the first to the last place that sections with steps, of threads, name of an
 * operand's array; empty where no section has steps. It holds something of each section that the
 * array meets between its places, though its steps may miss all elements: a launch on less of the
 * array would be refused. */
polytile_domain pti_footprint_stepped_span(const pti_instance *instance, int operand,
                                           const polytile_domain *threads);

#endif
