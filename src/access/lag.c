#include "access/lag.h"

#include "access/footprint/footprint.h"
#include "access/isl/relations.h"
#include "access/lag_isl.h"
#include "base/context.h"

/** What is known so far of a pair of launches. */
typedef struct search {
    const pti_cut_launch *earlier;
    const pti_cut_launch *later;
    int64_t most;  /* what the launch domains allow */
    isl_ctx *isl;  /* NULL until it is needed */
    pti_lag found; /* the largest of those looked at */
} search;

/* How many sections say what a launch touches of an operand: one if only its hull is known. */
static int n_touched(const pti_operand *operand) {
    return operand->partial ? 1 : operand->n_sections;
}

/* Everything in the hull of an operand as a section that all threads read and write. */
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

/* The s-th section of an operand; *held keeps what the instance does not have. */
static pti_cut_section touched(const pti_cut_launch *launch, int operand, int s,
                               pti_section *held) {
    const pti_instance *instance = launch->instance;
    const pti_operand *of = &instance->operand[operand];
    pti_cut_section cut = {.instance = instance, .section = held, .index = launch->index};
    if (of->partial)
        *held = whole_hull(instance, operand);
    else
        cut.section = &instance->section[of->first_section + s];
    return cut;
}

static void note(search *of, const pti_lag *lag) {
    if (lag->conflicts && (!of->found.conflicts || lag->threads > of->found.threads))
        of->found = *lag;
}

static polytile_status look_through_isl(search *of, const pti_cut_section *earlier,
                                        const pti_cut_section *later, pti_lag *lag) {
    if (of->isl == NULL)
        of->isl = pti_isl_open();
    return of->isl == NULL ? POLYTILE_NO_MEMORY : pti_lag_isl(of->isl, earlier, later, lag);
}

static polytile_status look_at_sections(search *of, const pti_cut_section *earlier,
                                        const pti_cut_section *later) {
    polytile_status status = POLYTILE_OK;
    pti_lag lag;
    if (earlier->section->role == POLYTILE_IN && later->section->role == POLYTILE_IN)
        return POLYTILE_OK;
    if (!pti_lag_closed(earlier, later, &lag))
        PTI_TRY(look_through_isl(of, earlier, later, &lag));
    note(of, &lag);
done:
    return status;
}

/* Whether no further conflict can change what is known. */
static bool is_settled(const search *of) {
    return of->found.conflicts && of->found.threads >= of->most;
}

static polytile_status look_at_operands(search *of, int one, int other) {
    const pti_operand *first = &of->earlier->instance->operand[one];
    const pti_operand *second = &of->later->instance->operand[other];
    polytile_status status = POLYTILE_OK;
    pti_section held[2];
    if (!first->writes && !second->writes)
        return POLYTILE_OK;
    for (int s = 0; s < n_touched(first); s++) {
        pti_cut_section earlier = touched(of->earlier, one, s, &held[0]);
        for (int t = 0; t < n_touched(second) && !is_settled(of); t++) {
            pti_cut_section later = touched(of->later, other, t, &held[1]);
            PTI_TRY(look_at_sections(of, &earlier, &later));
        }
    }
done:
    return status;
}

polytile_status pti_launch_lag(const pti_cut_launch *earlier, const pti_cut_launch *later,
                               pti_lag *lag) {
    search of = {.earlier = earlier, .later = later};
    polytile_status status = POLYTILE_OK;
    of.most = earlier->instance->threads.range[earlier->index].hi -
              later->instance->threads.range[later->index].lo;
    for (int p = 0; p < earlier->instance->n_operands; p++)
        for (int q = 0; q < later->instance->n_operands; q++)
            if (earlier->array[p] == later->array[q])
                PTI_TRY(look_at_operands(&of, p, q));
    *lag = of.found;
done:
    pti_isl_close(of.isl);
    return status;
}
