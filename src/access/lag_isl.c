#include "access/lag_isl.h"

#include "access/isl/relations.h"

#include <isl/aff.h>
#include <isl/ilp.h>
#include <isl/set.h>
#include <isl/space.h>
#include <isl/val.h>

/** Space  { [index] -> [element] }, since launches have names of their own for what they share. */
static __isl_give isl_map *relation_of(isl_ctx *isl, const pti_cut_section *cut) {
    isl_map *map = pti_section_relation(isl, cut->instance, cut->section);
    map = isl_map_reset_tuple_id(map, isl_dim_in);
    return isl_map_reset_tuple_id(map, isl_dim_out);
}

/** Space  { [[[earlier index] -> [later index]] -> [element]] }, of the elements that both touch */
static __isl_give isl_set *meetings(isl_ctx *isl, const pti_cut_section *earlier,
                                    const pti_cut_section *later) {
    isl_map *one = relation_of(isl, earlier);
    isl_map *other = relation_of(isl, later);
    return isl_map_wrap(isl_map_domain_product(one, other));
}

/** How far the earlier launch's thread of a meeting is ahead of the later one's. */
static __isl_give isl_aff *gap_of(__isl_keep isl_set *meetings, const pti_cut_section *earlier,
                                  const pti_cut_section *later) {
    isl_aff *gap = isl_aff_zero_on_domain_space(isl_set_get_space(meetings));
    int behind = earlier->instance->n_indices + later->index;
    gap = isl_aff_set_coefficient_si(gap, isl_dim_in, earlier->index, 1);
    return isl_aff_set_coefficient_si(gap, isl_dim_in, behind, -1);
}

/* What is known of a largest value that isl gave, or of none; not a number: of an empty set. */
static polytile_status set_lag(isl_ctx *isl, __isl_keep isl_val *largest, pti_lag *lag) {
    if (largest == NULL)
        return pti_isl_gave_up(isl) ? POLYTILE_OK : POLYTILE_NO_MEMORY;
    lag->conflicts = isl_val_is_nan(largest) != isl_bool_true;
    if (lag->conflicts)
        lag->threads = isl_val_get_num_si(largest);
    return POLYTILE_OK;
}

polytile_status pti_lag_isl(isl_ctx *isl, const pti_cut_section *earlier,
                            const pti_cut_section *later, pti_lag *lag) {
    pti_isl_begin(isl);
    isl_set *meeting = meetings(isl, earlier, later);
    isl_aff *gap = gap_of(meeting, earlier, later);
    isl_val *largest = isl_set_max_val(meeting, gap);
    lag->conflicts = true;
    lag->threads = earlier->instance->threads.range[earlier->index].hi -
                   later->instance->threads.range[later->index].lo;
    polytile_status status = set_lag(isl, largest, lag);
    isl_val_free(largest);
    isl_aff_free(gap);
    isl_set_free(meeting);
    return status;
}
