#ifndef POLYTILE_MESSAGE_SERVE_H
#define POLYTILE_MESSAGE_SERVE_H

#include "message/state.h"

/* Entries of the ring, and what they ask for. The mutex is locked. */

/** Take all entries that are committed, in the order of each ring. */
void pti_serve(pti_server *server);

/** What the program posts, or an entry. The mutex is locked. False when memory ran out, and the
 * launch is ended. */
bool pti_serve_post(pti_server *server, const pti_post *asked, bool is_kept);

/** A message that is kept, whose data are there only until this returns. */
void pti_serve_passing(pti_server *server, const pti_post *asked, const void *data);

/** A slot of this process has been given a signal, where the server stores the counts. */
void pti_serve_signal(pti_server *server, int slot, int signal);

/** Note that n_slots more slots are at a barrier: each part has the arrivals of all. */
void pti_serve_arrivals(pti_server *server, int64_t n_slots);

#endif
