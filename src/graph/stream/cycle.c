#include "graph/stream/stream.h"

#include "base/checked.h"

/* Synchronous cycles: in each, transfers between ranks, then all others, then firings. What begins
 * waits for all that the plan begins earlier in another phase, or in an earlier cycle, on whichever
 * rank that is. Frames that were not pushed yet, as far as this rank has heard, are left out. All
 * of that is older in the plan's order, so nothing waits in a circle. Source: Boulos et al. 2012,
 * section 4.2. */

static bool is_in_cycles(const polytile_stream *stream, int task) {
    return stream->expansion.tasks.task[task].resource >= 0;
}

static pti_phase phase_of(const polytile_stream *stream, int task) {
    const pti_task_ranks *ranks = stream->ranks == NULL ? NULL : &stream->task_ranks[task];
    if (stream->expansion.task[task].kind == PTI_TASK_FIRE)
        return PTI_PHASE_WORK;
    return ranks != NULL && ranks->from != ranks->to ? PTI_PHASE_RANKS : PTI_PHASE_DEVICES;
}

static int64_t cycle_of(const pti_firing_order *order, int task) {
    return pti_floor_div(order->start[task], order->period);
}

/** Count the frames that a task of another phase begins before a task begins a frame. */
static int64_t count_before(const pti_firing_order *order, int other, int task, int64_t frame) {
    const int64_t apart = order->start[task] - order->start[other];
    return frame + 1 + pti_floor_div(apart - (other > task), order->period);
}

/** Return whether all is done that has its turn before a task's next frame, of one other task. */
static bool is_past(const polytile_stream *stream, int other, int task, int64_t n_begun) {
    const pti_firing_order *order = &stream->order;
    const int64_t frame = stream->done[task];
    const int64_t n_before = phase_of(stream, other) != phase_of(stream, task)
                                 ? count_before(order, other, task, frame)
                                 : frame + cycle_of(order, task) - cycle_of(order, other);
    return pti_stream_count_done(stream, other) >= pti_min(n_before, n_begun);
}

bool pti_stream_is_busy_in_other(const polytile_stream *stream, int task) {
    bool is = false;
    for (int l = 0; stream->is_synchronous && l < stream->n_lanes; l++)
        is = is || (stream->lane[l].is_busy &&
                    phase_of(stream, stream->lane[l].task[0]) != phase_of(stream, task));
    return is;
}

bool pti_stream_has_turn(const polytile_stream *stream, int task) {
    if (!stream->is_synchronous)
        return true;
    const int64_t n_begun = pti_stream_n_begun(stream);
    bool has = !pti_stream_is_busy_in_other(stream, task);
    for (int t = 0; has && t < stream->expansion.tasks.n_tasks; t++)
        has = !is_in_cycles(stream, t) || is_past(stream, t, task, n_begun);
    return has;
}
