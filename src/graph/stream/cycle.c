#include "graph/stream/stream.h"

#include "base/checked.h"

/* Synchronous cycles: in each, all transfers, then all firings. What begins waits for all that the
 * plan begins earlier in another phase, or in an earlier cycle. Frames that were not pushed yet are
 * left out. All of that is older in the plan's order, so nothing waits in a circle. Source: Boulos
 * et al. 2012, section 4.2. */

static int64_t cycle_of(const pti_firing_order *order, int task) {
    return pti_floor_div(order->start[task], order->period);
}

/** Count the frames that a task of another phase begins before a task begins a frame. */
static int64_t count_before(const pti_firing_order *order, int other, int task, int64_t frame) {
    const int64_t apart = order->start[task] - order->start[other];
    return frame + 1 + pti_floor_div(apart - (other > task), order->period);
}

/** Return whether a lane has run all that has its turn before a lane's task. The mutex is
 * locked. */
static bool is_past(const pti_stream_lane *other, const pti_stream_lane *lane, int task) {
    const polytile_stream *stream = lane->stream;
    const pti_firing_order *order = &stream->order;
    const int64_t frame = stream->done[task];
    for (int k = 0; k < other->n_tasks; k++) {
        const int of = other->task[k];
        const int64_t n_before = other->is_unit != lane->is_unit
                                     ? count_before(order, of, task, frame)
                                     : frame + cycle_of(order, task) - cycle_of(order, of);
        if (stream->done[of] < pti_min(n_before, stream->n_pushed))
            return false;
    }
    return true;
}

bool pti_stream_has_turn(const pti_stream_lane *lane, int task) {
    const polytile_stream *stream = lane->stream;
    for (int l = 0; stream->is_synchronous && l < stream->n_lanes; l++) {
        const pti_stream_lane *other = &stream->lane[l];
        if ((other->is_busy && other->is_unit != lane->is_unit) || !is_past(other, lane, task))
            return false;
    }
    return true;
}
