#ifndef POLYTILE_LAUNCH_OPEN_DEVICE_LIST_H
#define POLYTILE_LAUNCH_OPEN_DEVICE_LIST_H

#include <stdbool.h>

/* Lists of devices as text, with commas or plus signs between them. */

/** How many devices a text names: at least one, as NULL does. */
int pti_devices_count(const char *text);

/** Return whether two of them differ in more than their number. */
bool pti_devices_are_different(const char *text);

/** What separates the first device of a list from the next, outside parentheses; its end if there
 * is none. */
const char *pti_devices_end_of_first(const char *text);

/** The first one alone; the caller frees it. NULL when memory runs out. */
char *pti_devices_copy_first(const char *text);

#endif
