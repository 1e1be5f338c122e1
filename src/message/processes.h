#ifndef POLYTILE_MESSAGE_PROCESSES_H
#define POLYTILE_MESSAGE_PROCESSES_H

#include "message/state.h"

/* Slots of one launch in several processes. Each process has a server of its own, which matches the
 * messages to its slots. Servers send each other packets, which a carrier takes along: it is called
 * by the program's thread alone, as MPI may ask for, or while that waits by slots (wait.c). The
 * mutex is locked, unless said otherwise. */

/** What a packet is. Those before PTI_BEAT_PACKET change what slots can do, and are counted. */
typedef enum pti_packet_kind {
    PTI_MESSAGE_PACKET = 1, /* a message, with its data */
    PTI_OFFER_PACKET,       /* a message whose data wait until they are asked for */
    PTI_BRING_PACKET,       /* a message to the program, whose data follow unasked */
    PTI_ASK_PACKET,         /* for the data of an offer, which has its receive */
    PTI_DATA_PACKET,        /* a piece of them */
    PTI_STRAIGHT_PACKET,    /* a piece of them follows: what MPI brings next is data alone */
    PTI_SIGNAL_PACKET,      /* a signal of a slot */
    PTI_ARRIVE_PACKET,      /* how many slots are at a barrier */
    PTI_BEGUN_PACKET,       /* the slots of a process are there */
    PTI_RETURNED_PACKET,    /* they have all returned */
    PTI_BEAT_PACKET,        /* something has gone on in a process */
    PTI_STILL_PACKET,       /* to the first process: nobody here can go on */
    PTI_PROBE_PACKET,       /* of the first process: can nobody go on? */
    PTI_ANSWER_PACKET,      /* to it */
    PTI_END_PACKET,         /* the launch is over, or ends with an error; nothing comes after it */
} pti_packet_kind;

/** What packets begin with. */
#define PTI_PACKET_MARK UINT64_C(0x706f6c7974696c65)

/** What packets say, each kind a part of it. */
typedef struct pti_packet_head {
    uint64_t mark; /* PTI_PACKET_MARK; data whose packet MPI has lost lack it, and are no packet */
    int32_t kind;
    int32_t from; /* slots */
    int32_t to;
    int32_t tag;     /* of a message; a signal's number */
    int32_t is_such; /* a message: collective; an answer: nobody can go on; who asks: data may come
                        straight */
    int32_t status;  /* of the end */
    int64_t offer;   /* its number in the process that made it */
    int64_t n_bytes; /* of a message, or of the piece that follows; how many slots arrive */
    int64_t at;      /* of a piece, in its message; who asks: where the data go, in its page */
    int64_t n_sent;  /* packets that were counted: sent by a process, and got */
    int64_t n_got;
} pti_packet_head;

/** A packet to another process, in memory of spare.h. The head and the data are what is carried. */
typedef struct pti_packet {
    struct pti_packet *next;
    int process;
    pti_post *straight; /* the send of which head.n_bytes follow, from head.at on; NULL: none do */
    int64_t n_bytes;    /* of head and data */
    pti_packet_head head;
    char data[];
} pti_packet;

/** The process whose program the slots speak to. */
enum { PTI_PROGRAM_PROCESS = 0 };

/** The process of a participant. */
int pti_process_of(const pti_server *server, int participant);

/** Return whether a participant is in another process. */
bool pti_is_elsewhere(const pti_server *server, int participant);

/** Let a packet leave, unless the launch is being ended. */
void pti_processes_post(pti_server *server, int process, const pti_packet_head *head,
                        const void *data, int64_t data_bytes);
/** The same to all other processes; nothing happens where there is none. */
void pti_processes_post_all(pti_server *server, const pti_packet_head *head);

/** Take a send to a slot elsewhere, which becomes the server's: its data go along if they are kept,
 * else when they are asked for. What is long, and kept for the program, may outlive its sender: its
 * data are to leave unasked. Then this returns true, and the send stays the caller's. */
bool pti_processes_send(pti_server *server, pti_post *send);

/** Take the data of a message from elsewhere that come unasked: nobody receives it yet. It becomes
 * the server's. */
void pti_processes_expect(pti_server *server, pti_post *send);

/** Ask for the data of a message from elsewhere, which has found its receive; both become the
 * server's. */
void pti_processes_ask(pti_server *server, pti_post *send, pti_post *receive);

/** How long the piece of a message is that begins at `at`. */
int64_t pti_processes_size_piece(const pti_post *send, int64_t at);

/** Let pieces be no longer than this, for tests; 0: as long as is good. */
void pti_processes_set_piece(int64_t n_bytes);

/** Let the data of a send leave without a copy, straight from where they are: memory of the host,
 * which stays until they have left. The send becomes the server's. */
void pti_processes_leave_straight(pti_server *server, pti_post *send);

/** Make a packet for such a piece, whose data are to be copied into it; NULL, after the launch was
 * ended: there is no memory. The caller owns it. */
pti_packet *pti_processes_make_piece(pti_server *server, const pti_post *send, int64_t at,
                                     int64_t n_bytes);
/** Let it leave; it becomes the server's. */
void pti_processes_post_piece(pti_server *server, pti_packet *piece);
/** Return whether a further piece is to be made: few wait for the carrier. */
bool pti_processes_want_pieces(const pti_server *server);

/* What others are told of. Nothing happens where all slots are of this process. */
void pti_processes_signal(pti_server *server, int slot, int signal);
/** A slot has arrived at a barrier: others are told when all here have. */
void pti_processes_arrive(pti_server *server);
/** Tell them of those so far. */
void pti_processes_tell_arrivals(pti_server *server);
void pti_processes_note_returns(pti_server *server);

/** Tell others that something went on, from time to time; and when all is over. */
void pti_processes_tell(pti_server *server);

/** Forget posts that wait for others. */
void pti_processes_forget(pti_server *server);
/** Free it all, if there is any. */
void pti_processes_free(pti_server *server);

/** The next packet that is to leave, for the carrier, whose it becomes; NULL: none is. The mutex is
 * not locked. */
pti_packet *pti_processes_take(pti_server *server);

#endif
