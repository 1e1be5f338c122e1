#include "graph/stream/stream.h"

#include "base/clock.h"

/* What goes on after a task: short ones here and now, all others on threads of their own. To wake a
 * thread costs both threads some microseconds, which tiny frames do not take. */

/** How long a thread runs tasks of others at a time. */
static const double most_s = 20e-6;

/** Return the lane of the short task that may run now and is the first by the plan; NULL: there is
 * none. */
static pti_stream_lane *find_short(polytile_stream *stream, int *task) {
    pti_stream_lane *found = NULL;
    for (int l = 0; l < stream->n_lanes; l++) {
        const int ready = pti_stream_find_ready(&stream->lane[l]);
        if (ready < 0 || !pti_stream_is_short(&stream->lane[l], ready) ||
            (found != NULL && !pti_firing_comes_before(&stream->order, ready, stream->done[ready],
                                                       *task, stream->done[*task])))
            continue;
        found = &stream->lane[l];
        *task = ready;
    }
    return found;
}

/** Return whether a thread has a task of its own lane to run, which others do not run instead. */
static bool has_own(const pti_stream_lane *own) {
    const int ready = own == NULL ? -1 : pti_stream_find_ready(own);
    return ready >= 0 && !pti_stream_is_short(own, ready);
}

/** Run short tasks on the thread of a lane; NULL: on the program's. */
static bool hand_on(polytile_stream *stream, const pti_stream_lane *own) {
    const double end_s = pti_now_s() + most_s;
    bool has_run = false;
    int task = -1;
    pti_stream_lane *lane = find_short(stream, &task);
    while (lane != NULL && !has_own(own) && pti_now_s() < end_s && !stream->is_stopping) {
        pti_stream_wake_long(stream);
        pti_stream_do_task(lane, task);
        has_run = true;
        lane = find_short(stream, &task);
    }
    pti_stream_wake(stream);
    return has_run;
}

void pti_stream_hand_on(pti_stream_lane *lane) {
    hand_on(lane->stream, lane);
}

bool pti_stream_hand_on_by_program(polytile_stream *stream) {
    pti_error error = {0};
    pti_error *before = pti_redirect_errors(&error);
    const bool has_run = hand_on(stream, NULL);
    pti_redirect_errors(before);
    return has_run;
}
