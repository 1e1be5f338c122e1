#include "graph/stream/stream.h"

#include "access/array/array.h"
#include "access/array/index_array.h"
#include "access/kernel.h"
#include <polytile/plan.h>

#include <stdlib.h>
#include <string.h>

/* Index arrays of the frames that the program feeds: what they hold is checked before a frame is
 * taken, once until they hold something else. */

/** Return the buffer of whole frames of an array, in any memory. */
static int find_any_buffer(const polytile_stream *stream, int array, int64_t frame_bytes) {
    int b = 0;
    while (b < stream->expansion.tasks.n_buffers - 1 &&
           (stream->expansion.buffer[b].array != array ||
            stream->buffer[b].frame_bytes != frame_bytes))
        b++;
    return b;
}

/** Return the number of the input that feeds an array; -1: none does. */
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

static polytile_status add_lookup(polytile_stream *stream, const polytile_graph *graph,
                                  const pti_actor *actor) {
    pti_stream_lookup *made = &stream->lookup[stream->n_lookups];
    made->actor = strdup(actor->name);
    if (made->actor == NULL)
        return pti_fail_memory(stream->object.context, stream->name, PTI_UNKNOWN_BYTES);
    made->kernel = actor->looks_up;
    pti_kernel_retain(made->kernel);
    made->domain = actor->domain;
    copy_parameters(actor, made);
    made->n_operands = actor->n_operands;
    for (int o = 0; o < actor->n_operands; o++) {
        const int array = actor->in[o].array >= 0 ? actor->in[o].array : actor->out[o].array;
        made->buffer[o] = find_any_buffer(stream, array, graph->array[array].n_bytes);
        made->input[o] = is_index_operand(made->kernel, o) ? find_feeding_input(stream, array) : -1;
    }
    stream->n_lookups++;
    return POLYTILE_OK;
}

polytile_status pti_stream_prepare_lookups(polytile_stream *stream, const polytile_graph *graph) {
    polytile_status status = POLYTILE_OK;
    stream->lookup = calloc((size_t)graph->n_actors + 1, sizeof *stream->lookup);
    stream->held = calloc((size_t)stream->n_inputs + 1, sizeof *stream->held);
    if (stream->lookup == NULL || stream->held == NULL)
        return pti_fail_memory(stream->object.context, stream->name, PTI_UNKNOWN_BYTES);
    for (int a = 0; a < graph->n_actors; a++)
        if (graph->actor[a].looks_up != NULL)
            PTI_TRY(add_lookup(stream, graph, &graph->actor[a]));
done:
    return status;
}

void pti_stream_free_lookups(polytile_stream *stream) {
    for (int k = 0; stream->held != NULL && k < stream->n_inputs; k++)
        pti_index_array_release(stream->held[k]);
    for (int l = 0; l < stream->n_lookups; l++) {
        pti_kernel_release(stream->lookup[l].kernel);
        free(stream->lookup[l].actor);
    }
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
        arrays[o] = input >= 0 ? given[input] : stream->buffer[lookup->buffer[o]].array[0];
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

/** Return whether some actor looks up what an input feeds. */
static bool is_looked_up(const polytile_stream *stream, int input) {
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
        if (is_looked_up(stream, k))
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
