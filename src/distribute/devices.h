#ifndef POLYTILE_DISTRIBUTE_DEVICES_H
#define POLYTILE_DISTRIBUTE_DEVICES_H

#include "distribute/team.h"

/* A queue over several devices of one process. */

/** Whether a device's text names several, with commas between them. */
bool pti_devices_are_several(const char *text);

/**
 * Open a queue over devices such as "cuda:0,cuda:1" or "cuda:0(memory=1GiB),host".
 *
 * Errors  Those of polytile_device_open() of each of them.
 */
polytile_status pti_devices_open(polytile_context *ctx, const char *text, polytile_queue **queue);

/** Members of one process, by whose arrays' addresses it is known what lies in the same memory. NULL
 * when memory runs out. */
pti_transport *pti_transport_within(polytile_context *ctx, int n_members);

#endif
