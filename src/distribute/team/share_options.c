#include "distribute/team/share_options.h"

#include <string.h>

bool pti_share_options_is_by_speed(const char *layout) {
    return layout != NULL && strcmp(layout, pti_distribution_weighted.name) == 0;
}

/** Arrays are dealt out in blocks then, for launches that cannot be cut into chunks. */
static bool is_self_scheduled(const char *layout) {
    return layout != NULL && strcmp(layout, "pool") == 0;
}

/** The error that lists the layouts names the one that is none of a distribution, too. */
static polytile_status parse_layout(polytile_context *ctx, const pti_share_options *of,
                                    const char *layout, pti_distribution *distribution) {
    polytile_status status = pti_distribution_parse(ctx, layout, distribution);
    if (status == POLYTILE_INVALID && of->may_self_schedule)
        return pti_fail(ctx, status, "%s, pool", polytile_last_error(ctx));
    return status;
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
                                        pti_member_grid *grid, pti_team_options *parsed) {
    const polytile_share_options *given = of->given;
    const bool by_chunks = of->may_self_schedule && is_self_scheduled(given->layout);
    const bool is_later = by_chunks || pti_share_options_is_by_speed(given->layout);
    polytile_status status = POLYTILE_OK;
    *parsed =
        (pti_team_options){.most_steps = given->launches_per_exchange, .by_chunks = by_chunks};
    PTI_TRY(pti_check_reserved(ctx, of->members, "polytile_share_options", given->reserved));
    if (given->launches_per_exchange < 0)
        PTI_TRY(pti_fail(ctx, POLYTILE_INVALID, "launches_per_exchange is %lld; it is at least 0",
                         (long long)given->launches_per_exchange));
    if (given->grid != NULL) {
        PTI_TRY(parse_grid(ctx, of, grid));
        parsed->grid = grid;
    }
    PTI_TRY(parse_layout(ctx, of, is_later ? NULL : given->layout, &parsed->distribution));
    PTI_TRY(pti_ownership_check(ctx, of->n_members, parsed->grid, &parsed->distribution));
done:
    return status;
}
