#ifndef POLYTILE_MESSAGE_DELIVER_H
#define POLYTILE_MESSAGE_DELIVER_H

#include "message/processes.h"

/** Do what a packet says that has come from another process: a head and what follows it, in
 * memory of spare.h, which becomes the server's. The carrier calls it; the mutex is not locked. */
void pti_deliver_packet(pti_server *server, int process, char *bytes, int64_t n_bytes);

#endif
