#ifndef POLYTILE_MESSAGE_SPIN_H
#define POLYTILE_MESSAGE_SPIN_H

/*
 * What message_call.h needs of slots that the server cannot wake: they look again and again, and
 * tell the server by an entry when that takes long. Whoever includes this has the lanes, and loads,
 * stores and additions. The first lane calls these functions.
 *
 * Of the end of a launch only the number matters, and nothing that was stored before it: so no
 * order is asked for there. The server's words are in the host's memory, which is far away. So a
 * slot notes what it has seen of them, and the credit for all slots in the device's memory, too.
 */

/** Looks at a word before the server is told, and at it between two at `ending`; calls between two;
 * looks of pt_test() before the server is told. */
enum { PT_LOOKS_UNTOLD = 64, PT_LOOKS_A_CHECK = 16, PT_CALLS_A_CHECK = 64, PT_TESTS_UNTOLD = 1024 };

#define PT_IS_ENDING(slot)            pt_is_ending_soon(slot)
#define PT_AWAIT(slot, word, wanted)  pt_spin(slot, word, wanted, 1)
#define PT_AWAIT_CREDIT(slot, wanted) pt_spin_for_credit(slot, wanted)
#define PT_NOTIFY(slot, word)         ((void)(slot))
#define PT_NOTIFY_LOOK(slot, word)    pt_tell_looks(slot)
#define PT_LEAVE(slot)                pt_tell_end(slot)

/** Put an entry of the first lane alone; message_call.h has it. */
PT_MESSAGE_FUNCTION void pt_tell(pt_slot *slot, pt_kind kind, const uint64_t *word,
                                 uint64_t wanted);

/** See what the server says, and note it. */
PT_MESSAGE_FUNCTION int pt_see_ending(pt_slot *slot) {
    slot->is_ending |= PT_LOAD_RELAXED(slot->ring->ending) != 0;
    return slot->is_ending;
}

/** Whether a slot has seen the end, or, now and then, the server says so. */
PT_MESSAGE_FUNCTION int pt_is_ending_soon(pt_slot *slot) {
    if (++slot->n_calls % PT_CALLS_A_CHECK == 0)
        pt_see_ending(slot);
    return slot->is_ending;
}

PT_MESSAGE_FUNCTION int pt_spin(pt_slot *slot, const uint64_t *word, uint64_t wanted, int is_told) {
    for (uint32_t n_looks = 1; PT_LOAD_ACQUIRE(word) < wanted; n_looks++) {
        if (n_looks % PT_LOOKS_A_CHECK == 0 && pt_see_ending(slot))
            return 1;
        if (n_looks == PT_LOOKS_UNTOLD && is_told)
            pt_tell(slot, PT_WAIT_ENTRY, word, wanted);
        PT_PAUSE(n_looks);
    }
    return slot->is_ending;
}

PT_MESSAGE_FUNCTION int pt_spin_for_credit(pt_slot *slot, uint64_t n_taken) {
    const pt_ring *ring = slot->ring;
    if (slot->n_taken >= n_taken)
        return 0;
    slot->n_taken = PT_LOAD_ACQUIRE(ring->n_taken_seen);
    if (slot->n_taken >= n_taken)
        return 0;
    if (pt_spin(slot, ring->n_taken, n_taken, 0))
        return 1;
    slot->n_taken = PT_LOAD_ACQUIRE(ring->n_taken);
    PT_STORE_RELEASE(ring->n_taken_seen, slot->n_taken);
    return 0;
}

PT_MESSAGE_FUNCTION void pt_tell_looks(pt_slot *slot) {
    if (++slot->n_tests % PT_TESTS_UNTOLD == 0)
        pt_tell(slot, PT_LOOK_ENTRY, 0, 0);
}

PT_MESSAGE_FUNCTION void pt_tell_end(pt_slot *slot) {
    PT_TEAM_SYNC;
    if (PT_LANE == 0)
        pt_tell(slot, PT_END_ENTRY, 0, 0);
}

#endif
