#ifndef BENCH_GPU_LANES_H
#define BENCH_GPU_LANES_H

#include <polytile/implementation.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Crauser's algorithm with a vertex a CUDA thread, source after source of a sub-kernel. state has
 * of each vertex whether it is unsettled, and whether it is on the frontier; turn has the number
 * that says whether there is another round, the source at hand and the limit of the round. */
#define LANES_DECLARATION                                                                          \
    "crauser[s]: in first[:], target[:], weight[:], least[:]; "                                    \
    "scratch u8 state[s, 0:n-1], i32 turn[s, 0:2]; out dist[s, :]"

/** A launcher that enqueues a round at a time. */
polytile_implementation lanes_crauser(void);

#ifdef __cplusplus
}
#endif

#endif
