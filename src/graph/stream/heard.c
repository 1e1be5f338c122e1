#include "graph/stream/stream.h"

#include "base/checked.h"

/* What a rank knows of others. Each counts what it is done with, and is told how far the readers of
 * what it sends are. So a frame leaves only when there is a place for it. */

static bool is_of_rank(const pti_task_ranks *of, int rank) {
    return of->from == rank || of->to == rank;
}

/** Return the rounds of a task that a rank is known to be done with. */
static int64_t count_done_by(const polytile_stream *stream, int rank, int task) {
    return rank == stream->ranks->rank
               ? stream->done[task]
               : stream->ranks->heard[rank * stream->expansion.tasks.n_tasks + task];
}

bool pti_stream_keeps_wait(const polytile_stream *stream, int task, const pti_firing_wait *wait,
                           int64_t round) {
    if (stream->ranks == NULL)
        return stream->done[wait->on] + wait->tokens > round;
    const pti_task_ranks *own = &stream->task_ranks[task], *on = &stream->task_ranks[wait->on];
    const int rank[] = {own->from, own->to};
    bool keeps = true;
    for (int k = 0; k < 2; k++)
        keeps = keeps && (!is_of_rank(on, rank[k]) ||
                          count_done_by(stream, rank[k], wait->on) + wait->tokens > round);
    return keeps;
}

int64_t pti_stream_count_done(const polytile_stream *stream, int task) {
    if (stream->ranks == NULL)
        return stream->done[task];
    const pti_task_ranks *of = &stream->task_ranks[task];
    return pti_min(count_done_by(stream, of->from, task), count_done_by(stream, of->to, task));
}

int64_t pti_stream_n_begun(const polytile_stream *stream) {
    int64_t n = stream->n_pushed;
    for (int r = 0; stream->ranks != NULL && r < stream->ranks->n_ranks; r++)
        if (r != stream->ranks->rank)
            n = pti_min(n, stream->ranks->pushed[r]);
    return n;
}

/** Return whether a task is the program's, on each rank. */
static bool is_of_program(const polytile_stream *stream, int task) {
    const pti_task_kind kind = stream->expansion.task[task].kind;
    return kind == PTI_TASK_FEED || kind == PTI_TASK_TAKE;
}

/** Another rank's tasks that touch memory of this one are the transfers that it sends here. */
bool pti_stream_must_tell(const polytile_stream *stream, int rank, int task) {
    const int own = stream->ranks->rank;
    bool must = false;
    if (is_of_program(stream, task) || !is_of_rank(&stream->task_ranks[task], own))
        return false;
    if (stream->is_synchronous)
        return rank != own;
    for (int t = 0; t < stream->order.n_tasks; t++)
        for (int w = stream->order.first[t]; w < stream->order.first[t + 1]; w++)
            must = must || (stream->order.wait[w].on == task && rank != own &&
                            stream->task_ranks[t].from == rank && stream->task_ranks[t].to == own);
    return must;
}
