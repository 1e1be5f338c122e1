#include "graph/schedule/place.h"

#include "base/checked.h"

#include <stdlib.h>

/** The earliest that the edges from placed tasks allow, and the latest for those to placed ones. */
static void find_time_window(const pti_placing *placing, const bool *placed, const int64_t *start,
                             int task, int64_t *earliest, int64_t *latest) {
    *earliest = 0;
    *latest = INT64_MAX;
    for (int64_t k = 0; k < placing->edges->n; k++) {
        const pti_start_edge *e = &placing->edges->edge[k];
        const int64_t least = pti_start_edge_ticks(e, placing->period);
        if (e->to == task && e->from != task && placed[e->from])
            *earliest = pti_max(*earliest, start[e->from] + least);
        if (e->from == task && e->to != task && placed[e->to])
            *latest = pti_min(*latest, start[e->to] - least);
    }
}

/** By how much a task that starts at a time has to wait for a placed one of its resource. */
static int64_t time_to_wait(const pti_placing *placing, int task, int64_t at, int other,
                            int64_t other_start) {
    const int64_t period = placing->period;
    const int64_t since = pti_floor_mod(at - other_start, period);
    const int64_t length = placing->of->task[other].ticks;
    if (since < length)
        return length - since;
    return since + placing->of->task[task].ticks > period ? period - since + length : 0;
}

/** Find the first time at which the resource is free; false: in no period. */
static bool find_gap(const pti_placing *placing, const bool *placed, const int64_t *start, int task,
                     int64_t *at) {
    const pti_stream_tasks *tasks = placing->of;
    const int64_t end = *at + placing->period;
    bool waits = tasks->task[task].resource >= 0;
    while (waits && *at < end) {
        waits = false;
        for (int t = 0; t < tasks->n_tasks; t++) {
            if (!placed[t] || tasks->task[t].resource != tasks->task[task].resource)
                continue;
            const int64_t wait = time_to_wait(placing, task, *at, t, start[t]);
            waits = waits || wait > 0;
            *at += wait;
        }
    }
    return *at < end;
}

pti_found pti_place_early(const pti_placing *placing, int64_t *start) {
    const int n_tasks = placing->of->n_tasks;
    bool *placed = calloc((size_t)n_tasks + 1, sizeof *placed);
    bool is_good = true;
    if (placed == NULL)
        return PTI_FOUND_NO_MEMORY;
    for (int k = 0; is_good && k < n_tasks; k++) {
        const int task = placing->order[k];
        int64_t latest;
        find_time_window(placing, placed, start, task, &start[task], &latest);
        is_good = find_gap(placing, placed, start, task, &start[task]) && start[task] <= latest;
        placed[task] = true;
    }
    free(placed);
    return is_good ? PTI_FOUND : PTI_NONE_FOUND;
}

/** Where in a period each task starts, if those of a resource run one after the other. */
static pti_found pack_resources(const pti_placing *placing, const int64_t *earliest,
                                int64_t *offset) {
    const pti_stream_tasks *tasks = placing->of;
    int64_t *next = malloc(((size_t)tasks->n_resources + 1) * sizeof *next);
    if (next == NULL)
        return PTI_FOUND_NO_MEMORY;
    for (int r = 0; r < tasks->n_resources; r++)
        next[r] = -1;
    for (int k = 0; k < tasks->n_tasks; k++) {
        const int task = placing->order[k], resource = tasks->task[task].resource;
        offset[task] = -1;
        if (resource < 0)
            continue;
        if (next[resource] < 0)
            next[resource] = earliest[task];
        offset[task] = next[resource] % placing->period;
        next[resource] += tasks->task[task].ticks;
    }
    free(next);
    return PTI_FOUND;
}

bool pti_place_at_offsets(const pti_start_edges *edges, int64_t period, const int64_t *offset,
                          int64_t *start) {
    bool raised = true;
    for (int t = 0; t < edges->n_tasks; t++)
        start[t] = offset[t] < 0 ? 0 : offset[t];
    for (int round = 0; raised && round <= edges->n_tasks; round++) {
        raised = false;
        for (int64_t k = 0; k < edges->n; k++) {
            const pti_start_edge *e = &edges->edge[k];
            int64_t least = start[e->from] + pti_start_edge_ticks(e, period);
            if (least <= start[e->to])
                continue;
            if (offset[e->to] >= 0)
                least += pti_floor_mod(offset[e->to] - least, period);
            start[e->to] = least;
            raised = true;
        }
    }
    return !raised;
}

pti_found pti_place_packed(const pti_placing *placing, int64_t *start) {
    const size_t n = (size_t)placing->of->n_tasks + 1;
    int64_t *offset = calloc(n, sizeof *offset), *earliest = calloc(n, sizeof *earliest);
    pti_found found = PTI_FOUND_NO_MEMORY;
    int task;
    if (offset != NULL && earliest != NULL) {
        pti_start_edges_solve(placing->edges, placing->period, earliest, &task);
        found = pack_resources(placing, earliest, offset);
    }
    if (found == PTI_FOUND && !pti_place_at_offsets(placing->edges, placing->period, offset, start))
        found = PTI_NONE_FOUND;
    free(offset);
    free(earliest);
    return found;
}

/** A task by when it starts in the period, to be sorted. */
typedef struct timed_task {
    int resource;
    int64_t offset;
    int64_t stage;
    int64_t ticks;
    int task;
} timed_task;

static int compare_timed(const void *a, const void *b) {
    const timed_task *x = a, *y = b;
    if (x->resource != y->resource)
        return x->resource < y->resource ? -1 : 1;
    if (x->offset != y->offset)
        return x->offset < y->offset ? -1 : 1;
    if (x->ticks != y->ticks)
        return x->ticks < y->ticks ? -1 : 1;
    return x->task < y->task ? -1 : 1;
}

/** Chain the tasks of one resource, and the last one to the first of the period after. */
static void chain_tasks(const timed_task *first, int n, pti_start_edges *edges) {
    for (int k = 0; k < n && n > 1; k++) {
        const timed_task *u = &first[k], *v = &first[(k + 1) % n];
        pti_start_edges_add(edges, (pti_start_edge){.from = u->task,
                                                    .to = v->task,
                                                    .ticks = u->ticks,
                                                    .tokens = u->stage - v->stage + (k + 1 == n)});
    }
}

pti_found pti_place_keep_order(const pti_stream_tasks *tasks, int64_t period, const int64_t *start,
                               pti_start_edges *edges) {
    timed_task *list = calloc((size_t)tasks->n_tasks + 1, sizeof *list);
    int first = 0;
    if (list == NULL)
        return PTI_FOUND_NO_MEMORY;
    for (int t = 0; t < tasks->n_tasks; t++)
        list[t] = (timed_task){tasks->task[t].resource, start[t] % period, start[t] / period,
                               tasks->task[t].ticks, t};
    qsort(list, (size_t)tasks->n_tasks, sizeof *list, compare_timed);
    for (int k = 1; k <= tasks->n_tasks; k++) {
        if (k < tasks->n_tasks && list[k].resource == list[first].resource)
            continue;
        if (list[first].resource >= 0)
            chain_tasks(&list[first], k - first, edges);
        first = k;
    }
    free(list);
    return edges->failed ? PTI_FOUND_NO_MEMORY : PTI_FOUND;
}
