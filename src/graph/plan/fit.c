#include "graph/plan/plan.h"

#include "base/checked.h"
#include <polytile/size.h>

/* What a frame of one actor needs. */

/** Return the k-th of an actor's edges: those in, then those out. */
static const pti_flow *flow_of(const pti_actor *actor, int k) {
    return k < actor->n_operands ? &actor->in[k] : &actor->out[k - actor->n_operands];
}

/** Return the bytes of an array's frame that an actor needs and leaves: the rows of all its edges
 * lie in one place, from the first to the last. */
static int64_t bytes_of_array(const polytile_graph *graph, const pti_actor *actor, int array) {
    polytile_range rows = {INT64_MAX, INT64_MIN, 1};
    for (int k = 0; k < 2 * actor->n_operands; k++) {
        const pti_flow *flow = flow_of(actor, k);
        if (flow->array != array)
            continue;
        const polytile_range of_flow = pti_flow_rows(graph, flow);
        rows.lo = pti_min(rows.lo, of_flow.lo);
        rows.hi = pti_max(rows.hi, of_flow.hi);
    }
    return pti_range_count(rows) * pti_graph_row_bytes(&graph->array[array]);
}

int64_t pti_planning_frame_bytes(const pti_planning *planning, int actor, pti_text *names) {
    const pti_actor *at = &planning->graph->actor[actor];
    char size[32];
    int64_t n_bytes = at->scratch_bytes;
    for (int k = 0; k < 2 * at->n_operands; k++) {
        const int array = flow_of(at, k)->array;
        bool is_new = array >= 0;
        for (int e = 0; is_new && e < k; e++)
            is_new = array != flow_of(at, e)->array;
        if (!is_new)
            continue;
        const int64_t array_bytes = bytes_of_array(planning->graph, at, array);
        n_bytes = pti_add_saturated(n_bytes, array_bytes);
        if (names != NULL)
            pti_text_add(names, "%s%s %s", names->length == 0 ? "" : ", ",
                         planning->graph->array[array].name,
                         polytile_size_format(array_bytes, size));
    }
    if (names != NULL && at->scratch_bytes > 0)
        pti_text_add(names, ", scratch %s", polytile_size_format(at->scratch_bytes, size));
    return n_bytes;
}

bool pti_planning_may_be_on(const pti_planning *planning, int actor, int unit) {
    bool may = planning->n_on[actor] == 0;
    for (int k = 0; k < planning->n_on[actor]; k++)
        may = may || planning->on[actor * PTI_MAX_TURNS + k] == unit;
    return may;
}

/** Return the unit of the largest memory that an actor may use, of those where it does not fit. */
static int find_short_unit(const pti_planning *planning, int actor) {
    const int n_units = planning->net.n_units;
    int best = -1;
    for (int u = 0; u < n_units; u++) {
        const pti_machine_memory *memory = &planning->machine->memory[planning->net.unit_memory[u]];
        if (pti_planning_may_be_on(planning, actor, u) && !planning->allowed[actor * n_units + u] &&
            (best < 0 ||
             memory->limit_bytes >
                 planning->machine->memory[planning->net.unit_memory[best]].limit_bytes))
            best = u;
    }
    return best;
}

/** Say what an actor needs, and what the largest memory that it may use has. */
static polytile_status refuse_actor(const pti_planning *planning, int actor) {
    pti_text names = {0};
    char needed[32], limit[32];
    const int64_t n_bytes = pti_planning_frame_bytes(planning, actor, &names);
    const int best = find_short_unit(planning, actor);
    polytile_status status = pti_fail(
        planning->ctx, POLYTILE_NO_FIT,
        "%s: one frame of actor %s needs %s (%s); %s is limited to %s; give it a larger memory, or "
        "cut the frames, or let units run them in superblocks",
        planning->graph->dot->source, planning->graph->actor[actor].name,
        polytile_size_format(n_bytes, needed), names.data == NULL ? "" : names.data,
        best < 0 ? "no unit" : planning->machine->unit[best].name,
        polytile_size_format(
            best < 0 ? 0 : planning->machine->memory[planning->net.unit_memory[best]].limit_bytes,
            limit));
    pti_text_free(&names);
    return status;
}

/** An actor without on= needs a unit that it fits, one with on= fits each of these. */
static bool fits_units(const pti_planning *planning, int actor) {
    const int n_units = planning->net.n_units;
    int n_good = 0, n_bad = 0;
    for (int u = 0; u < n_units; u++) {
        n_good +=
            pti_planning_may_be_on(planning, actor, u) && planning->allowed[actor * n_units + u];
        n_bad +=
            pti_planning_may_be_on(planning, actor, u) && !planning->allowed[actor * n_units + u];
    }
    return n_good > 0 && (planning->n_on[actor] == 0 || n_bad == 0);
}

/** Let an actor run no frame of any turn on a unit. */
static void forbid_unit(pti_planning *planning, int actor, int unit) {
    for (int turn = 0; turn < PTI_MAX_TURNS; turn++)
        planning->allowed[(actor + turn * planning->net.n_actors) * planning->net.n_units + unit] =
            false;
}

polytile_status pti_planning_check_actors(pti_planning *planning) {
    const int n_units = planning->net.n_units, n_actors = planning->net.n_actors;
    for (int a = 0; a < n_actors; a++) {
        const int64_t n_bytes = pti_planning_frame_bytes(planning, a, NULL);
        for (int u = 0; u < n_units; u++) {
            const int64_t limit =
                planning->machine->memory[planning->net.unit_memory[u]].limit_bytes;
            for (int turn = 0; turn < PTI_MAX_TURNS; turn++)
                planning->allowed[(a + turn * n_actors) * n_units + u] =
                    limit == 0 || n_bytes <= limit;
            if (planning->may_cut && planning->is_cut[u] && planning->cut_s[a * n_units + u] < 0)
                forbid_unit(planning, a, u);
        }
        if (!fits_units(planning, a))
            return refuse_actor(planning, a);
    }
    return POLYTILE_OK;
}
