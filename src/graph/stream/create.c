#include "graph/stream/stream.h"

#include "base/checked.h"

#include <stdlib.h>
#include <string.h>

/* Streams from graphs and plans. */

static void close_ranks(polytile_stream *stream) {
    int64_t *heard = stream->ranks->heard;
    int64_t *pushed = stream->ranks->pushed;
    pti_ended_rank *ended = stream->ranks->ended;
    stream->ranks->functions->close(stream->ranks, stream);
    free(heard);
    free(pushed);
    free(ended);
}

static void free_stream(polytile_stream *stream) {
    if (stream->ranks != NULL)
        stream->ranks->functions->end(stream->ranks, stream);
    pti_stream_stop(stream);
    if (stream->ranks != NULL)
        close_ranks(stream);
    pti_stream_end_waking(stream);
    pti_stream_free_ranks(stream);
    pti_stream_free_lookups(stream);
    pti_stream_free_actors(stream);
    pti_stream_free_memory(stream);
    pti_stream_close_lanes(stream);
    pti_firing_order_free(&stream->order);
    pti_expansion_free(&stream->expansion);
    free(stream->feed);
    free(stream->take);
    free(stream->input);
    free(stream->output);
    free(stream->is_output);
    free(stream->done);
    free(stream->recent_s);
    free(stream->frame);
    free(stream->name);
    free(stream);
}

static void destroy_stream(pti_object *object) {
    free_stream((polytile_stream *)object);
}

static polytile_status fail_creation(const polytile_stream *stream) {
    return pti_fail_memory(stream->object.context, "a stream", PTI_UNKNOWN_BYTES);
}

/** Copy a list; NULL when memory runs out. */
static void *copy_list(const void *list, int n, size_t size) {
    void *copy = malloc(((size_t)n + 1) * size);
    if (copy != NULL && n > 0)
        memcpy(copy, list, (size_t)n * size);
    return copy;
}

static polytile_status copy_expansion(polytile_stream *stream, const pti_expansion *expansion) {
    pti_expansion *made = &stream->expansion;
    made->tasks = expansion->tasks;
    made->tasks.task =
        copy_list(expansion->tasks.task, expansion->tasks.n_tasks, sizeof *expansion->tasks.task);
    made->tasks.buffer = copy_list(expansion->tasks.buffer, expansion->tasks.n_buffers,
                                   sizeof *expansion->tasks.buffer);
    made->tasks.reader = copy_list(expansion->tasks.reader, expansion->tasks.n_readers,
                                   sizeof *expansion->tasks.reader);
    made->task = copy_list(expansion->task, expansion->tasks.n_tasks, sizeof *expansion->task);
    made->buffer =
        copy_list(expansion->buffer, expansion->tasks.n_buffers, sizeof *expansion->buffer);
    return made->tasks.task != NULL && made->tasks.buffer != NULL && made->tasks.reader != NULL &&
                   made->task != NULL && made->buffer != NULL
               ? POLYTILE_OK
               : fail_creation(stream);
}

/** Find the tasks by which the program feeds and takes. */
static polytile_status find_program_tasks(polytile_stream *stream) {
    stream->feed = calloc((size_t)stream->n_turns, sizeof *stream->feed);
    stream->take = calloc((size_t)stream->n_turns, sizeof *stream->take);
    if (stream->feed == NULL || stream->take == NULL)
        return fail_creation(stream);
    for (int turn = 0; turn < stream->n_turns; turn++)
        stream->feed[turn] = stream->take[turn] = -1;
    for (int t = 0; t < stream->expansion.tasks.n_tasks; t++) {
        const int turn = stream->expansion.tasks.task[t].turn;
        if (stream->expansion.task[t].kind == PTI_TASK_FEED)
            stream->feed[turn] = t;
        if (stream->expansion.task[t].kind == PTI_TASK_TAKE)
            stream->take[turn] = t;
    }
    return POLYTILE_OK;
}

/** List the ports of a turn, in the order of the graph's arrays. */
static void list_ports(polytile_stream *stream, const polytile_graph *graph, int turn) {
    const pti_stream_tasks *tasks = &stream->expansion.tasks;
    for (int a = 0; a < graph->n_arrays; a++)
        for (int b = 0; b < tasks->n_buffers; b++) {
            if (stream->expansion.buffer[b].array != a + turn * graph->n_arrays)
                continue;
            stream->is_output[b] = graph->array[a].n_readers == 0 && pti_stream_is_taken(stream, b);
            if (!pti_stream_has_memory(stream, stream->expansion.buffer[b].memory))
                continue;
            if (stream->feed[turn] >= 0 && tasks->buffer[b].producer == stream->feed[turn])
                stream->input[stream->n_inputs++] = b;
            if (stream->is_output[b])
                stream->output[stream->n_outputs++] = b;
        }
}

static polytile_status find_ports(polytile_stream *stream, const polytile_graph *graph) {
    const size_t n = (size_t)stream->expansion.tasks.n_buffers + 1;
    polytile_status status;
    stream->input = calloc(n, sizeof *stream->input);
    stream->output = calloc(n, sizeof *stream->output);
    stream->is_output = calloc(n, sizeof *stream->is_output);
    if (stream->input == NULL || stream->output == NULL || stream->is_output == NULL)
        return fail_creation(stream);
    PTI_TRY(find_program_tasks(stream));
    for (int turn = 0; turn < stream->n_turns; turn++)
        list_ports(stream, graph, turn);
    stream->n_inputs /= stream->n_turns;
    stream->n_outputs /= stream->n_turns;
done:
    return status;
}

/** A frame that is taken so little after another one is fed counts as taken, in parts of a frame's
 * period, where there are several turns. The other one is then fed so much later; one more in
 * flight would wait for a whole period. Without turns it is the one on which links work meanwhile,
 * and the program. */
enum { PARTS_OF_A_PERIOD = 64 };

/** Return the newest frame that the schedule takes until it feeds one of a turn, of round 0. */
static int64_t newest_taken(const polytile_stream *stream, const pti_periodic *schedule, int turn) {
    const int64_t moment =
        stream->n_turns > 1 ? schedule->period / (stream->n_turns * PARTS_OF_A_PERIOD) : 0;
    const int64_t fed = schedule->start[stream->feed[turn]] + moment;
    int64_t newest = INT64_MIN;
    for (int t = 0; t < stream->n_turns; t++) {
        const int take = stream->take[t];
        const int64_t round = pti_floor_div(fed - schedule->start[take], schedule->period);
        newest = pti_max(newest, pti_frame_of_round(&stream->expansion.tasks, take, round));
    }
    return newest;
}

/* The order. */

/** Return the frames that are in flight when the schedule feeds one of a turn, that one included:
 * of the turn with the most, or the fewest. */
static int64_t count_in_flight(const polytile_stream *stream, const pti_periodic *schedule,
                               bool is_most) {
    int64_t found = -newest_taken(stream, schedule, 0);
    for (int turn = 1; turn < stream->n_turns; turn++) {
        const int64_t n = turn - newest_taken(stream, schedule, turn);
        found = is_most ? pti_max(found, n) : pti_min(found, n);
    }
    return pti_max(1, found);
}

/** With several turns the schedule feeds some frames with more in flight than others. Let it take
 * each frame only when one is fed that is as many later as are in flight at most: then a program
 * that always has that number in flight keeps to the schedule. */
static void take_late(const polytile_stream *stream, pti_periodic *schedule) {
    for (int turn = 0; turn < stream->n_turns; turn++) {
        const int64_t later = turn + stream->depth;
        const int64_t fed = schedule->start[stream->feed[later % stream->n_turns]] +
                            later / stream->n_turns * schedule->period;
        int64_t *taken = &schedule->start[stream->take[turn]];
        *taken = pti_max(*taken, fed);
    }
}

/** Frames may always be in flight that the schedule feeds before it takes the first one. */
static void find_depth(polytile_stream *stream, const polytile_graph_plan *plan, bool is_late,
                       const pti_periodic *schedule) {
    stream->depth =
        stream->feed[0] < 0 ? plan->frames_in_flight : count_in_flight(stream, schedule, is_late);
}

/** The plan's starts, and its capacities with what outputs have more. False: no memory. */
static bool copy_schedule(const polytile_stream *stream, const polytile_graph_plan *plan,
                          pti_periodic *schedule) {
    const pti_stream_tasks *tasks = &plan->expansion.tasks;
    schedule->period = plan->schedule.period;
    schedule->start = copy_list(plan->schedule.start, tasks->n_tasks, sizeof *schedule->start);
    schedule->capacity =
        copy_list(plan->schedule.capacity, tasks->n_buffers, sizeof *schedule->capacity);
    for (int b = 0; schedule->capacity != NULL && b < tasks->n_buffers; b++)
        schedule->capacity[b] += pti_stream_n_spare(stream, b);
    return schedule->start != NULL && schedule->capacity != NULL;
}

/** Find what tasks wait for, with frames taken late or not; *fault: why the schedule does not keep
 * to it; NULL: it does. */
static polytile_status find_order_as(polytile_stream *stream, const polytile_graph_plan *plan,
                                     bool is_late, const char **fault) {
    const pti_stream_tasks *tasks = &plan->expansion.tasks;
    pti_periodic schedule = {0};
    pti_firing_place *place = calloc((size_t)tasks->n_buffers + 1, sizeof *place);
    bool is_found = copy_schedule(stream, plan, &schedule) && place != NULL;
    for (int b = 0; is_found && b < tasks->n_buffers; b++)
        place[b] = (pti_firing_place){plan->channel[b].memory, plan->channel[b].colour};
    if (is_found)
        find_depth(stream, plan, is_late, &schedule);
    if (is_found && is_late)
        take_late(stream, &schedule);
    pti_firing_order_free(&stream->order);
    is_found = is_found && pti_firing_order_find(tasks, &schedule, place, &stream->order);
    pti_periodic_free(&schedule);
    free(place);
    if (!is_found)
        return fail_creation(stream);
    *fault = pti_firing_order_find_fault(tasks, &stream->order);
    return POLYTILE_OK;
}

/** Find what tasks wait for, and prove that the plan keeps to it. */
static polytile_status find_order(polytile_stream *stream, const polytile_graph_plan *plan) {
    const bool has_turns = stream->n_turns > 1 && stream->feed[0] >= 0;
    const char *fault = NULL;
    polytile_status status;
    PTI_TRY(find_order_as(stream, plan, has_turns, &fault));
    if (fault != NULL && has_turns)
        PTI_TRY(find_order_as(stream, plan, false, &fault));
    if (fault != NULL)
        status = pti_fail(stream->object.context, POLYTILE_INTERNAL,
                          "%s: the plan cannot run: %s; please report it", stream->name, fault);
done:
    return status;
}

/** No more frames are in flight than the channels of ports hold beside that. On ranks, where nobody
 * knows whether only a pull makes room, no more than always may be. */
static polytile_status find_frames_in_flight(polytile_stream *stream,
                                             const polytile_graph_plan *plan) {
    int64_t most = 1;
    for (int b = 0; b < plan->n_channels; b++)
        most = pti_max(most, plan->channel[b].capacity);
    stream->window = stream->ranks == NULL ? stream->depth + most * stream->n_turns : stream->depth;
    stream->frame = calloc((size_t)stream->window, sizeof *stream->frame);
    stream->done = calloc((size_t)stream->order.n_tasks + 1, sizeof *stream->done);
    stream->recent_s = calloc((size_t)stream->order.n_tasks + 1, sizeof *stream->recent_s);
    return stream->frame == NULL || stream->done == NULL || stream->recent_s == NULL
               ? fail_creation(stream)
               : POLYTILE_OK;
}

/** Fill a stream in. given: the graph whose actors' parts stand in graph, where some are split. */
static polytile_status fill_in(polytile_stream *stream, const polytile_graph *given,
                               const polytile_graph *graph, const polytile_graph_plan *plan) {
    polytile_status status;
    stream->name = strdup(graph->dot->source);
    if (stream->name == NULL)
        return fail_creation(stream);
    PTI_TRY(copy_expansion(stream, &plan->expansion));
    stream->n_turns = pti_n_turns(&stream->expansion.tasks);
    PTI_TRY(pti_stream_find_ranks(stream, graph, plan));
    PTI_TRY(find_ports(stream, graph));
    PTI_TRY(find_order(stream, plan));
    PTI_TRY(find_frames_in_flight(stream, plan));
    PTI_TRY(pti_stream_open_lanes(stream, plan));
    PTI_TRY(pti_stream_take_memory(stream, graph, plan));
    PTI_TRY(pti_stream_prove_plan(stream, plan));
    PTI_TRY(pti_stream_prepare_actors(stream, graph, plan));
    PTI_TRY(pti_stream_prepare_lookups(stream, given));
    PTI_TRY(pti_stream_begin_waking(stream));
    PTI_TRY(pti_stream_start(stream));
done:
    return status;
}

static polytile_status fill_in_parts(polytile_stream *stream, const polytile_graph *graph,
                                     const polytile_graph_plan *plan) {
    polytile_graph *split = NULL;
    polytile_status status = POLYTILE_OK;
    if (plan->n_parts > 0)
        status = pti_graph_split(graph, plan->n_parts, plan->part, &split);
    if (status == POLYTILE_OK)
        status = fill_in(stream, graph, split == NULL ? graph : split, plan);
    pti_graph_free_split(split);
    return status;
}

static polytile_status check_stream_arguments(const polytile_graph *graph,
                                              const polytile_graph_plan *plan,
                                              const polytile_stream_options *options) {
    polytile_context *ctx = graph->object.context;
    const char *name = graph->dot->source;
    if (plan->object.context != ctx || plan->graph_serial != graph->object.serial)
        return pti_fail(ctx, POLYTILE_INVALID, "%s: the plan is of another graph; plan this one",
                        name);
    if (!plan->strategy->is_sound)
        return pti_fail(ctx, POLYTILE_UNSUPPORTED,
                        "%s: plans of strategy \"%s\" mix frames, and are not run; plan with "
                        "\"best\"",
                        name, plan->strategy->name);
    return options == NULL
               ? POLYTILE_OK
               : pti_check_reserved(ctx, name, "polytile_stream_options", options->reserved);
}

/** Make a stream that is not the context's yet. */
static polytile_status make_stream(const polytile_graph *graph, const polytile_graph_plan *plan,
                                   const polytile_stream_options *options, polytile_stream *made) {
    polytile_status status;
    PTI_TRY(check_stream_arguments(graph, plan, options));
    made->drops = options != NULL && options->drops_when_full;
    made->is_synchronous = !plan->overlap;
    PTI_TRY(fill_in_parts(made, graph, plan));
done:
    return status;
}

polytile_status pti_stream_create_part(const polytile_graph *graph, const polytile_graph_plan *plan,
                                       const polytile_stream_options *options,
                                       pti_stream_ranks *ranks, polytile_stream **stream) {
    polytile_context *ctx = graph->object.context;
    pti_error failed = {0};
    polytile_stream *made = calloc(1, sizeof *made);
    if (made == NULL) {
        if (ranks != NULL)
            ranks->functions->close(ranks, NULL);
        return pti_fail_memory(ctx, "a stream", sizeof *made);
    }
    made->object.context = ctx;
    made->ranks = ranks;
    const polytile_status status = make_stream(graph, plan, options, made);
    pti_error_keep(&failed, ctx, status);
    if (status != POLYTILE_OK) {
        free_stream(made);
        return pti_error_restore(ctx, &failed);
    }
    pti_object_adopt(ctx, &made->object, destroy_stream);
    *stream = made;
    return POLYTILE_OK;
}

polytile_status polytile_stream_create(const polytile_graph *graph, const polytile_graph_plan *plan,
                                       const polytile_stream_options *options,
                                       polytile_stream **stream) {
    if (stream != NULL)
        *stream = NULL;
    PTI_ENTER(graph, graph->object.context, "graph");
    if (plan == NULL || stream == NULL)
        return pti_fail(graph->object.context, POLYTILE_INVALID,
                        "%s: a stream needs a plan of the graph, and a place for it",
                        graph->dot->source);
    return pti_stream_create_part(graph, plan, options, NULL, stream);
}

void polytile_stream_destroy(polytile_stream *stream) {
    pti_object_release(stream == NULL ? NULL : &stream->object);
}

int64_t polytile_stream_get_depth(const polytile_stream *stream) {
    return stream == NULL ? 0 : stream->depth;
}
