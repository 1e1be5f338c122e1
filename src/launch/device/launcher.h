#ifndef POLYTILE_LAUNCH_DEVICE_LAUNCHER_H
#define POLYTILE_LAUNCH_DEVICE_LAUNCHER_H

#include "launch/device/execution.h"

/** Call a launcher callback for a sub-kernel. Errors: DEVICE (it returned a number other than 0;
 * the text has the number and the box). */
polytile_status pti_launcher_call(polytile_context *ctx, polytile_launcher *launcher,
                                  const pti_sub_kernel *sub_kernel, void *stream);

/** Call a launcher of the host round by round, until it is done or the run is cancelled, which the
 * execution then knows. Errors: as pti_launcher_call(); CANCELLED. */
polytile_status pti_launcher_run(pti_execution *execution, polytile_launcher *launcher,
                                 const pti_sub_kernel *sub_kernel);

#endif
