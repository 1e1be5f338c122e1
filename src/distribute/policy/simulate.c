#include "distribute/policy/simulate.h"

#include "base/list.h"

#include <math.h>
#include <stdlib.h>

/* A simulation goes from the end of a piece to the next one: all that end then are noted, and all
 * units that are free ask in their order. */

/** One policy while it is simulated. */
typedef struct run {
    const polytile_simulation *of;
    const double *costs;
    pti_simulated *result;
    pti_deal deal;
    double *end_s; /* of the piece that each unit runs; infinite: it is free; owned */
    double now_s;
} run;

static double cost_of(const run *of, pti_rows rows) {
    double cost = 0;
    if (of->costs == NULL)
        return (double)rows.count;
    for (int64_t k = 0; k < rows.count; k++)
        cost += of->costs[rows.first + k];
    return cost;
}

/** Let a unit run rows from now on, and note when they end. False when memory runs out. */
static bool begin_piece(run *of, int unit, pti_rows rows) {
    pti_simulated *result = of->result;
    double end_s = of->now_s + cost_of(of, rows) / of->of->speed[unit];
    if (!PTI_GROW(result->piece, result->n_pieces, &result->capacity))
        return false;
    result->piece[result->n_pieces++] = (pti_simulated_piece){unit, rows, of->now_s, end_s};
    result->unit[unit].n_rows += rows.count;
    result->unit[unit].busy_s += end_s - of->now_s;
    result->makespan_s = fmax(result->makespan_s, end_s);
    of->end_s[unit] = end_s;
    return true;
}

/** When the next piece ends; infinite: none runs. */
static double find_next_end(const run *of) {
    double next_s = INFINITY;
    for (int u = 0; u < of->of->n_units; u++)
        next_s = fmin(next_s, of->end_s[u]);
    return next_s;
}

static void end_pieces(run *of, double now_s) {
    of->now_s = now_s;
    for (int u = 0; u < of->of->n_units; u++) {
        if (of->end_s[u] == now_s) {
            of->end_s[u] = INFINITY;
            pti_deal_done(&of->deal, u, now_s);
        }
    }
}

/** Let units that are free ask, in their order; who is done at once asks again before those after
 * it. False: memory ran out. */
static bool let_free_units_ask(run *of) {
    bool has_memory = true;
    for (int u = 0; u < of->of->n_units && has_memory; u++) {
        if (!isinf(of->end_s[u]))
            continue;
        pti_rows rows = pti_deal_take(&of->deal, u, of->now_s);
        has_memory = rows.count == 0 || begin_piece(of, u, rows);
        if (of->end_s[u] == of->now_s) {
            end_pieces(of, of->now_s);
            u = -1;
        }
    }
    return has_memory;
}

/** Go from end to end of pieces until all rows are done. Where all that are free are refused, and
 * nobody runs, they ask once more. False: memory ran out. */
static bool simulate_launch(run *of) {
    bool has_memory = true;
    while (has_memory && (!pti_deal_is_over(&of->deal) || !isinf(find_next_end(of)))) {
        has_memory = let_free_units_ask(of);
        double next_s = find_next_end(of);
        if (!isinf(next_s))
            end_pieces(of, next_s);
    }
    return has_memory;
}

/** What a policy knows of the units: those that weigh know the speeds. */
static polytile_unit *describe_units(const polytile_simulation *simulation, bool knows_speeds) {
    polytile_unit *units = calloc((size_t)simulation->n_units, sizeof *units);
    for (int u = 0; units != NULL && u < simulation->n_units; u++)
        units[u] = (polytile_unit){.device = "simulated",
                                   .node = simulation->node[u],
                                   .n_threads = 1,
                                   .fill_rows = 1,
                                   .prior_rows_per_s = knows_speeds ? simulation->speed[u] : 0};
    return units;
}

polytile_status pti_simulate(polytile_context *ctx, const polytile_simulation *simulation,
                             const double *costs, const pti_policy *policy, pti_simulated *result) {
    const size_t n_units = (size_t)simulation->n_units;
    run of = {.of = simulation, .costs = costs, .result = result};
    polytile_status status;
    polytile_unit *units = describe_units(simulation, !pti_policy_is_dynamic(policy));
    of.end_s = malloc(n_units * sizeof *of.end_s);
    result->unit = calloc(n_units, sizeof *result->unit);
    if (units == NULL || of.end_s == NULL || result->unit == NULL)
        PTI_TRY(pti_fail_memory(ctx, "a simulation", (double)(n_units * sizeof *units)));
    for (int u = 0; u < simulation->n_units; u++)
        of.end_s[u] = INFINITY;
    PTI_TRY(pti_deal_begin(ctx, policy, "simulated", simulation->n_rows, simulation->n_units, units,
                           &of.deal));
    if (!simulate_launch(&of))
        PTI_TRY(pti_fail_memory(ctx, "a simulation",
                                (double)result->capacity * (double)sizeof *result->piece));
done:
    pti_deal_end(&of.deal);
    free(of.end_s);
    free(units);
    return status;
}
