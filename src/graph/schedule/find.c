#include "graph/schedule/place.h"

#include <stdlib.h>
#include <string.h>

/** A task with its earliest start, to be sorted. */
typedef struct early_task {
    int64_t earliest;
    int task;
} early_task;

static int compare_early(const void *a, const void *b) {
    const early_task *x = a, *y = b;
    if (x->earliest != y->earliest)
        return x->earliest < y->earliest ? -1 : 1;
    return x->task < y->task ? -1 : x->task > y->task;
}

/** Order tasks by the earliest that edges allow; start has them. */
static pti_found order_tasks(const pti_stream_tasks *tasks, const int64_t *start, int *order) {
    early_task *list = calloc((size_t)tasks->n_tasks + 1, sizeof *list);
    if (list == NULL)
        return PTI_FOUND_NO_MEMORY;
    for (int t = 0; t < tasks->n_tasks; t++)
        list[t] = (early_task){start[t], t};
    qsort(list, (size_t)tasks->n_tasks, sizeof *list, compare_early);
    for (int t = 0; t < tasks->n_tasks; t++)
        order[t] = list[t].task;
    free(list);
    return PTI_FOUND;
}

/** Place the tasks in one of the two ways, of which the second one always succeeds without
 * cycles. */
static pti_found place_tasks(const pti_stream_tasks *tasks, const pti_start_edges *edges,
                             int64_t period, int64_t *start) {
    pti_placing placing = {.of = tasks,
                           .edges = edges,
                           .period = period,
                           .order = calloc((size_t)tasks->n_tasks + 1, sizeof *placing.order)};
    int task;
    pti_found found = PTI_FOUND_NO_MEMORY;
    if (placing.order == NULL)
        return found;
    memset(start, 0, (size_t)tasks->n_tasks * sizeof *start);
    found = pti_start_edges_solve(edges, period, start, &task)
                ? order_tasks(tasks, start, placing.order)
                : PTI_NONE_FOUND;
    if (found == PTI_FOUND)
        found = pti_place_early(&placing, start);
    if (found == PTI_NONE_FOUND)
        found = pti_place_packed(&placing, start);
    free(placing.order);
    return found;
}

/** Place, keep the order, and lower what buffers hold. */
static pti_found place_tight(const pti_stream_tasks *tasks, const pti_start_edges *edges,
                             int64_t period, int64_t *start) {
    pti_start_edges more = {.n_tasks = tasks->n_tasks};
    pti_found found = place_tasks(tasks, edges, period, start);
    for (int64_t k = 0; found == PTI_FOUND && k < edges->n; k++)
        pti_start_edges_add(&more, edges->edge[k]);
    if (found == PTI_FOUND)
        found = pti_place_keep_order(tasks, period, start, &more);
    if (found == PTI_FOUND)
        found = pti_place_tighten(tasks, &more, period, start);
    free(more.edge);
    return found;
}

/** Move all starts so that the first one is 0, and note what buffers hold. */
static void shift_to_zero(const pti_stream_tasks *tasks, pti_periodic *schedule) {
    int64_t first = INT64_MAX;
    for (int t = 0; t < tasks->n_tasks; t++)
        first = schedule->start[t] < first ? schedule->start[t] : first;
    for (int t = 0; t < tasks->n_tasks; t++)
        schedule->start[t] -= first;
    for (int b = 0; b < tasks->n_buffers; b++)
        schedule->capacity[b] =
            tasks->buffer[b].depth > 0
                ? tasks->buffer[b].depth
                : pti_buffer_capacity(tasks, b, schedule->period, schedule->start);
}

static bool allocate_schedule(const pti_stream_tasks *tasks, pti_periodic *schedule) {
    schedule->start = calloc((size_t)tasks->n_tasks + 1, sizeof *schedule->start);
    schedule->capacity = calloc((size_t)tasks->n_buffers + 1, sizeof *schedule->capacity);
    return schedule->start != NULL && schedule->capacity != NULL;
}

static pti_found conclude_schedule(const pti_stream_tasks *tasks, pti_found found,
                                   pti_periodic *schedule) {
    const bool is_least = schedule->is_least;
    if (found == PTI_FOUND) {
        pti_place_feed_turns_late(tasks, schedule);
        shift_to_zero(tasks, schedule);
    } else {
        pti_periodic_free(schedule);
    }
    schedule->is_least = is_least;
    return found;
}

pti_found pti_periodic_find(const pti_stream_tasks *tasks, int64_t period, pti_periodic *schedule) {
    pti_start_edges edges = {.n_tasks = tasks->n_tasks};
    pti_found found = PTI_FOUND_NO_MEMORY;
    *schedule = (pti_periodic){.period = period};
    pti_start_edges_add_buffers(&edges, tasks);
    if (allocate_schedule(tasks, schedule) && !edges.failed)
        found = place_tight(tasks, &edges, period, schedule->start);
    if (found != PTI_FOUND_NO_MEMORY) {
        bool has_start = found == PTI_FOUND;
        const pti_search_end end =
            pti_place_search(tasks, &edges, period, &has_start, schedule->start);
        schedule->is_least = end == PTI_SEARCH_IMPROVED || end == PTI_SEARCH_CONFIRMED;
        found = end == PTI_SEARCH_NO_MEMORY ? PTI_FOUND_NO_MEMORY
                : has_start                 ? PTI_FOUND
                                            : PTI_NONE_FOUND;
    }
    free(edges.edge);
    if (found == PTI_FOUND && pti_n_turns(tasks) > 1)
        found = pti_place_spread_turns(tasks, schedule);
    return conclude_schedule(tasks, found, schedule);
}

/** Chain all tasks in an order, the last one before the first of the next frame. */
static void chain_all(const pti_stream_tasks *tasks, const int *order, pti_start_edges *edges) {
    for (int k = 0; k < tasks->n_tasks; k++) {
        const int task = order[k], next = order[(k + 1) % tasks->n_tasks];
        pti_start_edges_add(edges, (pti_start_edge){.from = task,
                                                    .to = next,
                                                    .ticks = tasks->task[task].ticks,
                                                    .tokens = k + 1 == tasks->n_tasks});
    }
}

/** Chain all tasks in an order, and find their starts; edges keeps to n of its own. */
static pti_found place_serial(const pti_stream_tasks *tasks, const int *order, int64_t n,
                              pti_start_edges *edges, pti_periodic *schedule) {
    int task;
    edges->n = n;
    memset(schedule->start, 0, (size_t)tasks->n_tasks * sizeof *schedule->start);
    chain_all(tasks, order, edges);
    if (edges->failed)
        return PTI_FOUND_NO_MEMORY;
    return pti_start_edges_solve(edges, schedule->period, schedule->start, &task) ? PTI_FOUND
                                                                                  : PTI_NONE_FOUND;
}

/** Try the tasks' own order, in which what is made is read soon, so that memory is free early; then
 * the order of their earliest starts, which keeps to depths. */
static pti_found try_orders(const pti_stream_tasks *tasks, int *order, pti_start_edges *edges,
                            pti_periodic *schedule) {
    const int64_t n = edges->n;
    int task;
    for (int t = 0; t < tasks->n_tasks; t++)
        order[t] = t;
    pti_found found = place_serial(tasks, order, n, edges, schedule);
    if (found != PTI_NONE_FOUND)
        return found;
    edges->n = n;
    memset(schedule->start, 0, (size_t)tasks->n_tasks * sizeof *schedule->start);
    if (!pti_start_edges_solve(edges, schedule->period, schedule->start, &task))
        return PTI_NONE_FOUND;
    found = order_tasks(tasks, schedule->start, order);
    return found == PTI_FOUND ? place_serial(tasks, order, n, edges, schedule) : found;
}

pti_found pti_periodic_find_serial(const pti_stream_tasks *tasks, pti_periodic *schedule) {
    pti_start_edges edges = {.n_tasks = tasks->n_tasks};
    int *order = calloc((size_t)tasks->n_tasks + 1, sizeof *order);
    pti_found found = PTI_FOUND_NO_MEMORY;
    *schedule = (pti_periodic){.period = 1};
    for (int t = 0; t < tasks->n_tasks; t++)
        schedule->period += tasks->task[t].ticks;
    schedule->period -= schedule->period > 1;
    pti_start_edges_add_buffers(&edges, tasks);
    if (allocate_schedule(tasks, schedule) && !edges.failed && order != NULL)
        found = try_orders(tasks, order, &edges, schedule);
    free(order);
    free(edges.edge);
    return conclude_schedule(tasks, found, schedule);
}

/** Let what has no resource feed its readers as late as they allow. */
static void feed_late(const pti_stream_tasks *tasks, const int64_t *offset,
                      pti_periodic *schedule) {
    for (int t = 0; t < tasks->n_tasks; t++) {
        const int64_t latest = offset[t] < 0 ? pti_place_latest(tasks, schedule, t) : INT64_MAX;
        if (latest < INT64_MAX)
            schedule->start[t] = latest;
    }
}

pti_found pti_periodic_at_offsets(const pti_stream_tasks *tasks, int64_t period,
                                  const int64_t *offset, pti_periodic *schedule) {
    pti_start_edges edges = {.n_tasks = tasks->n_tasks};
    pti_found found = PTI_FOUND_NO_MEMORY;
    *schedule = (pti_periodic){.period = period};
    pti_start_edges_add_buffers(&edges, tasks);
    if (allocate_schedule(tasks, schedule) && !edges.failed)
        found = pti_place_at_offsets(&edges, period, offset, schedule->start) ? PTI_FOUND
                                                                              : PTI_NONE_FOUND;
    if (found == PTI_FOUND)
        feed_late(tasks, offset, schedule);
    free(edges.edge);
    return conclude_schedule(tasks, found, schedule);
}
