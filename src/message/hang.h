#ifndef POLYTILE_MESSAGE_HANG_H
#define POLYTILE_MESSAGE_HANG_H

#include "message/state.h"

/* Who waits for what, and when nobody can go on. The mutex is locked. */

/** Note that a participant waits until a word is this large; the entries put so far are taken. A
 * slot on a device waits for it, or has gone on since. */
void pti_hang_begin_wait(pti_server *server, int participant, const uint64_t *word,
                         uint64_t wanted);
void pti_hang_end_wait(pti_server *server, int participant);

/** Note that a slot has returned from its body. */
void pti_hang_note_end(pti_server *server, int slot);

/** Return whether a participant waits, and for what has not come yet. */
bool pti_hang_is_blocked(const pti_server *server, int participant);

/** Return whether no slot of this process can go on before another process sends something, nothing
 * is copied, and the program cannot send. */
bool pti_hang_is_still(const pti_server *server);

/** Say of each participant of this process that waits for what, after a colon. */
void pti_hang_describe(const pti_server *server, pti_text *text);

/** End the launch with DEADLOCK if all slots are blocked or have returned, nothing is copied, and
 * the program cannot send. All slots are of this process. part: whose device the thread may ask for
 * its counts, if they are far. */
void pti_hang_check(pti_server *server, pti_server_part *part);

/** End the launch with TIMEOUT if something waits, and nothing went on for too long. Returns the
 * seconds until that could be. */
double pti_hang_check_time(pti_server *server, pti_server_part *part);

#endif
