#ifndef POLYTILE_MESSAGE_STRAIGHT_H
#define POLYTILE_MESSAGE_STRAIGHT_H

#include "message/state.h"

/* Data that leave straight from where they are for another process, and come straight to where they
 * belong: no packet has them. */

/** Return whether they may, from the memory of a participant or to it: a slot's on the host. The
 * program's may be freed when its call fails. */
bool pti_straight_is_allowed(const pti_server *server, int participant);

/** Return whether the data of a send are there sooner so than by way of packets. page_offset: of
 * where they go, in its page. */
bool pti_straight_is_sooner(const pti_post *send, int64_t page_offset);

/** Return where an address is in its page. */
int64_t pti_straight_find_page_offset(const void *address);

/** A piece of a send has left, or never will. Returns whether it was the last one. */
bool pti_straight_end_piece(pti_server *server, pti_post *send, int64_t n_bytes);

#endif
