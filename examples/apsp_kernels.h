#ifndef EXAMPLES_APSP_KERNELS_H
#define EXAMPLES_APSP_KERNELS_H

#include <polytile/implementation.h>

/* A graph as the kernels have it: the arcs of vertex v are those from first[v] to first[v+1] - 1,
 * each with a target and a weight, and least[v] is the least of their weights. Distances and
 * weights are not negative; APSP_UNREACHED stands for no path, and for one that is too long for 32
 * bits. */

#define APSP_UNREACHED INT32_MAX

/** A source a thread: list has the vertices that are reached and not settled, twice, with those
 * that are settled in a round; round has the lengths of these and the limit of the round. */
#define APSP_BLOCK_DECLARATION                                                                     \
    "apsp_block[s]: in first[:], target[:], weight[:], least[:]; "                                 \
    "scratch i32 list[s, 0:1, 0:n-1], round[s, 0:3]; out dist[s, :]"

/** Also a source a thread, in rounds: settled says which vertices are, turn has the numbers of the
 * round. */
#define APSP_CRAUSER_DECLARATION                                                                   \
    "apsp_crauser[s]: in first[:], target[:], weight[:], least[:]; "                               \
    "scratch u8 settled[s, 0:n-1], i32 turn[s, 0:2]; out dist[s, :]"

#ifdef __cplusplus
extern "C" {
#endif

/** On a GPU a thread block works on each source. */
polytile_implementation apsp_block_implementation(void);

/** On a GPU a launcher enqueues the rounds of all sources of its box, a vertex a CUDA thread. */
polytile_implementation apsp_crauser_implementation(void);

#ifdef __cplusplus
}
#endif

#endif
