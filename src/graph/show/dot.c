#include "graph/show/show.h"

#include "base/checked.h"

#include <string.h>

/* A plan as DOT: the graph's own text, in which each actor has its unit and that one's colour. */

static const char *const colours[] = {"#9ecbff", "#b7e1a1", "#ffd08a", "#f2a7b5",
                                      "#cdb4ea", "#9adbd2", "#e6d98f", "#c9ced6"};

/** Write attributes; of an actor without those that the plan gives it. */
static void write_attributes(pti_text *text, const pti_dot_attributes *list, bool is_actor) {
    bool is_first = true;
    for (int64_t k = 0; k < list->n; k++) {
        const char *name = list->attribute[k].name;
        if (is_actor && (strcmp(name, "on") == 0 || strcmp(name, "style") == 0 ||
                         strcmp(name, "fillcolor") == 0))
            continue;
        pti_text_add(text, is_first ? "%s=" : ", %s=", name);
        pti_dot_write_quoted(text, list->attribute[k].value);
        is_first = false;
    }
}

/** Write the units of an actor, and a slice of colour for each: units in turn with bars between,
 * those of parts with a plus. */
static void write_units(pti_text *text, const polytile_graph_plan *plan, int actor) {
    const int n_colours = sizeof colours / sizeof *colours;
    const int n_parts = plan->actor[actor].n_parts;
    const int n = n_parts > 0 ? n_parts : pti_plan_count_turns(plan, actor);
    const pti_planned_turn *turn = &plan->turn[actor * plan->n_turns];
    const char *mark = n_parts > 0 ? "+" : "|";
    pti_text units = {0}, fills = {0};
    for (int k = 0; k < n; k++) {
        const int unit = n_parts > 0 ? plan->actor[actor + k].unit : turn[k].unit;
        pti_text_add(&units, "%s%s", k == 0 ? "" : mark, plan->unit[unit].name);
        pti_text_add(&fills, "%s%s", k == 0 ? "" : ":", colours[unit % n_colours]);
    }
    text->failed = text->failed || units.failed || fills.failed;
    if (!text->failed) {
        pti_text_add(text, ", on=");
        pti_dot_write_quoted(text, units.data);
        pti_text_add(text, ", style=%s, fillcolor=\"%s\"", n > 1 ? "wedged" : "filled", fills.data);
    }
    pti_text_free(&units);
    pti_text_free(&fills);
}

/** Write a node, which is an actor of the plan, or, below 0, none. */
static void write_node(pti_text *text, const polytile_graph_plan *plan, const pti_dot_node *node,
                       int actor) {
    pti_text_add(text, "  ");
    pti_dot_write_quoted(text, node->name);
    pti_text_add(text, " [");
    write_attributes(text, &node->attributes, actor >= 0);
    if (actor >= 0) {
        write_units(text, plan, actor);
    } else if (pti_dot_find(&node->attributes, "shape") == NULL) {
        pti_text_add(text, ", shape=box");
    }
    pti_text_add(text, "];\n");
}

/** Write nodes: actors stand in the plan in the same order, parts of one after the other. */
static void write_nodes(pti_text *text, const polytile_graph_plan *plan) {
    int actor = 0;
    for (int64_t n = 0; n < plan->dot->n_nodes; n++) {
        const bool is_actor =
            actor < plan->n_actors && strcmp(plan->actor[actor].name, plan->dot->node[n].name) == 0;
        write_node(text, plan, &plan->dot->node[n], is_actor ? actor : -1);
        actor += is_actor ? (int)pti_max(1, plan->actor[actor].n_parts) : 0;
    }
}

static void write_edges(pti_text *text, const pti_dot *dot) {
    for (int64_t e = 0; e < dot->n_edges; e++) {
        pti_text_add(text, "  ");
        pti_dot_write_quoted(text, dot->node[dot->edge[e].from].name);
        pti_text_add(text, " -> ");
        pti_dot_write_quoted(text, dot->node[dot->edge[e].to].name);
        pti_text_add(text, " [");
        write_attributes(text, &dot->edge[e].attributes, false);
        pti_text_add(text, "];\n");
    }
}

static void write_dot(pti_text *text, const pti_object *object) {
    const polytile_graph_plan *plan = (const polytile_graph_plan *)object;
    pti_text_add(text, "digraph {\n");
    write_nodes(text, plan);
    write_edges(text, plan->dot);
    pti_text_add(text, "}\n");
}

polytile_status polytile_graph_plan_to_dot(const polytile_graph_plan *plan, char **text) {
    static pti_printer *const printers[PTI_N_FORMATS] = {[POLYTILE_TEXT] = write_dot};
    return pti_print(__func__, "plan", plan == NULL ? NULL : &plan->object, printers, POLYTILE_TEXT,
                     text);
}
