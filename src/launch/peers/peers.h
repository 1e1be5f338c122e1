#ifndef POLYTILE_LAUNCH_PEERS_PEERS_H
#define POLYTILE_LAUNCH_PEERS_PEERS_H

#include "launch/device/device.h"

/* launch/peers: linked GPUs that upload parts of the same arrays, and copy the other parts from
 * each other. */

/* Linked devices that work on parts of the same arrays at the same time. What several of them are
 * about to upload, each uploads a part of, and has the others' parts copied from their memory: it
 * crosses the host's link once.
 *
 * They meet before they run their schedules (peers.c), which then are compared (peers_match.c).
 * While they run (sharing.c) a device waits until the part of another one is enqueued, and before
 * it uses the memory of its own part for something else, until the others' copies of it are. All of
 * them come through what they share in one order, so the one that is the least far waits for
 * nobody; one that fails or is done is not waited for, and nobody is for long that does not move.
 * Who has waited in vain uploads all by itself: whatever happens, only the way of the bytes
 * changes. */

/** The most devices that share. */
enum { PTI_MOST_PEERS = 8 };

/** Host memory of an array that several devices read, nearly the same of. */
typedef struct pti_host_span {
    const void *begin;
    int64_t n_bytes;
} pti_host_span;

/** The most spans that are known at a time. */
enum { PTI_MOST_HOST_SPANS = 32 };

typedef struct pti_peers pti_peers;

/** Devices, each of which reaches all others' memory; from 2 to PTI_MOST_PEERS. NULL when memory
 * runs out. */
pti_peers *pti_peers_create(int n_devices, polytile_device *const *devices);
/** Nothing runs on the devices any more, which may be closed already. NULL does nothing. */
void pti_peers_free(pti_peers *peers);

/** Those that a device is one of, which has some. */
pti_peers *pti_peers_of(const polytile_device *device);

/** What several devices read from now on, instead of what they read before. */
void pti_peers_set_spans(pti_peers *peers, int n_spans, const pti_host_span *spans);
/** A device is about to read them, in the item of its queue that has this number at the latest; its
 * thread has not begun with it. */
void pti_peers_expect(polytile_device *device, int64_t number);
/** A device's queue is done with items up to this number, whatever became of them. Does nothing for
 * devices without peers. */
void pti_peers_note_passed(polytile_device *device, int64_t number);

#endif
