#include "graph/stream/stream.h"

#include "access/array/array.h"
#include "access/array/index_array.h"
#include "access/kernel.h"
#include <polytile/plan.h>

#include <stdlib.h>
#include <string.h>

/* Index arrays of the frames that the program feeds: what they hold is checked before a frame is
 * taken, once until they hold something else; over ranks where they are fed. */

/** Return the number of the input of this process that feeds an array; -1: none does. */
static int find_feeding_input(const polytile_stream *stream, int array) {
    for (int k = 0; k < stream->n_inputs; k++)
        if (stream->expansion.buffer[stream->input[k]].array == array)
            return k;
    return -1;
}

static bool is_index_operand(const polytile_kernel *kernel, int operand) {
    const polytile_declaration *declaration = kernel->declaration;
    const char *name = polytile_kernel_get_array_name(kernel, operand);
    return pti_is_index_array(declaration,
                              pti_find_name(name, declaration->n_arrays, declaration->array_name));
}

/** Copy the values of an actor's parameters, whose names are the kernel's. */
static void copy_parameters(const pti_actor *actor, pti_stream_lookup *made) {
    made->n_parameters = actor->n_parameters;
    for (int p = 0; p < actor->n_parameters; p++) {
        const polytile_declaration *declaration = actor->looks_up->declaration;
        const int named = pti_find_name(actor->parameter[p].name, declaration->n_parameters,
                                        declaration->parameter_name);
        made->parameter[p] = actor->parameter[p];
        if (named >= 0)
            made->parameter[p].name = declaration->parameter_name[named];
    }
}

/** Describe an array that an actor looks up in, which may lie on another rank. */
static polytile_status describe_operand(const polytile_stream *stream, const pti_graph_array *array,
                                        polytile_array **described) {
    return pti_array_create(stream->object.context, array->name, array->type, &array->domain,
                            described);
}

static int array_of_operand(const pti_actor *actor, int operand) {
    return actor->in[operand].array >= 0 ? actor->in[operand].array : actor->out[operand].array;
}

static polytile_status add_lookup(polytile_stream *stream, const polytile_graph *graph,
                                  const pti_actor *actor) {
    pti_stream_lookup *made = &stream->lookup[stream->n_lookups++];
    polytile_status status = POLYTILE_OK;
    made->kernel = actor->looks_up;
    pti_kernel_retain(made->kernel);
    made->actor = strdup(actor->name);
    if (made->actor == NULL)
        return pti_fail_memory(stream->object.context, stream->name, PTI_UNKNOWN_BYTES);
    made->domain = actor->domain;
    copy_parameters(actor, made);
    made->n_operands = actor->n_operands;
    for (int o = 0; o < actor->n_operands; o++) {
        const int array = array_of_operand(actor, o);
        made->input[o] = is_index_operand(made->kernel, o) ? find_feeding_input(stream, array) : -1;
        if (made->input[o] < 0)
            PTI_TRY(describe_operand(stream, &graph->array[array], &made->operand[o]));
    }
done:
    return status;
}

/** Return the rank that feeds an array. */
static int find_feeding_rank(const polytile_stream *stream, int array) {
    const pti_stream_tasks *tasks = &stream->expansion.tasks;
    int b = 0;
    while (stream->expansion.buffer[b].array != array ||
           stream->expansion.task[tasks->buffer[b].producer].kind != PTI_TASK_FEED)
        b++;
    return stream->memory_rank[stream->expansion.buffer[b].memory];
}

/** The actor that reads an array of frames before; NULL: none does. */
static const pti_actor *find_delayed_reader(const polytile_graph *graph, int array) {
    for (int a = 0; a < graph->n_actors; a++)
        for (int o = 0; o < graph->actor[a].n_operands; o++)
            if (graph->actor[a].in[o].array == array &&
                pti_flow_delay(graph, &graph->actor[a].in[o]) > 0)
                return &graph->actor[a];
    return NULL;
}

/** A frame that looks up outside is marked over ranks, and has no elements that a later frame could
 * read. */
static polytile_status check_no_delay(const polytile_stream *stream, const polytile_graph *graph,
                                      const pti_actor *actor, int array) {
    const pti_actor *reader = find_delayed_reader(graph, array);
    if (reader == NULL)
        return POLYTILE_OK;
    return pti_fail(stream->object.context, POLYTILE_UNSUPPORTED,
                    "%s: actor %s looks up elements of %s, of which actor %s reads that of frames "
                    "before (delay=); over ranks, feed %s a copy of it",
                    stream->name, actor->name, graph->array[array].name, reader->name,
                    reader->name);
}

/** Find whether an actor's index arrays are fed here. One rank checks them, which needs all of
 * them. */
static polytile_status find_whether_fed_here(const polytile_stream *stream,
                                             const polytile_graph *graph, const pti_actor *actor,
                                             bool *is_fed) {
    int first = -1;
    *is_fed = true;
    for (int o = 0; stream->ranks != NULL && o < actor->n_operands; o++) {
        if (!is_index_operand(actor->looks_up, o))
            continue;
        const int array = array_of_operand(actor, o);
        const int rank = find_feeding_rank(stream, array);
        polytile_status status = check_no_delay(stream, graph, actor, array);
        if (status != POLYTILE_OK)
            return status;
        first = first < 0 ? array : first;
        *is_fed = rank == stream->ranks->rank;
        if (rank != find_feeding_rank(stream, first))
            return pti_fail(stream->object.context, POLYTILE_UNSUPPORTED,
                            "%s: actor %s looks up elements of %s, which rank %d feeds, and of %s, "
                            "which rank %d feeds; let the actors that read them first run on units "
                            "of one rank",
                            stream->name, actor->name, graph->array[first].name,
                            find_feeding_rank(stream, first), graph->array[array].name, rank);
    }
    return POLYTILE_OK;
}

polytile_status pti_stream_prepare_lookups(polytile_stream *stream, const polytile_graph *graph) {
    polytile_status status = POLYTILE_OK;
    stream->lookup = calloc((size_t)graph->n_actors + 1, sizeof *stream->lookup);
    stream->held = calloc((size_t)stream->n_inputs + 1, sizeof *stream->held);
    if (stream->lookup == NULL || stream->held == NULL)
        return pti_fail_memory(stream->object.context, stream->name, PTI_UNKNOWN_BYTES);
    for (int a = 0; a < graph->n_actors; a++) {
        const pti_actor *actor = &graph->actor[a];
        bool is_fed = false;
        if (actor->looks_up != NULL)
            PTI_TRY(find_whether_fed_here(stream, graph, actor, &is_fed));
        if (is_fed)
            PTI_TRY(add_lookup(stream, graph, actor));
    }
done:
    return status;
}

static void free_lookup(pti_stream_lookup *lookup) {
    for (int o = 0; o < lookup->n_operands; o++)
        polytile_array_destroy(lookup->operand[o]);
    pti_kernel_release(lookup->kernel);
    free(lookup->actor);
}

void pti_stream_free_lookups(polytile_stream *stream) {
    for (int k = 0; stream->held != NULL && k < stream->n_inputs; k++)
        pti_index_array_release(stream->held[k]);
    for (int l = 0; l < stream->n_lookups; l++)
        free_lookup(&stream->lookup[l]);
    free(stream->lookup);
    free(stream->held);
}

/** Find whether a fed array holds what the last frame's held, which was right. */
static polytile_status is_as_before(const polytile_stream *stream, int input,
                                    const polytile_array *given, bool *is) {
    uint64_t hash;
    *is = stream->held[input] != NULL;
    if (!*is)
        return POLYTILE_OK;
    if (!pti_index_array_hash(stream->object.context, stream->held[input], given->data,
                              &given->layout, &hash))
        return pti_fail_memory(stream->object.context, stream->name, PTI_UNKNOWN_BYTES);
    *is = hash == stream->held[input]->hash;
    return POLYTILE_OK;
}

/** Prove that an actor is right on the index arrays of a frame, if one of them is new. */
static polytile_status check_lookup(const polytile_stream *stream, const pti_stream_lookup *lookup,
                                    polytile_array *const *given, const bool *is_new) {
    const polytile_launch_options options = {.n_parameters = lookup->n_parameters,
                                             .parameters = lookup->parameter};
    polytile_array *arrays[PTI_MAX_OPERANDS];
    bool is_any_new = false;
    for (int o = 0; o < lookup->n_operands; o++) {
        const int input = lookup->input[o];
        arrays[o] = input >= 0 ? given[input] : lookup->operand[o];
        is_any_new = is_any_new || (input >= 0 && is_new[input]);
    }
    if (!is_any_new)
        return POLYTILE_OK;
    const polytile_status status =
        polytile_check(lookup->kernel, &lookup->domain, lookup->n_operands, arrays, &options);
    return status == POLYTILE_OK ? status
                                 : pti_error_prefix(stream->object.context, status,
                                                    "%s: actor %s: ", stream->name, lookup->actor);
}

/** Note what a fed array holds. */
static polytile_status keep_read(polytile_stream *stream, int input, const polytile_array *given) {
    pti_index_array *read = pti_index_array_read(
        stream->object.context, &(pti_index_array){.data = given->data,
                                                   .is_wide = given->type == POLYTILE_I64,
                                                   .domain = given->domain,
                                                   .layout = given->layout});
    if (read == NULL)
        return pti_fail_memory(stream->object.context, stream->name, PTI_UNKNOWN_BYTES);
    pti_index_array_release(stream->held[input]);
    stream->held[input] = read;
    return POLYTILE_OK;
}

bool pti_stream_is_looked_up(const polytile_stream *stream, int input) {
    bool is = false;
    for (int l = 0; l < stream->n_lookups; l++)
        for (int o = 0; o < stream->lookup[l].n_operands; o++)
            is = is || stream->lookup[l].input[o] == input;
    return is;
}

polytile_status pti_stream_check_lookups(polytile_stream *stream, polytile_array *const *given) {
    bool *is_new = calloc((size_t)stream->n_inputs + 1, sizeof *is_new);
    polytile_status status = POLYTILE_OK;
    if (is_new == NULL)
        return pti_fail_memory(stream->object.context, stream->name, PTI_UNKNOWN_BYTES);
    for (int k = 0; k < stream->n_inputs; k++) {
        bool is_old = true;
        if (pti_stream_is_looked_up(stream, k))
            PTI_TRY(is_as_before(stream, k, given[k], &is_old));
        is_new[k] = !is_old;
    }
    for (int l = 0; l < stream->n_lookups; l++)
        PTI_TRY(check_lookup(stream, &stream->lookup[l], given, is_new));
    for (int k = 0; k < stream->n_inputs; k++)
        if (is_new[k])
            PTI_TRY(keep_read(stream, k, given[k]));
done:
    free(is_new);
    return status;
}
