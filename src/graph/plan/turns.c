#include "graph/plan/plan.h"

#include "base/checked.h"

#include <stdlib.h>
#include <string.h>

/* Frames in turn on several units: on="a|b" runs frame 0 on a, frame 1 on b, frame 2 on a. */

const char *pti_planning_take_name(const char *at, char mark, char *name) {
    const char *end = strchr(at, mark);
    size_t length = end == NULL ? strlen(at) : (size_t)(end - at);
    const char *next = at + length + (end != NULL);
    while (length > 0 && *at == ' ') {
        at++;
        length--;
    }
    while (length > 0 && at[length - 1] == ' ')
        length--;
    length = length < PTI_MAX_UNIT_NAME ? length : 0;
    memcpy(name, at, length);
    name[length] = '\0';
    return next;
}

/** Add a unit to an actor's. */
static polytile_status add_unit(pti_planning *planning, int number, const char *name) {
    const pti_actor *actor = &planning->graph->actor[number];
    const int unit = pti_machine_find_unit(planning->machine, name);
    if (unit < 0)
        return pti_dot_fail(planning->graph->dot, actor->on_at,
                            "actor %s is on %s, which is no unit of the machine", actor->name,
                            name);
    if (planning->n_on[number] == PTI_MAX_TURNS)
        return pti_dot_fail(planning->graph->dot, actor->on_at,
                            "actor %s is on more than %d units in turn", actor->name,
                            PTI_MAX_TURNS);
    planning->on[number * PTI_MAX_TURNS + planning->n_on[number]++] = unit;
    return POLYTILE_OK;
}

/** Read the units of an actor: one, or several with bars between. */
static polytile_status read_units(pti_planning *planning, int number) {
    const pti_actor *actor = &planning->graph->actor[number];
    const char *at = actor->on;
    char name[PTI_MAX_UNIT_NAME];
    polytile_status status = POLYTILE_OK;
    if (strchr(at, '|') == NULL || pti_machine_find_unit(planning->machine, at) >= 0)
        return add_unit(planning, number, at);
    for (bool is_last = false; !is_last;) {
        is_last = strchr(at, '|') == NULL;
        at = pti_planning_take_name(at, '|', name);
        if (name[0] == '\0')
            return pti_dot_fail(planning->graph->dot, actor->on_at,
                                "actor %s: '%s' has a bar without a unit; write on=\"a|b\"",
                                actor->name, actor->on);
        PTI_TRY(add_unit(planning, number, name));
    }
done:
    return status;
}

/** Return whether an actor sees frames of other turns by an array, or by a piece of one. */
static bool is_state_of(const pti_net *net, int array, int actor) {
    const int first = net->array[array].first_flow, n = net->array[array].n_flows;
    bool is = false;
    for (int f = first; f < first + n; f++)
        is |= net->flow[f].delay > 0 &&
              (net->flow[f].actor == actor || net->array[array].producer == actor);
    return is;
}

/** Return an array of the graph by which an actor sees frames of other turns; -1: there is none.
 * The net has a piece of it for each part of its producer. */
static int find_state(const pti_net *net, int actor) {
    for (int a = 0, whole = -1; a < net->n_arrays; a++) {
        whole += net->array[a].n_before == 0;
        if (is_state_of(net, a, actor))
            return whole;
    }
    return -1;
}

/** Count the turns that all actors ask for, and refuse those that cannot be. */
static polytile_status count_turns(pti_planning *planning, int number) {
    const pti_actor *actor = &planning->graph->actor[number];
    const int n_on = planning->n_on[number];
    const int state = n_on > 1 ? find_state(&planning->net, number) : -1;
    if (state >= 0)
        return pti_dot_fail(planning->graph->dot, actor->on_at,
                            "actor %s is on several units in turn, and %s goes with delay= from "
                            "frame to frame; put it on one unit",
                            actor->name, planning->graph->array[state].name);
    if (n_on > 1)
        planning->n_turns *= n_on / (int)pti_gcd(planning->n_turns, n_on);
    if (planning->n_turns > PTI_MAX_TURNS)
        return pti_dot_fail(planning->graph->dot, actor->on_at,
                            "with actor %s the units repeat after %d frames; at most %d are "
                            "planned together: give actors lists of the same length",
                            actor->name, planning->n_turns, PTI_MAX_TURNS);
    if (planning->n_turns > 1 && (!planning->overlap || !planning->strategy->may_spread))
        return pti_fail(planning->ctx, POLYTILE_UNSUPPORTED,
                        "%s: actor %s takes frames in turn on several units, which is planned only "
                        "with overlap, and by strategy \"best\"",
                        planning->graph->dot->source, actor->name);
    return POLYTILE_OK;
}

polytile_status pti_planning_read_units(pti_planning *planning) {
    const size_t n_actors = (size_t)planning->net.n_actors + 1;
    polytile_status status = POLYTILE_OK;
    planning->n_turns = 1;
    planning->n_on = calloc(n_actors, sizeof *planning->n_on);
    planning->on = calloc(n_actors * PTI_MAX_TURNS, sizeof *planning->on);
    if (planning->n_on == NULL || planning->on == NULL)
        return pti_planning_fail_memory(planning);
    for (int a = 0; a < planning->net.n_actors; a++) {
        const pti_actor *actor = &planning->graph->actor[a];
        planning->net.fixed[a] = -1;
        if (actor->on == NULL && planning->keeps_map)
            return pti_dot_fail(planning->graph->dot, actor->at,
                                "actor %s has no on=, and the mapping is to be kept", actor->name);
        if (actor->on == NULL)
            continue;
        PTI_TRY(read_units(planning, a));
        PTI_TRY(count_turns(planning, a));
        planning->net.fixed[a] = planning->on[a * PTI_MAX_TURNS];
    }
done:
    return status;
}

polytile_status pti_planning_take_turns(pti_planning *planning, int n_turns) {
    const int n_actors = planning->net.n_actors;
    pti_net_free(&planning->round);
    if (n_turns == 1)
        return POLYTILE_OK;
    if (!pti_net_unroll(&planning->net, n_turns, &planning->round))
        return pti_planning_fail_memory(planning);
    for (int k = 0; k < n_turns * n_actors; k++) {
        const int actor = k % n_actors, n_on = planning->n_on[actor];
        if (n_on > 0)
            planning->round.fixed[k] = planning->on[actor * PTI_MAX_TURNS + k / n_actors % n_on];
        else if (planning->in_turn && find_state(&planning->net, actor) < 0)
            planning->round.is_tied[k] = false;
    }
    return POLYTILE_OK;
}

int pti_plan_count_turns(const polytile_graph_plan *plan, int actor) {
    const pti_planned_turn *turn = &plan->turn[actor * plan->n_turns];
    for (int n = 1; n < plan->n_turns; n++) {
        bool repeats = plan->n_turns % n == 0;
        for (int k = n; repeats && k < plan->n_turns; k++)
            repeats = turn[k].unit == turn[k - n].unit;
        if (repeats)
            return n;
    }
    return plan->n_turns;
}
