#include "access/kernel.h"
#include "graph/stream/stream.h"

#include "base/checked.h"
#include "launch/device/completeness.h"
#include "launch/device/fill.h"
#include "launch/execute/specialise.h"
#include <polytile/plan.h>

#include <stdlib.h>
#include <string.h>

/* What each actor runs: proved and planned once, on the arrays of frame 0. */

/** Return the buffer of an array in a memory; -1: there is none. */
static int find_buffer(const polytile_stream *stream, int array, int memory) {
    for (int b = 0; b < stream->expansion.tasks.n_buffers; b++)
        if (stream->expansion.buffer[b].array == array &&
            stream->expansion.buffer[b].memory == memory)
            return b;
    return -1;
}

/** An older frame is of another turn, and of a round before. */
static void find_input(const polytile_stream *stream, const polytile_graph *graph,
                       const pti_flow *in, int turn, int memory, pti_stream_operand *operand) {
    operand->in = -1;
    if (in->array < 0)
        return;
    const int64_t frame = turn - pti_flow_delay(graph, in);
    const int of = (int)pti_floor_mod(frame, stream->n_turns);
    operand->in = find_buffer(stream, in->array + of * graph->n_arrays, memory);
    operand->in_delay = (int)-pti_floor_div(frame, stream->n_turns);
}

/** Describe the rows that a part leaves of each frame. */
static polytile_status describe_left_rows(const polytile_stream *stream,
                                          const polytile_graph *graph, const pti_flow *flow,
                                          pti_stream_operand *operand) {
    const pti_graph_array *array = &graph->array[flow->array];
    const pti_stream_buffer *buffer = &stream->buffer[operand->out];
    const int64_t offset_bytes =
        (flow->rows.lo - array->domain.range[0].lo) * pti_graph_row_bytes(array);
    polytile_status status = POLYTILE_OK;
    operand->rows = calloc((size_t)buffer->capacity + 1, sizeof *operand->rows);
    if (operand->rows == NULL)
        return pti_stream_fail_memory(stream, buffer->capacity);
    for (int64_t s = 0; s < buffer->capacity; s++)
        PTI_TRY(pti_stream_describe_rows(stream, array, buffer->memory, flow->rows,
                                         pti_stream_bytes(buffer, s) + offset_bytes -
                                             stream->expansion.buffer[operand->out].offset_bytes,
                                         &operand->rows[s]));
    if (operand->in >= 0)
        operand->in_offset_bytes =
            offset_bytes - stream->expansion.buffer[operand->in].offset_bytes;
done:
    return status;
}

static polytile_status find_operands(const polytile_stream *stream, const polytile_graph *graph,
                                     int number, int memory, pti_stream_actor *made) {
    const pti_actor *actor = &graph->actor[number % graph->n_actors];
    const int turn = number / graph->n_actors;
    polytile_status status = POLYTILE_OK;
    made->n_operands = actor->n_operands;
    for (int o = 0; o < actor->n_operands; o++) {
        const int out = actor->out[o].array;
        made->operand[o].out =
            out < 0 ? -1 : find_buffer(stream, out + turn * graph->n_arrays, memory);
        find_input(stream, graph, &actor->in[o], turn, memory, &made->operand[o]);
        if (actor->out[o].has_rows)
            PTI_TRY(describe_left_rows(stream, graph, &actor->out[o], &made->operand[o]));
    }
done:
    return status;
}

/** Describe the memory where results of runs but the last lie: the beginning of what the actor has
 * for itself. */
static polytile_status find_between(const polytile_stream *stream, const polytile_graph *graph,
                                    const pti_actor *actor, int number, pti_stream_actor *made) {
    int like = -1;
    polytile_status status = POLYTILE_OK;
    for (int o = 0; made->repeat > 1 && o < actor->n_operands; o++)
        if (actor->out[o].array >= 0 && actor->in[o].array < 0)
            like = actor->out[o].array;
    for (int b = 0; like >= 0 && b < stream->expansion.tasks.n_buffers; b++) {
        const pti_stream_buffer *buffer = &stream->buffer[b];
        const pti_graph_array *array = &graph->array[like];
        if (stream->expansion.buffer[b].array >= 0 || stream->expansion.buffer[b].actor != number)
            continue;
        PTI_TRY(pti_array_create(stream->object.context, array->name, array->type, &array->domain,
                                 &made->between));
        if (stream->memory[buffer->memory].is_on_gpu)
            made->between->device_data = buffer->base;
        else
            made->between->data = buffer->base;
    }
done:
    return status;
}

static void list_first_arrays(const polytile_stream *stream, const pti_stream_actor *actor,
                              polytile_array **arrays) {
    for (int o = 0; o < actor->n_operands; o++) {
        const pti_stream_operand *operand = &actor->operand[o];
        const pti_stream_buffer *buffer =
            &stream->buffer[operand->out >= 0 ? operand->out : operand->in];
        arrays[o] = operand->rows != NULL
                        ? operand->rows[0]
                        : buffer->array[pti_stream_position(
                              buffer, operand->out >= 0 ? 0 : -operand->in_delay)];
    }
}

/** Refuse what streams do not run yet. */
static polytile_status check_bound(const polytile_stream *stream, const pti_actor *actor) {
    polytile_context *ctx = stream->object.context;
    if (actor->bound_by == 0)
        return pti_fail(ctx, POLYTILE_INVALID,
                        "it has no implementation; give it one by polytile_graph_bind()");
    if (actor->kernel->implementation.team != NULL)
        return pti_fail(ctx, POLYTILE_UNSUPPORTED, "it is a team kernel, which streams do not run");
    return POLYTILE_OK;
}

/** Return the bytes that superblocks may take: what the plan says, and not more than there are; 0:
 * frames lie where they run. */
static int64_t limit_of_superblocks(const pti_stream_lane *lane) {
    const int64_t there_are = polytile_device_get_limit(lane->device);
    return there_are > 0 ? pti_min(lane->cut_bytes, there_are) : lane->cut_bytes;
}

/** Plan one run, in place or in superblocks. */
static polytile_status plan_run(const pti_actor *actor, const pti_stream_lane *lane,
                                polytile_array *const *arrays, pti_stream_actor *made) {
    polytile_device *device = lane->device;
    polytile_launch_options options = {.n_parameters = actor->n_parameters,
                                       .parameters = actor->parameter};
    polytile_context *ctx = device->object.context;
    const polytile_implementation *found = NULL;
    polytile_status status;
    options.plan.limit_bytes = limit_of_superblocks(lane);
    options.plan.link = polytile_device_get_link(device);
    options.plan.fill_threads =
        pti_device_planned_fill_threads(device, &actor->kernel->implementation, &options.plan);
    PTI_TRY(pti_run_check_kernel(device, actor->kernel));
    PTI_TRY(polytile_plan_create(actor->kernel, &actor->domain, actor->n_operands, arrays, &options,
                                 &made->plan));
    PTI_TRY(pti_run_check(made->plan, device, actor->kernel, arrays, &made->arrays));
    PTI_TRY(pti_parameters_bind(ctx, actor->kernel, actor->n_parameters, actor->parameter,
                                made->values));
    PTI_TRY(pti_specialise(device, actor->kernel, made->plan->owned_instance, &found));
    made->implementation = *found;
    made->character = actor->kernel->character;
    made->config = pti_launch_config_of(actor->kernel, NULL, made->values);
    made->config.implementation = &made->implementation;
    made->config.character = &made->character;
done:
    return status;
}

/** Find operands of which a launch leaves some elements alone. */
static void find_cleared(const polytile_kernel *kernel, pti_stream_actor *made) {
    const pti_instance *instance = made->plan->owned_instance;
    for (int o = 0, given = 0; o < kernel->declaration->n_arrays; o++) {
        if (instance->operand[o].is_scratch)
            continue;
        pti_stream_operand *operand = &made->operand[given++];
        operand->is_cleared =
            operand->out >= 0 && operand->in < 0 && !pti_completeness_is_overwritten(instance, o);
    }
}

/** Find the buffers of an actor's operands, and plan one run of its kernel. */
static polytile_status prepare_actor(polytile_stream *stream, const polytile_graph *graph,
                                     int number, const pti_stream_lane *lane,
                                     pti_stream_actor *made) {
    const pti_actor *actor = &graph->actor[number % graph->n_actors];
    polytile_array *arrays[PTI_MAX_OPERANDS] = {0};
    polytile_status status;
    PTI_TRY(check_bound(stream, actor));
    made->name = strdup(actor->name);
    if (made->name == NULL)
        PTI_TRY(pti_fail_memory(stream->object.context, "its name", PTI_UNKNOWN_BYTES));
    made->repeat = actor->repeat;
    made->kernel = actor->kernel;
    pti_kernel_retain(made->kernel);
    made->part = actor->part;
    PTI_TRY(find_operands(stream, graph, number, lane->memory, made));
    PTI_TRY(find_between(stream, graph, actor, number, made));
    list_first_arrays(stream, made, arrays);
    PTI_TRY(plan_run(actor, lane, arrays, made));
    find_cleared(actor->kernel, made);
    return POLYTILE_OK;
done:
    return pti_error_prefix(stream->object.context, status, "%s: actor %s: ", stream->name,
                            actor->name);
}

static const pti_stream_lane *lane_of(const polytile_stream *stream, int resource) {
    const pti_stream_lane *lane = stream->lane;
    while (lane->resource != resource)
        lane++;
    return lane;
}

polytile_status pti_stream_prepare_actors(polytile_stream *stream, const polytile_graph *graph,
                                          const polytile_graph_plan *plan) {
    const int n_tasks = stream->expansion.tasks.n_tasks;
    polytile_status status = POLYTILE_OK;
    stream->actor = calloc((size_t)(plan->n_actors * plan->n_turns) + 1, sizeof *stream->actor);
    stream->actor_of_task = calloc((size_t)n_tasks + 1, sizeof *stream->actor_of_task);
    if (stream->actor == NULL || stream->actor_of_task == NULL)
        return pti_fail_memory(stream->object.context, stream->name, PTI_UNKNOWN_BYTES);
    for (int t = 0; t < n_tasks; t++) {
        const pti_task_note *note = &stream->expansion.task[t];
        stream->actor_of_task[t] = -1;
        if (note->kind != PTI_TASK_FIRE || !pti_stream_has_task(stream, t))
            continue;
        pti_stream_actor *made = &stream->actor[stream->n_actors];
        stream->actor_of_task[t] = stream->n_actors++;
        made->task = t;
        PTI_TRY(prepare_actor(stream, graph, note->actor,
                              lane_of(stream, stream->expansion.tasks.task[t].resource), made));
    }
done:
    return status;
}

static void free_rows(const polytile_stream *stream, pti_stream_operand *operand) {
    for (int64_t s = 0; operand->rows != NULL && s < stream->buffer[operand->out].capacity; s++)
        polytile_array_destroy(operand->rows[s]);
    free(operand->rows);
}

void pti_stream_free_actors(polytile_stream *stream) {
    for (int a = 0; a < stream->n_actors; a++) {
        pti_stream_actor *actor = &stream->actor[a];
        polytile_plan_destroy(actor->plan);
        pti_operand_arrays_free(&actor->arrays);
        polytile_array_destroy(actor->between);
        for (int o = 0; o < actor->n_operands; o++)
            free_rows(stream, &actor->operand[o]);
        pti_kernel_release(actor->kernel);
        free(actor->name);
    }
    free(stream->actor);
    free(stream->actor_of_task);
}
