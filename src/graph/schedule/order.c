#include "graph/schedule/order.h"

#include "base/list.h"

#include <stdlib.h>
#include <string.h>

/** A wait of a task. */
typedef struct listed_wait {
    int task;
    pti_firing_wait wait;
} listed_wait;

/** The waits that were found so far. */
typedef struct wait_finder {
    const pti_stream_tasks *tasks;
    const pti_periodic *schedule;
    const pti_firing_place *place;
    int64_t n, capacity;
    listed_wait *list; /* owned */
    bool failed;
} wait_finder;

static void add_task_wait(wait_finder *of, int task, int on, int64_t tokens) {
    if (of->failed || !PTI_GROW(of->list, of->n, &of->capacity)) {
        of->failed = true;
        return;
    }
    of->list[of->n++] = (listed_wait){task, {on, tokens}};
}

/** Wait for all that uses a buffer's frame that is older by `frames`. */
static void await_end(wait_finder *of, int task, int buffer, int64_t frames) {
    const pti_frame_buffer *held = &of->tasks->buffer[buffer];
    const pti_buffer_reader *reader = of->tasks->reader + held->first_reader;
    if (held->producer != task)
        add_task_wait(of, task, held->producer, frames);
    for (int r = 0; r < held->n_readers; r++)
        add_task_wait(of, task, reader[r].task, frames - reader[r].delay);
}

static void add_waits_of_buffer(wait_finder *of, int buffer) {
    const pti_frame_buffer *held = &of->tasks->buffer[buffer];
    const pti_buffer_reader *reader = of->tasks->reader + held->first_reader;
    for (int r = 0; r < held->n_readers; r++)
        add_task_wait(of, reader[r].task, held->producer, reader[r].delay);
    await_end(of, held->producer, buffer, of->schedule->capacity[buffer]);
}

static int64_t start_of(const wait_finder *of, int buffer) {
    return of->schedule->start[of->tasks->buffer[buffer].producer];
}

static bool begins_before(const wait_finder *of, int a, int b) {
    return start_of(of, a) < start_of(of, b) || (start_of(of, a) == start_of(of, b) && a < b);
}

/** Return the buffer that has the memory of another one before it: of the same frame, or, *tokens
 * 1, the last one of the frame before. Those of one colour have it in the order in which they
 * begin. */
static int find_predecessor(const wait_finder *of, int buffer, int64_t *tokens) {
    int before = -1, last = buffer;
    for (int b = 0; b < of->tasks->n_buffers; b++) {
        if (b == buffer || of->place[b].memory != of->place[buffer].memory ||
            of->place[b].colour != of->place[buffer].colour)
            continue;
        if (begins_before(of, b, buffer) && (before < 0 || begins_before(of, before, b)))
            before = b;
        if (begins_before(of, last, b))
            last = b;
    }
    *tokens = before < 0;
    return before < 0 ? last : before;
}

/** Let a buffer's producer wait for the end of the buffer that has its memory before it. */
static void await_former_buffer(wait_finder *of, int buffer) {
    int64_t tokens;
    const int before = find_predecessor(of, buffer, &tokens);
    if (before != buffer)
        await_end(of, of->tasks->buffer[buffer].producer, before, tokens);
}

/** Make the order from the waits that were found, those of each task one after another; false when
 * memory runs out. */
static bool make_order(const wait_finder *of, pti_firing_order *order) {
    const int n_tasks = of->tasks->n_tasks;
    order->first = calloc((size_t)n_tasks + 2, sizeof *order->first);
    order->wait = calloc((size_t)of->n + 1, sizeof *order->wait);
    order->start = calloc((size_t)n_tasks + 1, sizeof *order->start);
    if (order->first == NULL || order->wait == NULL || order->start == NULL)
        return false;
    int at = 0;
    for (int t = 0; t < n_tasks; t++) {
        order->first[t] = at;
        order->start[t] = of->schedule->start[t];
        for (int64_t k = 0; k < of->n; k++)
            if (of->list[k].task == t)
                order->wait[at++] = of->list[k].wait;
    }
    order->first[n_tasks] = at;
    order->n_tasks = n_tasks;
    order->period = of->schedule->period;
    return true;
}

bool pti_firing_order_find(const pti_stream_tasks *tasks, const pti_periodic *schedule,
                           const pti_firing_place *place, pti_firing_order *order) {
    wait_finder of = {.tasks = tasks, .schedule = schedule, .place = place};
    *order = (pti_firing_order){0};
    for (int b = 0; b < tasks->n_buffers; b++) {
        add_waits_of_buffer(&of, b);
        await_former_buffer(&of, b);
    }
    const bool is_found = !of.failed && make_order(&of, order);
    free(of.list);
    if (!is_found)
        pti_firing_order_free(order);
    return is_found;
}

void pti_firing_order_free(pti_firing_order *order) {
    free(order->first);
    free(order->wait);
    free(order->start);
    *order = (pti_firing_order){0};
}

const char *pti_firing_order_find_fault(const pti_stream_tasks *tasks,
                                        const pti_firing_order *order) {
    for (int t = 0; t < order->n_tasks; t++)
        for (int w = order->first[t]; w < order->first[t + 1]; w++) {
            const pti_firing_wait *wait = &order->wait[w];
            if (pti_frames_waited(tasks, t, wait) < 0)
                return "a frame waits for a later one";
            if (order->start[t] < order->start[wait->on] + tasks->task[wait->on].ticks -
                                      pti_periods_to_ticks(wait->tokens, order->period))
                return "a task starts before what it waits for has ended";
        }
    return NULL;
}

bool pti_firing_comes_before(const pti_firing_order *order, int task, int64_t frame, int other,
                             int64_t other_frame) {
    const int64_t later = pti_periods_to_ticks(frame - other_frame, order->period);
    const int64_t apart = order->start[other] - order->start[task];
    return later < apart || (later == apart && task < other);
}
