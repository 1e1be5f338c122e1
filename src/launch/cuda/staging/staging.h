#ifndef POLYTILE_LAUNCH_CUDA_STAGING_STAGING_H
#define POLYTILE_LAUNCH_CUDA_STAGING_STAGING_H

#include "launch/cuda/runtime/cuda.h"
#include "launch/cuda/staging/route.h"

/* launch/cuda/staging: transfers between pageable memory and a GPU, through rings of pinned
 * buffers that host threads fill and drain. route.h says which arrays take that way. */

/* Transfers of pageable memory through a ring of pinned buffers.
 *
 * Several host threads fill buffers from the user's memory and drain them into it; the thread that
 * runs the schedule enqueues the copies between buffers and device. So only that thread calls CUDA,
 * and it never waits for a copy that it could have left in flight: while it waits for a buffer it
 * looks ahead in the schedule and has buffers filled for later uploads, and has those drained whose
 * copies have arrived. Downloads are taken over at once and enqueued as buffers come free, so that
 * uploads behind them go on. The threads also pack boxes whose runs are too short for the copy
 * engines. */

typedef struct pti_staging pti_staging;

/** The size of buffers for pti_staging_create(): a copy of 2 MiB takes 40 us on the link and 3 on
 * the host thread, and leaves 2 between itself and the next (docs/ceilings.md). */
enum { PTI_STAGING_BUFFER_BYTES = 2 * 1024 * 1024 };

/**
 * Pinned buffers, 16 each way or, where less memory can be locked, 8 or 4, and threads; no device
 * memory.
 *
 * buffer_bytes: a multiple of 4, at least an element's size. Errors: NO_MEMORY, DEVICE. Owned by
 * the caller.
 */
polytile_status pti_staging_create(pti_cuda_device *cuda, int64_t buffer_bytes,
                                   pti_staging **staging);
/** Waits for the threads; NULL does nothing. */
void pti_staging_destroy(pti_staging *staging);

/** Get ready for a run. kinds: one an operand, borrowed until pti_staging_finish(). Errors:
 * NO_MEMORY. */
polytile_status pti_staging_begin(pti_staging *staging, pti_execution *execution,
                                  const pti_cuda_host_memory *kinds);

/**
 * Get ready for a command, staged or not; call it for each one before anything of it is enqueued.
 *
 * Waits until the downloads that the command waits for are enqueued and recorded, before a direct
 * download until all are, and before a direct transfer until those that went through the ring and
 * touch its elements are in the user's memory.
 */
polytile_status pti_staging_settle(pti_staging *staging, const pti_command *command);

/** Enqueue a whole upload on the in stream, between its waits and its record, which are the
 * caller's; waits for buffers as needed. */
polytile_status pti_staging_upload(pti_staging *staging, const pti_command *command);

/** Take a download over: it is enqueued on the out stream, with its waits, its times and its
 * record, when there are buffers, and its last bytes reach the user's memory later still. */
polytile_status pti_staging_download(pti_staging *staging, const pti_command *command);

/**
 * Wait until everything is in the user's memory. Without success of the run, drop what is in flight
 * and wait for the threads only.
 *
 * The run is over for staging also when this fails; the streams are waited for before the next.
 */
polytile_status pti_staging_finish(pti_staging *staging, bool succeeded);

#endif
