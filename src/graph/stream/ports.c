#include "graph/stream/stream.h"

#include "access/array/type.h"
#include "base/clock.h"
#include "launch/host/copy/box_copy.h"

#include <inttypes.h>
#include <limits.h>

/* What the program does: it feeds frames and takes results, in its own thread. */

/** Frames in memory of the library lie in C order, those of the program as its arrays say. */
static void copy_frame(const polytile_array *to, const polytile_array *from) {
    const pti_move move = {.box = &to->domain,
                           .element_bytes = to->element_bytes,
                           .to = {to->data, &to->layout},
                           .from = {from->data, &from->layout}};
    if (to->n_bytes > 0)
        pti_box_copy(&move, 1);
}

static polytile_status check_port_array(const polytile_stream *stream, const polytile_array *given,
                                        const polytile_array *port) {
    char types[2][PTI_TYPE_TEXT_BYTES];
    polytile_context *ctx = stream->object.context;
    if (given == NULL || given->object.context != ctx)
        return pti_fail(ctx, POLYTILE_INVALID,
                        "%s: the array for %s is NULL, or of another context", stream->name,
                        port->name);
    if (given->type != port->type || !pti_box_equals(&given->domain, &port->domain))
        return pti_fail(ctx, POLYTILE_INVALID,
                        "%s: array %s (%s) has another type or other extents than %s (%s)",
                        stream->name, given->name, pti_type_format(given->type, types[0]),
                        port->name, pti_type_format(port->type, types[1]));
    if (given->data == NULL && given->n_bytes > 0)
        return pti_fail(ctx, POLYTILE_INVALID,
                        "%s: array %s has no host memory; wrap memory to feed or take frames",
                        stream->name, given->name);
    if (given->queue != NULL)
        return pti_fail(ctx, POLYTILE_INVALID, "%s: array %s is attached to a queue; detach it",
                        stream->name, given->name);
    return POLYTILE_OK;
}

/** Return whose ports are meant. */
static const char *name_owner(const polytile_stream *stream) {
    return stream->ranks == NULL || stream->ranks->n_ranks == 1 ? "the graph" : "this rank";
}

static polytile_status check_port_arrays(const polytile_stream *stream, const char *what,
                                         int n_ports, const int *port, int n_arrays,
                                         polytile_array *const *arrays) {
    polytile_status status = POLYTILE_OK;
    if (n_arrays != n_ports || (n_ports > 0 && arrays == NULL))
        return pti_fail(stream->object.context, POLYTILE_INVALID,
                        "%s: %d array%s given, and %s has %d %s%s", stream->name, n_arrays,
                        n_arrays == 1 ? " is" : "s are", name_owner(stream), n_ports, what,
                        n_ports == 1 ? "" : "s");
    for (int k = 0; k < n_ports; k++)
        PTI_TRY(check_port_array(stream, arrays[k], stream->buffer[port[k]].array[0]));
done:
    return status;
}

/** Return whether waiting would not end. Of other ranks that is known only when they end. The mutex
 * is locked. */
static bool is_stuck(const polytile_stream *stream) {
    return stream->ranks == NULL ? pti_stream_is_still(stream) : pti_stream_is_broken(stream);
}

/* Feeding. */

/** Wait for room; false: only a pull makes some. The mutex is locked. */
static bool await_room(polytile_stream *stream) {
    while (!pti_stream_has_room(stream)) {
        if (stream->n_pushed - stream->n_pulled >= stream->window || is_stuck(stream))
            return false;
        if (!pti_stream_hand_on_by_program(stream))
            pti_stream_await_lanes(stream, PTI_STREAM_AWAITS_ROOM);
    }
    return true;
}

static polytile_status refuse_frame(const polytile_stream *stream) {
    if (pti_stream_is_broken(stream))
        return pti_error_restore(stream->object.context, &stream->ranks->broken);
    const int64_t n_left = stream->n_pushed - stream->n_pulled;
    return pti_fail(stream->object.context, POLYTILE_INVALID,
                    "%s: %" PRId64 " frame%s in flight, and there is room for another one only "
                    "when results are pulled; push at most %" PRId64 " ahead",
                    stream->name, n_left, n_left == 1 ? " is" : "s are", stream->depth);
}

/** Return an input's or an output's buffer for a frame. */
static const pti_stream_buffer *find_port(const polytile_stream *stream, const int *ports,
                                          int n_ports, int port, int64_t frame) {
    return &stream->buffer[ports[frame % stream->n_turns * n_ports + port]];
}

static int64_t position_of_frame(const polytile_stream *stream, const pti_stream_buffer *buffer,
                                 int64_t frame) {
    return pti_stream_position(buffer, frame / stream->n_turns);
}

/** Count what lanes do for a frame. */
static int count_tasks(const polytile_stream *stream, int64_t frame) {
    const pti_stream_tasks *tasks = &stream->expansion.tasks;
    int n = 0;
    for (int t = 0; t < tasks->n_tasks; t++)
        n += tasks->task[t].resource >= 0 && tasks->task[t].turn == frame % stream->n_turns &&
             pti_stream_has_task(stream, t);
    return n;
}

/** The frame is there for the lanes; wrong: why what looks something up in it is not run. The mutex
 * is locked. */
static void note_pushed(polytile_stream *stream, const pti_error *wrong) {
    const int64_t frame = stream->n_pushed;
    const int feed = stream->feed[frame % stream->n_turns];
    const bool is_wrong = wrong->status != POLYTILE_OK;
    *pti_stream_frame_of(stream, frame) =
        (pti_stream_frame){.pushed_s = pti_now_s(),
                           .n_left = count_tasks(stream, frame),
                           .failed_task = is_wrong ? feed : INT_MAX,
                           .error = *wrong};
    if (frame == 0)
        stream->first_push_s = pti_now_s();
    for (int k = 0; k < stream->n_inputs; k++) {
        const pti_stream_buffer *buffer =
            find_port(stream, stream->input, stream->n_inputs, k, frame);
        buffer->is_lost[position_of_frame(stream, buffer, frame)] =
            is_wrong && pti_stream_is_looked_up(stream, k);
    }
    stream->n_pushed++;
    if (feed >= 0)
        stream->done[feed]++;
    pti_stream_begin_frames(stream);
    pti_stream_finish_frames(stream);
    pti_stream_hand_on_by_program(stream);
}

static void copy_inputs(const polytile_stream *stream, int64_t frame,
                        polytile_array *const *arrays) {
    for (int k = 0; k < stream->n_inputs; k++) {
        const pti_stream_buffer *buffer =
            find_port(stream, stream->input, stream->n_inputs, k, frame);
        copy_frame(buffer->array[position_of_frame(stream, buffer, frame)], arrays[k]);
    }
}

/** Return whether there is no room, as the rank that decides it sees it. */
static bool decide_to_drop(polytile_stream *stream) {
    pthread_mutex_lock(&stream->mutex);
    bool is_full = !pti_stream_has_room(stream);
    pthread_mutex_unlock(&stream->mutex);
    pti_stream_agree_to_drop(stream, &is_full);
    return is_full;
}

/** Check what is looked up in a frame. Over ranks, where the others take the frame, it is taken in
 * any case; *wrong: what it is marked with. */
static polytile_status check_lookups(polytile_stream *stream, polytile_array *const *arrays,
                                     pti_error *wrong) {
    if (stream->ranks == NULL)
        return pti_stream_check_lookups(stream, arrays);
    pti_error *before = pti_redirect_errors(wrong);
    pti_stream_check_lookups(stream, arrays);
    pti_redirect_errors(before);
    return POLYTILE_OK;
}

polytile_status polytile_stream_push(polytile_stream *stream, int n_arrays,
                                     polytile_array *const *arrays, int64_t *frame) {
    pti_error wrong = {0};
    polytile_status status;
    if (frame != NULL)
        *frame = -1;
    PTI_ENTER(stream, stream->object.context, "stream");
    PTI_TRY(check_port_arrays(stream, "input", stream->n_inputs, stream->input, n_arrays, arrays));
    PTI_TRY(check_lookups(stream, arrays, &wrong));
    pti_stream_progress(stream);
    const bool is_full = stream->drops && decide_to_drop(stream);
    pthread_mutex_lock(&stream->mutex);
    const bool is_refused = pti_stream_is_broken(stream) || (!is_full && !await_room(stream));
    const int64_t number = stream->n_pushed;
    stream->n_dropped += is_full && !is_refused;
    pthread_mutex_unlock(&stream->mutex);
    if (is_refused)
        return refuse_frame(stream);
    if (is_full)
        return POLYTILE_OK;
    copy_inputs(stream, number, arrays);
    pthread_mutex_lock(&stream->mutex);
    note_pushed(stream, &wrong);
    pthread_mutex_unlock(&stream->mutex);
    pti_stream_tell_ranks(stream);
    if (frame != NULL)
        *frame = number;
done:
    return status;
}

/* Taking. */

bool pti_stream_is_taken(const polytile_stream *stream, int buffer) {
    const pti_stream_tasks *tasks = &stream->expansion.tasks;
    const pti_frame_buffer *held = &tasks->buffer[buffer];
    bool is = false;
    for (int r = held->first_reader; r < held->first_reader + held->n_readers; r++)
        is = is || stream->expansion.task[tasks->reader[r].task].kind == PTI_TASK_TAKE;
    return is;
}

/** Wait until all lanes are done with the next frame; false: they never will be. */
static bool await_frame(polytile_stream *stream) {
    pthread_mutex_lock(&stream->mutex);
    bool goes_on = true;
    while (stream->n_finished <= stream->n_pulled && goes_on) {
        goes_on = !is_stuck(stream);
        if (goes_on && !pti_stream_hand_on_by_program(stream))
            pti_stream_await_lanes(stream, PTI_STREAM_AWAITS_FRAME);
    }
    pthread_mutex_unlock(&stream->mutex);
    return goes_on;
}

static polytile_status await_results(polytile_stream *stream) {
    if (stream->n_pulled == stream->n_pushed)
        return pti_fail(stream->object.context, POLYTILE_INVALID,
                        "%s: no frame is in flight; push one before results are pulled",
                        stream->name);
    pti_stream_progress(stream);
    if (await_frame(stream))
        return POLYTILE_OK;
    if (pti_stream_is_broken(stream))
        return pti_error_restore(stream->object.context, &stream->ranks->broken);
    return pti_fail(stream->object.context, POLYTILE_INTERNAL,
                    "%s: frame %" PRId64 " does not go on; please report it", stream->name,
                    stream->n_pulled);
}

/** Return where an output of the next frame lies. */
static polytile_array *find_output(const polytile_stream *stream, int output) {
    const pti_stream_buffer *buffer =
        find_port(stream, stream->output, stream->n_outputs, output, stream->n_pulled);
    return buffer->array[position_of_frame(stream, buffer, stream->n_pulled)];
}

/** Return what failed in the next frame, with its text. */
static polytile_status check_frame(polytile_stream *stream) {
    return pti_error_restore(stream->object.context,
                             &pti_stream_frame_of(stream, stream->n_pulled)->error);
}

static void note_pulled(polytile_stream *stream) {
    pthread_mutex_lock(&stream->mutex);
    stream->done[stream->take[stream->n_pulled % stream->n_turns]]++;
    stream->n_pulled++;
    pti_stream_begin_frames(stream);
    pti_stream_hand_on_by_program(stream);
    pthread_mutex_unlock(&stream->mutex);
    pti_stream_tell_ranks(stream);
}

polytile_status polytile_stream_pull(polytile_stream *stream, int n_arrays,
                                     polytile_array *const *arrays, int64_t *frame) {
    polytile_status status;
    if (frame != NULL)
        *frame = -1;
    PTI_ENTER(stream, stream->object.context, "stream");
    if (n_arrays != 0)
        PTI_TRY(check_port_arrays(stream, "output", stream->n_outputs, stream->output, n_arrays,
                                  arrays));
    PTI_TRY(await_results(stream));
    if (frame != NULL)
        *frame = stream->n_pulled;
    status = check_frame(stream);
    for (int k = 0; status == POLYTILE_OK && n_arrays > 0 && k < stream->n_outputs; k++)
        copy_frame(arrays[k], find_output(stream, k));
    note_pulled(stream);
done:
    return status;
}

polytile_status polytile_stream_peek(polytile_stream *stream, int n_outputs, const void **memory) {
    polytile_status status;
    PTI_ENTER(stream, stream->object.context, "stream");
    if (n_outputs != stream->n_outputs || (n_outputs > 0 && memory == NULL))
        return pti_fail(stream->object.context, POLYTILE_INVALID,
                        "%s: %s has %d outputs, not %d; each needs a place", stream->name,
                        name_owner(stream), stream->n_outputs, n_outputs);
    PTI_TRY(await_results(stream));
    status = check_frame(stream);
    for (int k = 0; k < n_outputs; k++) {
        const polytile_array *output = find_output(stream, k);
        memory[k] = status == POLYTILE_OK && output->n_bytes > 0 ? output->data : NULL;
    }
done:
    return status;
}
