#include "graph/plan/plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* An actor's domain over several units: on="a+b" runs a part of each frame on a, and the rest on
 * b. */

/** A unit that comes again has another share of its own; next to the other one it makes that
 * larger. */
static polytile_status add_share(const pti_planning *planning, const pti_actor *actor,
                                 const char *name, pti_shares *to) {
    const int unit = pti_machine_find_unit(planning->machine, name);
    if (unit < 0)
        return pti_dot_fail(planning->graph->dot, actor->on_at,
                            "actor %s is on %s, which is no unit of the machine; its on= is '%s'",
                            actor->name, name[0] == '\0' ? "nothing" : name, actor->on);
    const double seconds =
        actor->seconds >= 0 ? 1 : pti_planning_predict(actor, &planning->machine->unit[unit]);
    if (to->n > 0 && to->unit[to->n - 1] == unit) {
        to->share[to->n - 1] += 1 / fmax(seconds, 1e-12);
        return POLYTILE_OK;
    }
    if (to->n == PTI_MAX_PARTS)
        return pti_dot_fail(planning->graph->dot, actor->on_at,
                            "actor %s is split over more than %d units", actor->name,
                            PTI_MAX_PARTS);
    to->unit[to->n] = unit;
    to->share[to->n++] = 1 / fmax(seconds, 1e-12);
    return POLYTILE_OK;
}

static polytile_status read_shares(const pti_planning *planning, const pti_actor *actor,
                                   pti_shares *to) {
    const char *at = actor->on;
    char name[PTI_MAX_UNIT_NAME];
    polytile_status status = POLYTILE_OK;
    to->n = 0;
    if (strchr(at, '|') != NULL)
        return pti_dot_fail(planning->graph->dot, actor->on_at,
                            "actor %s: '%s' takes frames in turn and is split; do either",
                            actor->name, at);
    for (bool is_last = false; !is_last;) {
        is_last = strchr(at, '+') == NULL;
        at = pti_planning_take_name(at, '+', name);
        PTI_TRY(add_share(planning, actor, name, to));
    }
done:
    return status;
}

/** Add the parts of an actor to the plan's. */
static polytile_status add_parts(pti_planning *planning, int number, const pti_shares *of) {
    polytile_graph_plan *plan = planning->plan;
    pti_part parts[PTI_MAX_PARTS];
    polytile_status status;
    PTI_TRY(pti_graph_cut_domain(planning->graph, number, of->n, of->share, parts));
    pti_part *list = realloc(plan->part, (size_t)(plan->n_parts + of->n) * sizeof *list);
    if (list == NULL)
        return pti_planning_fail_memory(planning);
    plan->part = list;
    for (int p = 0; p < of->n; p++) {
        parts[p].actor = number;
        parts[p].unit = of->unit[p];
        list[plan->n_parts++] = parts[p];
    }
done:
    return status;
}

static bool is_split(const pti_planning *planning, const pti_actor *actor) {
    return actor->on != NULL && strchr(actor->on, '+') != NULL &&
           pti_machine_find_unit(planning->machine, actor->on) < 0;
}

/** Return how an actor without on= is split; NULL: it is not. */
static const pti_shares *find_wanted(const pti_planning *planning, int actor) {
    for (int w = 0; w < planning->n_wanted; w++)
        if (planning->wanted[w].actor == actor)
            return &planning->wanted[w];
    return NULL;
}

/** Let each part have its unit. */
static void place_parts(pti_planning *planning) {
    const pti_part *part = planning->plan->part;
    for (int a = 0; a < planning->split->n_actors; a++)
        if (planning->split->actor[a].n_parts > 0)
            planning->split->actor[a].on = planning->machine->unit[(part++)->unit].name;
}

polytile_status pti_planning_split_actors(pti_planning *planning) {
    polytile_status status = POLYTILE_OK;
    pti_shares of;
    for (int a = 0; a < planning->graph->n_actors; a++) {
        const pti_actor *actor = &planning->graph->actor[a];
        const pti_shares *wanted = find_wanted(planning, a);
        if (wanted != NULL)
            PTI_TRY(add_parts(planning, a, wanted));
        if (!is_split(planning, actor))
            continue;
        if (!planning->strategy->may_spread)
            return pti_fail(planning->ctx, POLYTILE_UNSUPPORTED,
                            "%s: actor %s is split over units, which is planned only by strategy "
                            "\"best\"",
                            planning->graph->dot->source, actor->name);
        PTI_TRY(read_shares(planning, actor, &of));
        PTI_TRY(add_parts(planning, a, &of));
    }
    if (planning->plan->n_parts == 0)
        return POLYTILE_OK;
    PTI_TRY(pti_graph_split(planning->graph, planning->plan->n_parts, planning->plan->part,
                            &planning->split));
    place_parts(planning);
    planning->whole = planning->graph;
    planning->graph = planning->split;
done:
    return status;
}
