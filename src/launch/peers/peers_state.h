#ifndef POLYTILE_LAUNCH_PEERS_PEERS_STATE_H
#define POLYTILE_LAUNCH_PEERS_PEERS_STATE_H

#include "launch/peers/newer.h"
#include "launch/peers/peers.h"

#include <pthread.h>

/* What the files of linked devices share; the mutex guards all of it. */

/** An upload that others may do, too: of the same box of the same memory. */
typedef struct pti_offer {
    const char *address; /* of the box's first element */
    polytile_domain box;
    int64_t op;      /* in the schedule */
    double progress; /* how far in the schedule, 0 to 1 */
    int peer;        /* whose it is */
} pti_offer;

/** How far a part of a shared upload is. */
typedef enum pti_part_phase {
    PTI_PART_AWAITED, /* not submitted yet */
    PTI_PART_READY,   /* submitted: it can be copied after its event */
    PTI_PART_GONE     /* its memory is used for something else, or never was filled */
} pti_part_phase;

/** One device's part of a shared upload. */
typedef struct pti_upload_share {
    int peer;
    int64_t op; /* of its schedule: the upload */
    polytile_domain box;
    pti_part_phase phase;
    pti_memory_span image; /* where it lies, once it is ready */
    pti_event *ready;
    unsigned done; /* bits of the parts whose devices copied it, or never will */
    pti_event *copied[PTI_MOST_PEERS]; /* by the part whose device did; NULL: it did not */
} pti_upload_share;

/** An upload with the parts of all devices that share it. */
typedef struct pti_shared_upload {
    int n_parts;
    pti_upload_share part[PTI_MOST_PEERS];
} pti_shared_upload;

/** Schedules that run side by side. */
typedef struct pti_session {
    int n_members; /* devices that have not left it; the last one frees it */
    int n_uploads;
    pti_shared_upload *upload; /* in the order in which all come through them; owned */
} pti_session;

/** One of linked devices. */
typedef struct pti_peer {
    pti_peers *peers;
    polytile_device *device;
    int number;
    int64_t expected_number; /* of the last item that reads spans */
    int64_t passed_number;   /* items up to this are done, or nobody waits for it any more */
    bool is_offering;        /* it waits for the others to meet */
    const pti_offer *offer;  /* meanwhile; borrowed */
    int n_offers;
    pti_session *session; /* NULL: it shares nothing now */
    char *arena;          /* its memory */
    int n_newer;          /* what it published; owned */
    pti_newer *newer;
    bool is_lost;    /* it could not be published */
    bool is_pulling; /* only its queue's thread uses this */
} pti_peer;

/** Linked devices. */
struct pti_peers {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    /* Seconds that a device waits for another one before it goes on alone: to meet it, and for its
     * next step once both run. */
    int meet_s;
    int run_s;
    int n_peers;
    pti_peer peer[PTI_MOST_PEERS];
    int n_spans;
    pti_host_span span[PTI_MOST_HOST_SPANS];
};

/** Return a deadline, and wait until something changes; false: the deadline has come. The mutex is
 * held. */
struct timespec pti_peers_deadline(int timeout_s);
bool pti_peers_wait(pti_peers *peers, const struct timespec *deadline);

/** Meet others that offer something. Sets peer->session if there is anything to share. offers: of
 * the schedule, in order. */
void pti_peers_meet(pti_peer *peer, const pti_offer *offers, int n_offers);
/** Leave the session; nobody copies the device's memory any more. */
void pti_peers_leave(pti_peer *peer);

/** Return what the peers' offers share, in one order of all of them; NULL: nothing, or memory ran
 * out. */
pti_session *pti_peers_match(const pti_peers *peers);
void pti_session_free(pti_session *session);

/** Return a device's part of a shared upload; -1: none. */
int pti_shared_upload_find(const pti_shared_upload *upload, int peer);

#endif
