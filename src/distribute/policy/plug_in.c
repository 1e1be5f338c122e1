#include "base/log.h"
#include "distribute/policy/policy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Policies that programs register. Whatever they answer, rows are dealt out once each. */

static bool parse_nothing(const char *arguments, pti_policy *policy) {
    (void)policy;
    return arguments == NULL;
}

/** Weights that are finite numbers, at least 0, so small that they can be added up; returns whether
 * they were that before. */
static bool clamp_weights(int n_units, double *weights) {
    bool were = true;
    for (int u = 0; u < n_units; u++) {
        bool is = isfinite(weights[u]) && weights[u] >= 0;
        weights[u] = is ? weights[u] : 0;
        were &= is;
    }
    return were;
}

static bool are_all_zero(int n_units, const double *weights) {
    for (int u = 0; u < n_units; u++) {
        if (weights[u] > 0)
            return false;
    }
    return true;
}

static bool split_as_weighed(const pti_policy *policy, const polytile_work *work, int64_t *rows) {
    double weights[PTI_DEAL_MAX_UNITS] = {0};
    const polytile_policy *given = &policy->plug_in->policy;
    given->weigh(work, weights, given->user);
    bool was_right = clamp_weights(work->n_units, weights);
    if (are_all_zero(work->n_units, weights))
        weights[pti_fastest_unit(work)] = 1;
    pti_rows_by_weight(work->n_rows, work->n_units, weights, rows);
    return !was_right;
}

static int64_t take_as_told(const pti_policy *policy, const polytile_work *work, int unit) {
    const polytile_policy *given = &policy->plug_in->policy;
    return given->take(work, unit, given->user);
}

static void destroy_plug_in(pti_object *object) {
    pti_plug_in *plug_in = (pti_plug_in *)object;
    free((char *)(uintptr_t)plug_in->policy.name);
    free(plug_in);
}

const pti_plug_in *pti_plug_in_of(const pti_object *object) {
    return object->destroy == destroy_plug_in ? (const pti_plug_in *)object : NULL;
}

pti_plug_in *pti_plug_in_find(const polytile_context *ctx, const char *name) {
    for (pti_object *object = pti_get_newest(ctx); object != NULL; object = object->next) {
        if (object->destroy == destroy_plug_in &&
            strcmp(((pti_plug_in *)object)->policy.name, name) == 0)
            return (pti_plug_in *)object;
    }
    return NULL;
}

polytile_status pti_plug_in_adopt(polytile_context *ctx, const polytile_policy *policy) {
    pti_plug_in *plug_in = calloc(1, sizeof *plug_in);
    char *name = strdup(policy->name);
    if (plug_in == NULL || name == NULL) {
        free(plug_in);
        free(name);
        return pti_fail_memory(ctx, policy->name, sizeof *plug_in);
    }
    plug_in->policy = *policy;
    plug_in->policy.name = name;
    plug_in->kind = (pti_policy_kind){.name = name,
                                      .forms = name,
                                      .parse = parse_nothing,
                                      .split = policy->weigh == NULL ? NULL : split_as_weighed,
                                      .take = policy->take == NULL ? NULL : take_as_told,
                                      .looks_at_units = true};
    pti_object_adopt(ctx, &plug_in->object, destroy_plug_in);
    return POLYTILE_OK;
}

void pti_policy_tell_clamped(const polytile_context *ctx, const pti_policy *policy) {
    if (policy->plug_in == NULL || policy->plug_in->was_told)
        return;
    policy->plug_in->was_told = true;
    pti_log(
        ctx, PTI_LOG_WARN,
        "policy %s: answers that are no number of rows, or no weight, are taken for the nearest "
        "one that is",
        policy->plug_in->policy.name);
}
