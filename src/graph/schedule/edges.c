#include "graph/schedule/edges.h"

#include "base/checked.h"
#include "base/list.h"

#include <stdlib.h>

void pti_start_edges_add(pti_start_edges *edges, pti_start_edge edge) {
    if (edges->failed || !PTI_GROW(edges->edge, edges->n, &edges->capacity)) {
        edges->failed = true;
        return;
    }
    edges->edge[edges->n++] = edge;
}

void pti_start_edges_add_capacity(pti_start_edges *edges, const pti_stream_tasks *tasks, int buffer,
                                  int64_t frames) {
    const pti_frame_buffer *held = &tasks->buffer[buffer];
    for (int r = held->first_reader; r < held->first_reader + held->n_readers; r++) {
        const pti_buffer_reader *reader = &tasks->reader[r];
        pti_start_edges_add(edges, (pti_start_edge){.from = reader->task,
                                                    .to = held->producer,
                                                    .ticks = tasks->task[reader->task].ticks,
                                                    .tokens = frames - reader->delay});
    }
}

void pti_start_edges_add_buffers(pti_start_edges *edges, const pti_stream_tasks *tasks) {
    for (int b = 0; b < tasks->n_buffers; b++) {
        const pti_frame_buffer *held = &tasks->buffer[b];
        for (int r = held->first_reader; r < held->first_reader + held->n_readers; r++)
            pti_start_edges_add(edges, (pti_start_edge){.from = held->producer,
                                                        .to = tasks->reader[r].task,
                                                        .ticks = tasks->task[held->producer].ticks,
                                                        .tokens = tasks->reader[r].delay});
        if (held->depth > 0)
            pti_start_edges_add_capacity(edges, tasks, b, held->depth);
    }
}

/** Bellman and Ford's: after as many rounds as tasks, only a cycle still raises starts. */
bool pti_start_edges_solve(const pti_start_edges *edges, int64_t period, int64_t *start,
                           int *task) {
    bool raised = true;
    for (int round = 0; raised && round <= edges->n_tasks; round++) {
        raised = false;
        for (int64_t k = 0; k < edges->n; k++) {
            const pti_start_edge *e = &edges->edge[k];
            const int64_t least = start[e->from] + pti_start_edge_ticks(e, period);
            if (least > start[e->to]) {
                start[e->to] = least;
                *task = e->to;
                raised = true;
            }
        }
    }
    return !raised;
}

bool pti_edge_lists_begin(pti_edge_lists *lists, int n_tasks) {
    *lists = (pti_edge_lists){0};
    if (!PTI_RESIZE(lists->first_in, n_tasks + 1) || !PTI_RESIZE(lists->first_out, n_tasks + 1))
        return false;
    for (int t = 0; t < n_tasks; t++)
        lists->first_in[t] = lists->first_out[t] = -1;
    return true;
}

/** Have room for n edges; twice as many as before, if there was any. */
static bool make_room_for_edges(pti_edge_lists *lists, int64_t n) {
    if (n <= lists->capacity)
        return true;
    const int64_t capacity = pti_max(n, 2 * lists->capacity);
    if (!PTI_RESIZE(lists->next_in, capacity) || !PTI_RESIZE(lists->next_out, capacity))
        return false;
    lists->capacity = capacity;
    return true;
}

bool pti_edge_lists_add_new(pti_edge_lists *lists, const pti_start_edges *edges) {
    if (!make_room_for_edges(lists, edges->n))
        return false;
    for (; lists->n < edges->n; lists->n++) {
        const pti_start_edge *e = &edges->edge[lists->n];
        lists->next_in[lists->n] = lists->first_in[e->to];
        lists->first_in[e->to] = lists->n;
        lists->next_out[lists->n] = lists->first_out[e->from];
        lists->first_out[e->from] = lists->n;
    }
    return true;
}

void pti_edge_lists_free(pti_edge_lists *lists) {
    free(lists->first_in);
    free(lists->first_out);
    free(lists->next_in);
    free(lists->next_out);
}
