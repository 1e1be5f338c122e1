#include "access/footprint/footprint.h"
#include "access/kernel.h"
#include "graph/read/graph.h"

#include "base/checked.h"

#include <math.h>
#include <stdlib.h>

int64_t pti_graph_row_bytes(const pti_graph_array *array) {
    return array->n_bytes / pti_max(1, pti_range_count(array->domain.range[0]));
}

polytile_range pti_flow_rows(const polytile_graph *graph, const pti_flow *flow) {
    return flow->has_rows ? flow->rows : graph->array[flow->array].domain.range[0];
}

/* What cannot be split. */

static polytile_status refuse_split(const polytile_graph *graph, const pti_actor *actor,
                                    const char *why, const char *name) {
    return pti_dot_fail(graph->dot, actor->on == NULL ? actor->at : actor->on_at,
                        "actor %s is split over units, and %s%s; put it on one unit", actor->name,
                        why, name);
}

/** Return whether somebody reads an older frame of an array. */
static bool is_read_later(const polytile_graph *graph, int array) {
    bool is = false;
    for (int a = 0; a < graph->n_actors; a++)
        for (int o = 0; o < graph->actor[a].n_operands; o++) {
            const pti_flow *in = &graph->actor[a].in[o];
            is = is || (in->array == array && pti_flow_delay(graph, in) > 0);
        }
    return is;
}

static polytile_status check_operand(const polytile_graph *graph, const pti_actor *actor, int o) {
    const char *name = polytile_kernel_get_array_name(actor->kernel, o);
    const int array = actor->in[o].array, left = actor->out[o].array;
    if (pti_role_reduces(polytile_kernel_get_array_role(actor->kernel, o)))
        return refuse_split(graph, actor, "its threads combine values in ", name);
    if ((array >= 0 && is_read_later(graph, array)) || (left >= 0 && is_read_later(graph, left)))
        return refuse_split(graph, actor, "what goes with delay= from frame to frame is its ",
                            name);
    return POLYTILE_OK;
}

static polytile_status check_actor(const polytile_graph *graph, const pti_actor *actor) {
    polytile_status status = POLYTILE_OK;
    if (actor->repeat > 1)
        return refuse_split(graph, actor, "runs of repeat= read what all parts left", "");
    if (actor->looks_up != NULL)
        return refuse_split(graph, actor, "its subscripts hold elements of index arrays", "");
    for (int o = 0; o < actor->n_operands; o++)
        PTI_TRY(check_operand(graph, actor, o));
done:
    return status;
}

/* Rows. */

/** The operands of an actor as its instance has them. */
static polytile_status create_instance(const polytile_graph *graph, const pti_actor *actor,
                                       pti_instance **instance) {
    polytile_array *given[PTI_MAX_OPERANDS] = {0}, *listed[PTI_MAX_OPERANDS] = {0};
    for (int o = 0; o < actor->n_operands; o++)
        given[o] = graph->array[actor->out[o].array >= 0 ? actor->out[o].array : actor->in[o].array]
                       .described;
    pti_kernel_list_operands(actor->kernel, given, listed);
    return pti_instance_create(actor->kernel, &actor->domain, listed, actor->n_parameters,
                               actor->parameter, instance);
}

/** Return the rows of an operand that a part touches. number: of the instance. */
static polytile_range find_rows(const pti_instance *instance, int number,
                                const polytile_domain *threads) {
    const polytile_range range =
        pti_footprint_hull(instance, number, PTI_TOUCHES, threads).range[0];
    return (polytile_range){range.lo, range.hi, 1};
}

/** Return the number in an instance of a kernel's operand, which counts no scratch. */
static int number_operand(const pti_instance *instance, int operand) {
    int number = 0;
    for (int given = -1; given < operand; number++)
        given += !instance->operand[number].is_scratch;
    return number - 1;
}

static bool is_empty(const polytile_range *rows) {
    return rows->hi < rows->lo;
}

/** Return whether the rows of consecutive parts follow each other, upwards or downwards. */
static bool do_rows_follow(const pti_instance *instance, int number, int n, const pti_part *parts) {
    bool rises = true, falls = true;
    polytile_range before = find_rows(instance, number, &parts[0].threads);
    for (int p = 1; p < n; p++) {
        const polytile_range rows = find_rows(instance, number, &parts[p].threads);
        rises = rises && !is_empty(&before) && !is_empty(&rows) && rows.lo > before.hi;
        falls = falls && !is_empty(&before) && !is_empty(&rows) && rows.hi < before.lo;
        before = rows;
    }
    return rises || falls;
}

/** Cut a dimension of the domain as the shares say; each part has an index at least. */
static void cut_dimension(const pti_actor *actor, int dimension, int n, const double *share,
                          pti_part *parts) {
    const polytile_range whole = actor->domain.range[dimension];
    const int64_t extent = pti_range_count(whole);
    double sum = 0, before = 0;
    int64_t from = 0;
    for (int p = 0; p < n; p++)
        sum += share[p];
    for (int p = 0; p < n; p++) {
        before += share[p];
        const int64_t wanted = llround((double)extent * (before / sum));
        const int64_t end =
            p + 1 == n ? extent : pti_min(extent - (n - 1 - p), pti_max(from + 1, wanted));
        parts[p].threads = actor->domain;
        parts[p].threads.range[dimension] = (polytile_range){
            whole.lo + from * whole.step, whole.lo + (end - 1) * whole.step, whole.step};
        from = end;
    }
}

/** Return an operand of which two parts would leave the same row; -1: there is none. */
static int find_shared(const pti_actor *actor, const pti_instance *instance, int n,
                       const pti_part *parts) {
    for (int o = 0; o < actor->n_operands; o++)
        if (actor->out[o].array >= 0 &&
            !do_rows_follow(instance, number_operand(instance, o), n, parts))
            return o;
    return -1;
}

polytile_status pti_graph_cut_domain(const polytile_graph *graph, int number, int n,
                                     const double *share, pti_part *parts) {
    const pti_actor *actor = &graph->actor[number];
    pti_instance *instance = NULL;
    int shared = -1;
    bool is_cut = n == 1, is_long = n == 1;
    polytile_status status;
    PTI_TRY(check_actor(graph, actor));
    PTI_TRY(create_instance(graph, actor, &instance));
    for (int p = 0; p < n; p++)
        parts[p].threads = actor->domain;
    for (int d = 0; d < actor->domain.n_dims && !is_cut; d++) {
        if (pti_range_count(actor->domain.range[d]) < n)
            continue;
        is_long = true;
        cut_dimension(actor, d, n, share, parts);
        const int found = find_shared(actor, instance, n, parts);
        is_cut = found < 0;
        shared = shared < 0 ? found : shared;
    }
    if (!is_long)
        status = refuse_split(graph, actor, "no dimension of its domain has an index for each", "");
    else if (!is_cut)
        status = refuse_split(graph, actor, "its parts would write the same rows of ",
                              polytile_kernel_get_array_name(actor->kernel, shared));
done:
    pti_instance_free(instance);
    return status;
}

/* The graph of the parts. */

/** Give each row of an array that parts leave to one of them: also those before the first one,
 * after the last one and between, which stay zero. */
static void widen_rows(const polytile_range *whole, int n, polytile_range *rows) {
    const bool rises = n == 1 || rows[1].lo > rows[0].lo;
    for (int k = 0; k < n; k++) {
        const int p = rises ? k : n - 1 - k, next = rises ? p + 1 : p - 1;
        rows[p].lo = k == 0 ? whole->lo : rows[p].lo;
        rows[p].hi = k + 1 == n ? whole->hi : rows[next].lo - 1;
    }
}

/** Find the rows that the parts of an actor need and leave of an operand. */
static void find_operand_rows(const polytile_graph *graph, const pti_instance *instance, int o,
                              int n, pti_actor *part, polytile_range *rows) {
    const int number = number_operand(instance, o);
    for (int p = 0; p < n; p++) {
        rows[p] = find_rows(instance, number, &part[p].domain);
        part[p].in[o].has_rows = part[p].in[o].array >= 0 && !is_empty(&rows[p]);
        part[p].in[o].rows = rows[p];
    }
    if (part[0].out[o].array < 0)
        return;
    widen_rows(&graph->array[part[0].out[o].array].domain.range[0], n, rows);
    for (int p = 0; p < n; p++) {
        part[p].out[o].has_rows = true;
        part[p].out[o].rows = rows[p];
        part[p].in[o].rows = rows[p];
    }
}

/** Measure what a part does; seconds that are given are divided as threads are. */
static polytile_status measure_part(const polytile_graph *graph, const pti_actor *whole,
                                    pti_actor *part) {
    polytile_array *arrays[PTI_MAX_OPERANDS] = {0};
    for (int o = 0; o < part->n_operands; o++)
        arrays[o] = graph->array[part->out[o].array >= 0 ? part->out[o].array : part->in[o].array]
                        .described;
    if (whole->seconds > 0)
        part->seconds = whole->seconds * (double)pti_box_count(&part->domain) /
                        (double)pti_box_count(&whole->domain);
    return pti_actor_measure(graph, part, arrays);
}

/** Copy an actor with edges of its own. */
static polytile_status copy_actor(const polytile_graph *graph, const pti_actor *actor,
                                  pti_actor *copy) {
    const size_t n = (size_t)actor->n_operands;
    *copy = *actor;
    copy->in = calloc(n + 1, sizeof *copy->in);
    copy->out = calloc(n + 1, sizeof *copy->out);
    pti_kernel_retain(copy->kernel);
    if (copy->in == NULL || copy->out == NULL)
        return pti_fail_memory(graph->object.context, "the parts of an actor", PTI_UNKNOWN_BYTES);
    for (size_t o = 0; o < n; o++) {
        copy->in[o] = actor->in[o];
        copy->out[o] = actor->out[o];
    }
    return POLYTILE_OK;
}

/** Add an actor's parts to a graph; without parts, the actor. */
static polytile_status add_parts(const polytile_graph *graph, int number, int n,
                                 const pti_part *parts, polytile_graph *split) {
    const pti_actor *actor = &graph->actor[number];
    pti_actor *made = &split->actor[split->n_actors];
    pti_instance *instance = NULL;
    polytile_range *rows = calloc((size_t)n + 1, sizeof *rows);
    polytile_status status;
    if (rows == NULL)
        return pti_fail_memory(graph->object.context, actor->name, n);
    for (int p = 0; p < pti_max(1, n); p++) {
        split->n_actors++;
        PTI_TRY(copy_actor(graph, actor, &made[p]));
        made[p].part = p;
        made[p].n_parts = n;
    }
    if (n > 0)
        PTI_TRY(create_instance(graph, actor, &instance));
    for (int p = 0; p < n; p++) {
        made[p].domain = parts[p].threads;
        PTI_TRY(measure_part(graph, actor, &made[p]));
    }
    for (int o = 0; n > 0 && o < actor->n_operands; o++)
        find_operand_rows(graph, instance, o, n, made, rows);
    status = POLYTILE_OK;
done:
    pti_instance_free(instance);
    free(rows);
    return status;
}

/** Number actors anew: the first part of each stands for it as a producer. */
static void renumber_actors(const polytile_graph *graph, const int *first, polytile_graph *split) {
    int n = 0;
    for (int a = 0; a < split->n_arrays; a++)
        if (split->array[a].producer >= 0)
            split->array[a].producer = first[split->array[a].producer];
    for (int k = 0; k < graph->n_actors; k++) {
        const int actor = graph->order[k];
        for (int p = first[actor]; p < first[actor + 1]; p++)
            split->order[n++] = p;
    }
}

static polytile_status fill_in(const polytile_graph *graph, int n_parts, const pti_part *parts,
                               int *first, polytile_graph *split) {
    polytile_status status = POLYTILE_OK;
    for (int a = 0; a < graph->n_arrays; a++)
        split->array[a] = graph->array[a];
    for (int a = 0, p = 0; a < graph->n_actors; a++) {
        int n = 0;
        while (p + n < n_parts && parts[p + n].actor == a)
            n++;
        first[a] = split->n_actors;
        PTI_TRY(add_parts(graph, a, n, parts + p, split));
        p += n;
    }
    first[graph->n_actors] = split->n_actors;
    renumber_actors(graph, first, split);
done:
    return status;
}

polytile_status pti_graph_split(const polytile_graph *graph, int n_parts, const pti_part *parts,
                                polytile_graph **split) {
    const size_t n_actors = (size_t)(graph->n_actors + n_parts) + 1;
    polytile_graph *made = calloc(1, sizeof *made);
    int *first = calloc((size_t)graph->n_actors + 2, sizeof *first);
    polytile_status status = POLYTILE_OK;
    if (made != NULL) {
        made->object.context = graph->object.context;
        made->object.serial = graph->object.serial;
        made->dot = graph->dot;
        made->n_arrays = graph->n_arrays;
        made->actor = calloc(n_actors, sizeof *made->actor);
        made->array = calloc((size_t)graph->n_arrays + 1, sizeof *made->array);
        made->order = calloc(n_actors, sizeof *made->order);
    }
    if (made == NULL || first == NULL || made->actor == NULL || made->array == NULL ||
        made->order == NULL)
        status = pti_fail_memory(graph->object.context, "the parts of actors", PTI_UNKNOWN_BYTES);
    if (status == POLYTILE_OK)
        status = fill_in(graph, n_parts, parts, first, made);
    if (status != POLYTILE_OK) {
        pti_graph_free_split(made);
        made = NULL;
    }
    free(first);
    *split = made;
    return status;
}

void pti_graph_free_split(polytile_graph *split) {
    if (split == NULL)
        return;
    for (int a = 0; split->actor != NULL && a < split->n_actors; a++) {
        pti_kernel_release(split->actor[a].kernel);
        free(split->actor[a].in);
        free(split->actor[a].out);
    }
    free(split->actor);
    free(split->array);
    free(split->order);
    free(split);
}
