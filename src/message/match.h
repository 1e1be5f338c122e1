#ifndef POLYTILE_MESSAGE_MATCH_H
#define POLYTILE_MESSAGE_MATCH_H

#include "message/state.h"

/* Which receive gets which message, as MPI has it: a receive takes the first message that matches,
 * in the order in which they came; a message the first receive. The mutex is locked. */

/** Take a send, which becomes the server's. is_kept: it does not wait for a receive. */
void pti_match_send(pti_server *server, pti_post *send, bool is_kept);

/** Take a receive, which becomes the server's. */
void pti_match_receive(pti_server *server, pti_post *receive);

/** Let the data of a send leave for another process, each piece as soon as it is copied. It becomes
 * the server's. */
void pti_match_leave(pti_server *server, pti_post *send);

/** All data of a send have left for another process, or the launch ends: its owner may use its
 * memory again. */
void pti_match_end_send(pti_server *server, pti_post *send);

/** A piece of a message from another process is where it belongs. */
void pti_match_note_piece(pti_server *server, pti_incoming *incoming, int64_t n_bytes);

/** Put a piece of a message from another process, n_bytes of it from `at` on, where it belongs.
 * came: what the piece is in; it becomes the server's. */
void pti_match_arrive(pti_server *server, pti_incoming *incoming, char *came, const char *piece,
                      int64_t at, int64_t n_bytes);

/** The message that a receive would take; NULL: none is there. */
const pti_post *pti_match_peek(pti_server *server, const pti_post *receive);

/** Forget all that is under way when the launch is over, but for messages to the program that are
 * kept; of a launch that failed these, too. Nobody copies. */
void pti_match_forget_all(pti_server *server);

/** Make a copy that nobody makes yet, without the mutex meanwhile; false: there is none. part: the
 * thread may ask its device for copies; NULL: it may ask none. */
bool pti_match_copy(pti_server *server, const pti_server_part *part);

#endif
