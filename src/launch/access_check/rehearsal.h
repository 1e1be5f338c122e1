#ifndef POLYTILE_LAUNCH_ACCESS_CHECK_REHEARSAL_H
#define POLYTILE_LAUNCH_ACCESS_CHECK_REHEARSAL_H

#include "access/footprint/instance.h"
#include "launch/device/device.h"

/**
 * A thread of a launch, or a block, that ran on copies when the launch was made and can run on the
 * same again. Only a body that reads what has changed since, as a global variable, leaves another
 * result then.
 */
typedef struct pti_rehearsal pti_rehearsal;

/**
 * Run a thread of a launch, and keep what it read and left. None is kept, and *rehearsal is NULL,
 * where the device is not the host or copies would take many MiB.
 *
 * Shapes  arrays: one an operand, whose memory has their newest elements. config: as the launch
 *         would run it; it is copied.
 * Errors  NO_MEMORY, DEVICE.
 * Owns    The caller frees *rehearsal, which uses no array any more; on error it is NULL.
 */
polytile_status pti_rehearsal_run(polytile_device *device, const polytile_kernel *kernel,
                                  const pti_instance *instance, polytile_array *const *arrays,
                                  const pti_launch_config *config, pti_rehearsal **rehearsal);

/** Run it again. Errors: INVALID (another result than the first time), NO_MEMORY, DEVICE. */
polytile_status pti_rehearsal_repeat(pti_rehearsal *rehearsal);

void pti_rehearsal_free(pti_rehearsal *rehearsal);

#endif
