#ifndef POLYTILE_LAUNCH_EXECUTE_RUN_PLACE_H
#define POLYTILE_LAUNCH_EXECUTE_RUN_PLACE_H

#include "launch/device/device.h"

/**
 * Find out whether a run uses memory of its GPU in place, because all arrays lie there.
 *
 * Errors  INVALID (an array on a GPU and one on the host; a device that is no GPU), UNSUPPORTED (a
 *         kernel with scratch, or a team kernel, on such arrays).
 */
polytile_status pti_run_find_place(const polytile_device *device, const polytile_kernel *kernel,
                                   int n_arrays, polytile_array *const *arrays, bool *on_gpu);

/** Refuse arrays on a GPU where something reads host memory: who, the first words of the text.
 * Errors: INVALID. */
polytile_status pti_arrays_refuse_gpu(int n_arrays, polytile_array *const *arrays, const char *who);

#endif
