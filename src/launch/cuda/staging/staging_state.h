#ifndef POLYTILE_LAUNCH_CUDA_STAGING_STAGING_STATE_H
#define POLYTILE_LAUNCH_CUDA_STAGING_STAGING_STATE_H

#include "launch/cuda/staging/ring.h"
#include "launch/cuda/staging/staging.h"
#include "launch/host/copy/chunks.h"

/* What the files of staging share: staging.c creates it, staging_run.c runs it, prefetch.c fills
 * for uploads, drain.c serves downloads, cursor.c finds work for both in the schedule. */

/** The most downloads that are compared with a transfer, 20 ns each; a stream is waited for at most
 * once in this many. */
enum { PTI_MOST_LOOKS = 256 };

/** A position in the chunks of a schedule's staged transfers of one kind. */
typedef struct pti_cursor {
    pti_op_kind kind;
    int64_t op_index; /* all staged operations of the kind before it are done with */
    bool is_open;     /* inside the operation at op_index; then what follows is of it */
    pti_command command;
    pti_chunks chunks;
    int64_t n_taken;  /* chunks that have a buffer */
    int64_t conflict; /* uploads: the newest download that it comes after; -1: none */
} pti_cursor;

/**
 * Staging never waits for ever. It waits for:
 *
 * - threads, which finish every copy, since they wait for nothing;
 * - the device, which finishes what is enqueued: that comes after the records of all that it waits
 *   for, and nothing on the device waits for the host;
 * - a free buffer of the in ring: its oldest chunk is of the current upload, which sends it once it
 *   is filled, or was sent already, for later uploads get buffers only after all chunks of earlier
 *   ones;
 * - downloads, and only those before the current command, all of which have been taken over: they
 *   are received in order, into a ring of their own, and a drain waits for older drains only.
 */
struct pti_staging {
    pti_cuda_device *cuda;
    pti_copiers *copiers;
    int64_t buffer_bytes;
    int64_t memory_bytes;
    /* Memory of both rings in one block: CUDA's copies cannot cross two pinned ranges. */
    char *memory;
    bool is_pinned;
    int n_buffers; /* of each ring */
    pti_ring in;
    pti_ring out;

    pti_execution *execution; /* the run in progress, borrowed, as kinds; NULL between runs */
    const pti_cuda_host_memory *kinds;
    /* Owned, one an operation: the newest earlier download of the same operand; -1: none, or no
     * transfer. */
    int64_t *download_before;
    pti_cursor uploads;
    pti_cursor downloads;
    int64_t n_handed; /* operations before this one were submitted */
    int64_t n_direct; /* direct downloads before this one are in the user's memory */
    int64_t n_steps;  /* things that moved on, to see whether any did */
    int64_t n_looks;  /* downloads that were compared with a transfer */
    int n_idle;       /* looks since then */
};

/** Begin before the first operation. */
void pti_cursor_begin(pti_cursor *cursor, pti_op_kind kind);

/** Go to the next chunk of an operation before end; false if there is none (yet). */
bool pti_cursor_find(pti_staging *staging, pti_cursor *cursor, int64_t end);

/** Assign the found chunk to a ring's next buffer. */
pti_buffer *pti_cursor_hold_chunk(pti_cursor *cursor, pti_ring *ring);

/** Let threads fill buffers for current and later uploads. */
polytile_status pti_look_ahead(pti_staging *staging);

/** Take back the buffers whose copies to the device are done. */
polytile_status pti_look_back(pti_staging *staging);

/** Enqueue accepted downloads, drain those that have arrived, and take back drained buffers. */
polytile_status pti_serve_downloads(pti_staging *staging);

/** Return whether downloads may go straight into the user's memory, which staging does not see.
 * Those of pageable memory all go through the ring. */
static inline bool pti_may_download_directly(const pti_staging *staging, int operand) {
    return staging->kinds[operand] != PTI_CUDA_PAGEABLE;
}

/** Return up to which operation staged downloads are in the user's memory. */
int64_t pti_n_drained(const pti_staging *staging);
int64_t pti_n_received(const pti_staging *staging);

/**
 * Return the newest download before a transfer, from the operation since on, that shares elements
 * with it; -1: none. After PTI_MOST_LOOKS others it is the next one, whatever that downloads:
 * waiting for it is safe, and the time of a run stays linear.
 */
int64_t pti_newest_conflict(pti_staging *staging, const pti_command *command, int64_t since);

#endif
