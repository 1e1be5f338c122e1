#include "graph/stream/stream.h"

/* What may go on now. The mutex is locked in all of this. */

static bool may_task_run(const polytile_stream *stream, int task, int64_t round) {
    const pti_firing_order *order = &stream->order;
    for (int w = order->first[task]; w < order->first[task + 1]; w++)
        if (!pti_stream_keeps_wait(stream, task, &order->wait[w], round))
            return false;
    return true;
}

/** Return the lane's next task of a frame that was pushed, by the plan's order; -1: there is none.
 * The mutex is locked. */
static int find_next(const pti_stream_lane *lane) {
    const polytile_stream *stream = lane->stream;
    const int64_t n_begun = pti_stream_n_begun(stream);
    int next = -1;
    for (int k = 0; k < lane->n_tasks; k++) {
        const int task = lane->task[k];
        if (pti_stream_next_frame(stream, task) < n_begun &&
            (next < 0 || pti_firing_comes_before(&stream->order, task, stream->done[task], next,
                                                 stream->done[next])))
            next = task;
    }
    return next;
}

int pti_stream_find_ready(const pti_stream_lane *lane) {
    const bool waits = lane->is_busy || lane->end == PTI_STREAM_RECEIVES;
    const int next = waits ? -1 : find_next(lane);
    const bool is_ready = next >= 0 && may_task_run(lane->stream, next, lane->stream->done[next]) &&
                          pti_stream_has_turn(lane->stream, next);
    return is_ready ? next : -1;
}

/** Take the place of one frame, if it is free. */
static bool begin_frame(polytile_stream *stream, int task) {
    const pti_stream_tasks *tasks = &stream->expansion.tasks;
    const int64_t round = stream->done[task];
    if (pti_stream_next_frame(stream, task) >= stream->n_pushed ||
        !may_task_run(stream, task, round))
        return false;
    for (int b = 0; b < tasks->n_buffers; b++)
        if (tasks->buffer[b].producer == task)
            stream->buffer[b].is_lost[pti_stream_position(&stream->buffer[b], round)] = false;
    stream->done[task]++;
    return true;
}

/** They are the first tasks. */
void pti_stream_begin_frames(polytile_stream *stream) {
    for (bool goes_on = true; goes_on;) {
        goes_on = false;
        for (int t = 0; stream->expansion.task[t].kind == PTI_TASK_BEGIN; t++)
            goes_on = (pti_stream_has_task(stream, t) && begin_frame(stream, t)) || goes_on;
    }
}

/** What waking a thread costs, about. */
static const double short_s = 5e-6;

/** Firings after which it is known how long they take. */
enum { LEARNED = 64 };

/** A launcher may do anything, and even wait for what the program does after a push. */
static bool calls_launcher(const polytile_stream *stream, int task) {
    const int actor = stream->actor_of_task[task];
    return actor >= 0 && stream->actor[actor].implementation.host_launcher != NULL;
}

bool pti_stream_is_short(const pti_stream_lane *lane, int task) {
    return lane->is_lent && !calls_launcher(lane->stream, task) &&
           lane->stream->done[task] >= LEARNED && lane->stream->recent_s[task] < short_s;
}

bool pti_stream_is_still(const polytile_stream *stream) {
    for (int l = 0; l < stream->n_lanes; l++)
        if (stream->lane[l].is_busy || pti_stream_find_ready(&stream->lane[l]) >= 0)
            return false;
    return true;
}

bool pti_stream_has_room(const polytile_stream *stream) {
    const int feed = stream->feed[stream->n_pushed % stream->n_turns];
    return stream->n_pushed - stream->n_pulled < stream->window &&
           (feed < 0 || may_task_run(stream, feed, stream->n_pushed / stream->n_turns));
}
