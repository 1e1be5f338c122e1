#ifndef POLYTILE_GRAPH_SCHEDULE_EDGES_H
#define POLYTILE_GRAPH_SCHEDULE_EDGES_H

#include "graph/schedule/periodic.h"

/* Constraints between starts: to starts at least ticks after from did, of frames that are `tokens`
 * apart: start[to] >= start[from] + ticks - tokens * period. */

/** One constraint. */
typedef struct pti_start_edge {
    int from;
    int to;
    int64_t ticks;
    int64_t tokens;
} pti_start_edge;

/** Return how much later the one starts than the other at least. */
static inline int64_t pti_start_edge_ticks(const pti_start_edge *edge, int64_t period) {
    return edge->ticks - pti_periods_to_ticks(edge->tokens, period);
}

/** Constraints between the starts of some tasks. */
typedef struct pti_start_edges {
    int n_tasks;
    int64_t n;
    int64_t capacity;
    pti_start_edge *edge; /* owned */
    bool failed;          /* memory ran out */
    int64_t n_looks;      /* how often one was looked at to lower capacities */
} pti_start_edges;

void pti_start_edges_add(pti_start_edges *edges, pti_start_edge edge);

/** Add what buffers demand: readers come after producers, and depths that are given hold. */
void pti_start_edges_add_buffers(pti_start_edges *edges, const pti_stream_tasks *tasks);

/** Add that a buffer holds at most this number of frames. */
void pti_start_edges_add_capacity(pti_start_edges *edges, const pti_stream_tasks *tasks, int buffer,
                                  int64_t frames);

/** Raise starts to the earliest that satisfy the edges. Returns false if none do; *task is then on
 * a cycle that forbids it. */
bool pti_start_edges_solve(const pti_start_edges *edges, int64_t period, int64_t *start, int *task);

/** The edges of each task, as linked lists of their numbers that end with -1; the last one that was
 * added comes first. */
typedef struct pti_edge_lists {
    int64_t *first_in;  /* of each task; owned, as all below */
    int64_t *first_out; /* of each task */
    int64_t *next_in;   /* of each edge: the next one into the same task */
    int64_t *next_out;  /* of each edge: the next one out of the same task */
    int64_t n;          /* edges that stand in the lists */
    int64_t capacity;   /* for edges */
} pti_edge_lists;

/** Begin with empty lists. False: no memory. The caller frees them in any case. */
bool pti_edge_lists_begin(pti_edge_lists *lists, int n_tasks);

/** Put the edges in the lists that are not yet in them. False: no memory. */
bool pti_edge_lists_add_new(pti_edge_lists *lists, const pti_start_edges *edges);

void pti_edge_lists_free(pti_edge_lists *lists);

#endif
