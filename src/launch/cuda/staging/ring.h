#ifndef POLYTILE_LAUNCH_CUDA_STAGING_RING_H
#define POLYTILE_LAUNCH_CUDA_STAGING_RING_H

#include "launch/cuda/runtime/cuda.h"
#include "launch/host/copy/copiers.h"

/* Pinned buffers that chunks of boxes pass through, first in first out. */

enum {
    /** Different threads fill and drain the slices of a buffer. */
    PTI_BUFFER_SLICES = 4,
    /** The most slices, by the bound of pti_chunks_of(). */
    PTI_MAX_SLICES = 2 * PTI_BUFFER_SLICES,
    /** Some are on the link, the others with the threads. */
    PTI_RING_BUFFERS = 16,
    /** With fewer, copies of threads and of the link hardly overlap. */
    PTI_FEWEST_RING_BUFFERS = 4,
};

/** One thread's share of a buffer. */
typedef struct pti_buffer_slice {
    polytile_domain box; /* in places, see pti_buffer */
    pti_copy_task task;
} pti_buffer_slice;

/** A buffer with a chunk of a transfer. An element's place is its position along each dimension of
 * the chunk, from 0; all layouts are of places. */
typedef struct pti_buffer {
    char *memory;
    int64_t slice_bytes; /* that one thread copies at a time */
    cudaEvent_t event;   /* its last copy from or to the device is done */
    int64_t op_index;
    int operand;
    int64_t element_bytes;
    polytile_domain chunk;
    polytile_domain places;
    pti_memory_layout packed_layout; /* in C order, without gaps: in memory */
    pti_memory_layout host_layout;
    pti_memory_layout device_layout;
    pti_memory_span packed;
    pti_memory_span host;
    pti_memory_span device;
    int n_slices;
    int n_slices_done; /* all before this one are done */
    pti_buffer_slice slice[PTI_MAX_SLICES];
} pti_buffer;

/** Buffers in a circle. Each is taken, passed from the threads to the device or the other way, and
 * returned, all in the order of taking; the counts only grow. */
typedef struct pti_ring {
    pti_buffer buffer[PTI_RING_BUFFERS];
    int n_buffers; /* that are used */
    int64_t n_taken;
    int64_t n_passed_on;
    int64_t n_returned;
} pti_ring;

/** Give the buffers events, and their memory, one block that the caller has pinned. Destroy the
 * ring also after a failure. */
polytile_status pti_ring_create(pti_cuda_device *cuda, char *memory, int n_buffers,
                                int64_t buffer_bytes, pti_ring *ring);
void pti_ring_destroy(const pti_cuda_device *cuda, pti_ring *ring);

/** Make all buffers free. */
void pti_ring_clear(pti_ring *ring);

static inline pti_buffer *pti_ring_at(pti_ring *ring, int64_t count) {
    return &ring->buffer[count % ring->n_buffers];
}
static inline bool pti_ring_has_free(const pti_ring *ring) {
    return ring->n_taken - ring->n_returned < ring->n_buffers;
}

/** Assign a chunk of a transfer to a buffer: where its elements are, not yet the elements. */
void pti_buffer_hold(pti_buffer *buffer, const pti_command *command, const polytile_domain *chunk);

/** Let threads fill a buffer from host memory, or drain it there. */
void pti_buffer_fill(pti_buffer *buffer, pti_copiers *copiers);
void pti_buffer_drain(pti_buffer *buffer, pti_copiers *copiers);

/** Return whether the threads are done with a buffer. */
bool pti_buffer_is_copied(pti_buffer *buffer);

/** Enqueue a buffer's copy to the device, or from there, and its event after it. */
polytile_status pti_buffer_send(pti_cuda_device *cuda, pti_buffer *buffer);
polytile_status pti_buffer_receive(pti_cuda_device *cuda, pti_buffer *buffer);

#endif
