#include "graph/stream/stream.h"

#include "base/clock.h"

#include <inttypes.h>
#include <limits.h>

/* A task of a lane, on whichever thread runs it, and what is noted of it. */

/** Return whether a task would read a frame that is lost. The mutex is locked. */
static bool reads_lost(const polytile_stream *stream, int task, int64_t round) {
    const pti_stream_tasks *tasks = &stream->expansion.tasks;
    for (int b = 0; b < tasks->n_buffers; b++) {
        const pti_stream_buffer *buffer = &stream->buffer[b];
        const pti_buffer_reader *reader = tasks->reader + tasks->buffer[b].first_reader;
        for (int r = 0; r < tasks->buffer[b].n_readers; r++)
            if (reader[r].task == task &&
                buffer->is_lost[pti_stream_position(buffer, round - reader[r].delay)])
                return true;
    }
    return false;
}

/** Return the buffer of a transfer's array that it reads, or that it fills. */
static int find_buffer_at_end(const polytile_stream *stream, int task, int memory) {
    int b = 0;
    while (stream->expansion.buffer[b].array != stream->expansion.task[task].array ||
           stream->expansion.buffer[b].memory != memory)
        b++;
    return b;
}

static polytile_status run_task(pti_stream_lane *lane, int task, int64_t round) {
    polytile_stream *stream = lane->stream;
    const int64_t frame = pti_frame_of_round(&stream->expansion.tasks, task, round);
    const pti_task_note *note = &stream->expansion.task[task];
    const bool fires = note->kind == PTI_TASK_FIRE;
    const char *name = fires ? stream->actor[stream->actor_of_task[task]].name : lane->name;
    const polytile_status status =
        fires ? pti_stream_fire(lane, &stream->actor[stream->actor_of_task[task]], round)
              : pti_stream_move(lane, task, find_buffer_at_end(stream, task, note->from),
                                find_buffer_at_end(stream, task, note->to), round);
    return status == POLYTILE_OK ? status
                                 : pti_error_prefix(stream->object.context, status,
                                                    "%s: frame %" PRId64 ": %s %s: ", stream->name,
                                                    frame, fires ? "actor" : "link", name);
}

static polytile_status fail_lost(const polytile_stream *stream, int64_t frame) {
    return pti_fail(stream->object.context, POLYTILE_INVALID,
                    "%s: frame %" PRId64 ": what an earlier frame left is lost", stream->name,
                    frame);
}

/** What a task that failed, or did not run, makes of its buffers: state stays, all else is lost. */
static void lose_frame(pti_stream_lane *lane, int task, int64_t round, bool *is_lost) {
    const polytile_stream *stream = lane->stream;
    for (int b = 0; b < stream->expansion.tasks.n_buffers; b++)
        if (stream->expansion.tasks.buffer[b].producer == task)
            is_lost[b] =
                !stream->buffer[b].is_state || pti_stream_restore(lane, b, round) != POLYTILE_OK;
}

/** Keep the error of the first task of a frame, whichever came first in time. The mutex is
 * locked. */
static void note_error(polytile_stream *stream, int task, int64_t frame, const pti_error *error) {
    pti_stream_frame *stream_frame = pti_stream_frame_of(stream, frame);
    if (stream_frame->failed_task <= task)
        return;
    stream_frame->failed_task = task;
    stream_frame->error = *error;
}

/** What was done is there for others to see. The mutex is locked. */
static void note_done(pti_stream_lane *lane, int task, int64_t frame) {
    polytile_stream *stream = lane->stream;
    pti_stream_frame *stream_frame = pti_stream_frame_of(stream, frame);
    stream->done[task]++;
    pti_stream_begin_frames(stream);
    if (--stream_frame->n_left == 0)
        pti_stream_finish_frames(stream);
}

static void note_lost(polytile_stream *stream, int task, int64_t round, const bool *is_lost) {
    for (int b = 0; b < stream->expansion.tasks.n_buffers; b++)
        if (stream->expansion.tasks.buffer[b].producer == task)
            stream->buffer[b].is_lost[pti_stream_position(&stream->buffer[b], round)] =
                is_lost != NULL && is_lost[b];
}

/** The share that the latest time has in what a task took of late. */
static const double newest = 0.25;

static void note_seconds(pti_stream_lane *lane, int task, double seconds) {
    const polytile_stream *stream = lane->stream;
    const int actor = stream->actor_of_task[task];
    double *recent_s = &stream->recent_s[task];
    *recent_s = stream->done[task] == 0 ? seconds : *recent_s + newest * (seconds - *recent_s);
    lane->busy_s += seconds;
    if (actor < 0)
        lane->n_bytes += stream->expansion.task[task].n_bytes;
    if (actor < 0)
        return;
    lane->stream->actor[actor].busy_s += seconds;
    lane->stream->actor[actor].n_fired++;
}

void pti_stream_do_task(pti_stream_lane *lane, int task) {
    polytile_stream *stream = lane->stream;
    const int64_t round = stream->done[task], frame = pti_stream_next_frame(stream, task);
    const bool passes = reads_lost(stream, task, round);
    pti_error failed = {0};
    lane->is_busy = true;
    pthread_mutex_unlock(&stream->mutex);
    const double begin_s = pti_now_s();
    const polytile_status status = passes ? fail_lost(stream, frame) : run_task(lane, task, round);
    const double seconds = pti_now_s() - begin_s;
    pti_error_keep(&failed, stream->object.context, status);
    if (status != POLYTILE_OK)
        lose_frame(lane, task, round, lane->is_lost);
    pthread_mutex_lock(&stream->mutex);
    lane->is_busy = false;
    note_lost(stream, task, round, status == POLYTILE_OK ? NULL : lane->is_lost);
    if (status != POLYTILE_OK)
        note_error(stream, passes ? INT_MAX - 1 : task, frame, &failed);
    if (!passes)
        note_seconds(lane, task, seconds);
    note_done(lane, task, frame);
}

/* Transfers between ranks. */

bool pti_stream_expects(pti_stream_lane *lane, int task) {
    polytile_stream *stream = lane->stream;
    pthread_mutex_lock(&stream->mutex);
    const bool expects = lane->end == PTI_STREAM_RECEIVES && !lane->is_busy &&
                         pti_stream_next_frame(stream, task) < stream->n_pushed;
    pthread_mutex_unlock(&stream->mutex);
    return expects;
}

/** A lost frame takes the error along that its own frame has. */
static void find_error(polytile_stream *stream, int64_t frame, pti_crossing *crossing) {
    const pti_stream_frame *stream_frame = pti_stream_frame_of(stream, frame);
    pti_error lost = {0}, *before = pti_redirect_errors(&lost);
    if (stream_frame->error.status == POLYTILE_OK) {
        fail_lost(stream, frame);
        note_error(stream, INT_MAX - 1, frame, &lost);
    }
    pti_redirect_errors(before);
    crossing->failed_task = stream_frame->failed_task;
    crossing->error = stream_frame->error;
}

void pti_stream_begin_crossing(pti_stream_lane *lane, int task, pti_crossing *crossing) {
    polytile_stream *stream = lane->stream;
    const pti_task_note *note = &stream->expansion.task[task];
    const bool sends = lane->end == PTI_STREAM_SENDS;
    const int buffer = find_buffer_at_end(stream, task, sends ? note->from : note->to);
    *crossing =
        (pti_crossing){.task = task,
                       .round = stream->done[task],
                       .begin_s = pti_now_s(),
                       .bytes = pti_stream_find_moved(stream, buffer, note, stream->done[task]),
                       .n_bytes = note->n_bytes};
    lane->is_busy = true;
    crossing->is_lost = sends && reads_lost(stream, task, crossing->round);
    if (crossing->is_lost)
        find_error(stream, pti_stream_next_frame(stream, task), crossing);
}

void pti_stream_end_crossing(pti_stream_lane *lane, const pti_crossing *crossing) {
    polytile_stream *stream = lane->stream;
    const int64_t frame = pti_stream_next_frame(stream, crossing->task);
    const bool loses = crossing->is_lost && lane->end == PTI_STREAM_RECEIVES;
    if (loses) {
        lose_frame(lane, crossing->task, crossing->round, lane->is_lost);
        note_error(stream, crossing->failed_task, frame, &crossing->error);
    }
    lane->is_busy = false;
    note_lost(stream, crossing->task, crossing->round, loses ? lane->is_lost : NULL);
    if (!crossing->is_lost)
        note_seconds(lane, crossing->task, pti_now_s() - crossing->begin_s);
    note_done(lane, crossing->task, frame);
}
