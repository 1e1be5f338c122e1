#include "graph/stream/stream.h"

#include "base/signals.h"

#include <sched.h>
#include <string.h>

/* The threads of lanes: each takes the next of its tasks in the plan's order, waits until it may
 * run, and runs it. */

static void *run_lane(void *argument) {
    pti_stream_lane *lane = argument;
    polytile_stream *stream = lane->stream;
    pti_redirect_errors(&lane->error);
    pthread_mutex_lock(&stream->mutex);
    while (!stream->is_stopping) {
        const int task = pti_stream_find_ready(lane);
        if (task < 0) {
            pti_stream_sleep(lane);
            continue;
        }
        pti_stream_do_task(lane, task);
        pti_stream_hand_on(lane);
    }
    pthread_mutex_unlock(&stream->mutex);
    pti_redirect_errors(NULL);
    return NULL;
}

/** Return whether the process may run on n processors. */
static bool has_processors(int n) {
    cpu_set_t set;
    CPU_ZERO(&set);
    return sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) >= n;
}

polytile_status pti_stream_start(polytile_stream *stream) {
    sigset_t before;
    int error = 0;
    stream->spins = has_processors(stream->n_lanes + 1);
    pti_signals_block(&before);
    for (int l = 0; l < stream->n_lanes && error == 0; l++) {
        pti_stream_lane *lane = &stream->lane[l];
        if (lane->end != PTI_STREAM_BOTH_ENDS)
            continue;
        error = pthread_create(&lane->thread, NULL, run_lane, lane);
        lane->has_thread = error == 0;
    }
    pti_signals_restore(&before);
    return error == 0 ? POLYTILE_OK
                      : pti_fail(stream->object.context, POLYTILE_DEVICE,
                                 "%s: a thread of the stream does not start: %s; end some threads "
                                 "of the program, or raise the limit (ulimit -u)",
                                 stream->name, strerror(error));
}

void pti_stream_stop(polytile_stream *stream) {
    if (!stream->has_mutex)
        return;
    pthread_mutex_lock(&stream->mutex);
    stream->is_stopping = true;
    pti_stream_wake_all_lanes(stream);
    pthread_mutex_unlock(&stream->mutex);
    for (int l = 0; l < stream->n_lanes; l++)
        if (stream->lane[l].has_thread)
            pthread_join(stream->lane[l].thread, NULL);
}
