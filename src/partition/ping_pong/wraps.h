#ifndef POLYTILE_PARTITION_PING_PONG_WRAPS_H
#define POLYTILE_PARTITION_PING_PONG_WRAPS_H

#include "partition/schedule/tiling.h"

/* Launches over periodic arrays. */

/** Return by how much a dimension of a section is moved round its array. */
int64_t pti_section_wrap(const pti_instance *instance, const pti_section *section, int dim);

/** Find the dimensions along which arrays are periodic; false if a launch has edges that tiles do
 * not know. */
bool pti_wraps_find(const pti_instance *instance, unsigned *rounds);

#endif
