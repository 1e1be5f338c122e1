#ifndef POLYTILE_MESSAGE_WAIT_H
#define POLYTILE_MESSAGE_WAIT_H

#include "message/state.h"

/* Threads that wait. A thread that waits first serves and copies what is pending, so that no thread
 * has to do all of it. polytile_message_await() and polytile_message_notify() are those of slots.
 */

/** Wait, as a participant, until a word is this large or the launch is being ended. The mutex is
 * locked. */
void pti_wait_for_word(pti_server *server, int participant, const uint64_t *word, uint64_t wanted);

/** Carry packets to other processes and from them, once, without the mutex meanwhile, which is
 * locked. Nobody else carries; other threads than the program's do while the carrier is lent. */
pti_carrying pti_wait_carry(pti_server *server);

/** Carry until the launch is over in all processes. The mutex is locked. */
void pti_wait_for_processes(pti_server *server);

/** Serve what was posted, and see whether anybody can go on. The mutex is locked. */
void pti_wait_serve(pti_server *server);

/** Close a launch: nobody waits for what is under way any more. The mutex is locked. */
void pti_server_close(pti_server *server);

/** Note that a slot has returned from its body. */
void pti_server_end_slot(pti_server_part *part, int rank);

/** Wait until all slots of a part have returned, and those of others or the launch ends, by the
 * thread that launched them. Only such threads see that time is up. */
void pti_server_wait(pti_server_part *part);

/** The same of slots on a device, which runs them already: serve them until then. */
void pti_server_attend(pti_server_part *part);

#endif
