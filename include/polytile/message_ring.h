#ifndef POLYTILE_MESSAGE_RING_H
#define POLYTILE_MESSAGE_RING_H

/*
 * What a slot and the server of its launch share. docs/messages.md says why each word is seen in
 * time; message.h has what programs use.
 *
 * Slots put entries into one ring. Who puts an entry takes the next place by adding to the head,
 * waits until the server has taken the entry that was there one time round before (its credit),
 * writes the entry, and commits it by one release store of its number, which counts on each time
 * round. The server takes entries in the order of their numbers, and answers each request by a
 * reply of the slot, which it commits likewise. Only slots add to words, and only to those in
 * memory of their own device, or of one that is linked with it; the server stores. Entries,
 * payloads, replies and the server's words are in memory of the host, which a device has mapped;
 * all else is in the device's memory.
 */
#include <polytile/implementation.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The layout of this header: a library runs only bodies that were compiled for its own. */
enum { PT_RING_LAYOUT = 6 };

enum {
    PT_MAX_REQUESTS = 16,    /* of a slot, under way at once */
    PT_MAX_SIGNALS = 16,     /* of a slot */
    PT_STAGE_BYTES = 4096,   /* of an element-wise combination at once */
    PT_ENTRY_BYTES = 24,     /* of a message that its entry carries */
    PT_REPLY_BYTES = 32,     /* of a message that the reply to a receive carries */
    PT_PAYLOAD_BYTES = 4096, /* of a message that lies beside its entry */
};

/** What an entry asks for. */
typedef enum pt_kind {
    PT_SEND_ENTRY = 1,
    PT_RECV_ENTRY,
    PT_REQUESTS_ENTRY, /* the slot has more requests than it may */
    PT_PUT_ENTRY,      /* it puts n_bytes to an address that is not the launch's */
    PT_SIGNAL_ENTRY,   /* it uses the signal tag, which is none, of peer */
    PT_WAIT_ENTRY,     /* it waits until the word at an address is n_bytes or more */
    PT_LOOK_ENTRY,     /* it has looked often at a request that is not done */
    PT_END_ENTRY,      /* it returns from its body */
    PT_GIVE_ENTRY,     /* it gives the signal tag of peer, of slots on several devices */
    PT_ARRIVE_ENTRY,   /* it arrives at a barrier, likewise */
} pt_kind;

enum {
    PT_BUFFERED = 1,   /* a send that waits for no receive, whatever it takes to keep it */
    PT_COLLECTIVE = 2, /* matches its like alone; tag is a pt_collective */
    PT_CARRIED = 4,    /* a send whose data come with the entry, so that it is done */
};

/** 64 bytes, a line of every cache between a slot and the server. */
typedef struct pt_entry {
    uint64_t commit; /* its number from 1 on: stored last, with release */
    uint16_t slot;
    uint16_t n_payloads; /* that the slot has taken from replies so far, modulo 2^16 */
    uint8_t kind;
    uint8_t flags;
    int16_t request;
    int32_t peer; /* a rank, PT_ANY or PT_PROGRAM */
    int32_t tag;
    uint64_t address;
    int64_t n_bytes;
    uint64_t data[PT_ENTRY_BYTES / 8]; /* carried, unless they lie beside it */
} pt_entry;

/** The answer to a request, 64 bytes. */
typedef struct pt_reply {
    uint64_t commit; /* how many requests of this number are done: stored last, with release */
    int32_t source;
    int32_t tag;
    int64_t n_bytes;
    int64_t
        n_carried; /* bytes of the message that are here, or beside the slot's replies if they are
                          more than fit; 0: they are where they belong */
    uint64_t data[PT_REPLY_BYTES / 8];
} pt_reply;

/** Memory of a launch's operand that is resident. */
typedef struct pt_memory {
    const char *begin; /* where slots here put to another device, it names the operand */
    const char *end;
    int32_t is_written; /* by the launch, so that messages may be received there */
} pt_memory;

/** The same memory on another device, where slots here put. */
typedef struct pt_far_memory {
    uint64_t shift;   /* from where an element would be here to where it is there, modulo 2^64 */
    pt_memory memory; /* there; empty: it is out of reach */
} pt_far_memory;

/** What becomes of a send whose data came with its entry. */
typedef struct pt_sent {
    int32_t tag;
    int64_t n_bytes;
} pt_sent;

typedef struct pt_ring {
    pt_entry *entry;
    uint64_t n_entries;      /* a power of two */
    char *payload;           /* PT_PAYLOAD_BYTES beside each place; NULL: no entry carries data */
    const uint64_t *n_taken; /* by the server */
    const uint64_t *ending;  /* 1: every call returns, since the launch is being ended */
    uint64_t *head;          /* entries whose places are taken */
    uint64_t *n_taken_seen;  /* what slots have seen of n_taken, which is far away */
    uint64_t *count; /* PT_MAX_SIGNALS of each slot, then arrivals at barriers; they only grow */
    const int32_t *part_of; /* of each rank, by its device; NULL: all slots are here, and add to the
                               counts, which the server does else */
    uint64_t *const *far_count; /* the counts of each part, to which slots add all the same; NULL:
                                   the server does */
    const pt_far_memory *far;   /* n_memories of each part; NULL: slots reach those here alone */
    const pt_memory *memory;
    int32_t n_memories;
    int32_t n_ranks;
    int32_t n_parts;
} pt_ring;

/** One slot. A thread block copies its own, and the ring, to where it reaches them soonest. */
typedef struct pt_slot {
    const pt_ring *ring;
    pt_reply *reply; /* of each request */
    char *payload;   /* PT_PAYLOAD_BYTES beside them, one message at a time */
    void *server;    /* of a thread of the host; NULL: on another device */
    char *stage;     /* two of PT_STAGE_BYTES, for what it has to reduce */
    int32_t rank;
    int32_t is_ending; /* it has seen that the launch is being ended */
    int32_t result;    /* of the call in progress, from the first lane to all, as got */
    uint32_t open;     /* a bit for each request under way */
    uint32_t carried;  /* of them, sends that were done when they began */
    uint64_t n_barriers;
    pt_entry entry;   /* that it puts, by the first lane, as the place */
    uint64_t place;   /* of the ring */
    uint64_t n_taken; /* entries, as far as it has seen */
    uint64_t n_payloads;
    pt_reply got;                      /* of the request that ends */
    uint64_t n_calls;                  /* that asked whether the launch is being ended */
    uint64_t n_tests;                  /* of requests that may not be done */
    uint64_t awaited[PT_MAX_REQUESTS]; /* of each reply: the commit that ends its request */
    void *buffer[PT_MAX_REQUESTS];     /* of each receive */
    pt_sent sent[PT_MAX_REQUESTS];     /* of each carried send */
} pt_slot;

/** How the body of a team kernel runs: as a host function of one thread, whose user is a pt_slot;
 * and as a CUDA kernel of as many thread blocks as there are slots, which takes the slots, the
 * threads, the views and the values. */
typedef struct polytile_team {
    int64_t layout; /* PT_RING_LAYOUT */
    polytile_host_function *host;
    const void *cuda; /* NULL: nvcc did not compile it */
} polytile_team;

#ifdef __cplusplus
}
#endif

#endif
