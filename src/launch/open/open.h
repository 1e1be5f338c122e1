#ifndef POLYTILE_LAUNCH_OPEN_OPEN_H
#define POLYTILE_LAUNCH_OPEN_OPEN_H

#include "base/text.h"
#include "launch/device/device.h"

/* launch/open: devices from text, NAME, NAME:NUMBER or NAME(OPTION=VALUE,...), by the table of
 * drivers, one row a kind of device. */

/** Return the driver of a name; NULL if there is none. */
const pti_driver *pti_driver_find(const char *name);

/** Describe all drivers, for error texts. */
void pti_drivers_describe(pti_text *text);

/** Parse a device's text. Errors: INVALID (unknown device or option, a wrong or repeated value; the
 * text lists what there is). */
polytile_status pti_device_text_parse(polytile_context *ctx, const char *text,
                                      pti_device_text *parsed);

#endif
