#ifndef POLYTILE_MESSAGE_SERVER_H
#define POLYTILE_MESSAGE_SERVER_H

#include "base/error.h"
#include <polytile/message_ring.h>

/* message: what serves the messages of a launch of a team kernel. slot_memory.h: memory that slots
 * and the server share; match.h: the receive of each send; copy.h: its data; hang.h: who waits for
 * what, and deadlocks; serve.h takes entries; in wait.h threads wait, and serve; program.h is the
 * program's part. processes.h: what servers of several processes tell each other, in memory of
 * spare.h; straight.h: which data need none; deliver.h does what that says; still.h finds out
 * whether nobody can go on in any. */

/** The server of a launch. It is made when the launch is, and goes on until nobody retains it, so
 * that the program can receive what slots have sent it. All threads may call its functions. */
typedef struct pti_server pti_server;

/** The slots of a launch that one device runs; the server owns it. Each part has a ring of its own,
 * and the same server for all: slots of different parts speak to each other through it. */
typedef struct pti_server_part pti_server_part;

/** What a server is made for. */
typedef struct pti_server_request {
    const char *kernel_name; /* copied */
    int64_t n_slots;
    polytile_domain threads; /* one a slot: their numbers in C order are the ranks */
    double timeout_s;
    bool has_program; /* the program takes part, and is able to send until it waits */
} pti_server_request;

/** The most slots of a launch. */
enum { PTI_MAX_SLOTS = 1 << 16 };

/** Make a server of one part, retained once. NULL when memory runs out. */
pti_server *pti_server_create(const pti_server_request *request);
pti_server *pti_server_retain(pti_server *server);
/** Release a server; NULL does nothing. */
void pti_server_release(pti_server *server);

/** Deal the slots out to several parts, none of which is empty, before anything else is done with
 * the server. Of several processes each has parts of its own, maybe none.
 *
 * Shapes: part_of: of each rank; -1 - p: it is of process p, and not of this one. False when memory
 * runs out. */
bool pti_server_deal(pti_server *server, int n_parts, const int32_t *part_of);

/** What a carrier has done: how carrying packets goes on. */
typedef struct pti_carrying {
    bool has_moved;  /* a packet has come or gone */
    bool is_idle;    /* all that it took has left, and nothing is on its way here */
    bool has_failed; /* it carries nothing any more; the server knows why */
} pti_carrying;

/** What brings packets to the servers of other processes. The program's thread calls it; slots do,
 * too, while that thread waits, one at a time, if any thread may. */
typedef struct pti_carrier {
    void *carrier;
    pti_carrying (*carry)(void *carrier, pti_server *server);
    bool by_any_thread;
} pti_carrier;

/** Let the slots be of n_processes, before they are dealt out. False when memory runs out. */
bool pti_server_join(pti_server *server, int n_processes, int own, const pti_carrier *carrier);

/** Number a launch, alike in all processes, whose packets may be carried from now on. Nothing
 * happens where all slots are of this process. */
void pti_server_open(pti_server *server, int64_t number);
int64_t pti_server_number(const pti_server *server);

/** Carry packets until the launch is over in all processes. The program's thread calls it. Returns
 * what has ended the launch in this process, with its text on the context; *is_of_peer: it failed
 * in another one. */
polytile_status pti_server_carry(pti_server *server, polytile_context *ctx, bool *is_of_peer);

/** End a launch that cannot go on. */
void pti_server_fail(pti_server *server, polytile_status status, const char *text);

pti_server_part *pti_server_get_part(pti_server *server, int number);

/** Take the part that has a rank; the server is retained for who takes it. */
pti_server_part *pti_server_take_part(pti_server *server, int rank);

/** Abandon the parts that nobody has taken, see pti_server_abandon(); slots of other processes are
 * told. NULL does nothing. */
void pti_server_give_up(pti_server *server, const pti_error *why);
pti_server *pti_server_of_part(const pti_server_part *part);
int pti_server_part_n_slots(const pti_server_part *part);

/** The threads of all parts, and the rank of a slot by its number in a part. */
const polytile_domain *pti_server_part_threads(const pti_server_part *part);
int pti_server_part_rank(const pti_server_part *part, int place);

/** What has become of the kernel whose thread blocks are slots. */
typedef enum pti_slots_state { PTI_SLOTS_RUN, PTI_SLOTS_ENDED, PTI_SLOTS_FAILED } pti_slots_state;

/** How slots are reached that are no threads of the host. One thread at a time calls these
 * functions, the one that launched; each but get_state() waits until it is done, and returns
 * whether it could. */
typedef struct pti_slot_device {
    void *device;
    void *shared; /* pti_server_bytes() of memory of the host, which slots read and write */
    void *slots;  /* and of memory of the device */
    bool (*fetch)(void *device, void *to_host, const void *from_device, int64_t n_bytes);
    bool (*store)(void *device, void *to_device, const void *from_host, int64_t n_bytes);
    /** Copy from the device's memory to that of another one, or to its own, without processors. */
    bool (*pass)(void *device, void *other, void *to_other, const void *from_device,
                 int64_t n_bytes);
    /** Return whether slots load, store and add to words in the memory of another device. Any
     * thread may call it, before slots run. */
    bool (*reaches)(void *device, void *other);
    /** Whether all slots have returned, or what ran them has failed. */
    pti_slots_state (*get_state)(void *device);
} pti_slot_device;

/** The memory that slots and their server share, and that of the slots. */
typedef struct pti_server_bytes {
    int64_t shared_bytes;
    int64_t slots_bytes;
} pti_server_bytes;
pti_server_bytes pti_server_count_bytes(const pti_server_part *part, int n_memories);

/**
 * Begin to serve a part: make the slots, whose messages lie in these memories, which must live
 * until pti_server_finish().
 *
 * Shapes  views: of the memories; device: where the slots are; NULL: they are threads of the host.
 *         They must live as long.
 * Errors  NO_MEMORY; DEVICE (the slots could not be stored).
 */
polytile_status pti_server_begin(pti_server_part *part, polytile_context *ctx,
                                 const pt_memory *memories, const polytile_view *views,
                                 int n_memories, const pti_slot_device *device);

/** Wait until all parts have begun, so that all slots can run at once, and let the slots of a part
 * know what they reach on other devices. Errors: what ended the launch before, as another part that
 * cannot begin; DEVICE. No slot of this part has run then, and none may. */
polytile_status pti_server_meet(pti_server_part *part, polytile_context *ctx);

/** A slot of a part that has begun, in the memory of the device where it is, by its number there;
 * the server owns it. */
pt_slot *pti_server_get_slot(pti_server_part *part, int place);

/** End a part whose slots have returned, and wait until those of all parts have: nobody copies from
 * its memory or to it any more. Returns what ended the launch, with its text on the context. Does
 * nothing more when called again. */
polytile_status pti_server_finish(pti_server_part *part, polytile_context *ctx);

/** Note that a part is done with, which may not have run: the launch ends with it, if it is not
 * over, and of several parts the others are told why; NULL: nobody knows. NULL, the part, does
 * nothing. */
void pti_server_abandon(pti_server_part *part, const pti_error *why);

#endif
