#ifndef POLYTILE_LAUNCH_CUDA_STAGING_STAGING_H
#define POLYTILE_LAUNCH_CUDA_STAGING_STAGING_H

#include "launch/cuda/runtime/cuda.h"
#include "launch/cuda/staging/route.h"

/* launch/cuda/staging: transfers between pageable memory and a GPU, through rings of pinned buffers
 * that host threads fill and drain. route.h says which arrays go that way. */

/*
 * Transfers of pageable memory through a ring of pinned buffers.
 *
 * Several host threads fill buffers from the user's memory and drain them into it; they also pack
 * boxes whose runs are too short for the copy engines. The thread that runs the schedule, and only
 * that one, calls CUDA: it enqueues the copies between buffers and device. While it waits for a
 * buffer it lets threads fill buffers for later uploads, and drain those whose copies have arrived.
 * Downloads are accepted at once and enqueued when buffers are free, so that uploads after them go
 * on.
 */

typedef struct pti_staging pti_staging;

/** The size of buffers: a copy of 2 MiB takes 40 us on the link and 3 on the host thread, with 2
 * before the next (docs/ceilings.md). */
enum { PTI_STAGING_BUFFER_BYTES = 2 * 1024 * 1024 };

/**
 * Create threads and pinned buffers, 16 each way or, if less memory can be locked, 8 or 4. Takes no
 * device memory.
 *
 * buffer_bytes: a multiple of 4, at least an element's size. Errors: NO_MEMORY, DEVICE. The caller
 * destroys it.
 */
polytile_status pti_staging_create(pti_cuda_device *cuda, int64_t buffer_bytes,
                                   pti_staging **staging);
/** Destroy it, after waiting for the threads; NULL does nothing. */
void pti_staging_destroy(pti_staging *staging);

/** Begin a run. kinds: one an operand, borrowed until pti_staging_finish(). Errors: NO_MEMORY. */
polytile_status pti_staging_begin(pti_staging *staging, pti_execution *execution,
                                  const pti_cuda_host_memory *kinds);

/**
 * Wait until a command, staged or not, may be enqueued; call this for each one before.
 *
 * Waits until the downloads that the command waits for are enqueued and recorded; before a direct
 * download, until all are; before a direct transfer, until staged downloads of its elements are in
 * the user's memory.
 */
polytile_status pti_staging_wait_command(pti_staging *staging, const pti_command *command);

/** Enqueue a whole upload on the in stream, between the caller's waits and record; waits for
 * buffers as needed. */
polytile_status pti_staging_upload(pti_staging *staging, const pti_command *command);

/** Accept a download. It is enqueued on the out stream, with its waits, its times and its record,
 * when there are buffers; its last bytes reach the user's memory later still. */
polytile_status pti_staging_download(pti_staging *staging, const pti_command *command);

/**
 * Wait until everything is in the user's memory. If the run failed, drop what is in flight and wait
 * for the threads only.
 *
 * The run is over also if this fails; the caller waits for the streams before the next.
 */
polytile_status pti_staging_finish(pti_staging *staging, bool succeeded);

#endif
