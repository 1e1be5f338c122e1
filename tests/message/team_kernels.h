#ifndef POLYTILE_TESTS_MESSAGE_TEAM_KERNELS_H
#define POLYTILE_TESTS_MESSAGE_TEAM_KERNELS_H

/* Team kernels of which near_kernels.h and far_kernels.h say what they do; each file that includes
 * this compiles them for a device. */
#include "message/near_kernels.h"

#include <polytile/message.h>

POLYTILE_TEAM_KERNEL(err, (s), (int32_t, deed), (int32_t, A, 2)) {
    const int other = 1 - pt_rank();
    int32_t elsewhere = 0;
    pt_request request = PT_NO_REQUEST;
    int is_done = 0;
    switch (deed) {
    case RECEIVES_FROM_EACH_OTHER:
        (void)pt_recv(&PT_AT(A, s, 0), 4, other, 7, nullptr);
        return;
    case WAITS_FOR_ONE_THAT_RETURNED:
        if (pt_rank() == 0)
            (void)pt_recv(&PT_AT(A, s, 0), 4, 1, PT_ANY, nullptr);
        return;
    case SENDS_LONG_TO_EACH_OTHER:
        (void)pt_send(&PT_AT(A, s, 0), 4100, other, 3);
        return;
    case WAITS_FOR_A_SIGNAL:
        if (pt_rank() == 1)
            (void)pt_signal(0, 2);
        else
            (void)pt_wait_signal(2, 5);
        return;
    case MISSES_A_BARRIER:
        if (pt_rank() == 1)
            (void)pt_barrier();
        return;
    case SENDS_TO_NO_RANK:
        (void)(pt_rank() == 1 && pt_send(&PT_AT(A, s, 0), 4, 9, 7));
        return;
    case SENDS_LESS_THAN_NOTHING:
        (void)(pt_rank() == 1 && pt_send(&PT_AT(A, s, 0), -4, 0, 7));
        return;
    case SENDS_FROM_ELSEWHERE:
        (void)(pt_rank() == 1 && pt_send(&elsewhere, 4, 0, 7));
        return;
    case RECEIVES_TOO_LITTLE:
        (void)(pt_rank() == 0 ? pt_send(&PT_AT(A, s, 0), 8, 1, 7)
                              : pt_recv(&PT_AT(A, s, 0), 4, 0, 7, nullptr));
        return;
    case HAS_TOO_MANY_REQUESTS:
        for (int k = 0; pt_rank() == 1 && k < 17; k++)
            if (pt_irecv(&PT_AT(A, s, k), 4, 0, k, &request))
                return;
        return;
    case PUTS_ELSEWHERE:
        (void)(pt_rank() == 1 &&
               pt_put_bytes(PT_TEAM, 0, PT_BEGIN(A), &elsewhere, &PT_AT(A, s, 0), 4));
        return;
    case PUTS_TO_THE_OTHER:
        (void)(pt_rank() == 1 && pt_put(0, A, (0, 0), &PT_AT(A, s, 0), 4));
        return;
    case GIVES_NO_SIGNAL:
        (void)(pt_rank() == 1 && pt_signal(0, 16));
        return;
    case POLLS_FOR_EVER:
        if (pt_irecv(&PT_AT(A, s, 0), 4, PT_ANY, 99, &request))
            return;
        while (!is_done)
            if (pt_test(&request, &is_done, nullptr))
                return;
        return;
    case SENDS_LONG_TO_THE_RIGHT:
        for (int k = PT_LANE; pt_rank() == 0 && k < PT_EXTENT(A, 1); k += PT_LANES)
            PT_AT(A, s, k) = 7;
        (void)(pt_rank() == 0 ? pt_send(&PT_AT(A, s, 0), 4100, 1, 7)
                              : pt_recv(&PT_AT(A, s, 0), 4100, 0, 7, nullptr));
        return;
    default:
        while (!pt_signal(other, 0))
            ;
    }
}

POLYTILE_TEAM_KERNEL(echo, (s), (int32_t, n), (int64_t, rounds), (int32_t, A, 2)) {
    for (int64_t round = 0; round < rounds; round++)
        if (pt_send(&PT_AT(A, s, 0), 4 * n, PT_PROGRAM, 1) ||
            pt_recv(&PT_AT(A, s, 0), 4 * n, PT_PROGRAM, 2, nullptr))
            return;
}

POLYTILE_TEAM_KERNEL(sum, (s), (int32_t, A, 2)) {
    const int right = (pt_rank() + 1) % pt_ranks();
    for (int64_t k = 3 + PT_LANE; k < PT_EXTENT(A, 1); k += PT_LANES)
        PT_AT(A, s, k) = (int32_t)(1000 * s + k);
    PT_TEAM_SYNC;
    (void)(pt_reduce(&PT_AT(A, s, 1), &PT_AT(A, s, 0), 1, POLYTILE_SUM, 0) || pt_barrier() ||
           pt_put(right, A, (right, 2), &PT_AT(A, s, 1), 4) || pt_signal(right, 3) ||
           pt_wait_signal(3, 1) || pt_barrier());
}

POLYTILE_TEAM_KERNEL(twin, (s), (int32_t, A, 2), (int32_t, B, 2)) {
    const int other = (pt_rank() + pt_ranks() / 2) % pt_ranks();
    (void)(pt_barrier() || pt_put(other, A, (other, 1), &PT_AT(A, s, 0), 4) ||
           pt_put(other, B, (2 * other + 1, 0), &PT_AT(A, s, 0), 4) || pt_barrier());
}

/* As sum without the put, which reaches slots of the same device alone. */
POLYTILE_TEAM_KERNEL(meet, (s), (int32_t, A, 2)) {
    const int right = (pt_rank() + 1) % pt_ranks();
    for (int64_t k = 3 + PT_LANE; k < PT_EXTENT(A, 1); k += PT_LANES)
        PT_AT(A, s, k) = (int32_t)(1000 * s + k);
    PT_TEAM_SYNC;
    (void)(pt_reduce(&PT_AT(A, s, 1), &PT_AT(A, s, 0), 1, POLYTILE_SUM, 0) || pt_barrier() ||
           pt_signal(right, 3) || pt_wait_signal(3, 1) ||
           pt_sendrecv_replace(&PT_AT(A, s, 1024), 4096, right,
                               (pt_rank() + pt_ranks() - 1) % pt_ranks(), 4, nullptr) ||
           pt_barrier());
}

/* Slots of two indices, which find their right neighbours. */
POLYTILE_TEAM_KERNEL(place, (i, j), (int32_t, A, 3)) {
    const int n = pt_ranks(), right = (pt_rank() + 1) % n, left = (pt_rank() + n - 1) % n;
    if (PT_LANE == 0) {
        PT_AT(A, i, j, 0) = pt_rank();
        PT_AT(A, i, j, 1) = (int32_t)(100 * i + j);
    }
    PT_TEAM_SYNC;
    (void)(pt_sendrecv_replace(&PT_AT(A, i, j, 1), 4, right, left, 0, nullptr) || pt_barrier());
}

#endif
