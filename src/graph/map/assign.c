#include "graph/map/net.h"

#include "base/checked.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_EXACT_ACTORS = 12, MAX_NODES = 400000, MAX_MOVES = 120000 };

/** The search for a mapping, with the units that are chosen so far. */
typedef struct mapping_search {
    const pti_net *net;
    pti_map_objective objective;
    const bool *allowed;
    pti_scorer scorer;
    int *unit;      /* as far as it is chosen; owned */
    int *n_on;      /* of each unit: actors; owned */
    int *n_alike;   /* of each unit: the one before it that is like it, -1: none; owned */
    int64_t *least; /* of each actor: ticks where it is fastest; owned */
    int *n_copies;  /* of each actor: those that have its unit, itself among them; owned */
    int *open;      /* free actors in the order; owned */
    int n_open;
    int64_t n_nodes;
    bool failed;
    bool has_best;
    pti_mapping *best;
} mapping_search;

static bool may_run(const mapping_search *of, int actor, int unit) {
    return of->allowed == NULL || of->allowed[actor * of->net->n_units + unit];
}

/** With delays, a cycle may take longer than any work. */
static bool add_cycles(mapping_search *of, pti_score *score) {
    pti_expansion expansion;
    pti_period_bound bound = {0};
    if (!of->net->has_delays || of->net->is_synchronous)
        return true;
    if (!pti_expand(of->net, of->unit, &expansion))
        return false;
    const bool has_memory = pti_period_bound_find(&expansion.tasks, &bound);
    score->period = pti_max(score->period, bound.ticks);
    pti_expansion_free(&expansion);
    return has_memory;
}

/** Score what is chosen; the others run at least somewhere. */
static pti_score score_partly(mapping_search *of, int n_chosen) {
    const pti_net *net = of->net;
    pti_score score = pti_score_mapping(&of->scorer, of->unit);
    int64_t work = 0;
    for (int u = 0; u < net->n_units; u++)
        work += of->scorer.work[u];
    for (int k = n_chosen; k < of->n_open; k++)
        work += of->n_copies[of->open[k]] * of->least[of->open[k]];
    score.period = pti_max(score.period, pti_ceil_div(work, net->n_units));
    return score;
}

static bool is_worth(const mapping_search *of, const pti_score *score) {
    return !of->has_best || pti_score_is_better(of->objective, score, &of->best->score);
}

static void take_as_best(mapping_search *of, const pti_score *score) {
    of->best->score = *score;
    of->has_best = true;
    memcpy(of->best->unit, of->unit, (size_t)of->net->n_actors * sizeof *of->unit);
}

/** Take the mapping if it is better than the best. */
static bool consider_mapping(mapping_search *of) {
    pti_score score = pti_score_mapping(&of->scorer, of->unit);
    if (!is_worth(of, &score))
        return false;
    of->failed = of->failed || !add_cycles(of, &score);
    if (of->failed || !is_worth(of, &score))
        return false;
    take_as_best(of, &score);
    return true;
}

/** Of units that are alike and idle, the first one stands for all. */
static bool repeats_unit(const mapping_search *of, int unit) {
    const int like = of->n_alike[unit];
    return like >= 0 && of->n_on[like] == 0 && of->n_on[unit] == 0;
}

/** Choose the unit of an actor, and of those of later turns that are tied to it. */
static void choose_unit(mapping_search *of, int actor, int unit) {
    const int n_actors = of->net->n_actors / pti_net_n_turns(of->net);
    if (of->unit[actor] >= 0)
        of->n_on[of->unit[actor]]--;
    for (int k = 0; k < of->n_copies[actor]; k++)
        of->unit[actor + k * n_actors] = unit;
    if (unit >= 0)
        of->n_on[unit]++;
}

/** Try all units of the next free actor, as long as the score so far can still win. */
static void visit_actor(mapping_search *of, int n_chosen) {
    const pti_score score = score_partly(of, n_chosen);
    of->n_nodes++;
    if (of->failed || of->n_nodes > MAX_NODES || !is_worth(of, &score))
        return;
    if (n_chosen == of->n_open) {
        consider_mapping(of);
        return;
    }
    const int actor = of->open[n_chosen];
    for (int u = 0; u < of->net->n_units; u++) {
        if (!may_run(of, actor, u) || repeats_unit(of, u))
            continue;
        choose_unit(of, actor, u);
        visit_actor(of, n_chosen + 1);
        choose_unit(of, actor, -1);
    }
}

/** Put each free actor where it is best beside those before it. */
static void place_greedily(mapping_search *of) {
    for (int k = 0; k < of->n_open; k++) {
        const int actor = of->open[k];
        pti_score best = {0};
        int best_unit = -1;
        for (int u = 0; u < of->net->n_units; u++) {
            if (!may_run(of, actor, u))
                continue;
            choose_unit(of, actor, u);
            const pti_score score = pti_score_mapping(&of->scorer, of->unit);
            if (best_unit < 0 || pti_score_is_better(of->objective, &score, &best)) {
                best = score;
                best_unit = u;
            }
        }
        choose_unit(of, actor, best_unit);
    }
}

/** Move single actors while that helps. The work of a move grows with the actors. */
static void move_single_actors(mapping_search *of) {
    int64_t n_left = MAX_MOVES / (of->net->n_actors + of->net->n_arrays + 1);
    bool improved = true;
    while (improved && n_left > 0 && !of->failed) {
        improved = false;
        for (int k = 0; k < of->n_open && n_left > 0; k++) {
            const int actor = of->open[k];
            for (int u = 0; u < of->net->n_units && n_left > 0; u++) {
                const int before = of->unit[actor];
                if (u == before || !may_run(of, actor, u))
                    continue;
                choose_unit(of, actor, u);
                n_left--;
                if (consider_mapping(of))
                    improved = true;
                else
                    choose_unit(of, actor, before);
            }
        }
    }
}

/* Units that are alike. */

static bool is_fixed_on(const pti_net *net, int unit) {
    for (int a = 0; a < net->n_actors; a++)
        if (net->fixed[a] == unit)
            return true;
    return false;
}

/** The memory that another one becomes when two change places. */
static int swapped_memory(int memory, int a, int b) {
    return memory == a ? b : memory == b ? a : memory;
}

static bool are_memories_alike(const pti_net *net, int a, int b) {
    const int n = net->n_memories;
    bool alike = a != b && net->host[a] == net->host[b] && net->host[a] != a && net->host[b] != b;
    for (int f = 0; alike && f < n; f++)
        for (int t = 0; t < n; t++) {
            const int here = f * n + t,
                      there = swapped_memory(f, a, b) * n + swapped_memory(t, a, b);
            alike = alike && net->rate[here] >= net->rate[there] &&
                    net->rate[here] <= net->rate[there] &&
                    net->latency[here] >= net->latency[there] &&
                    net->latency[here] <= net->latency[there];
        }
    for (int u = 0; alike && u < net->n_units; u++)
        for (int v = 0; v < u; v++)
            alike = alike && !(net->unit_memory[u] == net->unit_memory[v] &&
                               (net->unit_memory[u] == a || net->unit_memory[u] == b));
    return alike;
}

static bool are_units_alike(const mapping_search *of, int u, int v) {
    const pti_net *net = of->net;
    bool alike = !is_fixed_on(net, u) && !is_fixed_on(net, v) &&
                 are_memories_alike(net, net->unit_memory[u], net->unit_memory[v]);
    for (int a = 0; alike && a < net->n_actors; a++)
        alike = net->ticks[a * net->n_units + u] == net->ticks[a * net->n_units + v] &&
                may_run(of, a, u) == may_run(of, a, v);
    return alike;
}

static bool is_tied(const pti_net *net, int actor) {
    return net->is_tied != NULL && net->is_tied[actor];
}

static int count_copies(const pti_net *net, int actor) {
    const int n_actors = net->n_actors / pti_net_n_turns(net);
    int n = 1;
    while (actor + n * n_actors < net->n_actors && is_tied(net, actor + n * n_actors))
        n++;
    return n;
}

/** Allocate a search, find units that are alike, and list free actors in the order of trial. */
static bool begin_search(mapping_search *of) {
    const pti_net *net = of->net;
    const size_t n_actors = (size_t)net->n_actors + 1, n_units = (size_t)net->n_units + 1;
    of->unit = calloc(n_actors, sizeof *of->unit);
    of->n_on = calloc(n_units, sizeof *of->n_on);
    of->n_alike = calloc(n_units, sizeof *of->n_alike);
    of->least = calloc(n_actors, sizeof *of->least);
    of->n_copies = calloc(n_actors, sizeof *of->n_copies);
    of->open = calloc(n_actors, sizeof *of->open);
    of->best->unit = calloc(n_actors, sizeof *of->best->unit);
    if (!pti_scorer_begin(&of->scorer, net) || of->unit == NULL || of->n_on == NULL ||
        of->n_alike == NULL || of->least == NULL || of->n_copies == NULL || of->open == NULL ||
        of->best->unit == NULL)
        return false;
    for (int v = 0; v < net->n_units; v++) {
        of->n_alike[v] = -1;
        for (int u = v - 1; u >= 0 && of->n_alike[v] < 0; u--)
            of->n_alike[v] = are_units_alike(of, u, v) ? u : -1;
    }
    for (int a = 0; a < net->n_actors; a++) {
        of->unit[a] = -1;
        of->n_copies[a] = count_copies(net, a);
    }
    return true;
}

/** Put fixed actors on their units, and list the others; false: one may run nowhere. */
static bool list_actors(mapping_search *of) {
    const pti_net *net = of->net;
    bool is_good = true;
    for (int k = 0; k < net->n_actors; k++) {
        const int actor = net->order[k];
        bool has_place = false;
        of->least[actor] = INT64_MAX;
        for (int u = 0; u < net->n_units; u++) {
            if (!may_run(of, actor, u) || (net->fixed[actor] >= 0 && net->fixed[actor] != u))
                continue;
            has_place = true;
            of->least[actor] = pti_min(of->least[actor], net->ticks[actor * net->n_units + u]);
        }
        is_good = is_good && has_place;
        if (net->fixed[actor] >= 0)
            choose_unit(of, actor, net->fixed[actor]);
        else if (!is_tied(net, actor))
            of->open[of->n_open++] = actor;
    }
    return is_good;
}

/** Put all free actors of a turn on one unit, those of the next turn on the next one. Returns false
 * if one may not run there. */
static bool place_whole_turns(mapping_search *of) {
    const pti_net *net = of->net;
    bool may = pti_net_n_turns(net) > 1;
    for (int k = 0; may && k < of->n_open; k++) {
        const int unit = pti_net_turn_of_actor(net, of->open[k]) % net->n_units;
        may = may_run(of, of->open[k], unit);
        choose_unit(of, of->open[k], unit);
    }
    return may;
}

static void search_mappings(mapping_search *of) {
    if (place_whole_turns(of)) {
        consider_mapping(of);
        move_single_actors(of);
    }
    place_greedily(of);
    consider_mapping(of);
    move_single_actors(of);
    if (of->n_open > MAX_EXACT_ACTORS)
        return;
    for (int k = 0; k < of->n_open; k++)
        choose_unit(of, of->open[k], -1);
    visit_actor(of, 0);
    of->best->is_exact = of->n_nodes <= MAX_NODES;
}

pti_found pti_mapping_find(const pti_net *net, pti_map_objective objective, const bool *allowed,
                           pti_mapping *mapping) {
    mapping_search of = {.net = net, .objective = objective, .allowed = allowed, .best = mapping};
    pti_found found = PTI_FOUND_NO_MEMORY;
    *mapping = (pti_mapping){0};
    if (begin_search(&of)) {
        found = list_actors(&of) ? PTI_FOUND : PTI_NONE_FOUND;
        if (found == PTI_FOUND)
            search_mappings(&of);
        if (of.failed)
            found = PTI_FOUND_NO_MEMORY;
    }
    pti_scorer_end(&of.scorer);
    free(of.unit);
    free(of.n_on);
    free(of.n_alike);
    free(of.least);
    free(of.n_copies);
    free(of.open);
    if (found != PTI_FOUND) {
        free(mapping->unit);
        mapping->unit = NULL;
    }
    return found;
}
