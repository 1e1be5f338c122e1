#ifndef POLYTILE_GRAPH_SHOW_SHOW_H
#define POLYTILE_GRAPH_SHOW_SHOW_H

#include "graph/plan/plan.h"
#include "partition/show/json_write.h"
#include "partition/show/print.h"

/* graph/show: plans of graphs as text, JSON, DOT and pictures. Nothing here decides anything. */

/** Write a list of a document in JSON, an entry a line, with a comma after it, or as the last. The
 * list is taken over; NULL: no memory. */
void pti_graph_write_list(pti_text *text, const char *key, json_t *list);
void pti_graph_write_last_list(pti_text *text, const char *key, json_t *list);

pti_printer pti_graph_plan_write_text, pti_graph_plan_write_json, pti_graph_plan_draw;

#endif
