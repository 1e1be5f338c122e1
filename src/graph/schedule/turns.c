#include "graph/schedule/place.h"

#include "base/checked.h"

#include <stdlib.h>
#include <string.h>

/* When the frames of a round begin, where there are several turns. */

int64_t pti_place_latest(const pti_stream_tasks *tasks, const pti_periodic *schedule, int task) {
    int64_t latest = INT64_MAX;
    for (int b = 0; b < tasks->n_buffers; b++) {
        const pti_frame_buffer *held = &tasks->buffer[b];
        for (int r = held->first_reader;
             held->producer == task && r < held->first_reader + held->n_readers; r++) {
            const pti_buffer_reader *reader = &tasks->reader[r];
            const int64_t least = schedule->start[reader->task] + reader->delay * schedule->period -
                                  tasks->task[task].ticks;
            latest = least < latest ? least : latest;
        }
    }
    return latest;
}

/** Return whether a task reads bytes, and not only keeps turns in order. */
static bool reads_bytes(const pti_stream_tasks *tasks, int task) {
    bool does = false;
    for (int b = 0; b < tasks->n_buffers; b++) {
        const pti_frame_buffer *held = &tasks->buffer[b];
        for (int r = held->first_reader; r < held->first_reader + held->n_readers; r++)
            does = does || (tasks->reader[r].task == task && held->frame_bytes > 0);
    }
    return does;
}

static bool is_feeding(const pti_stream_tasks *tasks, int task) {
    return tasks->task[task].resource < 0 && !reads_bytes(tasks, task);
}

void pti_place_feed_turns_late(const pti_stream_tasks *tasks, pti_periodic *schedule) {
    for (int t = tasks->n_tasks - 1; t >= 0 && pti_n_turns(tasks) > 1; t--) {
        const int64_t latest =
            is_feeding(tasks, t) ? pti_place_latest(tasks, schedule, t) : INT64_MAX;
        if (latest < INT64_MAX && latest > schedule->start[t])
            schedule->start[t] = latest;
    }
}

/** Feed each turn so much later than the one before it. */
static void add_pace(const pti_stream_tasks *tasks, int64_t period, pti_start_edges *edges) {
    const int64_t ticks = period / pti_n_turns(tasks);
    int first = -1, last = -1;
    for (int t = 0; t < tasks->n_tasks; t++) {
        if (!is_feeding(tasks, t))
            continue;
        if (last >= 0)
            pti_start_edges_add(edges, (pti_start_edge){last, t, ticks, 0});
        first = first < 0 ? t : first;
        last = t;
    }
    if (first != last)
        pti_start_edges_add(edges, (pti_start_edge){last, first, ticks, 1});
}

/** All that the schedule keeps to, and the pace. */
static pti_found find_edges(const pti_stream_tasks *tasks, const pti_periodic *schedule,
                            pti_start_edges *edges) {
    const int64_t period = schedule->period;
    pti_start_edges_add_buffers(edges, tasks);
    for (int b = 0; b < tasks->n_buffers; b++)
        if (tasks->buffer[b].frame_bytes > 0)
            pti_start_edges_add_capacity(edges, tasks, b,
                                         pti_buffer_capacity(tasks, b, period, schedule->start));
    const pti_found found = pti_place_keep_order(tasks, period, schedule->start, edges);
    add_pace(tasks, period, edges);
    return edges->failed ? PTI_FOUND_NO_MEMORY : found;
}

/** Return the longest time from the first start of a turn to its last end. */
static int64_t longest_turn(const pti_stream_tasks *tasks, const pti_periodic *schedule) {
    int64_t longest = 0;
    for (int a = 0; a < tasks->n_tasks; a++)
        for (int b = 0; b < tasks->n_tasks; b++)
            if (tasks->task[a].turn == tasks->task[b].turn)
                longest = pti_max(longest,
                                  schedule->start[b] + tasks->task[b].ticks - schedule->start[a]);
    return longest;
}

/** Take other starts if no turn then takes longer. */
static void take_if_short(const pti_stream_tasks *tasks, int64_t *start, pti_periodic *schedule) {
    pti_periodic other = {.period = schedule->period, .start = start};
    pti_place_feed_turns_late(tasks, schedule);
    pti_place_feed_turns_late(tasks, &other);
    if (longest_turn(tasks, &other) <= longest_turn(tasks, schedule))
        memcpy(schedule->start, start, (size_t)tasks->n_tasks * sizeof *start);
}

pti_found pti_place_spread_turns(const pti_stream_tasks *tasks, pti_periodic *schedule) {
    pti_start_edges edges = {.n_tasks = tasks->n_tasks};
    int64_t *start = calloc((size_t)tasks->n_tasks + 1, sizeof *start);
    pti_found found = PTI_FOUND_NO_MEMORY;
    int task;
    if (start != NULL)
        found = find_edges(tasks, schedule, &edges);
    if (found == PTI_FOUND && pti_start_edges_solve(&edges, schedule->period, start, &task))
        take_if_short(tasks, start, schedule);
    free(edges.edge);
    free(start);
    return found;
}
