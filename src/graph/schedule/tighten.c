#include "graph/schedule/place.h"

#include "base/checked.h"

#include <stdlib.h>

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
    int64_t *tried;  /* starts with one edge more; as start where none is tried; owned */
    int *raised;     /* tasks that were raised; owned */
    bool *is_raised; /* owned */
    int n_raised;
    int *queue;           /* tasks whose edges are to be followed, a ring; owned */
    bool *is_queued;      /* owned */
    bool *is_reader;      /* of the buffer that is tried; owned */
    pti_edge_lists lists; /* owned */
} tightening;

/** Raise a task to a start, and put it in the queue, a circle, unless it stands there. */
static void raise_task(tightening *of, int task, int64_t least, int *n_queued, int head) {
    of->tried[task] = least;
    if (!of->is_raised[task])
        of->raised[of->n_raised++] = task;
    of->is_raised[task] = true;
    if (!of->is_queued[task])
        of->queue[(head + (*n_queued)++) % of->of->n_tasks] = task;
    of->is_queued[task] = true;
}

/** Raise a task, and what stands after it; false: a reader of the buffer is raised. */
static bool raise_later_tasks(tightening *of, int from, int64_t least) {
    int n_queued = 0, head = 0;
    bool is_good = true;
    raise_task(of, from, least, &n_queued, head);
    while (n_queued > 0) {
        const int task = of->queue[head];
        head = (head + 1) % of->of->n_tasks;
        n_queued--;
        of->is_queued[task] = false;
        for (int64_t k = of->lists.first_out[task]; is_good && k >= 0; k = of->lists.next_out[k]) {
            const pti_start_edge *e = &of->edges->edge[k];
            const int64_t later = of->tried[task] + pti_start_edge_ticks(e, of->period);
            of->edges->n_looks++;
            if (later <= of->tried[e->to])
                continue;
            raise_task(of, e->to, later, &n_queued, head);
            is_good = !of->is_reader[e->to];
        }
    }
    return is_good;
}

/** Keep the starts of the tasks that were raised, or take them back. */
static void end_try(tightening *of, bool is_good) {
    for (int k = 0; k < of->n_raised; k++) {
        const int task = of->raised[k];
        of->is_raised[task] = false;
        if (is_good)
            of->start[task] = of->tried[task];
        else
            of->tried[task] = of->start[task];
    }
    of->n_raised = 0;
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

static void mark_readers(tightening *of, const pti_frame_buffer *held, bool are_readers) {
    for (int r = held->first_reader; r < held->first_reader + held->n_readers; r++)
        of->is_reader[of->of->reader[r].task] = are_readers;
}

/** Have a buffer hold so many frames, if no reader moves, which decide on the buffer's end. */
static bool try_frames(tightening *of, int buffer, int64_t frames) {
    const pti_frame_buffer *held = &of->of->buffer[buffer];
    const int64_t least = latest_start(of, held, frames);
    mark_readers(of, held, true);
    bool is_good = !of->is_reader[held->producer];
    if (is_good && least > of->start[held->producer])
        is_good = raise_later_tasks(of, held->producer, least);
    end_try(of, is_good);
    mark_readers(of, held, false);
    return is_good;
}

/** Lower one buffer's capacity as far as it goes, and keep what it came to. */
static pti_found tighten_buffer(tightening *of, int buffer) {
    int64_t frames = pti_buffer_capacity(of->of, buffer, of->period, of->start);
    while (frames > 1 && try_frames(of, buffer, frames - 1))
        frames = pti_min(frames - 1, pti_buffer_capacity(of->of, buffer, of->period, of->start));
    pti_start_edges_add_capacity(of->edges, of->of, buffer, frames);
    return !of->edges->failed && pti_edge_lists_add_new(&of->lists, of->edges)
               ? PTI_FOUND
               : PTI_FOUND_NO_MEMORY;
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

static pti_found tighten_all(tightening *of, sized *list) {
    const int n_buffers = of->of->n_buffers;
    pti_found found =
        pti_edge_lists_add_new(&of->lists, of->edges) ? PTI_FOUND : PTI_FOUND_NO_MEMORY;
    for (int b = 0; b < n_buffers; b++)
        list[b] = (sized){of->of->buffer[b].frame_bytes, b};
    qsort(list, (size_t)n_buffers, sizeof *list, compare_sized);
    for (int k = 0; found == PTI_FOUND && k < n_buffers; k++)
        found = tighten_buffer(of, list[k].buffer);
    return found;
}

static bool allocate_tightening(tightening *of) {
    const size_t n = (size_t)of->of->n_tasks + 1;
    of->tried = calloc(n, sizeof *of->tried);
    of->raised = calloc(n, sizeof *of->raised);
    of->is_raised = calloc(n, sizeof *of->is_raised);
    of->queue = calloc(n, sizeof *of->queue);
    of->is_queued = calloc(n, sizeof *of->is_queued);
    of->is_reader = calloc(n, sizeof *of->is_reader);
    return pti_edge_lists_begin(&of->lists, of->of->n_tasks) && of->tried != NULL &&
           of->raised != NULL && of->is_raised != NULL && of->queue != NULL &&
           of->is_queued != NULL && of->is_reader != NULL;
}

pti_found pti_place_tighten(const pti_stream_tasks *tasks, pti_start_edges *edges, int64_t period,
                            int64_t *start) {
    tightening work = {.of = tasks, .edges = edges, .period = period, .start = start};
    sized *list = calloc((size_t)tasks->n_buffers + 1, sizeof *list);
    pti_found found = PTI_FOUND_NO_MEMORY;
    if (allocate_tightening(&work) && list != NULL) {
        for (int t = 0; t < tasks->n_tasks; t++)
            work.tried[t] = start[t];
        found = tighten_all(&work, list);
    }
    pti_edge_lists_free(&work.lists);
    free(work.tried);
    free(work.raised);
    free(work.is_raised);
    free(work.queue);
    free(work.is_queued);
    free(work.is_reader);
    free(list);
    return found;
}
