#include "graph/stream/stream.h"

#include "base/error.h"

/* What goes on after a task: short ones here and now, all others on threads of their own. To wake a
 * thread costs both threads some microseconds, which tiny frames do not take. */

/** How long a thread runs tasks of others at a time. */
static const double most_s = 20e-6;

/** A launcher may do anything, and even wait for what the program does after a push. While the
 * program waits for the stream it does nothing. */
static bool may_run(const polytile_stream *stream, pti_stream_caller caller, int task) {
    const int actor = stream->actor_of_task[task];
    return caller != PTI_STREAM_PROGRAM || actor < 0 ||
           stream->actor[actor].implementation.host_launcher == NULL;
}

/** Return the lane of the short task that may run now and is the first by the plan; NULL: there is
 * none. */
static pti_stream_lane *find_short(polytile_stream *stream, pti_stream_caller caller, int *task) {
    pti_stream_lane *found = NULL;
    for (int l = 0; l < stream->n_lanes; l++) {
        const int ready = pti_stream_find_ready(&stream->lane[l]);
        if (ready < 0 || !pti_stream_is_short(&stream->lane[l], ready) ||
            !may_run(stream, caller, ready) ||
            (found != NULL && !pti_firing_comes_before(&stream->order, ready, stream->done[ready],
                                                       *task, stream->done[*task])))
            continue;
        found = &stream->lane[l];
        *task = ready;
    }
    return found;
}

static bool hand_on(polytile_stream *stream, pti_stream_caller caller) {
    bool has_run = false;
    double left_s = most_s;
    int task = -1;
    pti_stream_lane *lane = find_short(stream, caller, &task);
    while (lane != NULL && left_s > 0 && !stream->is_stopping) {
        left_s -= stream->recent_s[task];
        pti_stream_wake_long(stream);
        pti_stream_do_task(lane, task);
        has_run = true;
        lane = find_short(stream, caller, &task);
    }
    pti_stream_wake(stream);
    return has_run;
}

void pti_stream_hand_on(polytile_stream *stream) {
    hand_on(stream, PTI_STREAM_LANE);
}

bool pti_stream_hand_on_by_program(polytile_stream *stream, pti_stream_caller caller) {
    pti_error error = {0};
    pti_redirect_errors(&error);
    const bool has_run = hand_on(stream, caller);
    pti_redirect_errors(NULL);
    return has_run;
}
