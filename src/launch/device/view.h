#ifndef POLYTILE_LAUNCH_DEVICE_VIEW_H
#define POLYTILE_LAUNCH_DEVICE_VIEW_H

#include "access/set/index_map.h"
#include "access/set/memory_layout.h"
#include <polytile/implementation.h>

/* Views as kernels get them, and the layouts that they stand for. */

/** Return the view of a layout at base, of an array with a domain; an empty layout has an empty
 * resident box. */
polytile_view pti_view_of(void *base, const pti_memory_layout *layout,
                          const polytile_domain *array);

/** Return the view of the same memory under the indices of an array, which a map takes to those
 * that it has. The caller sets what is resident. */
polytile_view pti_view_through(const polytile_view *view, const pti_index_map *map,
                               const polytile_domain *array);

/** Return the layout of a view (without its size). */
pti_memory_layout pti_memory_layout_of_view(const polytile_view *view);
void *pti_view_first(const polytile_view *view);

#endif
