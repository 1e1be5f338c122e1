#include "distribute/policy/policy.h"

#include <string.h>

/* Equal numbers of rows for all units, whatever they are, or for every node and then for each of
 * its units: EQ2 and EQ1 of Ortega-Arranz et al., "TuCCompi", section 4.2. Where it does not come
 * out even, the first ones have a row more. */

static bool parse_equal(const char *arguments, pti_policy *policy) {
    policy->by_node = arguments != NULL;
    return arguments == NULL || strcmp(arguments, "node") == 0;
}

/** The rows of part `part` of `n_parts`. */
static int64_t equal_part(int64_t n_rows, int n_parts, int part) {
    return n_rows / n_parts + (part < n_rows % n_parts);
}

/** The first unit after those of a node; units of a node stand side by side. */
static int end_of_node(const polytile_work *work, int first) {
    int end = first;
    while (end < work->n_units && work->units[end].node == work->units[first].node)
        end++;
    return end;
}

static int count_nodes(const polytile_work *work) {
    int n_nodes = 0;
    for (int first = 0; first < work->n_units; first = end_of_node(work, first))
        n_nodes++;
    return n_nodes;
}

static void split_among(int64_t n_rows, int first, int end, int64_t *rows) {
    for (int u = first; u < end; u++)
        rows[u] = equal_part(n_rows, end - first, u - first);
}

static bool split_equally(const pti_policy *policy, const polytile_work *work, int64_t *rows) {
    int n_nodes = count_nodes(work), node = 0;
    if (!policy->by_node)
        split_among(work->n_rows, 0, work->n_units, rows);
    for (int first = 0; policy->by_node && first < work->n_units; node++) {
        int end = end_of_node(work, first);
        split_among(equal_part(work->n_rows, n_nodes, node), first, end, rows);
        first = end;
    }
    return false;
}

const pti_policy_kind pti_policy_equal = {
    .name = "equal",
    .forms = "equal, equal(node)",
    .parse = parse_equal,
    .split = split_equally,
};
