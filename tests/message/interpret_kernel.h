#ifndef POLYTILE_TESTS_MESSAGE_INTERPRET_KERNEL_H
#define POLYTILE_TESTS_MESSAGE_INTERPRET_KERNEL_H

/* The kernel that carries out random programs; each file that includes it compiles it for a device.
 */
#include "message/random_messages.h"

#include <polytile/message.h>

/* P: the steps of each slot; B: its buffers; R: the status of each of its receives. */
POLYTILE_TEAM_KERNEL(interpret, (s), (const int32_t, P, 3), (int32_t, B, 2), (int32_t, R, 3)) {
    pt_request request[8];
    pt_status status = {0, 0, 0};
    for (int k = 0; k < PT_EXTENT(P, 1) && PT_AT(P, s, k, 0) != NOTHING; k++) {
        const int partner = PT_AT(P, s, k, 1), tag = PT_AT(P, s, k, 2);
        const int64_t n_bytes = 4 * (int64_t)PT_AT(P, s, k, 3);
        int32_t *buffer = &PT_AT(B, s, PT_AT(P, s, k, 4));
        int ends = 0, is_done = 0;
        switch (PT_AT(P, s, k, 0)) {
        case SEND:
            ends = pt_send(buffer, n_bytes, partner, tag);
            break;
        case RECV:
            ends = pt_recv(buffer, n_bytes, partner, tag, &status);
            break;
        case ISEND:
            ends = pt_isend(buffer, n_bytes, partner, tag, &request[k % 8]);
            break;
        case IRECV:
            ends = pt_irecv(buffer, n_bytes, partner, tag, &request[k % 8]);
            break;
        case WAIT:
            if (tag != 0)
                while (!is_done && !ends)
                    ends = pt_test(&request[partner], &is_done, &status);
            else
                ends = pt_wait(&request[partner], &status);
            break;
        case EXCHANGE:
            ends = pt_sendrecv_replace(buffer, n_bytes, partner, PT_AT(P, s, k, 5), tag, &status);
            break;
        case SIGNAL:
            ends = pt_signal(partner, tag);
            break;
        case WAIT_SIGNAL:
            ends = pt_wait_signal(tag, partner);
            break;
        case BARRIER:
            ends = pt_barrier();
            break;
        default:
            ends = pt_bcast(buffer, n_bytes, partner);
        }
        if (ends)
            return;
        if (PT_LANE != 0)
            continue;
        PT_AT(R, s, k, 0) = status.source;
        PT_AT(R, s, k, 1) = status.tag;
        PT_AT(R, s, k, 2) = (int32_t)status.n_bytes;
    }
}

#endif
