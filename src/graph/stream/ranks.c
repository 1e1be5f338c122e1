#include "access/kernel.h"
#include "access/set/box_text.h"
#include "graph/stream/stream.h"

#include "base/checked.h"

#include <stdlib.h>

/* Streams over ranks, without what carries frames: who does what. */

static pti_task_ranks ranks_of(const polytile_stream *stream, const polytile_graph_plan *plan,
                               int task) {
    const pti_task_note *note = &stream->expansion.task[task];
    const int own = stream->ranks->rank;
    if (note->kind == PTI_TASK_MOVE || note->kind == PTI_TASK_BEGIN)
        return (pti_task_ranks){stream->memory_rank[note->from], stream->memory_rank[note->to]};
    if (note->kind != PTI_TASK_FIRE)
        return (pti_task_ranks){own, own};
    const int rank = plan->unit[stream->expansion.tasks.task[task].resource].rank;
    return (pti_task_ranks){rank, rank};
}

static void write_flow(const pti_flow *flow, pti_text *words) {
    pti_text_add(words, "%d %d,", flow->array, flow->array < 0 ? 0 : flow->delay);
}

static void write_actor(const pti_actor *actor, pti_text *words) {
    const polytile_kernel *declared = actor->looks_up != NULL ? actor->looks_up : actor->kernel;
    pti_text_add(words, "%s %016llx %lld ", actor->name,
                 (unsigned long long)declared->declaration_hash, (long long)actor->repeat);
    pti_box_write(words, &actor->domain);
    for (int p = 0; p < actor->n_parameters; p++) {
        const polytile_parameter *parameter = &actor->parameter[p];
        pti_text_add(words, "%s %d %lld %a,", parameter->name, (int)parameter->number,
                     (long long)parameter->value, parameter->real);
    }
    for (int o = 0; o < actor->n_operands; o++) {
        write_flow(&actor->in[o], words);
        write_flow(&actor->out[o], words);
    }
    pti_text_add(words, ";");
}

void pti_stream_write_graph(const polytile_graph *graph, pti_text *words) {
    for (int a = 0; a < graph->n_arrays; a++) {
        pti_text_add(words, "%s %d ", graph->array[a].name, graph->array[a].type);
        pti_box_write(words, &graph->array[a].domain);
        pti_text_add(words, ";");
    }
    for (int a = 0; a < graph->n_actors; a++)
        write_actor(&graph->actor[a], words);
}

static polytile_status check_ranks(const polytile_stream *stream, const polytile_graph_plan *plan) {
    const int n_ranks = stream->ranks->n_ranks;
    for (int u = 0; u < plan->n_units; u++)
        if (plan->unit[u].rank >= n_ranks)
            return pti_fail(stream->object.context, POLYTILE_INVALID,
                            "%s: unit %s is on rank %d, and the communicator has %d rank%s",
                            stream->name, plan->unit[u].name, plan->unit[u].rank, n_ranks,
                            n_ranks == 1 ? "" : "s");
    return POLYTILE_OK;
}

/** Return whether the program feeds or takes a buffer as a port. */
static bool is_port(const polytile_stream *stream, const polytile_graph *graph, int buffer) {
    const pti_buffer_note *note = &stream->expansion.buffer[buffer];
    const int producer = stream->expansion.tasks.buffer[buffer].producer;
    if (note->array < 0)
        return false;
    return stream->expansion.task[producer].kind == PTI_TASK_FEED ||
           (graph->array[note->array % graph->n_arrays].n_readers == 0 &&
            pti_stream_is_taken(stream, buffer));
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
