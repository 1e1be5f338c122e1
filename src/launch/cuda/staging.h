#ifndef POLYTILE_LAUNCH_CUDA_STAGING_H
#define POLYTILE_LAUNCH_CUDA_STAGING_H

#include "launch/cuda/cuda.h"

/* Transfers of pageable memory through a ring of pinned buffers.
 *
 * Several host threads fill buffers from the user's memory and drain them into it; the thread that
 * runs the schedule enqueues the copies between buffers and device. So only that thread calls CUDA,
 * and it never waits for a copy that it could have left in flight: while it waits for a buffer it
 * looks ahead in the schedule and has buffers filled for later uploads, and has those drained whose
 * copies have arrived. The threads also pack boxes whose runs are too short for the copy engines. */

typedef struct pti_staging pti_staging;

/** Pinned buffers and threads; no device memory. Errors: NO_MEMORY, DEVICE. Owned by the caller. */
polytile_status pti_staging_create(pti_cuda_device *cuda, pti_staging **staging);
/** Waits for the threads; NULL does nothing. */
void pti_staging_destroy(pti_staging *staging);

/** Get ready for a run. Errors: NO_MEMORY. */
polytile_status pti_staging_begin(pti_staging *staging, pti_execution *execution);

/** Enqueue a whole upload on the in stream; waits for buffers as needed. */
polytile_status pti_staging_upload(pti_staging *staging, const pti_command *command);

/** Enqueue a whole download on the out stream; its last bytes reach the user's memory later. */
polytile_status pti_staging_download(pti_staging *staging, const pti_command *command);

/** Wait until those downloads that went through the ring and that an operation waits for are in the
 * user's memory. */
polytile_status pti_staging_settle(pti_staging *staging, const pti_command *command);

/** Wait until everything is in the user's memory. Without success of the run, drop what is in
 * flight (the streams have been waited for) and wait for the threads only. */
polytile_status pti_staging_finish(pti_staging *staging, bool succeeded);

#endif
