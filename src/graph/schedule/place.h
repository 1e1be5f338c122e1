#ifndef POLYTILE_GRAPH_SCHEDULE_PLACE_H
#define POLYTILE_GRAPH_SCHEDULE_PLACE_H

#include "graph/schedule/edges.h"

/* Starts of tasks: ways to find them, and to lower the capacities of buffers. */

/** What starts are looked for: tasks, their buffers' edges, and a period. */
typedef struct pti_placing {
    const pti_stream_tasks *of;
    const pti_start_edges *edges;
    int64_t period;
    int *order;      /* tasks by the earliest that edges alone allow; one a task */
    int64_t n_looks; /* at edges and placed tasks, so far */
} pti_placing;

/** Start each task as early as those before it in the order allow: modulo scheduling. */
pti_found pti_place_early(pti_placing *placing, int64_t *start);

/** Run the tasks of each resource without a gap in the order. Where no cycle stands against it that
 * succeeds with any period that is not below the work. */
pti_found pti_place_packed(const pti_placing *placing, int64_t *start);

/** Raise starts to the earliest that edges allow, where task t starts offset[t] after some multiple
 * of the period; -1: anywhere. Returns false if a cycle stands against that. */
bool pti_place_at_offsets(const pti_start_edges *edges, int64_t period, const int64_t *offset,
                          int64_t *start);

/** Append the order in which a schedule runs the tasks of each resource, as edges. */
pti_found pti_place_keep_order(const pti_stream_tasks *tasks, int64_t period, const int64_t *start,
                               pti_start_edges *edges);

/** Lower the capacities of buffers one by one, those of many bytes first, as far as the edges
 * allow; starts only rise. */
pti_found pti_place_tighten(const pti_stream_tasks *tasks, pti_start_edges *edges, int64_t period,
                            int64_t *start);

/** Return the latest start of a task that its readers allow; INT64_MAX: it has none. */
int64_t pti_place_latest(const pti_stream_tasks *tasks, const pti_periodic *schedule, int task);

/** Start the frames of a round one after the other, as far apart as they come on average, where
 * capacities and the order of each resource stay and none takes longer: then fewer are in flight,
 * and results come evenly. */
pti_found pti_place_spread_turns(const pti_stream_tasks *tasks, pti_periodic *schedule);

/** Feed the frames of a round as late as their readers allow: each begins when its turn is. */
void pti_place_feed_turns_late(const pti_stream_tasks *tasks, pti_periodic *schedule);

/** How an exact search ended. */
typedef enum pti_search_end {
    PTI_SEARCH_IMPROVED,  /* start is the best there is */
    PTI_SEARCH_CONFIRMED, /* nothing is better than what was there */
    PTI_SEARCH_LEFT,      /* too large, or not ended; start is at least as good as before */
    PTI_SEARCH_NO_MEMORY
} pti_search_end;

/** Look for starts whose buffers have fewer bytes than those that are there; has_start: that some
 * are. */
pti_search_end pti_place_search(const pti_stream_tasks *tasks, const pti_start_edges *edges,
                                int64_t period, bool *has_start, int64_t *start);

#endif
