#ifndef POLYTILE_LAUNCH_PEERS_SHARING_H
#define POLYTILE_LAUNCH_PEERS_SHARING_H

#include "launch/device/execution.h"

/* A schedule's part in what its device shares with others, see peers.h. Of an upload that is shared
 * the device's own part goes the usual way. */

/** Meet the others, if the schedule uploads what they may, too; the device waits for them, or not
 * at all if it has none. Without memory it shares nothing. */
void pti_sharing_begin(pti_execution *execution);

/** Before anything of a command is submitted, by the device: where it is about to use memory that
 * others copy from, its stream waits for that. Errors: DEVICE. */
polytile_status pti_sharing_prepare(pti_execution *execution, const pti_command *command);

/**
 * Once the own part of a shared upload is submitted: let others have it, and submit copies of
 * theirs.
 *
 * missing: boxes that have to be uploaded after all; PTI_MOST_PEERS. Errors: DEVICE, NO_MEMORY.
 */
polytile_status pti_sharing_exchange(pti_execution *execution, const pti_command *command,
                                     polytile_domain *missing, int *n_missing);

/** All is submitted, or has_failed: nobody copies from the device's memory any more. Counts what
 * came from others in the report. */
void pti_sharing_end(pti_execution *execution, bool has_failed);

#endif
