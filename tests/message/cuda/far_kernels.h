#ifndef POLYTILE_TESTS_MESSAGE_CUDA_FAR_KERNELS_H
#define POLYTILE_TESTS_MESSAGE_CUDA_FAR_KERNELS_H

#include "support/fake_cuda.h"

/* Team kernels whose slots are on a GPU that is not there. */

/** What a slot of the kernel `err` does, as its parameter says. */
enum Deed {
    RECEIVES_FROM_EACH_OTHER,
    WAITS_FOR_ONE_THAT_RETURNED,
    SENDS_LONG_TO_EACH_OTHER,
    WAITS_FOR_A_SIGNAL,
    MISSES_A_BARRIER,
    SENDS_TO_NO_RANK,
    SENDS_LESS_THAN_NOTHING,
    SENDS_FROM_ELSEWHERE,
    RECEIVES_TOO_LITTLE,
    HAS_TOO_MANY_REQUESTS,
    PUTS_ELSEWHERE,
    GIVES_NO_SIGNAL,
    POLLS_FOR_EVER,
    SIGNALS_FOR_EVER,
};

/** An implementation whose CUDA kernel is for FakeCuda. */
struct FarKernel {
    explicit FarKernel(const polytile_implementation &of);

    polytile_team team;
    polytile_implementation implementation;
};

/** random_messages.h's. */
extern const FarKernel far_interpret;
/** "err[s](i32 deed): inout A[s, :]", of two slots and rows of 2048 numbers. */
extern const FarKernel far_err;
/** "echo[s](i32 n, i64 rounds): inout A[s, :]": each slot sends n numbers to the program, tag 1,
 * and receives n, tag 2, again and again. */
extern const FarKernel far_echo;
/** "sum[s]: inout A[s, :]": collectives and one-sided calls; A[s, 0] becomes the sum of A[:, 1] at
 * slot 0, A[s, 2] the number that the left neighbour put. */
extern const FarKernel far_sum;

/** A GPU that is not there, and knows these kernels. */
class FarWorld {
  public:
    explicit FarWorld(uint64_t seed);

    FakeCuda cuda;
};

#endif
