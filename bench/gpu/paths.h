#ifndef BENCH_GPU_PATHS_H
#define BENCH_GPU_PATHS_H

#include "apsp_graph.h"
#include "gpu/gpu.h"

/* Shortest paths from several sources, and ways to find them, for the cases of apsp. */

enum { PATHS_N_ARRAYS = 5 };

/** A graph in memory, with the distances that were found first: a row a source. */
typedef struct paths {
    int64_t n_vertices;
    int64_t n_arcs;
    int64_t n_sources;
    graph_lists lists;
    int32_t *expected; /* NULL: none yet */
} paths;

/** A kernel on devices that finds them. */
typedef struct paths_way {
    paths *of;
    polytile_context *ctx;
    polytile_queue *queue;
    polytile_kernel *kernel;
    polytile_array *array[PATHS_N_ARRAYS]; /* first, target, weight, least, dist */
    int32_t *distances;
} paths_way;

/** Make a graph of 2^scale vertices, of a generator's name. */
void paths_make(const char *generator, int scale, int64_t n_sources, paths *p);

/** Memory for all distances, touched. */
int32_t *paths_allocate_distances(const paths *p);

/** Open a way; policy: as in polytile_share_options. The caller owns distances. */
void paths_open(paths *of, const char *devices, const char *policy, const char *declaration,
                const polytile_implementation *body, int32_t *distances, paths_way *w);

/** Open the way of a thread block a source. */
void paths_open_block(paths *of, const char *devices, const char *policy, int32_t *distances,
                      paths_way *w);

void paths_attach(const paths_way *w);
void paths_launch(const paths_way *w);
void paths_detach(const paths_way *w);

/** Fail unless these are the distances that were found first; those that are the first are kept. */
void paths_check(paths *of, const int32_t *distances);

#endif
