#ifndef POLYTILE_PARTITION_MEMORY_SNAPSHOT_H
#define POLYTILE_PARTITION_MEMORY_SNAPSHOT_H

#include "partition/memory/resident_image.h"

/**
 * What lies on the device between two schedules, as a state that a residency can go back to.
 *
 * A residency that is at a snapshot shares its memory, and changes nothing of it. Its segments may
 * really lie elsewhere in the arena, each as a whole: the residency knows the places.
 */
struct pti_snapshot {
    pti_snapshot *next; /* of those known */
    int n_users;        /* transitions that begin or end here, and the residency that is here */
    uint64_t hash;
    int64_t bytes; /* of host memory, about */
    int64_t time;
    pti_resident_state *state; /* of each array; owned, as the next */
    pti_segments segments;
};

/** Replace the times of last uses by their ranks: planning looks at their order alone, so that a
 * state that comes back looks the same. Does nothing when memory runs out. */
void pti_snapshot_normalise(pti_residency *residency);

/** Return a snapshot of what is resident now, whose memory both share; NULL when memory runs
 * out. */
pti_snapshot *pti_snapshot_of(const pti_residency *residency);

/**
 * Return whether what lies on the device is the same but for the places of segments.
 *
 * place: then, of each segment of `known`, where `other` has it. Room for all is the caller's.
 */
bool pti_snapshot_is_like(const pti_residency *residency, const pti_snapshot *known,
                          const pti_snapshot *other, int64_t *place);

/** Bring the residency to a snapshot, whose memory both share. */
void pti_snapshot_enter(const pti_snapshot *snapshot, pti_residency *residency);

/** Give a residency that shares a snapshot's memory a copy that it may change. False when memory
 * runs out: nothing is changed then. */
bool pti_snapshot_unshare(pti_residency *residency);

/** Put the segments of a residency that shares nothing where they really lie. */
void pti_snapshot_place(pti_residency *residency, const int64_t *place);

/** Free a snapshot that nobody shares; its images become spare ones. */
void pti_snapshot_free(pti_residency *residency, pti_snapshot *snapshot);

#endif
