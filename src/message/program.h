#ifndef POLYTILE_MESSAGE_PROGRAM_H
#define POLYTILE_MESSAGE_PROGRAM_H

#include "message/server.h"
#include <polytile/message.h>

/* The program's part. It sends and receives by the thread that calls, one message at a time. */

/** Send as polytile_message_send() does, of which these are the errors of the launch. */
polytile_status pti_program_send(pti_server *server, polytile_context *ctx, const void *data,
                                 int64_t n_bytes, int to, int tag);

/** Receive as polytile_message_recv() does. */
polytile_status pti_program_recv(pti_server *server, polytile_context *ctx, void *data,
                                 int64_t n_bytes, int from, int tag, pt_status *got);

/** Note that the program begins or ends to wait for the queue, and can send nothing meanwhile. NULL
 * does nothing. */
void pti_program_begin_wait(pti_server *server);
void pti_program_end_wait(pti_server *server);

#endif
