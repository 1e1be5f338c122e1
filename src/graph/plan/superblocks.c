#include "graph/plan/plan.h"

#include "base/checked.h"
#include <polytile/size.h>

#include <math.h>
#include <stdlib.h>

/* Frames that are larger than a unit's memory. They lie in host memory, and each firing is a launch
 * as polytile_run() makes it, within the unit's limit: superblocks come in and go out. */

void pti_planning_forget_cuts(pti_planning *planning) {
    free(planning->is_cut);
    free(planning->cut_s);
    free(planning->cut_bytes);
    planning->is_cut = NULL;
    planning->cut_s = NULL;
    planning->cut_bytes = NULL;
}

static int64_t limit_of_unit(const pti_planning *planning, int unit) {
    return planning->machine->memory[planning->machine->unit[unit].memory].limit_bytes;
}

/** Return whether a frame of some actor that a unit may run does not fit its memory; or whether all
 * units with memories of their own are taken to be too small. */
static bool is_too_small(const pti_planning *planning, int unit) {
    const int64_t limit = limit_of_unit(planning, unit);
    if (planning->cuts_all)
        return limit > 0;
    for (int a = 0; limit > 0 && a < planning->net.n_actors; a++)
        if (pti_planning_may_be_on(planning, a, unit) &&
            pti_planning_frame_bytes(planning, a, NULL) > limit)
            return true;
    return false;
}

/** Plan an actor's launch within a unit's limit. A launch that does not fit is noted, and its error
 * stays. */
static polytile_status cut_actor(pti_planning *planning, int actor, int unit) {
    polytile_plan_summary summary;
    double *cut_s = &planning->cut_s[actor * planning->net.n_units + unit];
    const polytile_status status =
        pti_actor_plan_within(planning->graph, actor, limit_of_unit(planning, unit),
                              &planning->machine->unit[unit].figures, &summary);
    *cut_s = -1;
    if (status != POLYTILE_OK)
        return status;
    *cut_s = (double)planning->graph->actor[actor].repeat * fmax(0, summary.predicted_seconds);
    planning->cut_bytes[unit] = pti_max(planning->cut_bytes[unit], summary.peak_device_bytes);
    return POLYTILE_OK;
}

/** Plan an actor on all units that run superblocks. It has to fit each of on=, or some unit. */
static polytile_status cut_actor_for_units(pti_planning *planning, int actor) {
    polytile_status refused = POLYTILE_OK;
    bool fits = false;
    for (int u = 0; u < planning->net.n_units; u++) {
        if (!pti_planning_may_be_on(planning, actor, u))
            continue;
        const polytile_status status =
            planning->is_cut[u] ? cut_actor(planning, actor, u) : POLYTILE_OK;
        if (status != POLYTILE_OK && status != POLYTILE_NO_FIT)
            return status;
        fits = fits || status == POLYTILE_OK;
        refused = status == POLYTILE_OK ? refused : status;
    }
    if (refused != POLYTILE_OK && (!fits || planning->n_on[actor] > 0))
        return refused;
    pti_clear_error(planning->ctx);
    return POLYTILE_OK;
}

static void note_cut(pti_planning *planning, int unit) {
    char limit[32];
    pti_text_add(&planning->plan->notes,
                 "frames do not fit %s: they lie in host memory, and its actors run in "
                 "superblocks within %s\n",
                 planning->machine->unit[unit].name,
                 polytile_size_format(limit_of_unit(planning, unit), limit));
}

polytile_status pti_planning_cut_frames(pti_planning *planning) {
    const size_t n_units = (size_t)planning->net.n_units;
    polytile_status status = POLYTILE_OK;
    bool is_any = false;
    if (!planning->may_cut)
        return POLYTILE_OK;
    planning->is_cut = calloc(n_units + 1, sizeof *planning->is_cut);
    planning->cut_bytes = calloc(n_units + 1, sizeof *planning->cut_bytes);
    planning->cut_s = calloc((size_t)planning->net.n_actors * n_units + 1, sizeof *planning->cut_s);
    if (planning->is_cut == NULL || planning->cut_bytes == NULL || planning->cut_s == NULL)
        return pti_planning_fail_memory(planning);
    for (int u = 0; u < planning->net.n_units; u++) {
        planning->is_cut[u] = is_too_small(planning, u);
        is_any = is_any || planning->is_cut[u];
        if (planning->is_cut[u])
            note_cut(planning, u);
    }
    for (int a = 0; is_any && a < planning->net.n_actors; a++)
        PTI_TRY(cut_actor_for_units(planning, a));
done:
    return status;
}
