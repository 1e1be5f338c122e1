#include "distribute/team/share_options.h"

#include <string.h>

bool pti_share_options_is_by_speed(const char *layout) {
    return layout != NULL && strcmp(layout, pti_distribution_weighted.name) == 0;
}

/** Arrays are dealt out in blocks then, for launches that cannot be pooled. */
static bool is_pool(const char *layout) {
    return layout != NULL && strcmp(layout, "pool") == 0;
}

/** The error that lists the layouts names the one that is none of a distribution, too. */
static polytile_status parse_layout(polytile_context *ctx, const pti_share_options *given,
                                    const char *layout, pti_distribution *distribution) {
    polytile_status status = pti_distribution_parse(ctx, layout, distribution);
    if (status == POLYTILE_INVALID && given->may_pool)
        return pti_fail(ctx, status, "%s, pool", polytile_last_error(ctx));
    return status;
}

static polytile_status parse_grid(polytile_context *ctx, const pti_share_options *given,
                                  pti_member_grid *grid) {
    if (!pti_member_grid_parse(given->grid, grid))
        return pti_fail(ctx, POLYTILE_INVALID,
                        "grid \"%s\": write numbers of %s such as 4x2, at most %d of them",
                        given->grid, given->members, POLYTILE_MAX_DIMS);
    if (pti_member_grid_count(grid) != given->n_members)
        return pti_fail(ctx, POLYTILE_INVALID, "grid \"%s\" has %d %s, %s has %d", given->grid,
                        pti_member_grid_count(grid), given->members, given->list, given->n_members);
    return POLYTILE_OK;
}

polytile_status pti_share_options_parse(polytile_context *ctx, const pti_share_options *given,
                                        pti_member_grid *grid, pti_team_options *parsed) {
    const bool pools = given->may_pool && is_pool(given->layout);
    const bool is_later = pools || pti_share_options_is_by_speed(given->layout);
    polytile_status status = POLYTILE_OK;
    *parsed = (pti_team_options){.most_steps = given->launches_per_exchange, .pools = pools};
    if (given->launches_per_exchange < 0)
        PTI_TRY(pti_fail(ctx, POLYTILE_INVALID, "launches_per_exchange is %lld; it is at least 0",
                         (long long)given->launches_per_exchange));
    if (given->grid != NULL) {
        PTI_TRY(parse_grid(ctx, given, grid));
        parsed->grid = grid;
    }
    PTI_TRY(parse_layout(ctx, given, is_later ? NULL : given->layout, &parsed->distribution));
    PTI_TRY(pti_ownership_check(ctx, given->n_members, parsed->grid, &parsed->distribution));
done:
    return status;
}
