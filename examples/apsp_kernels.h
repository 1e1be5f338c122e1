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

/* One source, a vertex a thread: kernels that a loop launches. */
#define APSP_BEGIN_DECLARATION "begin[v](i64 s): out d[v], next[v], unsettled[v], frontier[v]"
#define APSP_RELAX_DECLARATION                                                                     \
    "relax[v]: in first[v:v+1], target[:], weight[:], d[v], frontier[v]; min next[:]"
#define APSP_MINIMUM_DECLARATION "minimum[v]: in next[v], unsettled[v], least[v]; out min limit[0]"
#define APSP_UPDATE_DECLARATION                                                                    \
    "update[v]: in next[v], limit[0]; inout unsettled[v]; out frontier[v], d[v]"
#define APSP_STORE_DECLARATION "store[v](i64 s): in next[v]; out dist[s, v]"

#ifdef __cplusplus
extern "C" {
#endif

/** On a GPU a thread block works on each source. */
polytile_implementation apsp_block_implementation(void);

const polytile_implementation *apsp_begin_implementation(void);
const polytile_implementation *apsp_relax_implementation(void);
const polytile_implementation *apsp_minimum_implementation(void);
const polytile_implementation *apsp_update_implementation(void);
const polytile_implementation *apsp_store_implementation(void);

#ifdef __cplusplus
}
#endif

#endif
