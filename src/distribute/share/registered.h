#ifndef POLYTILE_DISTRIBUTE_SHARE_REGISTERED_H
#define POLYTILE_DISTRIBUTE_SHARE_REGISTERED_H

#include "distribute/share/distribution.h"
#include <polytile/layout.h>

/* Layouts that programs register. */

/** Keep a layout that was checked. Errors: NO_MEMORY. */
polytile_status pti_registered_add(polytile_context *ctx, const polytile_layout *layout);

/** Return the kind of a registered layout, and in *registered the layout; NULL: none has the
 * name. */
const pti_distribution_kind *pti_registered_find(const polytile_context *ctx, const char *name,
                                                 size_t length, pti_registered **registered);

/** Ask a registered layout for the owners of a dimension, once; others are asked nothing. False:
 * memory ran out. */
bool pti_registered_ask(const pti_distribution *distribution, const polytile_range *whole,
                        int n_parts);

#endif
