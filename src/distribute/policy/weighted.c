#include "distribute/policy/policy.h"

#include <stdio.h>

/* Rows in proportion to numbers that are given, or to the speeds that were measured. */

/** Numbers are divided by their sum. */
static bool has_sum(pti_policy *policy) {
    static const double most = 1e300;
    double sum = 0;
    for (int k = 0; k < policy->n_numbers; k++)
        sum += policy->number[k];
    if (!(sum > 0))
        snprintf(policy->wrong, sizeof policy->wrong, "all numbers are 0");
    else if (sum > most)
        snprintf(policy->wrong, sizeof policy->wrong, "the sum is more than %g", most);
    return policy->wrong[0] == '\0';
}

static bool parse_weighted(const char *arguments, pti_policy *policy) {
    return arguments == NULL || (pti_policy_read_numbers(arguments, 0, policy) && has_sum(policy));
}

/** Return the speed of the slowest unit whose speed is known; the others count as that slow. */
static double slowest_known(const polytile_work *work) {
    double slowest = 0;
    for (int u = 0; u < work->n_units; u++) {
        double speed = pti_unit_rows_per_s(&work->units[u]);
        if (speed > 0 && (slowest == 0 || speed < slowest))
            slowest = speed;
    }
    return slowest > 0 ? slowest : 1;
}

static bool split_by_weights(const pti_policy *policy, const polytile_work *work, int64_t *rows) {
    double weights[PTI_DEAL_MAX_UNITS];
    const double unknown = slowest_known(work);
    for (int u = 0; u < work->n_units; u++) {
        double speed = pti_unit_rows_per_s(&work->units[u]);
        weights[u] = policy->n_numbers > 0 ? policy->number[u] : speed > 0 ? speed : unknown;
    }
    pti_rows_by_weight(work->n_rows, work->n_units, weights, rows);
    return false;
}

const pti_policy_kind pti_policy_weighted = {
    .name = "weighted",
    .forms = "weighted, weighted(3,1)",
    .parse = parse_weighted,
    .split = split_by_weights,
};
