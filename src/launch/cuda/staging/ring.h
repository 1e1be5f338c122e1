#ifndef POLYTILE_LAUNCH_CUDA_STAGING_RING_H
#define POLYTILE_LAUNCH_CUDA_STAGING_RING_H

#include "launch/cuda/runtime/cuda.h"
#include "launch/host/copiers.h"

/* Pinned buffers that pieces of boxes pass through, first in first out. */

enum {
    /** A buffer is filled and drained in so many parts, which different threads take. */
    PTI_BUFFER_PARTS = 4,
    /** The bound of pti_chunks_of() on how many they are. */
    PTI_MAX_PARTS = 2 * PTI_BUFFER_PARTS,
    /** Some on the link, the others with the threads. */
    PTI_RING_BUFFERS = 16,
    /** With fewer, copies of threads and of the link hardly overlap. */
    PTI_FEWEST_RING_BUFFERS = 4,
};

/** One thread's share of a buffer. */
typedef struct pti_buffer_part {
    polytile_domain box; /* in places, see pti_buffer */
    pti_copy_task task;
} pti_buffer_part;

/** A buffer with the chunk of a transfer that is in it. An element's place is its position along
 * each dimension of the chunk, from 0; all layouts are of places. */
typedef struct pti_buffer {
    char *memory;
    int64_t part_bytes; /* that one thread copies at a time */
    cudaEvent_t event;  /* its last copy from or to the device is done */
    int64_t op_index;
    int operand;
    int64_t element_bytes;
    polytile_domain chunk;
    polytile_domain places;
    pti_layout packed_layout; /* in C order, without gaps: in memory */
    pti_layout host_layout;
    pti_layout device_layout;
    pti_image packed;
    pti_image host;
    pti_image device;
    int n_parts;
    int n_parts_done; /* all before this one are done */
    pti_buffer_part part[PTI_MAX_PARTS];
} pti_buffer;

/**
 * Buffers in a circle. Each is taken, passed on from the threads to the device or the other way,
 * and returned, in this order and in the order in which they were taken; the counts are of all that
 * ever were.
 */
typedef struct pti_ring {
    pti_buffer buffer[PTI_RING_BUFFERS];
    int n_buffers; /* that are used */
    int64_t n_taken;
    int64_t n_passed_on;
    int64_t n_returned;
} pti_ring;

/** Give the buffers their memory, all in one piece and pinned by the caller, and events; destroy
 * the ring also after a failure. */
polytile_status pti_ring_create(pti_cuda_device *cuda, char *memory, int n_buffers,
                                int64_t buffer_bytes, pti_ring *ring);
void pti_ring_destroy(const pti_cuda_device *cuda, pti_ring *ring);

/** All buffers are free. */
void pti_ring_clear(pti_ring *ring);

static inline pti_buffer *pti_ring_at(pti_ring *ring, int64_t count) {
    return &ring->buffer[count % ring->n_buffers];
}
static inline bool pti_ring_has_free(const pti_ring *ring) {
    return ring->n_taken - ring->n_returned < ring->n_buffers;
}

/** Put a chunk of a transfer in a buffer: where its elements are, not yet the elements. */
void pti_buffer_hold(pti_buffer *buffer, const pti_command *command, const polytile_domain *chunk);

/** Have a buffer filled from host memory, or drained into it. */
void pti_buffer_fill(pti_buffer *buffer, pti_copiers *copiers);
void pti_buffer_drain(pti_buffer *buffer, pti_copiers *copiers);

/** Whether the threads are done with a buffer. */
bool pti_buffer_is_copied(pti_buffer *buffer);

/** Enqueue a buffer's copy to the device, or from there, and its event, which tells when it is
 * done. */
polytile_status pti_buffer_send(pti_cuda_device *cuda, pti_buffer *buffer);
polytile_status pti_buffer_receive(pti_cuda_device *cuda, pti_buffer *buffer);

#endif
