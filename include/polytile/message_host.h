#ifndef POLYTILE_MESSAGE_HOST_H
#define POLYTILE_MESSAGE_HOST_H

/* What message_call.h needs of a host thread, which is a team of one lane. */
#include <polytile/message_ring.h>

#define PT_LANE      0
#define PT_LANES     1
#define PT_TEAM_SYNC ((void)0)

/* Whether any lane says so, for all, who wait for each other. */
#define PT_TEAM_OR(value) (value)

#define PT_LOAD_ACQUIRE(word)         __atomic_load_n(word, __ATOMIC_ACQUIRE)
#define PT_STORE_RELEASE(word, value) __atomic_store_n(word, value, __ATOMIC_RELEASE)
#define PT_ADD(word, value)           __atomic_fetch_add(word, value, __ATOMIC_ACQ_REL)
#define PT_ADD_FAR(word, value)       __atomic_fetch_add(word, value, __ATOMIC_ACQ_REL)
#define PT_ADD_RELAXED(word, value)   __atomic_fetch_add(word, value, __ATOMIC_RELAXED)

#ifdef __cplusplus
extern "C" {
#endif

/** Wait until a word is this large, or the launch is being ended, which returns 1. Bodies call it
 * through pt_wait() and the like. */
int polytile_message_await(pt_slot *slot, const uint64_t *word, uint64_t wanted);

/** Let the server see what the slot has done: put an entry (NULL), added to a count, or looked at a
 * reply. */
void polytile_message_notify(pt_slot *slot, const uint64_t *word);

#ifdef __cplusplus
}
#endif

#define PT_IS_ENDING(slot)            (PT_LOAD_ACQUIRE((slot)->ring->ending) != 0)
#define PT_AWAIT(slot, word, wanted)  polytile_message_await(slot, word, wanted)
#define PT_AWAIT_CREDIT(slot, wanted) polytile_message_await(slot, (slot)->ring->n_taken, wanted)
#define PT_NOTIFY(slot, word)         polytile_message_notify(slot, word)
#define PT_NOTIFY_LOOK(slot, word)    polytile_message_notify(slot, word)
#define PT_LEAVE(slot)                ((void)(slot))
#define PT_DEFINE_TEAM(slot)          pt_slot *const pt_team = (slot)

#endif
