#include "graph/schedule/place.h"

#include "base/checked.h"

#include <stdlib.h>
#include <string.h>

/* Buffers with fewer frames. To take a frame from a buffer adds an edge between starts: the
 * producer waits longer for a reader. All starts satisfied the edges before. The new edge moves the
 * start of the producer, and then the starts that follow from it. If the reader's own start moves,
 * too, the edge is on a cycle, and the buffer keeps the frame. */

/** Starts and edges while capacities are lowered. */
typedef struct tightening {
    const pti_stream_tasks *of;
    pti_start_edges *edges;
    int64_t period;
    int64_t *start;
    int64_t *tried;   /* starts with one edge more; owned */
    int *queue;       /* tasks that were raised, a ring; owned */
    bool *is_queued;  /* owned */
    int *first;       /* of each task, its edges out, in next; owned */
    int64_t *next;    /* of each edge, the next one of its task; owned */
    int64_t capacity; /* of next */
    int *by_bytes;    /* buffers, the largest first; owned */
} tightening;

/** Put a task in the queue, a circle, unless it stands there. */
static void enqueue_task(tightening *of, int task, int *n_queued, int *head) {
    if (of->is_queued[task])
        return;
    of->is_queued[task] = true;
    of->queue[(*head + (*n_queued)++) % of->of->n_tasks] = task;
}

/** Raise what stands after a task; false: a reader of the buffer is raised. */
static bool raise_later_tasks(tightening *of, const bool *is_reader, int from) {
    int n_queued = 0, head = 0;
    bool is_good = true;
    memset(of->is_queued, 0, (size_t)of->of->n_tasks * sizeof *of->is_queued);
    enqueue_task(of, from, &n_queued, &head);
    while (is_good && n_queued > 0) {
        const int task = of->queue[head];
        head = (head + 1) % of->of->n_tasks;
        n_queued--;
        of->is_queued[task] = false;
        for (int64_t k = of->first[task]; is_good && k >= 0; k = of->next[k]) {
            const pti_start_edge *e = &of->edges->edge[k];
            const int64_t least = of->tried[task] + pti_start_edge_ticks(e, of->period);
            if (least <= of->tried[e->to])
                continue;
            of->tried[e->to] = least;
            is_good = !is_reader[e->to];
            enqueue_task(of, e->to, &n_queued, &head);
        }
    }
    return is_good;
}

/** Return the latest start of the producer with which a buffer holds this number of frames. */
static int64_t latest_start(const tightening *of, const pti_frame_buffer *held, int64_t frames) {
    const pti_stream_tasks *tasks = of->of;
    int64_t least = INT64_MIN;
    for (int r = held->first_reader; r < held->first_reader + held->n_readers; r++) {
        const pti_buffer_reader *reader = &tasks->reader[r];
        least = pti_max(least, of->start[reader->task] + tasks->task[reader->task].ticks +
                                   (reader->delay - frames) * of->period);
    }
    return least;
}

/** Mark the readers that decide on the buffer's end, which must not move then. */
static bool try_frames(tightening *of, int buffer, int64_t frames, bool *is_reader) {
    const pti_frame_buffer *held = &of->of->buffer[buffer];
    const size_t n_tasks = (size_t)of->of->n_tasks;
    const int64_t least = latest_start(of, held, frames);
    memcpy(of->tried, of->start, n_tasks * sizeof *of->tried);
    memset(is_reader, 0, n_tasks * sizeof *is_reader);
    for (int r = held->first_reader; r < held->first_reader + held->n_readers; r++)
        is_reader[of->of->reader[r].task] = true;
    if (is_reader[held->producer])
        return false;
    of->tried[held->producer] = pti_max(of->tried[held->producer], least);
    return raise_later_tasks(of, is_reader, held->producer);
}

static bool index_edges(tightening *of) {
    for (int t = 0; t < of->of->n_tasks; t++)
        of->first[t] = -1;
    free(of->next);
    of->next = malloc(((size_t)of->edges->n + 1) * sizeof *of->next);
    for (int64_t k = 0; of->next != NULL && k < of->edges->n; k++) {
        of->next[k] = of->first[of->edges->edge[k].from];
        of->first[of->edges->edge[k].from] = (int)k;
    }
    return of->next != NULL;
}

/** Lower one buffer's capacity as far as it goes, and keep what it came to. */
static pti_found tighten_buffer(tightening *of, int buffer, bool *is_reader) {
    int64_t frames = pti_buffer_capacity(of->of, buffer, of->period, of->start);
    while (frames > 1 && try_frames(of, buffer, frames - 1, is_reader)) {
        memcpy(of->start, of->tried, (size_t)of->of->n_tasks * sizeof *of->start);
        frames = pti_min(frames - 1, pti_buffer_capacity(of->of, buffer, of->period, of->start));
    }
    pti_start_edges_add_capacity(of->edges, of->of, buffer, frames);
    return !of->edges->failed && index_edges(of) ? PTI_FOUND : PTI_FOUND_NO_MEMORY;
}

/** A buffer with its bytes, to be sorted. */
typedef struct sized {
    int64_t n_bytes;
    int buffer;
} sized;

static int compare_sized(const void *a, const void *b) {
    const sized *x = a, *y = b;
    if (x->n_bytes != y->n_bytes)
        return x->n_bytes > y->n_bytes ? -1 : 1;
    return x->buffer < y->buffer ? -1 : x->buffer > y->buffer;
}

static pti_found tighten_all(tightening *of, sized *list, bool *is_reader) {
    const int n_buffers = of->of->n_buffers;
    pti_found found = index_edges(of) ? PTI_FOUND : PTI_FOUND_NO_MEMORY;
    for (int b = 0; b < n_buffers; b++)
        list[b] = (sized){of->of->buffer[b].frame_bytes, b};
    qsort(list, (size_t)n_buffers, sizeof *list, compare_sized);
    for (int k = 0; found == PTI_FOUND && k < n_buffers; k++)
        found = tighten_buffer(of, list[k].buffer, is_reader);
    return found;
}

pti_found pti_place_tighten(const pti_stream_tasks *tasks, pti_start_edges *edges, int64_t period,
                            int64_t *start) {
    const size_t n = (size_t)tasks->n_tasks + 1;
    tightening work = {.of = tasks,
                       .edges = edges,
                       .period = period,
                       .start = start,
                       .tried = calloc(n, sizeof *work.tried),
                       .queue = calloc(n, sizeof *work.queue),
                       .is_queued = calloc(n, sizeof *work.is_queued),
                       .first = calloc(n, sizeof *work.first)};
    bool *is_reader = calloc(n, sizeof *is_reader);
    sized *list = calloc((size_t)tasks->n_buffers + 1, sizeof *list);
    pti_found found = PTI_FOUND_NO_MEMORY;
    if (work.tried != NULL && work.queue != NULL && work.is_queued != NULL && work.first != NULL &&
        is_reader != NULL && list != NULL)
        found = tighten_all(&work, list, is_reader);
    free(work.tried);
    free(work.queue);
    free(work.is_queued);
    free(work.first);
    free(work.next);
    free(is_reader);
    free(list);
    return found;
}
