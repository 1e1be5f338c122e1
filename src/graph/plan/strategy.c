#include "graph/plan/plan.h"

#include <string.h>

static const pti_graph_strategy strategies[] = {
    {.name = "best",
     .note = "",
     .may_overlap = true,
     .may_spread = true,
     .is_sound = true,
     .schedule = pti_planning_synchronise},
    {.name = "paper", .note = ", by the paper's rules", .schedule = pti_planning_follow_paper},
};

const pti_graph_strategy *pti_graph_strategy_find(const char *name) {
    const size_t n = sizeof strategies / sizeof *strategies;
    size_t s = 0;
    while (name != NULL && s < n && strcmp(strategies[s].name, name) != 0)
        s++;
    return s < n ? &strategies[s] : NULL;
}
