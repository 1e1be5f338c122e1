#include "graph/schedule/place.h"

#include "base/checked.h"

#include <stdlib.h>

/** Starts while tasks are placed one by one. */
typedef struct early {
    pti_placing *placing;
    int64_t *start;
    bool *placed;         /* owned */
    pti_edge_lists lists; /* owned */
    int *first_on;        /* of each resource, the first placed task of a period, -1: none; owned */
    int *n_on;            /* of each resource: placed tasks; owned */
    int *after;           /* of each placed task, the one after it on its resource; owned */
} early;

static bool allocate_early(early *of) {
    const size_t n_tasks = (size_t)of->placing->of->n_tasks + 1;
    const size_t n_resources = (size_t)of->placing->of->n_resources + 1;
    of->placed = calloc(n_tasks, sizeof *of->placed);
    of->first_on = calloc(n_resources, sizeof *of->first_on);
    of->n_on = calloc(n_resources, sizeof *of->n_on);
    of->after = calloc(n_tasks, sizeof *of->after);
    return pti_edge_lists_begin(&of->lists, of->placing->of->n_tasks) &&
           pti_edge_lists_add_new(&of->lists, of->placing->edges) && of->placed != NULL &&
           of->first_on != NULL && of->n_on != NULL && of->after != NULL;
}

static void free_early(early *of) {
    pti_edge_lists_free(&of->lists);
    free(of->placed);
    free(of->first_on);
    free(of->n_on);
    free(of->after);
}

/** Note that no resource has a task yet. */
static void clear_resources(early *of) {
    for (int r = 0; r < of->placing->of->n_resources; r++)
        of->first_on[r] = -1;
}

/** Return the earliest that the edges from placed tasks allow. */
static int64_t find_earliest(const early *of, int task) {
    int64_t earliest = 0;
    for (int64_t k = of->lists.first_in[task]; k >= 0; k = of->lists.next_in[k]) {
        const pti_start_edge *e = &of->placing->edges->edge[k];
        of->placing->n_looks++;
        if (of->placed[e->from])
            earliest = pti_max(earliest,
                               of->start[e->from] + pti_start_edge_ticks(e, of->placing->period));
    }
    return earliest;
}

/** Return the latest that the edges to placed tasks allow. */
static int64_t find_latest(const early *of, int task) {
    int64_t latest = INT64_MAX;
    for (int64_t k = of->lists.first_out[task]; k >= 0; k = of->lists.next_out[k]) {
        const pti_start_edge *e = &of->placing->edges->edge[k];
        of->placing->n_looks++;
        if (of->placed[e->to])
            latest =
                pti_min(latest, of->start[e->to] - pti_start_edge_ticks(e, of->placing->period));
    }
    return latest;
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

/** Return the last placed task of a resource that starts at a moment of the period or before, among
 * those at the same moment the one of most ticks, if it has no more than these; -1: none does. */
static int find_last_until(const early *of, int resource, int64_t moment, int64_t ticks) {
    const int64_t period = of->placing->period;
    int last = -1;
    for (int t = of->first_on[resource]; t >= 0; t = of->after[t]) {
        const int64_t starts = of->start[t] % period;
        of->placing->n_looks++;
        if (starts > moment || (starts == moment && of->placing->of->task[t].ticks > ticks))
            break;
        last = t;
    }
    return last;
}

/** Return the task after one on its resource, round the period. */
static int find_after(const early *of, int resource, int task) {
    return task >= 0 && of->after[task] >= 0 ? of->after[task] : of->first_on[resource];
}

/** Return the task that is on its way on a resource at a time, or the last one that was; it is the
 * first one's one of the period before if none starts before. */
static int find_running(const early *of, int resource, int64_t at) {
    int task = find_last_until(of, resource, at % of->placing->period, INT64_MAX);
    for (int t = of->first_on[resource]; task < 0 && t >= 0; t = of->after[t])
        task = of->after[t] < 0 ? t : task;
    return task;
}

/** Find the first time at which the resource is free; false: in no period. Tasks of the resource do
 * not overlap, so behind one that is waited for only the next one can stand in the way. */
static bool find_gap(const early *of, int task, int64_t *at) {
    const int resource = of->placing->of->task[task].resource;
    const int64_t period = of->placing->period, end = *at + period;
    if (resource < 0 || of->n_on[resource] == 0)
        return true;
    int other = find_running(of, resource, *at);
    bool is_free = false;
    for (int k = 0; !is_free && *at < end && k < 2 * of->n_on[resource] + 2; k++) {
        const int64_t wait = time_to_wait(of->placing, task, *at, other, of->start[other]);
        is_free = k > 0 && wait == 0 && *at % period != of->start[other] % period;
        *at += wait;
        other = find_after(of, resource, other);
        of->placing->n_looks++;
    }
    return *at < end;
}

/** Note that a task is placed, and where it stands on its resource. */
static void note_placed(early *of, int task) {
    const pti_task *placed = &of->placing->of->task[task];
    of->placed[task] = true;
    if (placed->resource < 0)
        return;
    const int before =
        find_last_until(of, placed->resource, of->start[task] % of->placing->period, placed->ticks);
    int *after = before >= 0 ? &of->after[before] : &of->first_on[placed->resource];
    of->after[task] = *after;
    *after = task;
    of->n_on[placed->resource]++;
}

pti_found pti_place_early(pti_placing *placing, int64_t *start) {
    early of = {.placing = placing, .start = start};
    const bool has_memory = allocate_early(&of);
    bool is_good = true;
    if (has_memory)
        clear_resources(&of);
    for (int k = 0; has_memory && is_good && k < placing->of->n_tasks; k++) {
        const int task = placing->order[k];
        start[task] = find_earliest(&of, task);
        is_good = find_gap(&of, task, &start[task]) && start[task] <= find_latest(&of, task);
        note_placed(&of, task);
    }
    free_early(&of);
    if (!has_memory)
        return PTI_FOUND_NO_MEMORY;
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
