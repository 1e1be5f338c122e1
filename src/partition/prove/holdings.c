#include "partition/prove/replay.h"

#include <inttypes.h>

/** One holding, and whether it is of those before or after. */
typedef struct holding_check {
    pti_replay *replay;
    const pti_holding *holding;
    const char *when;
} holding_check;

static bool reject_holding(const holding_check *of, const polytile_domain *box,
                           const char *reason) {
    const pti_schedule *schedule = of->replay->schedule;
    int64_t p = of->holding->placement;
    pti_text_add(of->replay->why, "%s the schedule, placement %" PRId64 ", %s", of->when, p,
                 schedule->instance->operand[schedule->placement[p].operand].name);
    if (box != NULL)
        pti_box_write(of->replay->why, box);
    return PTI_REJECT(of->replay->why, ": %s", reason);
}

/** Return whether all boxes of a set of unknown origin lie in a domain; if not, *outside is one. */
static bool are_inside(const pti_boxes *set, const polytile_domain *domain, int *outside) {
    for (*outside = 0; *outside < set->n_boxes; (*outside)++)
        if (!pti_check_box_inside(&set->box[*outside], domain))
            return false;
    return true;
}

static bool check_shape(const holding_check *of) {
    const pti_schedule *schedule = of->replay->schedule;
    const pti_holding *holding = of->holding;
    if (holding->placement < 0 || holding->placement >= schedule->n_placements)
        return PTI_REJECT(of->replay->why,
                          "%s the schedule, placement %" PRId64 " of %" PRId64
                          " holds something, which there is not",
                          of->when, holding->placement, schedule->n_placements);
    const polytile_domain *hull = &schedule->placement[holding->placement].layout.hull;
    int k;
    if (!are_inside(&holding->valid, hull, &k) || !are_inside(&holding->dirty, hull, &k))
        return reject_holding(of, NULL, "is said to hold a box that is not in it");
    const polytile_domain *box = pti_boxes_find_uncovered(&holding->valid, &holding->dirty);
    return box == NULL || reject_holding(of, box, "is dirty but not valid");
}

static bool place_holding(const holding_check *of) {
    int64_t r = of->holding->placement;
    pti_resident *resident = &of->replay->resident[r];
    if (resident->life != PTI_UNUSED)
        return reject_holding(of, NULL, "is held twice");
    if (!pti_replay_place(of->replay, r))
        return reject_holding(of, NULL, "lies in memory that another holds");
    const polytile_domain *box = pti_boxes_find_meeting(
        &of->replay->operand[resident->operand].unwritten, &of->holding->valid);
    if (box != NULL)
        return reject_holding(of, box, "is there although nobody wrote it");
    pti_boxes_unite(&resident->content[PTI_VALID], &of->holding->valid, pti_boxes_attach);
    return true;
}

/** A dirty box is newer than the host's wherever it is valid. */
static void spread_dirty(pti_replay *replay, int operand, const polytile_domain *dirty) {
    for (int64_t r = replay->operand[operand].first_resident; r >= 0;
         r = replay->resident[r].next) {
        pti_boxes *content = replay->resident[r].content;
        polytile_domain common;
        for (int k = 0; k < content[PTI_VALID].n_boxes; k++)
            if (pti_box_intersect(&content[PTI_VALID].box[k], dirty, &common))
                pti_boxes_attach(&content[PTI_DIRTY], &common);
    }
}

static void mark_dirty(pti_replay *replay, const pti_holding *holding) {
    int operand = replay->resident[holding->placement].operand;
    for (int k = 0; k < holding->dirty.n_boxes; k++)
        spread_dirty(replay, operand, &holding->dirty.box[k]);
}

static bool begin_unwritten(pti_replay *replay) {
    for (int a = 0; replay->schedule->unwritten != NULL && a < replay->instance->n_operands; a++) {
        const pti_boxes *unwritten = &replay->schedule->unwritten[a];
        int outside;
        if (!are_inside(unwritten, &replay->instance->operand[a].domain, &outside))
            return PTI_REJECT(replay->why, "box %d of what nobody wrote of %s is not in the array",
                              outside, replay->instance->operand[a].name);
        pti_boxes_unite(&replay->operand[a].unwritten, unwritten, pti_boxes_attach);
        pti_boxes_unite(&replay->operand[a].zero, unwritten, pti_boxes_attach);
    }
    return true;
}

bool pti_holdings_begin(pti_replay *replay) {
    const pti_schedule *schedule = replay->schedule;
    if (!begin_unwritten(replay))
        return false;
    for (int k = 0; k < schedule->n_before; k++) {
        holding_check of = {replay, &schedule->before[k], "before"};
        if (!check_shape(&of) || !place_holding(&of))
            return false;
    }
    for (int k = 0; k < schedule->n_before; k++)
        mark_dirty(replay, &schedule->before[k]);
    return true;
}

static bool check_kept(const holding_check *of) {
    pti_resident *resident = &of->replay->resident[of->holding->placement];
    if (resident->life != PTI_LIVE)
        return reject_holding(of, NULL, "is not there any more");
    if (resident->is_kept)
        return reject_holding(of, NULL, "is held twice");
    resident->is_kept = true;
    const polytile_domain *box =
        pti_boxes_find_uncovered(&resident->content[PTI_VALID], &of->holding->valid);
    if (box != NULL)
        return reject_holding(of, box, "is not all there in its newest version");
    box = pti_boxes_find_uncovered(&resident->content[PTI_DIRTY], &of->holding->dirty);
    return box == NULL || reject_holding(of, box, "is not all newer than the host's");
}

/** What a holding says is dirty reaches the host after this schedule. */
static void leave_dirty(pti_replay *replay, const pti_holding *holding) {
    int operand = replay->resident[holding->placement].operand;
    for (int k = 0; k < holding->dirty.n_boxes; k++)
        pti_replay_clean(replay, operand, &holding->dirty.box[k]);
}

static bool reject_rest(const pti_replay *replay, int operand, const pti_boxes *rest,
                        const char *reason) {
    pti_text_add(replay->why, "%s", replay->instance->operand[operand].name);
    pti_box_write(replay->why, &rest->box[0]);
    return PTI_REJECT(replay->why, " %s", reason);
}

static bool check_ends_clean(pti_replay *replay, int o) {
    pti_operand_state *operand = &replay->operand[o];
    for (int64_t r = operand->first_resident; r >= 0; r = replay->resident[r].next)
        if (replay->resident[r].content[PTI_DIRTY].n_boxes > 0)
            return reject_rest(replay, o, &replay->resident[r].content[PTI_DIRTY],
                               replay->schedule->n_after > 0
                                   ? "is never downloaded, and not said to be dirty afterwards"
                                   : "is never downloaded");
    if (operand->lost.n_boxes > 0)
        return reject_rest(replay, o, &operand->lost,
                           "is lost: overwritten before it was downloaded, and never written "
                           "again");
    if (operand->filled.n_boxes > 0)
        return reject_rest(replay, o, &operand->filled, "is filled in place but never written");
    return true;
}

bool pti_holdings_end(pti_replay *replay) {
    const pti_schedule *schedule = replay->schedule;
    for (int k = 0; k < schedule->n_after; k++) {
        holding_check of = {replay, &schedule->after[k], "after"};
        if (!check_shape(&of) || !check_kept(&of))
            return false;
    }
    for (int k = 0; k < schedule->n_after; k++)
        leave_dirty(replay, &schedule->after[k]);
    for (int o = 0; o < replay->instance->n_operands; o++)
        if (!(schedule->dropped != NULL && schedule->dropped[o]) && !check_ends_clean(replay, o))
            return false;
    return true;
}
