#include "graph/stream/stream.h"

#include "base/checked.h"

#include <stdlib.h>
#include <string.h>

/* Streams from graphs and plans. */

static void free_stream(polytile_stream *stream) {
    pti_stream_stop(stream);
    pti_stream_end_waking(stream);
    pti_stream_free_lookups(stream);
    pti_stream_free_actors(stream);
    pti_stream_free_memory(stream);
    pti_stream_close_lanes(stream);
    pti_firing_order_free(&stream->order);
    pti_expansion_free(&stream->expansion);
    free(stream->input);
    free(stream->output);
    free(stream->done);
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

/** Find what tasks wait for, and prove that the plan keeps to it. */
static polytile_status find_order(polytile_stream *stream, const polytile_graph_plan *plan) {
    const int n_buffers = plan->expansion.tasks.n_buffers;
    pti_periodic schedule = plan->schedule;
    pti_firing_place *place = calloc((size_t)n_buffers + 1, sizeof *place);
    schedule.capacity = calloc((size_t)n_buffers + 1, sizeof *schedule.capacity);
    const bool has_memory = place != NULL && schedule.capacity != NULL;
    for (int b = 0; has_memory && b < n_buffers; b++) {
        place[b] = (pti_firing_place){plan->channel[b].memory, plan->channel[b].colour};
        schedule.capacity[b] = plan->schedule.capacity[b] + pti_stream_n_spare(stream, b);
    }
    const bool is_found = has_memory && pti_firing_order_find(&plan->expansion.tasks, &schedule,
                                                              place, &stream->order);
    free(schedule.capacity);
    free(place);
    if (!is_found)
        return fail_creation(stream);
    const char *fault = pti_firing_order_find_fault(&plan->expansion.tasks, &stream->order);
    return fault == NULL
               ? POLYTILE_OK
               : pti_fail(stream->object.context, POLYTILE_INTERNAL,
                          "%s: the plan cannot run: %s; please report it", stream->name, fault);
}

/** List the ports, in the order of the graph's arrays. */
static polytile_status find_ports(polytile_stream *stream, const polytile_graph *graph) {
    const pti_stream_tasks *tasks = &stream->expansion.tasks;
    const size_t n = (size_t)tasks->n_buffers + 1;
    stream->input = calloc(n, sizeof *stream->input);
    stream->output = calloc(n, sizeof *stream->output);
    if (stream->input == NULL || stream->output == NULL)
        return fail_creation(stream);
    stream->feed = stream->take = -1;
    for (int t = 0; t < tasks->n_tasks; t++) {
        if (stream->expansion.task[t].kind == PTI_TASK_FEED)
            stream->feed = t;
        if (stream->expansion.task[t].kind == PTI_TASK_TAKE)
            stream->take = t;
    }
    for (int a = 0; a < graph->n_arrays; a++)
        for (int b = 0; b < tasks->n_buffers; b++) {
            const pti_frame_buffer *held = &tasks->buffer[b];
            if (stream->expansion.buffer[b].array != a)
                continue;
            if (stream->feed >= 0 && held->producer == stream->feed)
                stream->input[stream->n_inputs++] = b;
            if (graph->array[a].n_readers > 0)
                continue;
            for (int r = held->first_reader; r < held->first_reader + held->n_readers; r++)
                if (tasks->reader[r].task == stream->take)
                    stream->output[stream->n_outputs++] = b;
        }
    return POLYTILE_OK;
}

/** Frames may always be in flight that the schedule feeds before it takes the first one. */
static int64_t find_depth(const polytile_stream *stream, const polytile_graph_plan *plan) {
    if (stream->feed < 0)
        return plan->frames_in_flight;
    const int64_t *start = plan->schedule.start;
    return pti_max(1,
                   pti_ceil_div(start[stream->take] - start[stream->feed], plan->schedule.period));
}

/** No more frames are in flight than the channels of ports hold beside that. */
static polytile_status find_frames_in_flight(polytile_stream *stream,
                                             const polytile_graph_plan *plan) {
    int64_t most = 1;
    for (int b = 0; b < plan->n_channels; b++)
        most = pti_max(most, plan->channel[b].capacity);
    stream->depth = find_depth(stream, plan);
    stream->window = stream->depth + most;
    stream->frame = calloc((size_t)stream->window, sizeof *stream->frame);
    stream->done = calloc((size_t)stream->order.n_tasks + 1, sizeof *stream->done);
    return stream->frame == NULL || stream->done == NULL ? fail_creation(stream) : POLYTILE_OK;
}

static polytile_status fill_in(polytile_stream *stream, const polytile_graph *graph,
                               const polytile_graph_plan *plan) {
    polytile_status status;
    stream->name = strdup(graph->dot->source);
    if (stream->name == NULL)
        return fail_creation(stream);
    PTI_TRY(copy_expansion(stream, &plan->expansion));
    PTI_TRY(find_ports(stream, graph));
    PTI_TRY(find_order(stream, plan));
    PTI_TRY(find_frames_in_flight(stream, plan));
    PTI_TRY(pti_stream_open_lanes(stream, plan));
    PTI_TRY(pti_stream_take_memory(stream, graph, plan));
    PTI_TRY(pti_stream_prove_plan(stream, plan));
    PTI_TRY(pti_stream_prepare_actors(stream, graph, plan));
    PTI_TRY(pti_stream_prepare_lookups(stream, graph));
    PTI_TRY(pti_stream_begin_waking(stream));
    PTI_TRY(pti_stream_start(stream));
done:
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
    if (strcmp(plan->strategy, "paper") == 0)
        return pti_fail(ctx, POLYTILE_UNSUPPORTED,
                        "%s: plans of strategy \"paper\" mix frames, and are not run; plan with "
                        "\"best\"",
                        name);
    return options == NULL
               ? POLYTILE_OK
               : pti_check_reserved(ctx, name, "polytile_stream_options", options->reserved);
}

polytile_status polytile_stream_create(const polytile_graph *graph, const polytile_graph_plan *plan,
                                       const polytile_stream_options *options,
                                       polytile_stream **stream) {
    pti_error failed = {0};
    polytile_status status;
    if (stream != NULL)
        *stream = NULL;
    PTI_ENTER(graph, graph->object.context, "graph");
    polytile_context *ctx = graph->object.context;
    if (plan == NULL || stream == NULL)
        return pti_fail(ctx, POLYTILE_INVALID,
                        "%s: a stream needs a plan of the graph, and a place for it",
                        graph->dot->source);
    status = check_stream_arguments(graph, plan, options);
    if (status != POLYTILE_OK)
        return status;
    polytile_stream *made = calloc(1, sizeof *made);
    if (made == NULL)
        return pti_fail_memory(ctx, "a stream", sizeof *made);
    made->object.context = ctx;
    made->drops = options != NULL && options->drops_when_full;
    made->is_synchronous = !plan->overlap;
    status = fill_in(made, graph, plan);
    pti_error_keep(&failed, ctx, status);
    if (status != POLYTILE_OK) {
        free_stream(made);
        return pti_error_restore(ctx, &failed);
    }
    pti_object_adopt(ctx, &made->object, destroy_stream);
    *stream = made;
    return POLYTILE_OK;
}

void polytile_stream_destroy(polytile_stream *stream) {
    pti_object_release(stream == NULL ? NULL : &stream->object);
}

int64_t polytile_stream_get_depth(const polytile_stream *stream) {
    return stream == NULL ? 0 : stream->depth;
}
