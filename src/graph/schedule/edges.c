#include "graph/schedule/edges.h"

#include "base/list.h"

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
