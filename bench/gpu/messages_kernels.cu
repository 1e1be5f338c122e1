#include "gpu/messages_kernels.h"

#include <polytile/message.h>

POLYTILE_TEAM_KERNEL(talk, (s), (int32_t, pattern), (int64_t, rounds), (int64_t, bytes),
                     (float, A, 2)) {
    const int me = pt_rank(), other = 1 - me;
    float *mine = &PT_AT(A, s, 0);
    for (int64_t round = 0; round < rounds; round++) {
        int ends = 0;
        if (pattern == TALK_WITH_THE_PROGRAM)
            ends = pt_send(mine, bytes, PT_PROGRAM, 0) || pt_recv(mine, bytes, PT_PROGRAM, 0, 0);
        else if (pattern == TALK_BY_PUT && me == round % 2)
            ends = pt_put(other, A, (other, 4), mine, 8) || pt_signal(other, 0);
        else if (pattern == TALK_BY_PUT)
            ends = pt_wait_signal(0, round / 2 + 1);
        else if (pattern == TALK_BETWEEN_TWO && me == round % 2)
            ends = pt_send(mine, bytes, other, 0);
        else if (pattern == TALK_BETWEEN_TWO)
            ends = pt_recv(mine, bytes, other, 0, 0);
        else if (pattern == TALK_AT_A_BARRIER)
            ends = pt_barrier();
        else
            ends = pt_send(mine, bytes, PT_PROGRAM, 0);
        if (ends)
            return;
    }
}

const polytile_implementation *gpu_talk(void) {
    return &talk_kernel;
}

static __global__ void plain_flags(volatile uint64_t *to_host, const volatile uint64_t *from_host,
                                   int64_t rounds) {
    for (uint64_t round = 1; round <= (uint64_t)rounds; round++) {
        *to_host = round;
        while (*from_host < round)
            ;
    }
}

const void *gpu_plain_flags(void) {
    return (const void *)plain_flags;
}

static __global__ void plain_put(float *far, const float *mine, uint64_t *far_flag,
                                 const uint64_t *flag, int me, int64_t rounds) {
    for (int64_t round = 0; round < rounds; round++) {
        const uint64_t number = (uint64_t)(round / 2 + 1);
        uint64_t seen = 0;
        if (me == round % 2) {
            if (threadIdx.x < 2)
                far[threadIdx.x] = mine[threadIdx.x];
            __syncthreads();
            if (threadIdx.x == 0)
                asm volatile("st.release.sys.global.u64 [%0], %1;"
                             :
                             : "l"(far_flag), "l"(number)
                             : "memory");
            continue;
        }
        while (threadIdx.x == 0 && seen < number)
            asm volatile("ld.acquire.sys.global.u64 %0, [%1];" : "=l"(seen) : "l"(flag) : "memory");
        __syncthreads();
    }
}

const void *gpu_plain_put(void) {
    return (const void *)plain_put;
}
