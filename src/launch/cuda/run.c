#include "launch/cuda/cuda.h"

#include "launch/cuda/copy.h"
#include "launch/cuda/kernel.h"
#include "launch/cuda/nvtx.h"
#include "launch/cuda/order.h"
#include "launch/cuda/route.h"
#include "launch/cuda/staging.h"
#include "launch/cuda/timing.h"
#include "partition/demand.h"

/* Commands on three streams. Nothing here waits for the GPU between begin and finish, but for what
 * goes through the staging ring. */

static bool any_staged(const pti_cuda_device *cuda) {
    (void)cuda;
    return false;
}

polytile_status pti_cuda_begin(polytile_device *device, pti_execution *execution) {
    (void)any_staged;
    (void)device;
    (void)execution;
    return POLYTILE_OK;
}
polytile_status pti_cuda_submit(polytile_device *device, const pti_command *command) {
    (void)device;
    (void)command;
    return POLYTILE_OK;
}
polytile_status pti_cuda_finish(polytile_device *device) {
    (void)device;
    return POLYTILE_OK;
}
