#include "distribute/policy/simulate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Simulations as programs make them. */

enum { MOST_ROWS = 1 << 24 };

static const char *const usual_policies[] = {"equal", "equal(node)", "weighted", "self(1)",
                                             "guided"};

static void destroy_simulation(pti_object *object) {
    polytile_simulation *simulation = (polytile_simulation *)object;
    for (int k = 0; simulation->of != NULL && k < simulation->n_policies; k++) {
        free(simulation->of[k].policy);
        free(simulation->of[k].piece);
        free(simulation->of[k].unit);
    }
    free(simulation->of);
    free(simulation->speed);
    free(simulation->node);
    free(simulation);
}

void polytile_simulation_destroy(polytile_simulation *simulation) {
    if (simulation != NULL)
        pti_object_release(&simulation->object);
}

static polytile_status check_speeds(polytile_context *ctx,
                                    const polytile_simulation_request *request) {
    if (request->n_units < 1 || request->n_units > PTI_DEAL_MAX_UNITS)
        return pti_fail(ctx, POLYTILE_INVALID, "simulation: %d units; give 1 to %d",
                        request->n_units, PTI_DEAL_MAX_UNITS);
    if (request->speeds == NULL)
        return pti_fail(ctx, POLYTILE_INVALID, "simulation: speeds is NULL; give one a unit");
    for (int u = 0; u < request->n_units; u++) {
        if (!isfinite(request->speeds[u]) || !(request->speeds[u] > 0))
            return pti_fail(ctx, POLYTILE_INVALID,
                            "simulation: speed %d of %d is %g; speeds are above 0", u + 1,
                            request->n_units, request->speeds[u]);
    }
    return POLYTILE_OK;
}

static polytile_status check_nodes(polytile_context *ctx,
                                   const polytile_simulation_request *request) {
    int64_t n_units = 0;
    if (request->n_nodes < 0 || (request->n_nodes > 0 && request->node_units == NULL))
        return pti_fail(ctx, POLYTILE_INVALID,
                        "simulation: %d nodes; give how many units each has, or 0 nodes",
                        request->n_nodes);
    for (int n = 0; n < request->n_nodes; n++) {
        if (request->node_units[n] < 1)
            return pti_fail(ctx, POLYTILE_INVALID,
                            "simulation: node %d of %d has %d units; each has at least 1", n + 1,
                            request->n_nodes, request->node_units[n]);
        n_units += request->node_units[n];
    }
    if (request->n_nodes > 0 && n_units != request->n_units)
        return pti_fail(ctx, POLYTILE_INVALID,
                        "simulation: the nodes have %lld units together, and there are %d speeds",
                        (long long)n_units, request->n_units);
    return POLYTILE_OK;
}

static polytile_status add_costs(polytile_context *ctx, const polytile_simulation_request *request,
                                 polytile_simulation *simulation) {
    if (request->n_rows < 1 || request->n_rows > MOST_ROWS)
        return pti_fail(ctx, POLYTILE_INVALID, "simulation: %lld rows; give 1 to %d",
                        (long long)request->n_rows, MOST_ROWS);
    simulation->n_rows = request->n_rows;
    for (int64_t r = 0; r < request->n_rows; r++) {
        double cost = request->costs == NULL ? 1 : request->costs[r];
        if (!isfinite(cost) || cost < 0)
            return pti_fail(ctx, POLYTILE_INVALID,
                            "simulation: row %lld costs %g; costs are numbers of at least 0",
                            (long long)r, cost);
        simulation->total += cost;
        simulation->largest = fmax(simulation->largest, cost);
    }
    if (!isfinite(simulation->total))
        return pti_fail(ctx, POLYTILE_OVERFLOW,
                        "simulation: the costs of %lld rows add up to more than a double holds",
                        (long long)request->n_rows);
    return POLYTILE_OK;
}

static polytile_status add_units(polytile_context *ctx, const polytile_simulation_request *request,
                                 polytile_simulation *simulation) {
    const size_t n_units = (size_t)request->n_units;
    double all = 0, fastest = 0;
    int unit = 0;
    simulation->n_units = request->n_units;
    simulation->speed = malloc(n_units * sizeof *simulation->speed);
    simulation->node = calloc(n_units, sizeof *simulation->node);
    if (simulation->speed == NULL || simulation->node == NULL)
        return pti_fail_memory(ctx, "a simulation", (double)(n_units * sizeof(double)));
    for (int u = 0; u < request->n_units; u++) {
        simulation->speed[u] = request->speeds[u];
        all += request->speeds[u];
        fastest = fmax(fastest, request->speeds[u]);
    }
    for (int n = 0; n < request->n_nodes; n++) {
        for (int k = 0; k < request->node_units[n]; k++)
            simulation->node[unit++] = n;
    }
    simulation->lower_bound_s = fmax(simulation->total / all, simulation->largest / fastest);
    return POLYTILE_OK;
}

/** Run the policies that are asked for, or the usual ones. */
static polytile_status run_policies(polytile_context *ctx,
                                    const polytile_simulation_request *request,
                                    polytile_simulation *simulation) {
    const bool has_own = request->n_policies > 0;
    const char *const *policies = has_own ? request->policies : usual_policies;
    const int n_policies =
        has_own ? request->n_policies : (int)(sizeof usual_policies / sizeof *usual_policies);
    polytile_status status = POLYTILE_OK;
    pti_policy policy;
    simulation->of = calloc((size_t)n_policies, sizeof *simulation->of);
    if (simulation->of == NULL)
        PTI_TRY(pti_fail_memory(ctx, "a simulation", n_policies * (double)sizeof *simulation->of));
    simulation->n_policies = n_policies;
    for (int k = 0; k < n_policies; k++) {
        PTI_TRY(pti_policy_parse(ctx, policies[k] == NULL ? "" : policies[k], simulation->n_units,
                                 &policy));
        simulation->of[k].policy = strdup(policies[k]);
        if (simulation->of[k].policy == NULL)
            PTI_TRY(pti_fail_memory(ctx, policies[k], (double)strlen(policies[k])));
        PTI_TRY(pti_simulate(ctx, simulation, request->costs, &policy, &simulation->of[k]));
    }
done:
    return status;
}

static polytile_status fill_simulation(polytile_context *ctx,
                                       const polytile_simulation_request *request,
                                       polytile_simulation *simulation) {
    polytile_status status;
    PTI_TRY(
        pti_check_reserved(ctx, "simulation", "polytile_simulation_request", request->reserved));
    PTI_TRY(check_speeds(ctx, request));
    PTI_TRY(check_nodes(ctx, request));
    if (request->n_policies < 0 || (request->n_policies > 0 && request->policies == NULL))
        PTI_TRY(pti_fail(ctx, POLYTILE_INVALID, "simulation: %d policies; list them, or give 0",
                         request->n_policies));
    PTI_TRY(add_costs(ctx, request, simulation));
    PTI_TRY(add_units(ctx, request, simulation));
    PTI_TRY(run_policies(ctx, request, simulation));
done:
    return status;
}

polytile_status polytile_simulation_create(polytile_context *ctx,
                                           const polytile_simulation_request *request,
                                           polytile_simulation **simulation) {
    if (simulation != NULL)
        *simulation = NULL;
    PTI_ENTER(ctx, ctx, "context");
    if (request == NULL || simulation == NULL)
        return pti_fail(ctx, POLYTILE_INVALID, "%s: the %s is NULL", __func__,
                        request == NULL ? "request" : "place for the simulation");
    polytile_simulation *made = calloc(1, sizeof *made);
    if (made == NULL)
        return pti_fail_memory(ctx, "a simulation", sizeof *made);
    polytile_status status = fill_simulation(ctx, request, made);
    if (status != POLYTILE_OK) {
        destroy_simulation(&made->object);
        return status;
    }
    pti_object_adopt(ctx, &made->object, destroy_simulation);
    *simulation = made;
    return POLYTILE_OK;
}

double polytile_simulation_get_lower_bound(const polytile_simulation *simulation) {
    return simulation == NULL ? 0 : simulation->lower_bound_s;
}

static polytile_status find_simulated(const char *function, const polytile_simulation *simulation,
                                      int k, const pti_simulated **result) {
    if (simulation == NULL)
        return pti_fail(NULL, POLYTILE_INVALID, "%s: the simulation is NULL", function);
    pti_clear_error(simulation->object.context);
    if (k < 0 || k >= simulation->n_policies)
        return pti_fail(simulation->object.context, POLYTILE_INVALID,
                        "%s: there is no policy %d; it has %d", function, k,
                        simulation->n_policies);
    *result = &simulation->of[k];
    return POLYTILE_OK;
}

polytile_status polytile_simulation_get_policy(const polytile_simulation *simulation, int k,
                                               polytile_simulated_policy *result) {
    const pti_simulated *simulated = NULL;
    polytile_status status;
    if (result != NULL)
        *result = (polytile_simulated_policy){.policy = ""};
    PTI_TRY(find_simulated(__func__, simulation, k, &simulated));
    if (result != NULL)
        *result = (polytile_simulated_policy){.policy = simulated->policy,
                                              .makespan_s = simulated->makespan_s,
                                              .n_pieces = simulated->n_pieces};
done:
    return status;
}

polytile_status polytile_simulation_get_unit(const polytile_simulation *simulation, int k, int unit,
                                             polytile_simulated_unit *result) {
    const pti_simulated *simulated = NULL;
    polytile_status status;
    if (result != NULL)
        *result = (polytile_simulated_unit){0};
    PTI_TRY(find_simulated(__func__, simulation, k, &simulated));
    if (unit < 0 || unit >= simulation->n_units)
        return pti_fail(simulation->object.context, POLYTILE_INVALID,
                        "%s: there is no unit %d; it has %d", __func__, unit, simulation->n_units);
    if (result != NULL)
        *result = simulated->unit[unit];
done:
    return status;
}
