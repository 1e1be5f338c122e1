#ifndef POLYTILE_MESSAGE_DELIVER_H
#define POLYTILE_MESSAGE_DELIVER_H

#include "message/processes.h"

/** Do what a packet says that has come from another process: a head and what follows it, in
 * memory of spare.h, which becomes the server's. The carrier calls it; the mutex is not locked. */
void pti_deliver_packet(pti_server *server, int process, char *bytes, int64_t n_bytes);

/** Find where the data belong that follow a PTI_STRAIGHT_PACKET; NULL: nowhere, the launch ends.
 * The place stays until pti_deliver_straight(). */
char *pti_deliver_find_place(pti_server *server, int process, const pti_packet_head *head);
/** They are there. */
void pti_deliver_straight(pti_server *server, int process, const pti_packet_head *head);

/** A packet has left, and the data that follow it have. The carrier calls it; the mutex is not
 * locked. */
void pti_deliver_sent(pti_server *server, const pti_packet *packet);

#endif
