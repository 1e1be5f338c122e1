#include "partition/ping_pong/ping_pong.h"

#include "base/checked.h"
#include "partition/ping_pong/margins.h"
#include "partition/ping_pong/tile_cost.h"
#include "partition/ping_pong/wraps.h"

#include <inttypes.h>

bool pti_ping_pong_shrinks_evenly(const pti_margin *per_launch, const pti_call *call,
                                  int n_launches) {
    const polytile_domain *first = &call[0].instance->threads,
                          *last = &call[n_launches - 1].instance->threads;
    bool do_shrink = true;
    for (int l = 0; l < n_launches; l++)
        for (int d = 0; d < first->n_dims && do_shrink; d++) {
            const int64_t n_later = n_launches - 1 - l;
            const polytile_range *range = &call[l].instance->threads.range[d];
            do_shrink = range->lo == pti_max(first->range[d].lo,
                                             last->range[d].lo - n_later * per_launch->before[d]) &&
                        range->hi == pti_min(first->range[d].hi,
                                             last->range[d].hi + n_later * per_launch->after[d]);
        }
    return do_shrink;
}

/** Return whether a section is of the element that has the thread's indices, and of those around it
 * within the margin of a launch. */
static bool is_within_margin(const pti_instance *instance, const pti_section *section,
                             const pti_ping_pong *ping_pong) {
    const pti_margin *per_launch = &ping_pong->margin_per_launch;
    bool is = section->n_dims == 2;
    for (int d = 0; d < 2 && is; d++) {
        const int64_t turn =
            pti_goes_round(ping_pong->rounds, d) ? pti_section_wrap(instance, section, d) : 0;
        is = section->followed[d] == d &&
             section->subscript[d].lo.constant - turn >= -per_launch->before[d] &&
             section->subscript[d].hi.constant - turn <= per_launch->after[d];
    }
    return is;
}

/** A tile's border is as wide as what launches read of what the one before wrote: it must do for
 * other arrays. */
static bool are_within_margin(const pti_instance *instance, const pti_ping_pong *ping_pong,
                              pti_text *why) {
    int s = 0;
    while (s < instance->n_sections && is_within_margin(instance, &instance->section[s], ping_pong))
        s++;
    if (s < instance->n_sections)
        pti_text_add(why, "%s reads %s beyond the border that the arrays need which change roles",
                     instance->kernel_name, instance->operand[instance->section[s].operand].name);
    return s == instance->n_sections;
}

static bool check_columns(const pti_ping_pong *ping_pong, pti_text *why) {
    if (!pti_ping_pong_has_columns(ping_pong))
        pti_text_add(why, "%s goes round %" PRId64 " columns; a tile has %" PRId64,
                     ping_pong->instance->kernel_name,
                     pti_range_count(ping_pong->instance->threads.range[1]),
                     ping_pong->room->n_columns);
    return pti_ping_pong_has_columns(ping_pong);
}

bool pti_ping_pong_lacks_rounds(const pti_ping_pong *ping_pong, const char *kernel, pti_text *why) {
    const bool lacks = ping_pong->rounds != 0 && !ping_pong->may_go_round;
    if (lacks)
        pti_text_add(why,
                     "the tiles of %s do not go round periodic arrays; compile the kernel with "
                     "POLYTILE_PERIODIC_TILES defined as 1",
                     kernel);
    return lacks;
}

polytile_status pti_ping_pong_find_margin(pti_ping_pong *ping_pong, const pti_call *call,
                                          int n_arrays, bool *is_found, pti_text *why) {
    pti_tiling tiling = {.n_launches = 2, .call = call, .n_arrays = n_arrays};
    *is_found = false;
    if (!pti_wraps_find(call->instance, &ping_pong->rounds) ||
        pti_ping_pong_lacks_rounds(ping_pong, call->instance->kernel_name, why))
        return POLYTILE_OK;
    tiling.rounds = ping_pong->rounds;
    polytile_status status = pti_margins_find(&tiling, why);
    if (status == POLYTILE_OK && tiling.margin != NULL) {
        ping_pong->margin_per_launch = tiling.margin[0];
        *is_found =
            are_within_margin(call->instance, ping_pong, why) && check_columns(ping_pong, why);
    }
    pti_tiling_free(&tiling);
    return status;
}

bool pti_ping_pong_has_even_margins(const pti_margin *per_launch, const pti_tiling *tiling) {
    bool has = true;
    for (int l = 0; l < tiling->n_launches; l++)
        for (int d = 0; d < 2; d++) {
            const int n_later = tiling->n_launches - 1 - l;
            has = has && tiling->margin[l].before[d] == n_later * per_launch->before[d] &&
                  tiling->margin[l].after[d] == n_later * per_launch->after[d];
        }
    return has;
}
