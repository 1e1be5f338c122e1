#include "access/kernel.h"
#include "graph/stream/stream.h"

#include "launch/execute/execute.h"

/* One firing of an actor, or one transfer, on the thread of its lane. */

static polytile_array *array_of_round(const polytile_stream *stream, int buffer, int64_t round) {
    const pti_stream_buffer *stream_buffer = &stream->buffer[buffer];
    return stream_buffer->array[pti_stream_position(stream_buffer, round)];
}

/** What an operand leaves: a frame, or a part's rows of it. */
static polytile_array *array_left(const polytile_stream *stream, const pti_stream_operand *operand,
                                  int64_t round) {
    return operand->rows == NULL
               ? array_of_round(stream, operand->out, round)
               : operand->rows[pti_stream_position(&stream->buffer[operand->out], round)];
}

/** Copy what an operand held before to where it is left. */
static polytile_status copy_before(const pti_stream_lane *lane, const pti_stream_operand *operand,
                                   int64_t round) {
    const polytile_stream *stream = lane->stream;
    const polytile_array *left = array_left(stream, operand, round);
    void *to = pti_array_memory(left);
    const void *from = pti_stream_bytes(&stream->buffer[operand->in], round - operand->in_delay) +
                       operand->in_offset_bytes;
    return to == from ? POLYTILE_OK
                      : pti_stream_copy_within(lane->device, stream->memory[lane->memory].is_on_gpu,
                                               to, from, left->n_bytes);
}

static polytile_status clear_array(const pti_stream_lane *lane, const polytile_array *array) {
    return pti_stream_copy_within(lane->device, lane->stream->memory[lane->memory].is_on_gpu,
                                  pti_array_memory(array), NULL, array->n_bytes);
}

/** The arrays of a run of several: results but the last lie between, so that the last one is
 * left. */
static polytile_array *array_of_run(const polytile_stream *stream, const pti_stream_actor *actor,
                                    const pti_stream_operand *operand, int64_t round, int64_t run) {
    const bool is_between = actor->between != NULL && (actor->repeat - run) % 2 == 0;
    if (operand->out >= 0)
        return is_between ? actor->between : array_left(stream, operand, round);
    if (actor->between == NULL || run == 0)
        return array_of_round(stream, operand->in, round - operand->in_delay);
    for (int o = 0; o < actor->n_operands; o++)
        if (actor->operand[o].out >= 0)
            return array_of_run(stream, actor, &actor->operand[o], round, run - 1);
    return NULL;
}

static polytile_status execute_actor(pti_stream_lane *lane, pti_stream_actor *actor,
                                     polytile_array *const *given) {
    polytile_array *listed[PTI_MAX_OPERANDS] = {0}, *operand[PTI_MAX_OPERANDS] = {0};
    const pti_instance *instance = actor->plan->instance;
    polytile_report report = {0};
    pti_kernel_list_operands(actor->kernel, given, listed);
    for (int o = 0; o < actor->kernel->declaration->n_arrays; o++)
        if (listed[o] == NULL)
            listed[o] = actor->arrays.array[o];
    for (int o = 0; o < instance->n_operands; o++)
        operand[o] = listed[pti_operand_array(instance, o)];
    lane->device->is_running = true;
    const polytile_status status =
        pti_execute(lane->device, actor->plan->schedule, &actor->config, operand, &report);
    lane->device->is_running = false;
    return status;
}

static polytile_status run_once(pti_stream_lane *lane, pti_stream_actor *actor, int64_t round,
                                int64_t run) {
    polytile_array *given[PTI_MAX_OPERANDS] = {0};
    polytile_status status;
    for (int o = 0; o < actor->n_operands; o++) {
        given[o] = array_of_run(lane->stream, actor, &actor->operand[o], round, run);
        if (actor->operand[o].is_cleared)
            PTI_TRY(clear_array(lane, given[o]));
    }
    status = execute_actor(lane, actor, given);
done:
    return status;
}

polytile_status pti_stream_fire(pti_stream_lane *lane, pti_stream_actor *actor, int64_t round) {
    polytile_status status = POLYTILE_OK;
    for (int o = 0; o < actor->n_operands; o++)
        if (actor->operand[o].in >= 0 && actor->operand[o].out >= 0)
            PTI_TRY(copy_before(lane, &actor->operand[o], round));
    for (int64_t run = 0; run < actor->repeat; run++)
        PTI_TRY(run_once(lane, actor, round, run));
done:
    return status;
}

char *pti_stream_find_moved(const polytile_stream *stream, int buffer, const pti_task_note *note,
                            int64_t round) {
    return pti_stream_bytes(&stream->buffer[buffer], round) + note->offset_bytes -
           stream->expansion.buffer[buffer].offset_bytes;
}

polytile_status pti_stream_move(const pti_stream_lane *lane, int task, int from, int to,
                                int64_t round) {
    const polytile_stream *stream = lane->stream;
    const pti_task_note *note = &stream->expansion.task[task];
    const pti_stream_buffer *source = &stream->buffer[from], *target = &stream->buffer[to];
    const bool comes_from_gpu = stream->memory[source->memory].is_on_gpu;
    const pti_byte_copy copy = {.way = !stream->memory[target->memory].is_on_gpu ? PTI_WAY_OUT
                                       : comes_from_gpu                          ? PTI_WAY_FROM_PEER
                                                                                 : PTI_WAY_IN,
                                .to = pti_stream_find_moved(stream, to, note, round),
                                .from = pti_stream_find_moved(stream, from, note, round),
                                .n_bytes = note->n_bytes,
                                .peer = lane->peer};
    if (lane->device != NULL)
        return lane->device->functions->copy_bytes(lane->device, &copy);
    return pti_stream_copy_within(NULL, false, copy.to, copy.from, copy.n_bytes);
}

/** A link's handle copies within the memory that it fills. In a buffer of one frame alone there is
 * none before. */
polytile_status pti_stream_restore(pti_stream_lane *lane, int buffer, int64_t round) {
    const polytile_stream *stream = lane->stream;
    const pti_stream_buffer *to = &stream->buffer[buffer];
    const int number = stream->expansion.buffer[buffer].before;
    const pti_stream_buffer *before = &stream->buffer[number];
    const int turn =
        stream->expansion.tasks.task[stream->expansion.tasks.buffer[buffer].producer].turn;
    const int64_t round_before = turn == 0 ? round - 1 : round;
    const bool has_before = (number != buffer || before->capacity > 1) &&
                            !before->is_lost[pti_stream_position(before, round_before)];
    return pti_stream_copy_within(
        lane->device, stream->memory[to->memory].is_on_gpu, pti_stream_bytes(to, round),
        has_before ? pti_stream_bytes(before, round_before) : NULL, to->frame_bytes);
}
