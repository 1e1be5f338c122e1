#include "graph/read/graph.h"

#include "access/declare/kernel.h"

#include <stdlib.h>

/* Actors whose subscripts hold elements of index arrays. What these hold is known when a frame is
 * fed, and a graph is planned before. So an actor is planned and run as one that may touch all of
 * what it looks up in, whole arrays lie where it runs, and each frame is checked when it comes. */

/** Where something is looked up, subscripts are whole dimensions. */
polytile_status pti_graph_widen_lookups(pti_actor *actor) {
    polytile_declaration *wide = NULL;
    polytile_status status;
    if (!pti_declaration_is_indirect(actor->kernel->declaration))
        return POLYTILE_OK;
    actor->looks_up = actor->kernel;
    actor->kernel = NULL;
    PTI_TRY(pti_declaration_copy(actor->looks_up->declaration, &wide));
    for (int a = 0; a < wide->n_accesses; a++) {
        free(wide->access[a].indirect);
        wide->access[a].indirect = NULL;
    }
    PTI_TRY(polytile_kernel_create_from(wide, NULL, &actor->kernel));
done:
    pti_declaration_free(wide);
    return status;
}

static polytile_status fail_lookup(const polytile_graph *graph, const pti_actor *actor,
                                   const char *name, const char *why) {
    return pti_dot_fail(graph->dot, actor->at,
                        "actor %s: its subscripts hold elements of index arrays, %s %s; run it in "
                        "a queue",
                        actor->name, name, why);
}

/** Return whether an access of an operand looks something up, and threads overwrite what they
 * find. */
static bool is_written_by_lookup(const polytile_declaration *declaration, int array) {
    bool is = false;
    for (int a = 0; a < declaration->n_accesses; a++) {
        const pti_access *access = &declaration->access[a];
        is = is ||
             (access->array == array && access->indirect != NULL && access->role != POLYTILE_IN &&
              (!pti_role_reduces(access->role) || access->fresh));
    }
    return is;
}

polytile_status pti_graph_check_lookups(const polytile_graph *graph, const pti_actor *actor) {
    polytile_status status = POLYTILE_OK;
    for (int o = 0; actor->looks_up != NULL && o < actor->n_operands; o++) {
        const polytile_declaration *declaration = actor->looks_up->declaration;
        const char *name = polytile_kernel_get_array_name(actor->looks_up, o);
        const int array = pti_find_name(name, declaration->n_arrays, declaration->array_name);
        const pti_flow *in = &actor->in[o];
        if (is_written_by_lookup(declaration, array))
            PTI_TRY(fail_lookup(graph, actor, name,
                                "has some in a role that is neither in nor combines onto what is "
                                "there"));
        if (!pti_is_index_array(declaration, array))
            continue;
        if (graph->array[in->array].type != POLYTILE_I32 &&
            graph->array[in->array].type != POLYTILE_I64)
            PTI_TRY(fail_lookup(graph, actor, name, "has elements that are neither i32 nor i64"));
        if (graph->array[in->array].producer >= 0)
            PTI_TRY(
                fail_lookup(graph, actor, name,
                            "is one that an actor writes, and a plan of frames cannot know it"));
        if (pti_flow_delay(graph, in) > 0)
            PTI_TRY(fail_lookup(graph, actor, name,
                                "has delay=, so the first frames look up zeros that nobody fed"));
    }
done:
    return status;
}
