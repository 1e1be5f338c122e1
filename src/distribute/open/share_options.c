#include "distribute/open/share_options.h"

#include <string.h>

/** An old way to ask for a policy, by the layout; NULL: it is a layout. */
static const char *policy_of_layout(const pti_share_options *of) {
    static const char pool[] = "pool";
    const char *layout = of->given->layout;
    return of->may_deal && layout != NULL && strcmp(layout, pool) == 0 ? pool : NULL;
}

/** The policy that is asked for; NULL: none is. */
static const char *find_asked_policy(const pti_share_options *of) {
    return of->given->policy != NULL ? of->given->policy : policy_of_layout(of);
}

/** The layout that is asked for; NULL: none is. */
static const char *find_asked_layout(const pti_share_options *of) {
    return policy_of_layout(of) == NULL ? of->given->layout : NULL;
}

/** Members that are different are not known to be equally fast. */
static const char *default_policy(const pti_share_options *of, const char *layout) {
    bool can_be_weighed = of->n_members <= PTI_MAX_WEIGHTS;
    return layout == NULL && of->are_different && can_be_weighed ? "guided" : "equal";
}

/** Policies that split alone do what a layout does, if there is no other. */
static bool needs_dealing(const pti_policy *policy, bool is_asked, const char *layout) {
    return pti_policy_is_dynamic(policy) ||
           (is_asked && (layout != NULL || policy->plug_in != NULL || policy->by_node));
}

static polytile_status parse_policy(polytile_context *ctx, const pti_share_options *of,
                                    pti_group_options *parsed) {
    const char *asked = find_asked_policy(of), *layout = find_asked_layout(of);
    const char *text = asked != NULL ? asked : default_policy(of, layout);
    polytile_status status = pti_policy_parse(ctx, text, of->n_members, &parsed->policy);
    parsed->deals_rows = status == POLYTILE_OK && of->may_deal &&
                         needs_dealing(&parsed->policy, asked != NULL, layout);
    parsed->deals_sums = of->may_deal && (asked != NULL || layout == NULL);
    return status;
}

/** The layout that goes with a policy where none is given. */
static const char *layout_of_policy(const pti_share_options *of, const pti_policy *policy) {
    if (policy->kind == &pti_policy_guided)
        return pti_policy_weighted.name;
    return policy->kind == &pti_policy_weighted ? find_asked_policy(of) : NULL;
}

/** A layout by speed is a block until it is known. */
static polytile_status parse_layout(polytile_context *ctx, const pti_share_options *of,
                                    pti_group_options *parsed) {
    const char *asked = find_asked_layout(of);
    const char *text = asked != NULL ? asked : layout_of_policy(of, &parsed->policy);
    parsed->is_by_speed = text != NULL && strcmp(text, pti_distribution_weighted.name) == 0;
    return pti_distribution_parse(ctx, parsed->is_by_speed ? NULL : text, &parsed->distribution);
}

static polytile_status parse_grid(polytile_context *ctx, const pti_share_options *of,
                                  pti_member_grid *grid) {
    const char *text = of->given->grid;
    if (!pti_member_grid_parse(text, grid))
        return pti_fail(ctx, POLYTILE_INVALID,
                        "grid \"%s\": write numbers of %s such as 4x2, at most %d of them", text,
                        of->members, POLYTILE_MAX_DIMS);
    if (pti_member_grid_count(grid) != of->n_members)
        return pti_fail(ctx, POLYTILE_INVALID, "grid \"%s\" has %d %s, %s has %d", text,
                        pti_member_grid_count(grid), of->members, of->list, of->n_members);
    return POLYTILE_OK;
}

polytile_status pti_share_options_parse(polytile_context *ctx, const pti_share_options *of,
                                        pti_member_grid *grid, pti_group_options *parsed) {
    const polytile_share_options *given = of->given;
    polytile_status status = POLYTILE_OK;
    *parsed = (pti_group_options){.most_launches = given->launches_per_exchange};
    PTI_TRY(pti_check_reserved(ctx, of->members, "polytile_share_options", given->reserved));
    if (given->launches_per_exchange < 0)
        PTI_TRY(pti_fail(ctx, POLYTILE_INVALID, "launches_per_exchange is %lld; it is at least 0",
                         (long long)given->launches_per_exchange));
    if (given->grid != NULL) {
        PTI_TRY(parse_grid(ctx, of, grid));
        parsed->grid = grid;
    }
    PTI_TRY(parse_policy(ctx, of, parsed));
    PTI_TRY(parse_layout(ctx, of, parsed));
    PTI_TRY(pti_ownership_check(ctx, of->n_members, parsed->grid, &parsed->distribution));
done:
    return status;
}
