#include "graph/stream/stream.h"

#include "base/checked.h"
#include "base/clock.h"

#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

/* Streams over ranks, without what carries frames: who does what, what a rank must know of others,
 * and how the program's thread waits for them. Each rank counts what it is done with, and is told
 * how far the readers of what it sends are. So a frame leaves only when there is a place for it. */

/* Who does what. */

static pti_task_ranks ranks_of(const polytile_stream *stream, const polytile_graph_plan *plan,
                               int task) {
    const pti_task_note *note = &stream->expansion.task[task];
    const int own = stream->ranks->rank;
    if (note->kind == PTI_TASK_MOVE)
        return (pti_task_ranks){stream->memory_rank[note->from], stream->memory_rank[note->to]};
    if (note->kind != PTI_TASK_FIRE)
        return (pti_task_ranks){own, own};
    const int rank = plan->unit[stream->expansion.tasks.task[task].resource].rank;
    return (pti_task_ranks){rank, rank};
}

static polytile_status check_ranks(const polytile_stream *stream, const polytile_graph_plan *plan) {
    const int n_ranks = stream->ranks->n_ranks;
    for (int u = 0; u < plan->n_units; u++)
        if (plan->unit[u].rank >= n_ranks)
            return pti_fail(stream->object.context, POLYTILE_INVALID,
                            "%s: unit %s is on rank %d, and the communicator has %d rank%s",
                            stream->name, plan->unit[u].name, plan->unit[u].rank, n_ranks,
                            n_ranks == 1 ? "" : "s");
    if (stream->is_synchronous && n_ranks > 1)
        return pti_fail(stream->object.context, POLYTILE_UNSUPPORTED,
                        "%s: synchronous cycles do not run over ranks; plan with overlap",
                        stream->name);
    return POLYTILE_OK;
}

/** A frame's look-ups are checked where it is pushed, which may be without what they look up. */
static polytile_status check_lookups(const polytile_stream *stream, const polytile_graph *graph) {
    for (int a = 0; a < graph->n_actors && stream->ranks->n_ranks > 1; a++)
        if (graph->actor[a].looks_up != NULL)
            return pti_fail(stream->object.context, POLYTILE_UNSUPPORTED,
                            "%s: actor %s looks up elements of index arrays, which streams over "
                            "ranks do not run; run it in a stream of one process",
                            stream->name, graph->actor[a].name);
    return POLYTILE_OK;
}

/** Return whether the program feeds or takes a buffer. */
static bool is_port(const polytile_stream *stream, const polytile_graph *graph, int buffer) {
    const pti_buffer_note *note = &stream->expansion.buffer[buffer];
    const int producer = stream->expansion.tasks.buffer[buffer].producer;
    if (note->array < 0)
        return false;
    return stream->expansion.task[producer].kind == PTI_TASK_FEED ||
           graph->array[note->array % graph->n_arrays].n_readers == 0;
}

/** A program pushes and pulls the same arrays each frame: their rank is the same in all turns. */
static polytile_status check_ports(polytile_stream *stream, const polytile_graph *graph) {
    const int n_buffers = stream->expansion.tasks.n_buffers;
    const pti_buffer_note *note = stream->expansion.buffer;
    for (int b = 0; b < n_buffers; b++)
        for (int c = 0; c < b && is_port(stream, graph, b); c++)
            if (is_port(stream, graph, c) &&
                note[c].array % graph->n_arrays == note[b].array % graph->n_arrays &&
                stream->memory_rank[note[c].memory] != stream->memory_rank[note[b].memory])
                return pti_fail(stream->object.context, POLYTILE_UNSUPPORTED,
                                "%s: array %s is fed or taken at ranks %d and %d in turn; let the "
                                "actors beside it run on units of one rank",
                                stream->name, graph->array[note[b].array % graph->n_arrays].name,
                                stream->memory_rank[note[c].memory],
                                stream->memory_rank[note[b].memory]);
    return POLYTILE_OK;
}

/** Find the lowest rank that has an input; 0: there are none. */
static int find_root(const polytile_stream *stream) {
    const pti_stream_tasks *tasks = &stream->expansion.tasks;
    int root = stream->ranks->n_ranks;
    for (int b = 0; b < tasks->n_buffers; b++)
        if (stream->expansion.buffer[b].array >= 0 &&
            stream->expansion.task[tasks->buffer[b].producer].kind == PTI_TASK_FEED)
            root = (int)pti_min(root, stream->memory_rank[stream->expansion.buffer[b].memory]);
    return root == stream->ranks->n_ranks ? 0 : root;
}

polytile_status pti_stream_find_ranks(polytile_stream *stream, const polytile_graph *graph,
                                      const polytile_graph_plan *plan) {
    const size_t n_tasks = (size_t)stream->expansion.tasks.n_tasks + 1;
    pti_stream_ranks *ranks = stream->ranks;
    polytile_status status = POLYTILE_OK;
    if (ranks == NULL)
        return POLYTILE_OK;
    PTI_TRY(check_ranks(stream, plan));
    PTI_TRY(check_lookups(stream, graph));
    stream->task_ranks = calloc(n_tasks, sizeof *stream->task_ranks);
    stream->memory_rank = calloc((size_t)plan->n_memories + 1, sizeof *stream->memory_rank);
    ranks->heard = calloc(n_tasks * (size_t)ranks->n_ranks, sizeof *ranks->heard);
    ranks->pushed = calloc((size_t)ranks->n_ranks, sizeof *ranks->pushed);
    ranks->ended = calloc((size_t)ranks->n_ranks, sizeof *ranks->ended);
    if (stream->task_ranks == NULL || stream->memory_rank == NULL || ranks->heard == NULL ||
        ranks->pushed == NULL || ranks->ended == NULL)
        return pti_stream_fail_memory(stream, PTI_UNKNOWN_BYTES);
    for (int m = 0; m < plan->n_memories; m++)
        stream->memory_rank[m] = plan->memory[m].rank;
    for (int t = 0; t < stream->expansion.tasks.n_tasks; t++)
        stream->task_ranks[t] = ranks_of(stream, plan, t);
    PTI_TRY(check_ports(stream, graph));
    ranks->root = find_root(stream);
done:
    return status;
}

void pti_stream_free_ranks(polytile_stream *stream) {
    free(stream->task_ranks);
    free(stream->memory_rank);
}

/* What a rank knows of others. */

static bool touches(const pti_task_ranks *of, int rank) {
    return of->from == rank || of->to == rank;
}

/** Return the rounds of a task that a rank is known to be done with. */
static int64_t count_done(const polytile_stream *stream, int rank, int task) {
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
        keeps = keeps && (!touches(on, rank[k]) ||
                          count_done(stream, rank[k], wait->on) + wait->tokens > round);
    return keeps;
}

int64_t pti_stream_n_begun(const polytile_stream *stream) {
    int64_t n = stream->n_pushed;
    for (int r = 0; stream->ranks != NULL && r < stream->ranks->n_ranks; r++)
        if (r != stream->ranks->rank)
            n = pti_min(n, stream->ranks->pushed[r]);
    return n;
}

/** Another rank's tasks that touch memory of this one are the transfers that it sends here. */
bool pti_stream_must_tell(const polytile_stream *stream, int rank, int task) {
    const int own = stream->ranks->rank;
    bool must = false;
    if (stream->expansion.tasks.task[task].resource < 0 || !touches(&stream->task_ranks[task], own))
        return false;
    for (int t = 0; t < stream->order.n_tasks; t++)
        for (int w = stream->order.first[t]; w < stream->order.first[t + 1]; w++)
            must = must || (stream->order.wait[w].on == task && rank != own &&
                            stream->task_ranks[t].from == rank && stream->task_ranks[t].to == own);
    return must;
}

/* Waiting. */

bool pti_stream_is_broken(const polytile_stream *stream) {
    return stream->ranks != NULL && stream->ranks->broken.status != POLYTILE_OK;
}

bool pti_stream_progress(polytile_stream *stream) {
    pti_stream_ranks *ranks = stream->ranks;
    bool has_moved = false;
    pti_error error = {0};
    if (ranks == NULL || pti_stream_is_broken(stream))
        return false;
    pti_error *before = pti_redirect_errors(&error);
    const polytile_status status = ranks->functions->progress(ranks, stream, &has_moved);
    pti_error_keep(&ranks->broken, stream->object.context, status);
    pti_redirect_errors(before);
    return has_moved;
}

/** Return whether a frame that a rank sent before it ended is still to come. */
static bool comes_from(const polytile_stream *stream, int rank) {
    bool comes = false;
    for (int l = 0; l < stream->n_lanes; l++)
        for (int k = 0; k < stream->lane[l].n_tasks; k++) {
            const int task = stream->lane[l].task[k];
            comes = comes || (stream->task_ranks[task].from == rank &&
                              pti_stream_expects(&stream->lane[l], task) &&
                              count_done(stream, rank, task) > stream->done[task]);
        }
    return comes;
}

static bool receives_now(const polytile_stream *stream) {
    bool does = false;
    for (int l = 0; l < stream->n_lanes; l++)
        does = does || (stream->lane[l].end == PTI_STREAM_RECEIVES && stream->lane[l].is_busy);
    return does;
}

/** Find out whether what is awaited needs a rank that has ended. The mutex is locked. */
static void look_for_ended(polytile_stream *stream, pti_stream_await what) {
    pti_stream_ranks *ranks = stream->ranks;
    pti_error error = {0};
    const int64_t frame = what == PTI_STREAM_AWAITS_FRAME ? stream->n_pulled : stream->n_pushed;
    const pti_ended_rank *root = &ranks->ended[ranks->root];
    const bool is_told = root->has_ended && root->n_decided > ranks->n_decided;
    if (pti_stream_is_broken(stream) || is_told || !pti_stream_is_still(stream) ||
        receives_now(stream))
        return;
    pti_error *before = pti_redirect_errors(&error);
    for (int r = 0; r < ranks->n_ranks; r++)
        if (ranks->ended[r].has_ended && ranks->ended[r].n_pulled <= frame &&
            !comes_from(stream, r))
            pti_error_keep(&ranks->broken, stream->object.context,
                           pti_fail(stream->object.context, POLYTILE_DEVICE,
                                    "%s: frame %" PRId64 " does not go on: rank %d has ended its "
                                    "stream after %" PRId64 " frame%s; push and pull the same "
                                    "frames on all ranks",
                                    stream->name, frame, r, ranks->ended[r].n_pulled,
                                    ranks->ended[r].n_pulled == 1 ? "" : "s"));
    pti_redirect_errors(before);
}

/** How long the program looks for what others do before it sleeps between looks, and how long it
 * sleeps then. */
static const double look_s = 50e-6;
enum { SLEEP_NS = 20000 };

/** Sleep until a lane has what is awaited, at most a moment. The mutex is locked. */
static void sleep_a_moment(polytile_stream *stream, pti_stream_await what) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += SLEEP_NS;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    __atomic_store_n(&stream->program, what, __ATOMIC_RELAXED);
    pthread_cond_timedwait(&stream->wake, &stream->mutex, &until);
    __atomic_store_n(&stream->program, PTI_STREAM_AWAITS_NOTHING, __ATOMIC_RELAXED);
}

void pti_stream_await_ranks(polytile_stream *stream, pti_stream_await what) {
    pthread_mutex_unlock(&stream->mutex);
    const bool has_moved = pti_stream_progress(stream);
    const double now_s = pti_now_s();
    pthread_mutex_lock(&stream->mutex);
    if (has_moved) {
        stream->ranks->idle_since_s = 0;
        return;
    }
    if (stream->ranks->idle_since_s == 0)
        stream->ranks->idle_since_s = now_s;
    look_for_ended(stream, what);
    if (now_s - stream->ranks->idle_since_s > look_s)
        sleep_a_moment(stream, what);
}

static bool agree(pti_stream_ranks *ranks, const polytile_stream *stream, bool *drops) {
    pti_error error = {0};
    bool is_known = false;
    pti_error *before = pti_redirect_errors(&error);
    const polytile_status status = ranks->functions->agree_to_drop(ranks, drops, &is_known);
    pti_error_keep(&ranks->broken, stream->object.context, status);
    pti_redirect_errors(before);
    return is_known;
}

void pti_stream_agree_to_drop(polytile_stream *stream, bool *drops) {
    if (stream->ranks == NULL || stream->ranks->n_ranks == 1)
        return;
    while (!pti_stream_is_broken(stream) && !agree(stream->ranks, stream, drops)) {
        pthread_mutex_lock(&stream->mutex);
        pti_stream_await_ranks(stream, PTI_STREAM_AWAITS_ROOM);
        pthread_mutex_unlock(&stream->mutex);
    }
}
