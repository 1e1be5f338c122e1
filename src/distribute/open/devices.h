#ifndef POLYTILE_DISTRIBUTE_OPEN_DEVICES_H
#define POLYTILE_DISTRIBUTE_OPEN_DEVICES_H

#include "distribute/group/group.h"
#include "launch/open/device_list.h"

/* distribute/open: queues from text. Here: a queue over several devices of one process. */

/** How many devices of a text are driven by a thread of the host: all that are no host. */
int pti_devices_count_driven(const char *text);

/**
 * Open a queue of each device of a text. Among several a host has by default a thread less for each
 * device that is driven.
 *
 * Shapes  queues: as many as pti_devices_count(), NULL at first; on failure some stay so.
 * Errors  INVALID (one of several is empty), and those of polytile_device_open().
 */
polytile_status pti_devices_open_each(polytile_context *ctx, const char *text,
                                      polytile_queue **queues);

/**
 * Open a queue over devices such as "cuda:0,cuda:1" or "cuda:0(memory=1GiB),host".
 *
 * Shapes  options: how they share it; speeds are measured here if that is by speed.
 * Errors  Those of polytile_device_open() of each of them; INVALID (by speed: more devices than can
 *         have weights).
 */
polytile_status pti_devices_open(polytile_context *ctx, const char *text,
                                 const pti_group_options *options, polytile_queue **queue);

#endif
