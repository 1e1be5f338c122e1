#ifndef POLYTILE_GRAPH_SHOW_SHOW_H
#define POLYTILE_GRAPH_SHOW_SHOW_H

#include "graph/plan/plan.h"
#include "partition/show/print.h"

/* graph/show: plans of graphs as text, JSON, DOT and pictures. Nothing here decides anything. */

pti_printer pti_graph_plan_write_text, pti_graph_plan_write_json, pti_graph_plan_draw;

#endif
