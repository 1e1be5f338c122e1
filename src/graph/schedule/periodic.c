#include "graph/schedule/periodic.h"

#include "base/checked.h"

#include <stdlib.h>

void pti_stream_tasks_free(pti_stream_tasks *tasks) {
    free(tasks->task);
    free(tasks->buffer);
    free(tasks->reader);
    *tasks = (pti_stream_tasks){0};
}

void pti_periodic_free(pti_periodic *schedule) {
    free(schedule->start);
    free(schedule->capacity);
    *schedule = (pti_periodic){0};
}

int64_t pti_periods_to_ticks(int64_t n_periods, int64_t period) {
    int64_t ticks;
    if (pti_mul_overflows(n_periods, period, &ticks))
        ticks = n_periods < 0 ? -PTI_MOST_TICKS : PTI_MOST_TICKS;
    return pti_max(-PTI_MOST_TICKS, pti_min(PTI_MOST_TICKS, ticks));
}

int64_t pti_buffer_capacity(const pti_stream_tasks *tasks, int buffer, int64_t period,
                            const int64_t *start) {
    const pti_frame_buffer *held = &tasks->buffer[buffer];
    int64_t end = start[held->producer] + tasks->task[held->producer].ticks;
    for (int r = held->first_reader; r < held->first_reader + held->n_readers; r++) {
        const pti_buffer_reader *reader = &tasks->reader[r];
        end = pti_max(end, start[reader->task] + tasks->task[reader->task].ticks +
                               reader->delay * period);
    }
    return pti_max(1, pti_ceil_div(end - start[held->producer], period));
}

/** Return whether two tasks of one resource are apart, whatever the frames. */
static bool are_tasks_apart(const pti_stream_tasks *tasks, const pti_periodic *schedule, int a,
                            int b) {
    const int64_t period = schedule->period;
    const int64_t apart = pti_floor_mod(schedule->start[b] - schedule->start[a], period);
    const int64_t first = tasks->task[a].ticks, second = tasks->task[b].ticks;
    return (apart >= first && apart + second <= period) ||
           (first == 0 && apart == 0 && second <= period) || (second == 0 && apart == 0);
}

static const char *find_overlap(const pti_stream_tasks *tasks, const pti_periodic *schedule) {
    for (int a = 0; a < tasks->n_tasks; a++) {
        if (tasks->task[a].resource >= 0 && tasks->task[a].ticks > schedule->period)
            return "a task is longer than the period";
        for (int b = a + 1; b < tasks->n_tasks; b++)
            if (tasks->task[a].resource >= 0 &&
                tasks->task[a].resource == tasks->task[b].resource &&
                !are_tasks_apart(tasks, schedule, a, b))
                return "two tasks have one resource at the same time";
    }
    return NULL;
}

const char *pti_periodic_find_fault(const pti_stream_tasks *tasks, const pti_periodic *schedule) {
    for (int b = 0; b < tasks->n_buffers; b++) {
        const pti_frame_buffer *held = &tasks->buffer[b];
        const int64_t made = schedule->start[held->producer] + tasks->task[held->producer].ticks;
        for (int r = held->first_reader; r < held->first_reader + held->n_readers; r++)
            if (schedule->start[tasks->reader[r].task] + tasks->reader[r].delay * schedule->period <
                made)
                return "a task reads what is not made yet";
        if (pti_buffer_capacity(tasks, b, schedule->period, schedule->start) >
            schedule->capacity[b])
            return "a buffer holds more frames than there is room for";
    }
    return find_overlap(tasks, schedule);
}
