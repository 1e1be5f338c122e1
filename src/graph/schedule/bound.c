#include "graph/schedule/edges.h"

#include <stdlib.h>
#include <string.h>

static bool find_work(const pti_stream_tasks *tasks, pti_period_bound *bound) {
    int64_t *work = calloc((size_t)tasks->n_resources + 1, sizeof *work);
    *bound = (pti_period_bound){.ticks = 1, .kind = PTI_BOUND_WORK, .resource = -1, .task = -1};
    if (work == NULL)
        return false;
    for (int t = 0; t < tasks->n_tasks; t++)
        if (tasks->task[t].resource >= 0)
            work[tasks->task[t].resource] += tasks->task[t].ticks;
    for (int r = 0; r < tasks->n_resources; r++)
        if (work[r] > bound->ticks || (work[r] == bound->ticks && bound->resource < 0)) {
            bound->ticks = work[r];
            bound->resource = r;
        }
    free(work);
    return true;
}

static bool solve_afresh(const pti_start_edges *edges, int64_t period, int64_t *start, int *task) {
    memset(start, 0, (size_t)edges->n_tasks * sizeof *start);
    return pti_start_edges_solve(edges, period, start, task);
}

/** Go back from a task that is raised for ever, to what raises it, until that goes round. */
static int find_on_cycle(const pti_start_edges *edges, int64_t period, const int64_t *start,
                         int task) {
    for (int step = 0; step < edges->n_tasks; step++) {
        int64_t most = INT64_MIN;
        int before = task;
        for (int64_t k = 0; k < edges->n; k++) {
            const pti_start_edge *e = &edges->edge[k];
            const int64_t least = start[e->from] + pti_start_edge_ticks(e, period);
            if (e->to == task && least > most) {
                most = least;
                before = e->from;
            }
        }
        task = before;
    }
    return task;
}

/** The least period that no cycle forbids, by bisection between one that is forbidden and one that
 * is not. */
static void find_cycles(const pti_start_edges *edges, const pti_stream_tasks *tasks, int64_t *start,
                        pti_period_bound *bound) {
    int64_t forbidden = bound->ticks, allowed = 1;
    int task = -1;
    if (solve_afresh(edges, bound->ticks, start, &task))
        return;
    for (int t = 0; t < tasks->n_tasks; t++)
        allowed += 2 * tasks->task[t].ticks;
    bound->kind = PTI_BOUND_CYCLE;
    bound->task = find_on_cycle(edges, bound->ticks, start, task);
    while (allowed - forbidden > 1) {
        const int64_t middle = forbidden + (allowed - forbidden) / 2;
        if (solve_afresh(edges, middle, start, &task)) {
            allowed = middle;
        } else {
            forbidden = middle;
            bound->task = find_on_cycle(edges, middle, start, task);
        }
    }
    bound->ticks = allowed;
}

bool pti_period_bound_find(const pti_stream_tasks *tasks, pti_period_bound *bound) {
    pti_start_edges edges = {.n_tasks = tasks->n_tasks};
    int64_t *start = calloc((size_t)tasks->n_tasks + 1, sizeof *start);
    bool has_memory = start != NULL && find_work(tasks, bound);
    pti_start_edges_add_buffers(&edges, tasks);
    has_memory = has_memory && !edges.failed;
    if (has_memory)
        find_cycles(&edges, tasks, start, bound);
    free(edges.edge);
    free(start);
    return has_memory;
}
