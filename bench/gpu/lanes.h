#ifndef BENCH_GPU_LANES_H
#define BENCH_GPU_LANES_H

#include <cuda_runtime_api.h>
#include <polytile/implementation.h>
#include <stdbool.h>

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

/** A graph and sources from 0, in the host's memory. */
typedef struct lanes_graph {
    int64_t n_vertices, n_arcs, n_sources;
    const int64_t *first;
    const int32_t *target, *weight, *least;
} lanes_graph;

/** The same kernels by hand, a CUDA graph a source: its WHILE node repeats the rounds. All graphs
 * are made once, and run side by side, each on a stream of its own. */
typedef struct lanes_by_hand lanes_by_hand;

/** Return whether this CUDA makes graphs with WHILE nodes, as of CUDA 13. */
bool lanes_has_while_nodes(void);

cudaError_t lanes_by_hand_create(const lanes_graph *graph, lanes_by_hand **made);
cudaError_t lanes_by_hand_run(lanes_by_hand *by_hand);
/** Bring the distances to the host, and free all. */
cudaError_t lanes_by_hand_destroy(lanes_by_hand *by_hand, int32_t *distances);

#ifdef __cplusplus
}
#endif

#endif
