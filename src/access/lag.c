#include "access/lag.h"

#include "access/footprint/footprint.h"
#include "access/isl/relations.h"
#include "base/context.h"

#include <isl/aff.h>
#include <isl/ilp.h>
#include <isl/set.h>
#include <isl/space.h>
#include <isl/val.h>

/** Return { [index] -> [element] }, without names, which differ between launches. */
static __isl_give isl_map *relation_of_cut(isl_ctx *isl, const pti_cut_section *cut) {
    isl_map *map = pti_section_relation(isl, cut->instance, cut->section);
    map = isl_map_reset_tuple_id(map, isl_dim_in);
    return isl_map_reset_tuple_id(map, isl_dim_out);
}

/** Return { [[[earlier index] -> [later index]] -> [element]] } of the elements that both touch. */
static __isl_give isl_set *meetings_of(isl_ctx *isl, const pti_cut_section *earlier,
                                       const pti_cut_section *later) {
    isl_map *one = relation_of_cut(isl, earlier);
    isl_map *other = relation_of_cut(isl, later);
    return isl_map_wrap(isl_map_domain_product(one, other));
}

/** Return how far the earlier launch's thread is ahead of the later one's in a meeting. */
static __isl_give isl_aff *gap_of(__isl_keep isl_set *meetings, const pti_cut_section *earlier,
                                  const pti_cut_section *later) {
    isl_aff *gap = isl_aff_zero_on_domain_space(isl_set_get_space(meetings));
    int of_later = earlier->instance->n_indices + later->index;
    gap = isl_aff_set_coefficient_si(gap, isl_dim_in, earlier->index, 1);
    return isl_aff_set_coefficient_si(gap, isl_dim_in, of_later, -1);
}

/* Set the lag from isl's largest value, or from none; not a number: of an empty set. */
static polytile_status set_lag(isl_ctx *isl, __isl_keep isl_val *largest, pti_lag *lag) {
    if (largest == NULL)
        return pti_isl_gave_up(isl) ? POLYTILE_OK : POLYTILE_NO_MEMORY;
    lag->conflicts = isl_val_is_nan(largest) != isl_bool_true;
    if (lag->conflicts)
        lag->threads = isl_val_get_num_si(largest);
    return POLYTILE_OK;
}

/** Find the exact lag between two sections of one array by isl, in tenths of a millisecond at
 * least. If isl gives up, they conflict, and the lag is what the launch domains allow. */
static polytile_status find_lag_by_isl(isl_ctx *isl, const pti_cut_section *earlier,
                                       const pti_cut_section *later, pti_lag *lag) {
    pti_isl_begin(isl);
    isl_set *meeting = meetings_of(isl, earlier, later);
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

/** What is known of two launches. */
typedef struct lag_search {
    const pti_cut_launch *earlier;
    const pti_cut_launch *later;
    int64_t most;  /* what the launch domains allow */
    isl_ctx *isl;  /* NULL until it is needed */
    bool by_isl;   /* where no closed form finds a lag; else by a bound of it */
    bool is_exact; /* no bound is the largest */
    pti_lag found; /* the largest of those looked at */
} lag_search;

/* Return how many sections an operand has: one if only its hull is known. */
static int n_touched(const pti_operand *operand) {
    return operand->partial ? 1 : operand->n_sections;
}

/* Return the hull of an operand as a section that all threads read and write. */
static pti_section whole_hull(const pti_instance *instance, int operand) {
    polytile_domain hull = pti_footprint_hull(instance, operand, PTI_TOUCHES, &instance->threads);
    pti_section section = {.operand = operand,
                           .role = POLYTILE_INOUT,
                           .exact = false,
                           .is_box = true,
                           .n_dims = hull.n_dims};
    for (int d = 0; d < hull.n_dims; d++) {
        section.followed[d] = POLYTILE_MAX_DIMS;
        section.subscript[d] = (pti_subscript){.lo = {.constant = hull.range[d].lo},
                                               .hi = {.constant = hull.range[d].hi},
                                               .step = hull.range[d].step};
    }
    return section;
}

/* Return the s-th section of an operand; *held holds one that the instance lacks. */
static pti_cut_section section_of_operand(const pti_cut_launch *launch, int operand, int s,
                                          pti_section *held) {
    const pti_instance *instance = launch->call.instance;
    const pti_operand *of = &instance->operand[operand];
    pti_cut_section cut = {.instance = instance, .section = held, .index = launch->index};
    if (of->partial)
        *held = whole_hull(instance, operand);
    else
        cut.section = &instance->section[of->first_section + s];
    return cut;
}

static bool is_longer(const lag_search *of, const pti_lag *lag) {
    return lag->conflicts && (!of->found.conflicts || lag->threads > of->found.threads);
}

static polytile_status look_through_isl(lag_search *of, const pti_cut_section *earlier,
                                        const pti_cut_section *later, pti_lag *lag) {
    if (of->isl == NULL)
        of->isl = pti_isl_open();
    return of->isl == NULL ? POLYTILE_NO_MEMORY : find_lag_by_isl(of->isl, earlier, later, lag);
}

/** Find the lag of two sections in closed form, else by isl, and keep it if it is the longest. */
static polytile_status look_at_sections(lag_search *of, const pti_cut_section *earlier,
                                        const pti_cut_section *later) {
    polytile_status status = POLYTILE_OK;
    pti_lag lag;
    if (earlier->section->role == POLYTILE_IN && later->section->role == POLYTILE_IN)
        return POLYTILE_OK;
    bool is_exact = pti_lag_closed(earlier, later, &lag);
    if (!is_exact)
        lag = (pti_lag){true, pti_lag_most(earlier, later)};
    if (!is_exact && of->by_isl && is_longer(of, &lag)) {
        is_exact = true;
        PTI_TRY(look_through_isl(of, earlier, later, &lag));
    }
    if (is_longer(of, &lag)) {
        of->found = lag;
        of->is_exact = is_exact;
    }
done:
    return status;
}

/* Return whether no other conflict can change what is known. */
static bool is_settled(const lag_search *of) {
    return of->found.conflicts && of->found.threads >= of->most;
}

/** Look at all pairs of sections of two operands of one array. */
static polytile_status look_at_operands(lag_search *of, int one, int other) {
    const pti_operand *first = &of->earlier->call.instance->operand[one];
    const pti_operand *second = &of->later->call.instance->operand[other];
    polytile_status status = POLYTILE_OK;
    pti_section held[2];
    if (!first->writes && !second->writes)
        return POLYTILE_OK;
    for (int s = 0; s < n_touched(first); s++) {
        pti_cut_section earlier = section_of_operand(of->earlier, one, s, &held[0]);
        for (int t = 0; t < n_touched(second) && !is_settled(of); t++) {
            pti_cut_section later = section_of_operand(of->later, other, t, &held[1]);
            PTI_TRY(look_at_sections(of, &earlier, &later));
        }
    }
done:
    return status;
}

static lag_search search_of(const pti_cut_launch *earlier, const pti_cut_launch *later,
                            bool by_isl) {
    return (lag_search){.earlier = earlier,
                        .later = later,
                        .most = earlier->call.instance->threads.range[earlier->index].hi -
                                later->call.instance->threads.range[later->index].lo,
                        .by_isl = by_isl,
                        .is_exact = true};
}

static polytile_status look_at_launches(lag_search *of) {
    polytile_status status = POLYTILE_OK;
    for (int p = 0; p < of->earlier->call.instance->n_operands; p++)
        for (int q = 0; q < of->later->call.instance->n_operands; q++)
            if (of->earlier->call.array[p] == of->later->call.array[q])
                PTI_TRY(look_at_operands(of, p, q));
done:
    return status;
}

polytile_status pti_launch_lag(const pti_cut_launch *earlier, const pti_cut_launch *later,
                               pti_lag *lag) {
    lag_search of = search_of(earlier, later, true);
    polytile_status status = look_at_launches(&of);
    if (status == POLYTILE_OK)
        *lag = of.found;
    pti_isl_close(of.isl);
    return status;
}

bool pti_launch_lag_bound(const pti_cut_launch *earlier, const pti_cut_launch *later,
                          pti_lag *lag) {
    lag_search of = search_of(earlier, later, false);
    look_at_launches(&of);
    *lag = of.found;
    return of.is_exact;
}
