#ifndef POLYTILE_LAUNCH_DEVICE_LINK_CACHE_H
#define POLYTILE_LAUNCH_DEVICE_LINK_CACHE_H

#include "base/context.h"
#include <polytile/plan.h>

/* Measured links on disk: one JSON file a device, links/KEY.json in the directory named by
 * POLYTILE_CACHE, else $XDG_CACHE_HOME/polytile, else ~/.cache/polytile. POLYTILE_CACHE=off: none.
 */

/** Return the name of the first implausible figure (not finite, not positive, beyond reason); NULL:
 * the link is plausible. */
const char *pti_link_find_implausible(const polytile_link *link);

/** Read a device's link; false if there is none. A wrong file is ignored with a warning that names
 * file and reason. key: letters, digits, '-', '_'. */
bool pti_link_cache_read(polytile_context *ctx, const char *key, polytile_link *link);

/** Write a plausible link, and replace the file in one step; a failure is a warning. */
void pti_link_cache_write(polytile_context *ctx, const char *key, const polytile_link *link);

#endif
