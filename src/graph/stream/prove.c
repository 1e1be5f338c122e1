#include "graph/stream/stream.h"

#include "graph/prove/prove.h"

#include <inttypes.h>
#include <stdlib.h>

/* Before a stream runs: that what its tasks wait for suffices in the memory that it has. */

/** A claim with the lists that it owns. Buffers with pages of their own have a memory of their
 * own. */
typedef struct stream_claim {
    pti_stream_claim claim;
    pti_frame_place *place; /* owned */
    int64_t *memory_bytes;  /* owned */
} stream_claim;

/** Memory of other ranks is as the plan has it. */
static void place_buffer(const polytile_stream *stream, const polytile_graph_plan *plan, int b,
                         stream_claim *made) {
    const pti_stream_buffer *buffer = &stream->buffer[b];
    const bool is_here = pti_stream_has_memory(stream, buffer->memory);
    const bool has_own = pti_stream_n_spare(stream, b) > 0;
    const char *base = has_own ? buffer->pages.base : stream->memory[buffer->memory].base;
    const int producer = stream->expansion.tasks.buffer[b].producer;
    made->place[b] = (pti_frame_place){
        .memory = has_own ? stream->n_memories + b : buffer->memory,
        .offset_bytes = is_here && buffer->base != NULL ? buffer->base - base
                        : is_here || has_own            ? 0
                                                        : plan->channel[b].offset_bytes,
        .frame_bytes = buffer->frame_bytes,
        .capacity = buffer->capacity,
        .is_restored = stream->expansion.buffer[b].before == b && producer != stream->feed[0]};
    if (has_own)
        made->memory_bytes[stream->n_memories + b] = buffer->capacity * buffer->frame_bytes;
}

/** False: no memory. */
static bool make_claim(const polytile_stream *stream, const polytile_graph_plan *plan,
                       stream_claim *made) {
    const int n_buffers = stream->expansion.tasks.n_buffers;
    *made = (stream_claim){.place = calloc((size_t)n_buffers + 1, sizeof *made->place),
                           .memory_bytes = calloc((size_t)(stream->n_memories + n_buffers) + 1,
                                                  sizeof *made->memory_bytes)};
    if (made->place == NULL || made->memory_bytes == NULL)
        return false;
    for (int m = 0; m < stream->n_memories; m++)
        made->memory_bytes[m] = plan->memory[m].channel_bytes;
    for (int b = 0; b < n_buffers; b++)
        place_buffer(stream, plan, b, made);
    made->claim = (pti_stream_claim){.tasks = &stream->expansion.tasks,
                                     .order = &stream->order,
                                     .place = made->place,
                                     .n_memories = stream->n_memories + n_buffers,
                                     .memory_bytes = made->memory_bytes};
    return true;
}

/* What is wrong. */

static int64_t frame_of(const polytile_stream *stream, int task, int64_t round) {
    return pti_frame_of_round(&stream->expansion.tasks, task, round);
}

static int64_t used_frame(const polytile_stream *stream, const pti_used_frame *used) {
    return frame_of(stream, stream->expansion.tasks.buffer[used->buffer].producer, used->frame);
}

static const char *task_name(const polytile_graph_plan *plan, const polytile_stream *stream,
                             int task) {
    const pti_task_note *note = &stream->expansion.task[task];
    return note->kind == PTI_TASK_FIRE    ? plan->actor[note->actor % plan->n_actors].name
           : note->kind == PTI_TASK_MOVE  ? "a transfer"
           : note->kind == PTI_TASK_FEED  ? "the program's push"
           : note->kind == PTI_TASK_BEGIN ? "the begin of a frame"
                                          : "the program's pull";
}

static polytile_status refuse_stream(const polytile_stream *stream, const polytile_graph_plan *plan,
                                     const pti_stream_fault *fault) {
    polytile_context *ctx = stream->object.context;
    const pti_used_frame *used = &fault->used, *other = &fault->other;
    const char *array = plan->channel[used->buffer].array;
    const char *on = plan->memory[plan->channel[used->buffer].memory].name;
    switch (fault->kind) {
    case PTI_STREAM_OUTSIDE:
        return pti_fail(ctx, POLYTILE_INTERNAL,
                        "%s: the plan cannot run: %s does not lie in the memory of %s; please "
                        "report it",
                        stream->name, array, on);
    case PTI_STREAM_EARLY:
        return pti_fail(ctx, POLYTILE_INTERNAL,
                        "%s: the plan cannot run: %s may read frame %" PRId64
                        " of %s on %s before %s has made it; please report it",
                        stream->name, task_name(plan, stream, used->user), used_frame(stream, used),
                        array, on, task_name(plan, stream, other->user));
    case PTI_STREAM_OVERWRITE:
        return pti_fail(ctx, POLYTILE_INTERNAL,
                        "%s: the plan cannot run: frame %" PRId64 " of %s may be written over "
                        "frame %" PRId64 " of %s, in place %" PRId64 " on %s, before %s has ended "
                        "its frame %" PRId64 "; please report it",
                        stream->name, used_frame(stream, other), plan->channel[other->buffer].array,
                        used_frame(stream, used), array, used->position, on,
                        task_name(plan, stream, used->user),
                        frame_of(stream, used->user, used->user_frame));
    default:
        return pti_fail(ctx, POLYTILE_INTERNAL,
                        "%s: the plan cannot run: %s waits for %s; please report it", stream->name,
                        task_name(plan, stream, fault->task),
                        fault->kind == PTI_STREAM_LATER ? "a later frame" : "itself");
    }
}

polytile_status pti_stream_prove_plan(const polytile_stream *stream,
                                      const polytile_graph_plan *plan) {
    pti_stream_fault fault = {PTI_STREAM_RIGHT, 0, {0}, {0}};
    stream_claim made;
    const bool has_memory =
        make_claim(stream, plan, &made) && pti_stream_prove(&made.claim, &fault);
    free(made.place);
    free(made.memory_bytes);
    if (!has_memory)
        return pti_fail_memory(stream->object.context, stream->name, PTI_UNKNOWN_BYTES);
    return fault.kind == PTI_STREAM_RIGHT ? POLYTILE_OK : refuse_stream(stream, plan, &fault);
}
