#ifndef POLYTILE_TESTS_SUPPORT_FAKE_MESSAGE_H
#define POLYTILE_TESTS_SUPPORT_FAKE_MESSAGE_H

/* What polytile/message_call.h needs of the thread blocks of fake_team.h, as message_cuda.h has it
 * of a GPU's. Team kernels whose file defines POLYTILE_MESSAGE_DEVICE as this are for FakeCuda. */
#include <polytile/message_ring.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The lane that the calling thread is, and how many its team has. */
int fake_lane(void);
int fake_lanes(void);
/** Wait for all lanes of the team; whether any of them says so. */
int fake_team_or(int value);
void fake_pause(void);

#ifdef __cplusplus
}
#endif

#define PT_LANE           fake_lane()
#define PT_LANES          fake_lanes()
#define PT_TEAM_SYNC      ((void)fake_team_or(0))
#define PT_TEAM_OR(value) fake_team_or(value)

#define PT_LOAD_RELAXED(word)         __atomic_load_n(word, __ATOMIC_RELAXED)
#define PT_LOAD_ACQUIRE(word)         __atomic_load_n(word, __ATOMIC_ACQUIRE)
#define PT_STORE_RELEASE(word, value) __atomic_store_n(word, value, __ATOMIC_RELEASE)
#define PT_ADD(word, value)           __atomic_fetch_add(word, value, __ATOMIC_ACQ_REL)
#define PT_ADD_FAR(word, value)       __atomic_fetch_add(word, value, __ATOMIC_ACQ_REL)
#define PT_ADD_RELAXED(word, value)   __atomic_fetch_add(word, value, __ATOMIC_RELAXED)
#define PT_PAUSE(n_looks)             fake_pause()

#endif
