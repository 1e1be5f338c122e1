#ifndef POLYTILE_MESSAGE_STILL_H
#define POLYTILE_MESSAGE_STILL_H

#include "message/processes.h"

/* Whether nobody can go on in any of several processes; the first one finds out. The mutex is
 * locked. */

/** Note whether nobody can go on here. */
void pti_still_note(pti_server *server, bool is_still);

/** Answer the first process, which this may be, whether nobody can. */
void pti_still_answer(pti_server *server);

/** The first process learns that nobody could go on in one; answers that are due say less, then. */
void pti_still_note_report(pti_server *server, int process, const pti_packet_head *head);

/** The first process gets an answer, with who waits there for what. */
void pti_still_note_answer(pti_server *server, int process, const pti_packet_head *head,
                           const char *waits);

#endif
