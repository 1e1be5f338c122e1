#include "graph/stream/stream.h"

#include "base/error.h"

/* What goes on after a task: short ones here and now, all others on threads of their own. To wake a
 * thread costs both threads some microseconds, which tiny frames do not take. */

/** What waking a thread costs, about, and how long a thread runs tasks of others at a time. */
static const double short_s = 5e-6, most_s = 20e-6;

bool pti_stream_is_short(const pti_stream_lane *lane, int task) {
    return lane->is_lent && lane->stream->done[task] > 0 && lane->stream->recent_s[task] < short_s;
}

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

void pti_stream_hand_on(polytile_stream *stream) {
    double left_s = most_s;
    int task = -1;
    pti_stream_lane *lane = find_short(stream, &task);
    while (lane != NULL && left_s > 0 && !stream->is_stopping) {
        left_s -= stream->recent_s[task];
        pti_stream_wake_long(stream);
        pti_stream_do_task(lane, task);
        lane = find_short(stream, &task);
    }
    pti_stream_wake(stream);
}

void pti_stream_hand_on_by_program(polytile_stream *stream) {
    pti_error error = {0};
    pti_redirect_errors(&error);
    pti_stream_hand_on(stream);
    pti_redirect_errors(NULL);
}
