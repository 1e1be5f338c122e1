#include "distribute/open/share_options.h"

#include <string.h>

/** An old way to ask for a policy, by the layout; NULL: it is a layout. */
static const char *policy_of_layout(const pti_share_options *options) {
    static const char pool[] = "pool";
    const char *layout = options->given->layout;
    return options->may_deal && layout != NULL && strcmp(layout, pool) == 0 ? pool : NULL;
}

/** Return the policy that is asked for; NULL: none is. */
static const char *find_asked_policy(const pti_share_options *options) {
    return options->given->policy != NULL ? options->given->policy : policy_of_layout(options);
}

/** Return the layout that is asked for; NULL: none is. */
static const char *find_asked_layout(const pti_share_options *options) {
    return policy_of_layout(options) == NULL ? options->given->layout : NULL;
}

/** Members that are different are not known to be equally fast. */
static const char *default_policy(const pti_share_options *options, const char *layout) {
    bool can_be_weighed = options->n_members <= PTI_MAX_WEIGHTS;
    return layout == NULL && options->are_different && can_be_weighed ? "guided" : "equal";
}

/** Policies that split alone do what a layout does, if there is no other. */
static bool needs_dealing(const pti_policy *policy, bool is_asked, const char *layout) {
    return pti_policy_is_dynamic(policy) ||
           (is_asked && (layout != NULL || policy->plug_in != NULL || policy->by_node));
}

static polytile_status parse_policy(polytile_context *ctx, const pti_share_options *options,
                                    pti_group_options *parsed) {
    const char *asked = find_asked_policy(options), *layout = find_asked_layout(options);
    const char *text = asked != NULL ? asked : default_policy(options, layout);
    polytile_status status = pti_policy_parse(ctx, text, options->n_members, &parsed->policy);
    parsed->deals_rows = status == POLYTILE_OK && options->may_deal &&
                         needs_dealing(&parsed->policy, asked != NULL, layout);
    parsed->deals_sums = options->may_deal && (asked != NULL || layout == NULL);
    if (status == POLYTILE_OK && options->may_take && pti_policy_is_dynamic(&parsed->policy))
        parsed->deals_rows = parsed->deals_sums = true;
    return status;
}

/** Return the layout that goes with a policy where none is given. */
static const char *layout_of_policy(const pti_share_options *options, const pti_policy *policy) {
    if (policy->kind == &pti_policy_guided)
        return pti_policy_weighted.name;
    return policy->kind == &pti_policy_weighted ? find_asked_policy(options) : NULL;
}

/** Parse the layout. One by speed is a block until speeds are known. */
static polytile_status parse_layout(polytile_context *ctx, const pti_share_options *options,
                                    pti_group_options *parsed) {
    const char *asked = find_asked_layout(options);
    const char *text = asked != NULL ? asked : layout_of_policy(options, &parsed->policy);
    parsed->is_by_speed = text != NULL && strcmp(text, pti_distribution_weighted.name) == 0;
    return pti_distribution_parse(ctx, parsed->is_by_speed ? NULL : text, &parsed->distribution);
}

static polytile_status parse_grid(polytile_context *ctx, const pti_share_options *options,
                                  pti_member_grid *grid) {
    const char *text = options->given->grid;
    if (!pti_member_grid_parse(text, grid))
        return pti_fail(ctx, POLYTILE_INVALID,
                        "grid \"%s\": write numbers of %s such as 4x2, at most %d of them", text,
                        options->members, POLYTILE_MAX_DIMS);
    if (pti_member_grid_count(grid) != options->n_members)
        return pti_fail(ctx, POLYTILE_INVALID, "grid \"%s\" has %d %s, %s has %d", text,
                        pti_member_grid_count(grid), options->members, options->list,
                        options->n_members);
    return POLYTILE_OK;
}

polytile_status pti_share_options_parse(polytile_context *ctx, const pti_share_options *options,
                                        pti_member_grid *grid, pti_group_options *parsed) {
    const polytile_share_options *given = options->given;
    polytile_status status = POLYTILE_OK;
    *parsed = (pti_group_options){.most_launches = given->launches_per_exchange};
    PTI_TRY(pti_check_reserved(ctx, options->members, "polytile_share_options", given->reserved));
    if (given->launches_per_exchange < 0)
        PTI_TRY(pti_fail(ctx, POLYTILE_INVALID, "launches_per_exchange is %lld; it is at least 0",
                         (long long)given->launches_per_exchange));
    if (given->grid != NULL) {
        PTI_TRY(parse_grid(ctx, options, grid));
        parsed->grid = grid;
    }
    PTI_TRY(parse_policy(ctx, options, parsed));
    PTI_TRY(parse_layout(ctx, options, parsed));
    PTI_TRY(pti_ownership_check(ctx, options->n_members, parsed->grid, &parsed->distribution));
done:
    return status;
}
