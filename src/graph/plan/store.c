#include "graph/plan/plan.h"

#include "base/checked.h"

#include <stdlib.h>

void pti_outcome_free(pti_outcome *outcome) {
    pti_expansion_free(&outcome->expansion);
    pti_periodic_free(&outcome->schedule);
    free(outcome->stored);
    free(outcome->memory_bytes);
    *outcome = (pti_outcome){0};
}

/** Return whether the program fills a buffer. */
static bool is_fed(const pti_expansion *expansion, int buffer) {
    return expansion->task[expansion->tasks.buffer[buffer].producer].kind == PTI_TASK_FEED;
}

/** Return how many frames a reader is behind. */
static int64_t frames_behind(const pti_stream_tasks *tasks, const pti_frame_buffer *held,
                             const pti_buffer_reader *reader) {
    return reader->delay * pti_n_turns(tasks) + tasks->task[reader->task].turn -
           tasks->task[held->producer].turn;
}

/** Give buffers at least as many frames as a reader is behind, or one more where the program feeds
 * them: else a frame would wait for a later one, or for itself. */
static void raise_capacities(pti_outcome *outcome) {
    const pti_stream_tasks *tasks = &outcome->expansion.tasks;
    for (int b = 0; b < tasks->n_buffers; b++) {
        const pti_frame_buffer *held = &tasks->buffer[b];
        for (int r = held->first_reader; r < held->first_reader + held->n_readers; r++)
            outcome->schedule.capacity[b] =
                pti_max(outcome->schedule.capacity[b],
                        pti_ceil_div(frames_behind(tasks, held, &tasks->reader[r]) +
                                         is_fed(&outcome->expansion, b),
                                     pti_n_turns(tasks)));
    }
}

static bool does_program_take(const pti_expansion *expansion, int buffer) {
    const pti_stream_tasks *tasks = &expansion->tasks;
    const pti_frame_buffer *held = &tasks->buffer[buffer];
    bool is = false;
    for (int r = held->first_reader; r < held->first_reader + held->n_readers; r++)
        is = is || expansion->task[tasks->reader[r].task].kind == PTI_TASK_TAKE;
    return is;
}

static bool is_read_later(const pti_stream_tasks *tasks, int buffer) {
    const pti_frame_buffer *held = &tasks->buffer[buffer];
    bool is = false;
    for (int r = held->first_reader; r < held->first_reader + held->n_readers; r++)
        is = is || frames_behind(tasks, held, &tasks->reader[r]) > 0;
    return is;
}

/** Return whether nothing may have a buffer's memory between its frames. The program pushes a frame
 * before any task of it runs, and pulls it after all of them. */
static bool is_kept(const pti_outcome *outcome, int buffer) {
    return outcome->schedule.capacity[buffer] > 1 || is_fed(&outcome->expansion, buffer) ||
           does_program_take(&outcome->expansion, buffer) ||
           pti_expansion_is_state(&outcome->expansion, buffer) ||
           is_read_later(&outcome->expansion.tasks, buffer);
}

/** Say of each buffer from when to when its frame 0 lives, and what it takes. */
static void describe_lives(const pti_outcome *outcome, pti_stored *stored) {
    const pti_stream_tasks *tasks = &outcome->expansion.tasks;
    const pti_periodic *schedule = &outcome->schedule;
    for (int b = 0; b < tasks->n_buffers; b++) {
        const pti_frame_buffer *held = &tasks->buffer[b];
        int64_t end = schedule->start[held->producer] + tasks->task[held->producer].ticks;
        for (int r = held->first_reader; r < held->first_reader + held->n_readers; r++) {
            const pti_buffer_reader *reader = &tasks->reader[r];
            end = pti_max(end, schedule->start[reader->task] + tasks->task[reader->task].ticks +
                                   reader->delay * schedule->period);
        }
        stored[b] = (pti_stored){
            .memory = outcome->expansion.buffer[b].memory,
            .begin = schedule->start[held->producer],
            .ticks = is_kept(outcome, b) ? schedule->period
                                         : pti_max(1, end - schedule->start[held->producer]),
            .n_bytes = pti_mul_saturated(held->frame_bytes, schedule->capacity[b]),
            .turn = tasks->task[held->producer].turn};
    }
}

polytile_status pti_planning_store(pti_planning *planning, pti_outcome *outcome) {
    const int n_buffers = outcome->expansion.tasks.n_buffers, n_memories = planning->net.n_memories;
    outcome->stored = calloc((size_t)n_buffers + 1, sizeof *outcome->stored);
    outcome->memory_bytes = calloc((size_t)n_memories + 1, sizeof *outcome->memory_bytes);
    if (outcome->stored == NULL || outcome->memory_bytes == NULL)
        return pti_fail_memory(planning->ctx, "planning a graph", PTI_UNKNOWN_BYTES);
    raise_capacities(outcome);
    describe_lives(outcome, outcome->stored);
    const pti_lives lives = {outcome->schedule.period, outcome->stored};
    if (!pti_stored_colour(n_buffers, outcome->stored, pti_lives_overlap, &lives, n_memories,
                           outcome->memory_bytes))
        return pti_fail_memory(planning->ctx, "planning a graph", PTI_UNKNOWN_BYTES);
    return POLYTILE_OK;
}
