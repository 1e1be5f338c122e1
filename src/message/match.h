#ifndef POLYTILE_MESSAGE_MATCH_H
#define POLYTILE_MESSAGE_MATCH_H

#include "message/state.h"

/* Which receive gets which message, as MPI has it: a receive takes the first message that matches,
 * in the order in which they came; a message the first receive. The mutex is locked. */

/** Take a send, which becomes the server's. is_kept: it does not wait for a receive. */
void pti_match_send(pti_server *server, pti_post *send, bool is_kept);

/** Take a receive, which becomes the server's. */
void pti_match_receive(pti_server *server, pti_post *receive);

/** Copy the data of a send, so that they are kept, and offer it then. */
void pti_match_keep(pti_server *server, pti_post *send);

/** Give a message, whose data are kept, to its receive; both are in no list any more. */
void pti_match_bring(pti_server *server, pti_post *send, pti_post *receive);

/** The message that a receive would take; NULL: none is there. */
const pti_post *pti_match_peek(pti_server *server, const pti_post *receive);

/** Forget all that is under way when the launch is over, but for messages to the program that are
 * kept; of a launch that failed these, too. Nobody copies. */
void pti_match_forget_all(pti_server *server);

/** Make a copy that nobody makes yet, without the mutex meanwhile; false: there is none. part: the
 * thread may ask its device for copies; NULL: it may ask none. */
bool pti_match_copy(pti_server *server, const pti_server_part *part);

#endif
