#ifndef POLYTILE_MESSAGE_COPY_H
#define POLYTILE_MESSAGE_COPY_H

#include "message/state.h"

/* How the data of messages are copied, and the list of copies that threads make without the mutex.
 * It is locked, unless said otherwise. */

/** Return whether a participant is a slot on a device. */
bool pti_copy_is_far(const pti_server *server, int participant);

/** Return whether the data of a send are in the host's memory. */
bool pti_copy_is_near(const pti_server *server, const pti_post *send);

/** The part whose device makes a copy, which only the thread that launched may ask it for: the
 * sender's, from which it comes, or else the receiver's; NULL: none need do so. receive: NULL: it
 * is kept, or leaves. */
pti_server_part *pti_copy_find_part(const pti_server *server, const pti_post *send,
                                    const pti_post *receive);

/** Copy the data of a message, or its next piece; false: a device could not, or there is no memory.
 * The mutex need not be locked. */
bool pti_copy_data(const pti_server *server, const pti_copy *copy);

/** Append a copy to those that are to be made without the mutex, in their order; false: there is no
 * memory to note it. */
bool pti_copy_append(pti_server *server, const pti_copy *copy);

/** Take the first copy that a thread may make out of the list, which becomes the caller's; what
 * leaves waits while the carrier has enough. part: the thread may ask its device; NULL: it may ask
 * none. NULL: there is none. */
pti_copy *pti_copy_take(pti_server *server, const pti_server_part *part);
/** Put one back, of which a further piece is to be made, as the first. */
void pti_copy_put_back(pti_server *server, pti_copy *copy);

/** Make a copy that was taken, or its next piece, without the mutex meanwhile; false: as
 * pti_copy_data(). */
bool pti_copy_make(pti_server *server, pti_copy *copy);

/** Free a copy that is in no list, and what only it has. */
void pti_copy_free(pti_copy *copy);

#endif
