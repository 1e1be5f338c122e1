#ifndef POLYTILE_LAUNCH_PEERS_PEERS_H
#define POLYTILE_LAUNCH_PEERS_PEERS_H

#include "launch/device/device.h"

/* launch/peers: linked GPUs that each upload a part of what several read, and copy the other parts
 * from each other. */

/*
 * Linked devices that work on the same arrays at the same time. Of what several are about to
 * upload, each uploads a part and copies the others' parts from their memory, so it crosses the
 * host's link once.
 *
 * They meet before they run their schedules (peers.c), which are then compared (peers_match.c).
 * While they run (sharing.c), a device waits until another's part is enqueued, and, before it
 * reuses the memory of its own part, until the others' copies are. All share in one order, so the
 * one that is the least far waits for nobody. Nobody waits for a device that has failed or is done,
 * nor long for one that does not advance. A device that has waited in vain uploads all by itself:
 * only the way of the bytes changes.
 */

/** The most devices that share. */
enum { PTI_MOST_PEERS = 8 };

/** Host memory of an array of which several devices read nearly the same. */
typedef struct pti_host_span {
    const void *begin;
    int64_t n_bytes;
} pti_host_span;

/** The most spans at a time. */
enum { PTI_MOST_HOST_SPANS = 32 };

typedef struct pti_peers pti_peers;

/** Link 2 to PTI_MOST_PEERS devices, each of which reaches all others' memory. NULL when memory
 * runs out. */
pti_peers *pti_peers_create(int n_devices, polytile_device *const *devices);
/** Free links of devices on which nothing runs, and which may be closed. NULL does nothing. */
void pti_peers_free(pti_peers *peers);

/** Return the peers of a device that has some. */
pti_peers *pti_peers_of(const polytile_device *device);

/** Set what several devices read from now on. */
void pti_peers_set_spans(pti_peers *peers, int n_spans, const pti_host_span *spans);
/** Expect a device to read them, at the latest in its queue's item of this number, which its thread
 * has not begun. */
void pti_peers_expect(polytile_device *device, int64_t number);
/** Record that a device's queue is done with items up to this number, successful or not. Does
 * nothing for devices without peers. */
void pti_peers_note_passed(polytile_device *device, int64_t number);

#endif
