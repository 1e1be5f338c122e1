#ifndef POLYTILE_LAUNCH_EXECUTE_SPECIALISE_H
#define POLYTILE_LAUNCH_EXECUTE_SPECIALISE_H

#include "access/declare/kernel.h"
#include "launch/device/device.h"

/**
 * Find what a kernel runs for the types of a launch on a device: its implementation, unless that
 * has a specialiser.
 *
 * Errors  Those of the specialiser; INVALID (what it found is not what it may find), DECLARATION
 *         (other numbers of indices or arrays).
 * Owns    *found is the kernel's, or lives until the context ends.
 */
polytile_status pti_specialise(const polytile_device *device, const polytile_kernel *kernel,
                               const pti_instance *instance, const polytile_implementation **found);

#endif
