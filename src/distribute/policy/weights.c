#include "distribute/policy/policy.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/** Say what is wrong with the next number. */
static bool refuse_number(pti_policy *policy, double number, double least) {
    const int nth = policy->n_numbers + 1;
    if (nth > PTI_POLICY_MAX_NUMBERS)
        snprintf(policy->wrong, sizeof policy->wrong, "there are more than %d numbers",
                 PTI_POLICY_MAX_NUMBERS);
    else if (number < least)
        snprintf(policy->wrong, sizeof policy->wrong, "number %d is %g, which is less than %g", nth,
                 number, least);
    else
        snprintf(policy->wrong, sizeof policy->wrong, "number %d is %g, which is not finite", nth,
                 number);
    return false;
}

static bool refuse_word(pti_policy *policy) {
    snprintf(policy->wrong, sizeof policy->wrong, "number %d is none", policy->n_numbers + 1);
    return false;
}

bool pti_policy_read_numbers(const char *arguments, double least, pti_policy *policy) {
    const char *next = arguments;
    char *end = NULL;
    for (; end == NULL || *end == ','; next = end + 1) {
        double number = strtod(next, &end);
        if (end == next || (*end != ',' && *end != '\0'))
            return refuse_word(policy);
        if (!isfinite(number) || number < least || policy->n_numbers == PTI_POLICY_MAX_NUMBERS)
            return refuse_number(policy, number, least);
        policy->number[policy->n_numbers++] = number;
    }
    return true;
}

void pti_rows_by_weight(int64_t n_rows, int n_units, const double *weights, int64_t *rows) {
    long double all = 0, before = 0;
    int64_t n_before = 0;
    for (int u = 0; u < n_units; u++)
        all += (long double)weights[u];
    for (int u = 0; u < n_units; u++) {
        before += (long double)weights[u];
        int64_t n_with = (int64_t)floorl((long double)n_rows * (before / all) + 0.5L);
        rows[u] = (u == n_units - 1 || n_with > n_rows ? n_rows : n_with) - n_before;
        n_before += rows[u];
    }
}

double pti_unit_rows_per_s(const polytile_unit *unit) {
    return unit->done_rows > 0 && unit->busy_s > 0 ? (double)unit->done_rows / unit->busy_s
                                                   : unit->prior_rows_per_s;
}

int pti_fastest_unit(const polytile_work *work) {
    int fastest = 0;
    for (int u = 1; u < work->n_units; u++) {
        if (pti_unit_rows_per_s(&work->units[u]) > pti_unit_rows_per_s(&work->units[fastest]))
            fastest = u;
    }
    return fastest;
}
