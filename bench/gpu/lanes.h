#ifndef BENCH_GPU_LANES_H
#define BENCH_GPU_LANES_H

#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A graph and sources from 0, in the host's memory. */
typedef struct lanes_graph {
    int64_t n_vertices, n_arcs, n_sources;
    const int64_t *first;
    const int32_t *target, *weight, *least;
} lanes_graph;

/** Crauser's algorithm by hand, a CUDA graph a source: its WHILE node repeats the rounds. All
 * graphs are made once, and run side by side, each on a stream of its own. */
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
