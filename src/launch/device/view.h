#ifndef POLYTILE_LAUNCH_DEVICE_VIEW_H
#define POLYTILE_LAUNCH_DEVICE_VIEW_H

#include "access/set/layout.h"
#include <polytile/implementation.h>

/* Views as kernels get them, and the layouts that they stand for. */

/** The view of what lies at base; of an empty layout, one whose resident box is empty. */
polytile_view pti_view_of(void *base, const pti_layout *layout);

/** The layout of what a view shows (without its size), and where its first element is. */
pti_layout pti_layout_of_view(const polytile_view *view);
void *pti_view_first(const polytile_view *view);

#endif
