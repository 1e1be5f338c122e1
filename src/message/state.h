#ifndef POLYTILE_MESSAGE_STATE_H
#define POLYTILE_MESSAGE_STATE_H

#include "message/server.h"
#include "message/slot_memory.h"

#include <pthread.h>

/* What the files of the room share of a server. All of it is under the mutex, but for what slots
 * read and write through their pt_slot. */

/** Messages of this size are kept within their posts. */
enum { PTI_SMALL_BYTES = 64 };

/** A send or a receive that is not done, or a message that is kept. The server's. */
typedef struct pti_post {
    struct pti_post *next;
    int owner;   /* the participant whose request it is */
    int request; /* of the owner; PT_NO_REQUEST: it has been told that it is done */
    int peer;    /* of a send: the receiver; of a receive: the sender, or PT_ANY. Participants */
    int tag;
    bool is_send;
    bool is_collective;
    char *data; /* the owner's memory, or kept */
    char *kept; /* a copy of it, `small` or owned; NULL: none */
    int64_t n_bytes;
    bool comes_with_reply; /* a receive, of a slot on a device, whose reply brings the data */
    int64_t offer; /* a send from one process to another: its number there; 0: it has none */
    int n_leaving; /* pieces of it that leave straight from its memory, and have not left */
    char small[PTI_SMALL_BYTES];
} pti_post;

/** Posts in the order in which they came. */
typedef struct pti_posts {
    pti_post *first;
    pti_post *last;
} pti_posts;

/** A message from another process whose data come, in packets. On the heap. */
typedef struct pti_incoming {
    struct pti_incoming *next;
    pti_post *send;
    pti_post *receive; /* NULL: they are kept */
    int64_t n_left;    /* bytes that are not there yet */
} pti_incoming;

/** A copy of a large message, or of a piece of one, which threads make without the mutex. On the
 * heap. */
typedef struct pti_copy {
    struct pti_copy *next;
    pti_post *send;
    pti_post *receive;         /* NULL: it is copied to be kept, or leaves */
    pti_server_part *part;     /* whose thread makes it, by its device; NULL: any thread */
    bool leaves;               /* for another process, piece by piece */
    int64_t at;                /* of the next piece that leaves, or of the one that has come */
    pti_incoming *incoming;    /* of which a piece has come; NULL: none */
    struct pti_packet *packet; /* that a piece goes into, while it is copied; owned */
    char *came;                /* what has brought a piece; owned */
    const char *piece;         /* in that */
    int64_t n_bytes;           /* of the piece */
} pti_copy;

/** A slot, or the program, which is the last participant. */
typedef struct pti_participant {
    pti_server_part *part;              /* of a slot */
    int place;                          /* of a slot, among those of its part */
    pti_posts messages;                 /* to it, which no receive has taken */
    pti_posts receives;                 /* of it, which have taken no message */
    pti_post *request[PT_MAX_REQUESTS]; /* that are not done */
    const uint64_t *word;               /* it waits until this is wanted or more; NULL: it runs */
    uint64_t wanted;
    double since_s;
    uint16_t n_given, n_taken; /* payloads beside its replies, by the server and by the slot; modulo
                                  2^16 */
    bool has_ended;
    pthread_cond_t wake;
} pti_participant;

/** What the first process knows of another one. */
typedef struct pti_process_state {
    bool is_still; /* nobody there could go on, when it had sent and got the packets below */
    int64_t n_sent;
    int64_t n_got;
    char *waits; /* who waits there for what; owned */
} pti_process_state;

/** No slot looks for packets. */
enum { PTI_NO_LOOKER = -1 };

/** Slots of several processes, as one of these knows them. On the heap. */
typedef struct pti_server_processes {
    int n;
    int own;
    int64_t number; /* of the launch, the same in all processes */
    pti_carrier carrier;
    bool is_lent;        /* the program's thread waits, and slots may carry */
    bool is_carrying;    /* some thread does now */
    bool is_idle;        /* as who carried last has found: nothing is under way */
    bool has_failed;     /* likewise: nothing is carried any more */
    int looker;          /* the slot that waits and looks for packets: no other thread needs to */
    bool has_slot_moved; /* slots have carried some since the program's thread last looked */
    struct pti_packet *first, *last; /* that are to leave */
    int n_pieces;                    /* of messages, among them */
    int64_t straight_bytes;          /* of pieces that leave straight, or come so */
    struct pti_packet **end;         /* of each other process, made before; NULL: it has left */
    int n_begun;                     /* other processes that have */
    bool has_told_begun;
    int n_returned; /* slots of others */
    int n_ends;     /* packets that came: other processes that send nothing more */
    bool has_told_end;
    int64_t n_arrived; /* arrivals of slots here at barriers, so far */
    int64_t n_arrived_told;
    int64_t n_offers;  /* so far */
    pti_posts offered; /* sends whose data were not asked for yet */
    pti_incoming *incoming;
    int64_t n_sent, n_got;
    bool is_told; /* the first process knows that nobody here can go on, with these counts */
    int64_t n_sent_told, n_got_told;
    double own_progress_s;    /* when something last went on here */
    double beat_s;            /* when others last heard of that */
    pti_process_state *state; /* of the first process: of each; owned */
    int n_answers;            /* to its question; -1: none is asked */
    bool is_sure;             /* all answers so far are as what was known */
} pti_server_processes;

/** Of a server, and of each of its parts, which has begun when its slots are there. */
typedef enum pti_server_phase {
    PTI_SERVER_QUEUED,
    PTI_SERVER_BEGUN,
    PTI_SERVER_RUNS,
    PTI_SERVER_OVER,
} pti_server_phase;

struct pti_server_part {
    pti_server *server;
    int n_slots;
    int n_ended;
    int32_t *rank; /* of each slot, in ascending order; owned */
    bool is_taken; /* by what runs it, which ends it */
    pti_server_phase phase;
    uint64_t n_taken; /* entries */

    /* Shared with slots; only those on the host may be reached by the addresses that they have. */
    pt_ring ring;
    const pt_slot *slot;     /* for addresses alone, as ring.count and what follows */
    const char *stages;      /* PTI_STAGES_BYTES of each slot */
    pti_slot_memory memory;  /* of it all */
    pti_slot_words *words;   /* NULL: the slots are not there */
    pt_reply *reply;         /* PT_MAX_REQUESTS of each slot */
    char *payload;           /* PT_PAYLOAD_BYTES of each slot on a device */
    uint64_t *count;         /* ring.count, or if that is far what it was when it was asked last */
    uint64_t *counts_there;  /* in the memory of the device, which slots reach */
    int64_t n_entries_asked; /* of the server, by then */
    double asked_s;
    const pti_slot_device *device; /* where the slots are; NULL: threads of the host */
    const polytile_view *views;    /* of the operands there */
    uint64_t reached;              /* a bit for each part whose memory slots reach */
};

/** The most parts whose slots may reach each other's memory: as many bits as `reached` has. */
enum { PTI_MOST_REACHED = 64 };

struct pti_server {
    pthread_mutex_t mutex;
    pthread_cond_t
        changed; /* for threads that wait for slots, or for parts: one has ended, or all must */
    int n_users;
    char *kernel_name;
    int n_slots;
    polytile_domain threads; /* their numbers in C order are the ranks */
    int n_parts;
    pti_server_part *part;
    int32_t *part_of; /* of each rank; NULL: there is one part. -1 - p: of process p, not this */
    pti_server_processes *processes; /* NULL: all slots are of this one; owned */
    int n_begun;                     /* parts that have, or are over */
    int n_over;                      /* of them, those that are */
    bool has_program;
    int n_program_waits; /* calls in which the program waits for the queue */
    double timeout_s;
    pti_server_phase phase;
    pti_participant *participant; /* n_slots + 1 */
    int n_waiting;                /* slots with a word */
    int n_crowded;                /* of them, slots that wait for a place in the ring */
    int64_t n_entries;            /* that were taken, of all parts */
    bool
        do_slots_count; /* they add to counts in the memory of their devices, far from the server */
    int n_here;         /* slots of this process */
    int n_ended;        /* of them */
    int n_polls;        /* calls that found a request not done, since progress_s */
    int n_copying;      /* copies that threads make now */
    pti_copy *copy;     /* copies that nobody makes yet */
    pti_post *spare;    /* posts that are free for the next ones */
    double progress_s;  /* when something last went on, by the coarse clock */
    polytile_status status; /* of the first failure */
    char text[PTI_ERROR_BYTES];

    bool is_ending;
    bool is_ended_by_peer; /* by another process */
    bool
        does_program_wait; /* for a message, of a launch on a device; read without the mutex, too */
    double program_serves_until_s; /* likewise: it calls so often that it takes entries itself */
    pt_reply program_reply;        /* of the one request of the program */
};

/** The reply to a request of a participant. */
static inline pt_reply *pti_reply_of(pti_server *server, int participant, int request) {
    const pti_participant *of = &server->participant[participant];
    return participant == server->n_slots ? &server->program_reply
                                          : &of->part->reply[of->place * PT_MAX_REQUESTS + request];
}

/** How many counts there are, of each part. */
static inline int64_t pti_n_counts(const pti_server *server) {
    return (int64_t)server->n_slots * PT_MAX_SIGNALS + 1;
}

/** The device of a slot; NULL: it is on the host, or the participant is the program. */
static inline const pti_slot_device *pti_device_of(const pti_server *server, int participant) {
    const pti_participant *of = &server->participant[participant];
    return of->part == NULL ? NULL : of->part->device;
}

/** Return whether all slots are of one part, and add to the counts themselves. */
static inline bool pti_is_one_part(const pti_server *server) {
    return server->part_of == NULL;
}

/** Return whether all slots have returned, wherever they are. */
static inline bool pti_have_all_returned(const pti_server *server) {
    const int elsewhere = server->processes == NULL ? 0 : server->processes->n_returned;
    return server->n_ended + elsewhere == server->n_slots;
}

/** Return whether data leave straight from the memory of slots, or come straight there. */
static inline bool pti_is_any_straight(const pti_server *server) {
    const pti_server_processes *of = server->processes;
    return of != NULL && of->straight_bytes > 0 && !of->has_failed;
}

/** Return whether any thread, or MPI, copies from the memory of slots or to it. */
static inline bool pti_is_memory_used(const pti_server *server) {
    return server->n_copying > 0 || pti_is_any_straight(server);
}

/** Return whether they have, and what they sent the program is where it goes, or has left. */
static inline bool pti_have_all_ended(const pti_server *server) {
    const bool comes = server->processes != NULL && server->processes->incoming != NULL;
    return pti_have_all_returned(server) && server->copy == NULL && !pti_is_memory_used(server) &&
           !comes;
}

/** Return whether slots add to counts that are in the memory of their devices, far from the
 * server. */
static inline bool pti_are_counts_far(const pti_server *server) {
    return server->do_slots_count && server->phase != PTI_SERVER_OVER;
}

/** Return whether any slots are on a device. */
static inline bool pti_has_devices(const pti_server *server) {
    bool has = false;
    for (int k = 0; k < server->n_parts; k++)
        has |= server->part[k].device != NULL;
    return has;
}

static inline pti_participant *pti_program_of(pti_server *server) {
    return &server->participant[server->n_slots];
}

/** Wake a participant that waits, for what it waits for or to look again. */
void pti_server_wake(pti_server *server, int participant);

/** Wake the program's thread, if it carries packets: some are to leave, or all is over. */
void pti_server_call_carrier(pti_server *server);

/** Wake who waits until no data are under way any more, if anybody can: slots here have returned,
 * or the launch ends. */
void pti_server_tell_still(pti_server *server);

/** Lock the mutex by a thread that is busy, and so would rather look again than sleep. */
void pti_server_lock(pti_server *server);

/** Note that something went on. */
void pti_server_note_progress(pti_server *server);

/** End the launch, unless it is being ended: every slot returns from the call it is in. */
void pti_server_end(pti_server *server, polytile_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/** Let slots run when those of all parts and processes are there. */
void pti_server_check_begun(pti_server *server);

/** Append to the end of a list. */
void pti_posts_append(pti_posts *posts, pti_post *post);
/** Take a post out of a list, by where that has it. */
pti_post *pti_posts_take(pti_posts *posts, pti_post **at);
/** Make a post as another one says; NULL when memory runs out. */
pti_post *pti_post_make(pti_server *server, const pti_post *as);
/** Make room to keep the message of a post; false when memory runs out. */
bool pti_post_keep(pti_post *post);
void pti_post_free(pti_server *server, pti_post *post);
/** Free the posts that pti_post_free() has left for the next ones. */
void pti_posts_free_spare(pti_server *server);
/** Forget a post that ends with its launch; NULL does nothing. */
void pti_post_forget(pti_server *server, pti_post *post);

/** Name a participant: "slot 3", "the program", "any slot". */
typedef struct pti_participant_name {
    char text[32];
} pti_participant_name;
pti_participant_name pti_name_participant(const pti_server *server, int participant);

#endif
