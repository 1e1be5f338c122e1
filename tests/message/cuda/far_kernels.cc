#define POLYTILE_MESSAGE_DEVICE "support/fake_message.h"

#include "message/cuda/far_kernels.h"

#include "message/interpret_kernel.h"

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
        (void)(pt_rank() == 1 && pt_put_bytes(PT_TEAM, 0, &elsewhere, &PT_AT(A, s, 0), 4));
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

FarKernel::FarKernel(const polytile_implementation &of) : team(*of.team), implementation(of) {
    team.cuda = reinterpret_cast<const void *>(team.host);
    implementation.team = &team;
}

const FarKernel far_interpret(interpret_kernel);
const FarKernel far_err(err_kernel);
const FarKernel far_echo(echo_kernel);
const FarKernel far_sum(sum_kernel);

FarWorld::FarWorld(uint64_t seed) : cuda(seed) {
    for (const FarKernel *kernel : {&far_interpret, &far_err, &far_echo, &far_sum})
        cuda.add_kernel(kernel->team.cuda, kernel->implementation);
}
