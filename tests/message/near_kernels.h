#ifndef POLYTILE_TESTS_MESSAGE_NEAR_KERNELS_H
#define POLYTILE_TESTS_MESSAGE_NEAR_KERNELS_H

#include <polytile/implementation.h>

/* Team kernels, compiled for the host. */

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
    PUTS_TO_THE_OTHER,
    GIVES_NO_SIGNAL,
    POLLS_FOR_EVER,
    SENDS_LONG_TO_THE_RIGHT,
    SIGNALS_FOR_EVER,
};

/** "err[s](i32 deed): inout A[s, :]", of two slots and rows of 2048 numbers. */
extern const polytile_implementation &near_err;
/** "echo[s](i32 n, i64 rounds): inout A[s, :]": each slot sends n numbers to the program, tag 1,
 * and receives n, tag 2, again and again. */
extern const polytile_implementation &near_echo;
/** "sum[s]: inout A[s, :]": collectives and one-sided calls; A[s, 0] becomes the sum of A[:, 1] at
 * slot 0, A[s, 2] the number that the left neighbour put. */
extern const polytile_implementation &near_sum;
/** "twin[s]: inout A[s, :], B[2*s+1:2*s+2, :]", of 2 h slots: slot s puts A[s, 0] to A[t, 1] and
 * B[2*t+1, 0], where t is the slot h away. */
extern const polytile_implementation &near_twin;
/** "meet[s]: inout A[s, :]": A[s, 0] likewise; then each slot gives the second half of its row to
 * the right. */
extern const polytile_implementation &near_meet;
/** "place[i, j]: inout A[i, j, :]": A[i, j, 0] becomes the rank, A[i, j, 1] becomes 100 i + j of
 * the slot to the left. */
extern const polytile_implementation &near_place;

#endif
