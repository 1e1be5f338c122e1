#ifndef BENCH_GPU_MESSAGES_KERNELS_H
#define BENCH_GPU_MESSAGES_KERNELS_H

#include <polytile/implementation.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TALK_DECLARATION "talk[s](i32 pattern, i64 rounds, i64 bytes): inout A[s, :]"

/** What the slots of talk do in each round. */
typedef enum talk_pattern {
    TALK_WITH_THE_PROGRAM, /* slot 0 sends bytes to the program, and receives as many */
    TALK_BY_PUT,           /* slots 0 and 1 put to each other in turn, and signal */
    TALK_BETWEEN_TWO,      /* slots 0 and 1 send bytes to each other in turn */
    TALK_AT_A_BARRIER,
    TALK_TO_THE_PROGRAM, /* each slot sends bytes to the program */
} talk_pattern;

const polytile_implementation *gpu_talk(void);

/** By hand: one thread stores the numbers 1, 2, ... to one word, and waits for each in the other:
 * (uint64_t *to_host, const uint64_t *from_host, int64_t rounds), both in mapped memory. */
const void *gpu_plain_flags(void);

/** By hand: a thread block on each of two linked GPUs, that put 8 bytes to each other in turn, with
 * a number after them: (float *far, const float *mine, uint64_t *far_flag, const uint64_t *flag,
 * int me, int64_t rounds). */
const void *gpu_plain_put(void);

#ifdef __cplusplus
}
#endif

#endif
