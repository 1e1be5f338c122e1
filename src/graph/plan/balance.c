#include "graph/plan/plan.h"

#include <math.h>
#include <stdlib.h>

/* Which actors are split that on= says nothing of. */

/** Return what the actors of a unit take a frame; without one of the graph's. */
static double load_of_unit(const polytile_graph_plan *plan, int unit, int without) {
    double seconds = 0;
    for (int a = 0, whole = -1; a < plan->n_actors; a++) {
        whole += plan->actor[a].part == 0;
        if (plan->actor[a].unit == unit && whole != without)
            seconds += plan->actor[a].seconds;
    }
    return seconds;
}

/** Return the actor of the graph that takes the longest of those that are whole and may be split;
 * -1: there is none. */
static int find_longest(const pti_planning *planning, const bool *is_tried) {
    const polytile_graph_plan *plan = planning->plan;
    double longest_s = 0;
    int longest = -1;
    for (int a = 0, whole = -1; a < plan->n_actors; a++) {
        const pti_planned_actor *actor = &plan->actor[a];
        whole += actor->part == 0;
        if (actor->n_parts == 0 && !is_tried[whole] && planning->graph->actor[whole].on == NULL &&
            (longest < 0 || actor->seconds > longest_s)) {
            longest = whole;
            longest_s = actor->seconds;
        }
    }
    return longest;
}

/** Return how much of an actor units can do until a moment, each after what it has to do besides.
 */
static double done_until(const pti_planning *planning, int actor, double moment_s,
                         pti_shares *shares) {
    const polytile_machine *machine = planning->machine;
    const pti_actor *of = &planning->graph->actor[actor];
    double sum = 0;
    shares->n = 0;
    for (int u = 0; u < machine->n_units && shares->n < PTI_MAX_PARTS; u++) {
        const double whole_s =
            of->seconds >= 0 ? of->seconds : pti_planning_predict(of, &machine->unit[u]);
        const double left_s = moment_s - load_of_unit(planning->plan, u, actor);
        if (left_s <= 0)
            continue;
        shares->unit[shares->n] = u;
        shares->share[shares->n] = left_s / fmax(whole_s, 1e-12);
        sum += shares->share[shares->n++];
    }
    return sum;
}

enum { N_BISECTIONS = 40 };

/** Find shares with which all units end at the same moment. */
static void balance_units(const pti_planning *planning, int actor, pti_shares *shares) {
    double early = 0, late = 1e-9;
    while (done_until(planning, actor, late, shares) < 1)
        late *= 2;
    for (int k = 0; k < N_BISECTIONS; k++) {
        const double middle = (early + late) / 2;
        *(done_until(planning, actor, middle, shares) < 1 ? &early : &late) = middle;
    }
    done_until(planning, actor, late, shares);
    shares->actor = actor;
}

/** A search for actors to split: the plan so far is the planning's. */
typedef struct search {
    pti_planning *of;
    polytile_status (*make)(pti_planning *planning);
    void (*end)(polytile_graph_plan *plan);
    polytile_graph_plan *best; /* of all so far; it may be the plan so far */
    bool *is_tried;            /* of each actor, since frames came faster last; owned */
} search;

static void end_unless_best(const search *on, polytile_graph_plan *plan) {
    if (plan != on->best)
        on->end(plan);
}

/** Go on from a plan that is not slower. */
static void take_plan(search *on, polytile_graph_plan *before) {
    polytile_graph_plan *made = on->of->plan;
    end_unless_best(on, before);
    if (made->period_s >= on->best->period_s * (1 - 1e-6))
        return;
    on->end(on->best);
    on->best = made;
    for (int a = 0; a < on->of->graph->n_actors; a++)
        on->is_tried[a] = false;
}

/** Plan with one more actor split, and go on with that unless frames come slower: where two actors
 * take the longest, both have to be split. What cannot be split, or does not fit, is no error. */
static polytile_status try_split(search *on) {
    pti_planning *planning = on->of;
    polytile_graph_plan *before = planning->plan;
    planning->n_wanted++;
    polytile_status status = on->make(planning);
    if (status == POLYTILE_OK && planning->plan->period_s <= before->period_s * (1 + 1e-9)) {
        take_plan(on, before);
        return POLYTILE_OK;
    }
    if (planning->plan != before)
        on->end(planning->plan);
    planning->plan = before;
    planning->n_wanted--;
    if (status == POLYTILE_NO_MEMORY)
        return status;
    pti_clear_error(planning->ctx);
    return POLYTILE_OK;
}

polytile_status pti_planning_split_longest(pti_planning *planning,
                                           polytile_status (*make)(pti_planning *planning),
                                           void (*end)(polytile_graph_plan *plan)) {
    polytile_status status = POLYTILE_OK;
    search on = {.of = planning,
                 .make = make,
                 .end = end,
                 .best = planning->plan,
                 .is_tried = calloc((size_t)planning->graph->n_actors + 1, sizeof *on.is_tried)};
    if (on.is_tried == NULL)
        return pti_planning_fail_memory(planning);
    for (int n = 0; n < 2 * PTI_MAX_SPLIT && planning->n_wanted < PTI_MAX_SPLIT; n++) {
        const int actor = find_longest(planning, on.is_tried);
        pti_shares *shares = &planning->wanted[planning->n_wanted];
        if (actor < 0)
            break;
        on.is_tried[actor] = true;
        balance_units(planning, actor, shares);
        if (shares->n > 1)
            PTI_TRY(try_split(&on));
    }
done:
    end_unless_best(&on, planning->plan);
    planning->plan = on.best;
    free(on.is_tried);
    return status;
}
