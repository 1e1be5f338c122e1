#ifndef POLYTILE_MESSAGE_SERVER_H
#define POLYTILE_MESSAGE_SERVER_H

#include "base/error.h"
#include <polytile/message_ring.h>

/* message: what serves the messages of one launch of a team kernel. slot_memory.h has the memory
 * that slots and the server share; match.h finds the receive of each send; hang.h knows who waits
 * for what, and names deadlocks; serve.h takes entries and does what they ask for; wait.h lets
 * threads wait, who serve meanwhile; program.h is the program's part. */

/** The server of a launch. It is made when the launch is, and goes on until nobody retains it, so
 * that the program can receive what slots have sent it. All threads may call its functions. */
typedef struct pti_server pti_server;

/** What a server is made for. */
typedef struct pti_server_request {
    const char *kernel_name; /* copied */
    int64_t n_slots;
    double timeout_s;
    bool has_program; /* the program takes part, and is able to send until it waits */
} pti_server_request;

/** The most slots of a launch. */
enum { PTI_MAX_SLOTS = 1 << 16 };

/** Make a server, retained once. NULL when memory runs out. */
pti_server *pti_server_create(const pti_server_request *request);
pti_server *pti_server_retain(pti_server *server);
/** Release a server; NULL does nothing. */
void pti_server_release(pti_server *server);

/** How slots are reached that are no threads of the host. One thread at a time calls these
 * functions, the one that launched; each but has_ended() waits until it is done, and returns
 * whether it could. */
typedef struct pti_slot_device {
    void *device;
    void *shared; /* pti_server_bytes() of memory of the host, which slots read and write */
    void *slots;  /* and of memory of the device */
    bool (*fetch)(void *device, void *to_host, const void *from_device, int64_t n_bytes);
    bool (*store)(void *device, void *to_device, const void *from_host, int64_t n_bytes);
    /** Copy from the device's memory to its memory, without its processors. */
    bool (*pass)(void *device, void *to_device, const void *from_device, int64_t n_bytes);
    /** Whether all slots have returned, or what ran them has failed. */
    bool (*has_ended)(void *device);
} pti_slot_device;

/** The memory that slots and their server share, and that of the slots. */
typedef struct pti_server_bytes {
    int64_t shared_bytes;
    int64_t slots_bytes;
} pti_server_bytes;
pti_server_bytes pti_server_count_bytes(const pti_server *server, int n_memories);

/**
 * Begin to serve: make the slots, whose messages lie in these memories, which must live until
 * pti_server_finish().
 *
 * Shapes  device: where the slots are; NULL: they are threads of the host. It must live as long.
 * Errors  NO_MEMORY; DEVICE (the slots could not be stored).
 */
polytile_status pti_server_begin(pti_server *server, polytile_context *ctx,
                                 const pt_memory *memories, int n_memories,
                                 const pti_slot_device *device);

/** A slot of a launch that has begun, in the memory of the device where it is; the server owns
 * it. */
pt_slot *pti_server_get_slot(pti_server *server, int rank);

/** End a launch whose slots have returned, or that was never begun: the program waits no more.
 * Returns what ended it, with its text on the context. Does nothing more when called again. */
polytile_status pti_server_finish(pti_server *server, polytile_context *ctx);

/** Note that the launch is done with, which may not have run: the program waits no more. NULL does
 * nothing. */
void pti_server_abandon(pti_server *server);

#endif
