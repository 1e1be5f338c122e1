#include "access/footprint/footprint.h"
#include "access/kernel.h"
#include "graph/read/graph.h"
#include "graph/read/value.h"

#include "access/array/type.h"
#include "base/checked.h"
#include "partition/cost/predict.h"
#include <polytile/plan.h>

#include <stdlib.h>

/* What of an actor needs its arrays: the launch domain, and whether the kernel is right on them. */

static polytile_status fail_actor(const polytile_graph *graph, const pti_actor *actor, size_t at,
                                  const char *message, const char *detail) {
    return pti_dot_fail(graph->dot, at, "actor %s: %s%s", actor->name, message, detail);
}

/** Refuse operands without their edges. */
static polytile_status check_fed(const polytile_graph *graph, const pti_actor *actor) {
    for (int o = 0; o < actor->n_operands; o++) {
        const char *name = polytile_kernel_get_array_name(actor->kernel, o);
        if (actor->in[o].array < 0 && pti_operand_is_read(actor->kernel, o))
            return fail_actor(graph, actor, actor->at,
                              "nobody feeds an operand; add an edge from an array with as=", name);
        if (actor->out[o].array < 0 && pti_operand_is_written(actor->kernel, o))
            return fail_actor(graph, actor, actor->at,
                              "nobody takes an operand; add an edge to an array with as=", name);
    }
    return POLYTILE_OK;
}

static bool are_arrays_alike(const pti_graph_array *a, const pti_graph_array *b) {
    bool alike = a->type == b->type && a->domain.n_dims == b->domain.n_dims;
    for (int d = 0; alike && d < a->domain.n_dims; d++)
        alike = a->domain.range[d].lo == b->domain.range[d].lo &&
                a->domain.range[d].hi == b->domain.range[d].hi;
    return alike;
}

static polytile_status fail_unlike(const polytile_graph *graph, const pti_actor *actor, int in,
                                   int out, size_t at, const char *why) {
    char types[2][PTI_TYPE_TEXT_BYTES];
    const pti_graph_array *a = &graph->array[in], *b = &graph->array[out];
    return pti_dot_fail(graph->dot, at,
                        "actor %s: %s (%s) and %s (%s) have other types or extents, but %s",
                        actor->name, a->name, pti_type_format(a->type, types[0]), b->name,
                        pti_type_format(b->type, types[1]), why);
}

/** What an operand is read from and what it leaves are frames of one kind. */
static polytile_status check_both_ways(const polytile_graph *graph, const pti_actor *actor) {
    for (int o = 0; o < actor->n_operands; o++) {
        const pti_flow *in = &actor->in[o], *out = &actor->out[o];
        if (in->array >= 0 && out->array >= 0 &&
            !are_arrays_alike(&graph->array[in->array], &graph->array[out->array]))
            return fail_unlike(graph, actor, in->array, out->array, out->at,
                               "one operand is read from the one and left in the other");
    }
    return POLYTILE_OK;
}

/** With repeat, the result of a run is what the next one reads. */
static polytile_status check_repeat(const polytile_graph *graph, const pti_actor *actor) {
    int in = -1, out = -1, n_in = 0, n_out = 0, n_both = 0;
    for (int o = 0; actor->repeat > 1 && o < actor->n_operands; o++) {
        const bool reads = actor->in[o].array >= 0, writes = actor->out[o].array >= 0;
        n_both += reads && writes;
        if (reads && !writes)
            in = actor->in[o].array, n_in++;
        if (writes && !reads)
            out = actor->out[o].array, n_out++;
    }
    if (actor->repeat == 1 || (n_both > 0 && n_out == 0))
        return POLYTILE_OK;
    if (n_both > 0 || n_in != 1 || n_out != 1)
        return fail_actor(graph, actor, actor->at,
                          "with repeat= a kernel has one operand in and one out, which change "
                          "places, or an inout one alone",
                          "");
    return are_arrays_alike(&graph->array[in], &graph->array[out])
               ? POLYTILE_OK
               : fail_unlike(graph, actor, in, out, actor->at, "with repeat= they change places");
}

/** The launch domain: as given, or the extents of the first array that is only written, else of the
 * first that is left. */
static polytile_status find_domain(const polytile_graph *graph, pti_actor *actor) {
    const pti_dot_attribute *given = pti_dot_find(actor->given, "domain");
    const int n_indices = polytile_kernel_get_n_indices(actor->kernel);
    int first = -1;
    if (given != NULL)
        return pti_value_domain(given->value, &actor->domain)
                   ? POLYTILE_OK
                   : fail_actor(graph, actor, given->value_at,
                                "the domain is none; write 512x512 or 1:510,1:510, not ",
                                given->value);
    for (int o = actor->n_operands - 1; o >= 0; o--)
        if (actor->out[o].array >= 0 && actor->in[o].array < 0)
            first = actor->out[o].array;
    for (int o = actor->n_operands - 1; first < 0 && o >= 0; o--)
        if (actor->out[o].array >= 0)
            first = actor->out[o].array;
    if (first < 0 || graph->array[first].domain.n_dims != n_indices)
        return fail_actor(graph, actor, actor->at,
                          "the first array out has not as many dimensions as the kernel has "
                          "indices; give domain=",
                          "");
    actor->domain = graph->array[first].domain;
    return POLYTILE_OK;
}

/** Return the elements that a launch touches, each counted once. */
static double count_elements(const pti_instance *instance) {
    double n_elements = 0;
    for (int o = 0; o < instance->n_operands; o++) {
        const polytile_domain hull =
            pti_footprint_hull(instance, o, PTI_TOUCHES, &instance->threads);
        n_elements += (double)pti_box_count(&hull);
    }
    return n_elements;
}

/** Return the elements that all threads access. What is looked up is unknown: each element of each
 * array once. */
static double count_accesses(const pti_actor *actor, const pti_instance *instance) {
    return actor->looks_up != NULL
               ? count_elements(instance)
               : pti_thread_accesses(instance) * (double)pti_box_count(&instance->threads);
}

static polytile_domain first_thread(const pti_instance *instance) {
    polytile_domain thread = instance->threads;
    for (int d = 0; d < thread.n_dims; d++)
        thread.range[d].hi = thread.range[d].lo;
    return thread;
}

/** Return whether each thread touches all of an operand, or all of it along two dimensions. */
static bool takes_planes_of(const pti_instance *instance, int operand) {
    const polytile_domain thread = first_thread(instance);
    const polytile_domain *whole = &instance->operand[operand].domain;
    const polytile_domain hull = pti_footprint_hull(instance, operand, PTI_TOUCHES, &thread);
    int n_long = 0, n_whole = 0;
    for (int d = 0; d < whole->n_dims; d++) {
        const int64_t extent = pti_range_count(whole->range[d]);
        n_long += extent > 1;
        n_whole += extent > 1 && pti_range_count(hull.range[d]) == extent;
    }
    return n_whole > 0 && (n_whole == n_long || n_whole > 1);
}

static bool takes_planes(const pti_instance *instance) {
    bool takes = false;
    for (int o = 0; o < instance->n_operands; o++)
        takes = takes || takes_planes_of(instance, o);
    return takes && pti_box_count(&instance->threads) > 1;
}

polytile_status pti_actor_measure(const polytile_graph *graph, pti_actor *actor,
                                  polytile_array *const *arrays) {
    pti_instance *instance = NULL;
    polytile_array **operands =
        calloc((size_t)actor->kernel->declaration->n_arrays + 1, sizeof *operands);
    polytile_status status;
    if (operands == NULL)
        return pti_fail_memory(graph->object.context, actor->name, PTI_UNKNOWN_BYTES);
    pti_kernel_list_operands(actor->kernel, arrays, operands);
    PTI_TRY(pti_instance_create(actor->kernel, &actor->domain, operands, actor->n_parameters,
                                actor->parameter, &instance));
    actor->touched_bytes = pti_launch_bytes(instance);
    actor->n_accesses = count_accesses(actor, instance);
    actor->n_elements = count_elements(instance);
    actor->takes_planes = takes_planes(instance);
    actor->scratch_bytes = 0;
    for (int o = 0; o < instance->n_operands; o++)
        if (instance->operand[o].is_scratch)
            actor->scratch_bytes = pti_add_saturated(
                actor->scratch_bytes, pti_mul_saturated(pti_box_count(&instance->operand[o].domain),
                                                        instance->operand[o].element_bytes));
done:
    pti_instance_free(instance);
    free(operands);
    return status;
}

/** With repeat, runs but the last leave their result in a frame of the actor's own. */
static int64_t between_bytes(const polytile_graph *graph, const pti_actor *actor) {
    for (int o = 0; actor->repeat > 1 && o < actor->n_operands; o++)
        if (actor->out[o].array >= 0 && actor->in[o].array < 0)
            return graph->array[actor->out[o].array].n_bytes;
    return 0;
}

static bool is_written_by(const pti_actor *actor, int array) {
    bool is = false;
    for (int o = 0; o < actor->n_operands; o++)
        is = is || actor->out[o].array == array;
    return is;
}

/** Describe each operand's array. An older frame of an array that the actor writes is another one,
 * which the caller destroys. */
static polytile_status describe_operands(const polytile_graph *graph, const pti_actor *actor,
                                         polytile_array **arrays, polytile_array **older) {
    polytile_status status = POLYTILE_OK;
    for (int o = 0; o < actor->n_operands; o++) {
        const pti_flow *flow = actor->out[o].array >= 0 ? &actor->out[o] : &actor->in[o];
        const pti_graph_array *array = &graph->array[flow->array];
        arrays[o] = array->described;
        if (actor->out[o].array >= 0 || !is_written_by(actor, flow->array))
            continue;
        PTI_TRY(pti_array_create(graph->object.context, array->name, array->type, &array->domain,
                                 &older[o]));
        arrays[o] = older[o];
    }
done:
    return status;
}

static polytile_status check_actor_kernel(const polytile_graph *graph, pti_actor *actor) {
    polytile_launch_options options = {.n_parameters = actor->n_parameters,
                                       .parameters = actor->parameter};
    polytile_status status;
    polytile_array **arrays = calloc(2 * (size_t)actor->n_operands + 1, sizeof *arrays);
    polytile_array **older = arrays == NULL ? NULL : arrays + actor->n_operands;
    if (arrays == NULL)
        return pti_fail_memory(graph->object.context, actor->name, PTI_UNKNOWN_BYTES);
    PTI_TRY(describe_operands(graph, actor, arrays, older));
    PTI_TRY(polytile_check(actor->kernel, &actor->domain, actor->n_operands, arrays, &options));
    PTI_TRY(pti_actor_measure(graph, actor, arrays));
    actor->scratch_bytes = pti_add_saturated(actor->scratch_bytes, between_bytes(graph, actor));
done:
    for (int o = 0; o < actor->n_operands; o++)
        polytile_array_destroy(older[o]);
    free(arrays);
    return status == POLYTILE_OK
               ? status
               : pti_error_prefix(graph->object.context, status,
                                  "%s: actor %s: ", graph->dot->source, actor->name);
}

polytile_status pti_actor_plan_within(const polytile_graph *graph, int actor, int64_t limit_bytes,
                                      const polytile_link *link, polytile_plan_summary *summary) {
    polytile_plan *plan = NULL;
    const pti_actor *of = &graph->actor[actor];
    const polytile_launch_options options = {.plan = {.limit_bytes = limit_bytes, .link = link},
                                             .n_parameters = of->n_parameters,
                                             .parameters = of->parameter};
    polytile_status status;
    polytile_array *arrays[PTI_MAX_OPERANDS] = {0}, *older[PTI_MAX_OPERANDS] = {0};
    PTI_TRY(describe_operands(graph, of, arrays, older));
    PTI_TRY(polytile_plan_create(of->kernel, &of->domain, of->n_operands, arrays, &options, &plan));
    polytile_plan_get_summary(plan, summary);
    polytile_plan_destroy(plan);
done:
    for (int o = 0; o < of->n_operands; o++)
        polytile_array_destroy(older[o]);
    return status == POLYTILE_OK ? status
                                 : pti_error_prefix(graph->object.context, status,
                                                    "%s: actor %s: ", graph->dot->source, of->name);
}

polytile_status pti_graph_complete_actors(polytile_graph *graph) {
    polytile_status status = POLYTILE_OK;
    for (int a = 0; a < graph->n_actors; a++) {
        pti_actor *actor = &graph->actor[a];
        PTI_TRY(check_fed(graph, actor));
        PTI_TRY(pti_graph_check_lookups(graph, actor));
        PTI_TRY(check_both_ways(graph, actor));
        PTI_TRY(check_repeat(graph, actor));
        PTI_TRY(find_domain(graph, actor));
        PTI_TRY(check_actor_kernel(graph, actor));
    }
done:
    return status;
}
