#ifndef POLYTILE_LAUNCH_PEERS_SHARING_H
#define POLYTILE_LAUNCH_PEERS_SHARING_H

#include "launch/device/execution.h"

/* What a schedule shares with other devices, see peers.h. The device's own part of a shared upload
 * goes the usual way. */

/** Meet the others, if the schedule uploads what they may, too. Without memory it shares
 * nothing. */
void pti_sharing_begin(pti_execution *execution);

/** Prepare a command before the device submits it: its stream waits for others' copies from memory
 * that it uses. Errors: DEVICE. */
polytile_status pti_sharing_prepare(pti_execution *execution, const pti_command *command);

/**
 * Lend the own part of a shared upload, which is submitted, and submit copies of the others' parts.
 *
 * missing: at most PTI_MOST_PEERS boxes that the caller must upload itself. Errors: DEVICE,
 * NO_MEMORY.
 */
polytile_status pti_sharing_exchange(pti_execution *execution, const pti_command *command,
                                     polytile_domain *missing, int *n_missing);

/** End sharing, when all is submitted, or has_failed: nobody copies from the device's memory any
 * more. Counts what came from others in the report. */
void pti_sharing_end(pti_execution *execution, bool has_failed);

#endif
