#ifndef POLYTILE_LAUNCH_DEVICE_LINK_CACHE_H
#define POLYTILE_LAUNCH_DEVICE_LINK_CACHE_H

#include "base/context.h"
#include <polytile/plan.h>

/* Measured links on disk: one JSON file a device, links/KEY.json in the directory named by
 * POLYTILE_CACHE, else $XDG_CACHE_HOME/polytile, else ~/.cache/polytile. POLYTILE_CACHE=off: none.
 */

/** The name of the first figure that no machine has (not finite, not positive, beyond reason); NULL
 * for a link that may be believed. */
const char *pti_link_find_implausible(const polytile_link *link);

/** Read a device's link. False when there is none; what is there but wrong is warned about with
 * file and reason, and ignored. key: letters, digits, '-', '_'. */
bool pti_link_cache_read(polytile_context *ctx, const char *key, polytile_link *link);

/** Keep a plausible link, replacing the file in one step; a failure is a warning. */
void pti_link_cache_write(polytile_context *ctx, const char *key, const polytile_link *link);

#endif
