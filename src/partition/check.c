#include "partition/check.h"

#include "access/footprint.h"
#include "partition/check_needs.h"
#include "partition/check_replay.h"

#include <inttypes.h>

static const pti_operand *operand_of(const pti_replay *replay, int64_t resident) {
    return &replay->instance->operand[replay->resident[resident].operand];
}

/** Enter a resident's memory and record the use of a box there. */
static bool use_resident(pti_replay *replay, int64_t i, int64_t r, const polytile_domain *box,
                         bool writes) {
    return pti_replay_enter(replay, i, r, writes) &&
           pti_replay_use(replay, i, &replay->resident[r].history, replay->resident[r].operand, box,
                          writes);
}

static bool replay_upload(pti_replay *replay, int64_t i) {
    const pti_op *op = &replay->schedule->op[i];
    int64_t r = op->placement;
    int o = replay->resident[r].operand;
    if (!use_resident(replay, i, r, &op->box, true))
        return false;
    if (pti_replay_host_is_stale(replay, o, &op->box))
        return pti_replay_reject(replay, i, o, &op->box, "the host's version is out of date");
    if (operand_of(replay, r)->fresh && !pti_boxes_cover(&replay->operand[o].combined, &op->box))
        return pti_replay_reject(replay, i, o, &op->box,
                                 "starts from the identity, not from what the host holds");
    pti_boxes_gather(&replay->resident[r].valid, &op->box);
    return pti_replay_use(replay, i, &replay->operand[o].host, o, &op->box, false);
}

/** A copy's target may take over its source's own memory, if no byte of the box is in both places.
 */
static bool check_copy_apart(pti_replay *replay, int64_t i) {
    const pti_op *op = &replay->schedule->op[i];
    const pti_resident *source = &replay->resident[op->source_placement];
    return source->life == PTI_LIVE ||
           pti_check_copy_apart(&replay->schedule->placement[op->source_placement],
                                &replay->schedule->placement[op->placement], &op->box,
                                operand_of(replay, op->placement)->element_bytes) ||
           pti_replay_reject(replay, i, source->operand, &op->box,
                             "is copied onto itself, shifted by less than its size");
}

static bool replay_copy(pti_replay *replay, int64_t i) {
    const pti_op *op = &replay->schedule->op[i];
    pti_resident *target = &replay->resident[op->placement];
    pti_resident *source = &replay->resident[op->source_placement];
    if (!use_resident(replay, i, op->source_placement, &op->box, false))
        return false;
    if (!pti_boxes_cover(&source->valid, &op->box))
        return pti_replay_reject(replay, i, source->operand, &op->box,
                                 "is not all in the placement it is copied from");
    pti_boxes_copy(&replay->scratch, &source->dirty);
    pti_boxes_clip(&replay->scratch, &op->box);
    if (!use_resident(replay, i, op->placement, &op->box, true) || !check_copy_apart(replay, i))
        return false;
    for (int k = 0; k < replay->scratch.n_boxes; k++)
        pti_boxes_gather(&target->dirty, &replay->scratch.box[k]);
    pti_boxes_gather(&target->valid, &op->box);
    return true;
}

static bool replay_fill(pti_replay *replay, int64_t i) {
    const pti_op *op = &replay->schedule->op[i];
    int64_t r = pti_replay_resident(replay, op->placement);
    int o = replay->resident[r].operand;
    if (!operand_of(replay, r)->fresh)
        return pti_replay_reject(replay, i, o, &op->box, "does not start from an identity");
    if (pti_boxes_meet(&replay->operand[o].combined, &op->box))
        return pti_replay_reject(replay, i, o, &op->box, "was combined into before");
    if (!use_resident(replay, i, r, &op->box, true))
        return false;
    pti_boxes_gather(&replay->resident[r].valid, &op->box);
    if (replay->schedule->in_place)
        pti_boxes_gather(&replay->operand[o].filled, &op->box);
    return true;
}

static bool replay_download(pti_replay *replay, int64_t i) {
    const pti_op *op = &replay->schedule->op[i];
    int o = replay->resident[op->placement].operand;
    if (!use_resident(replay, i, op->placement, &op->box, false))
        return false;
    if (!pti_boxes_cover(&replay->resident[op->placement].dirty, &op->box))
        return pti_replay_reject(replay, i, o, &op->box,
                                 "is not all newer than the host's (too early, twice, or not "
                                 "written here)");
    pti_replay_clean(replay, o, &op->box);
    return pti_replay_use(replay, i, &replay->operand[o].host, o, &op->box, true);
}

static bool reads(const pti_section *section) {
    return section->role != POLYTILE_OUT;
}

static bool writes(const pti_section *section) {
    return section->role != POLYTILE_IN;
}

/** Elements that the superblock touches need a placement. */
static bool check_untouched(pti_replay *replay, int64_t i, int o) {
    const pti_instance *instance = replay->instance;
    const pti_operand *operand = &instance->operand[o];
    const pti_boxes nothing = {0};
    polytile_domain missing;
    for (int s = operand->first_section; s < operand->first_section + operand->n_sections; s++)
        if (!pti_needs_covered(instance, &instance->section[s], &replay->schedule->op[i].box,
                               &nothing, &missing))
            return pti_replay_reject(replay, i, o, &missing, "has no placement");
    return true;
}

static const char not_there[] = "is read but its newest version is not all there";

static bool check_section_read(pti_replay *replay, int64_t i, int64_t r,
                               const pti_section *section) {
    const polytile_domain *threads = &replay->schedule->op[i].box;
    pti_resident *resident = &replay->resident[r];
    polytile_domain missing;
    if (!pti_needs_covered(replay->instance, section, threads, &resident->valid, &missing))
        return pti_replay_reject(replay, i, resident->operand, &missing, not_there);
    return true;
}

/** Of a partial operand only the hull is known: all of it is read, and all of it counts as written.
 */
static bool replay_partial_reads(pti_replay *replay, int64_t i, int64_t r) {
    int o = replay->resident[r].operand;
    polytile_domain hull =
        pti_footprint_hull(replay->instance, o, PTI_TOUCHES, &replay->schedule->op[i].box);
    if (!use_resident(replay, i, r, &hull, true))
        return false;
    return pti_boxes_cover(&replay->resident[r].valid, &hull) ||
           pti_replay_reject(replay, i, o, &hull, not_there);
}

/** Record a launch's use of the boxes around its sections, and check what it reads. */
static bool replay_reads(pti_replay *replay, int64_t i, int64_t r) {
    const pti_instance *instance = replay->instance;
    const pti_operand *operand = operand_of(replay, r);
    if (operand->partial)
        return replay_partial_reads(replay, i, r);
    for (int s = operand->first_section; s < operand->first_section + operand->n_sections; s++) {
        const pti_section *section = &instance->section[s];
        polytile_domain hull = pti_needs_hull(instance, section, &replay->schedule->op[i].box);
        if (pti_box_is_empty(&hull))
            continue;
        if (!use_resident(replay, i, r, &hull, writes(section)) ||
            (reads(section) && !check_section_read(replay, i, r, section)))
            return false;
    }
    return true;
}

/** written := what the launch of operation i changes of an operand. */
static void find_written(const pti_replay *replay, int64_t i, int o, pti_boxes *written) {
    const pti_instance *instance = replay->instance;
    const pti_operand *operand = &instance->operand[o];
    const polytile_domain *threads = &replay->schedule->op[i].box;
    pti_boxes_clear(written);
    if (operand->partial) {
        polytile_domain hull = pti_footprint_hull(instance, o, PTI_TOUCHES, threads);
        pti_boxes_add(written, &hull);
        return;
    }
    for (int s = operand->first_section; s < operand->first_section + operand->n_sections; s++)
        if (writes(&instance->section[s]))
            pti_needs_add(instance, &instance->section[s], threads, written);
}

static bool replay_writes(pti_replay *replay, int64_t i, int64_t r, int64_t placement) {
    const polytile_domain *hull = &replay->schedule->placement[placement].layout.hull;
    int o = replay->resident[r].operand;
    find_written(replay, i, o, &replay->scratch);
    for (int k = 0; k < replay->scratch.n_boxes; k++) {
        const polytile_domain *box = &replay->scratch.box[k];
        if (!pti_box_contains(hull, box))
            return pti_replay_reject(replay, i, o, box, "is written outside its placement");
        pti_replay_renew(replay, r, box);
        if (operand_of(replay, r)->fresh)
            pti_boxes_gather(&replay->operand[o].combined, box);
    }
    return true;
}

/** Placements that a launch is the first to write take over their memory before it reads any. */
static bool enter_written(pti_replay *replay, int64_t i, const int64_t *placement) {
    for (int o = 0; o < replay->instance->n_operands; o++)
        if (placement[o] >= 0 && replay->instance->operand[o].writes &&
            !pti_replay_enter(replay, i, pti_replay_resident(replay, placement[o]), true))
            return false;
    return true;
}

static bool replay_launch(pti_replay *replay, int64_t i) {
    int n_operands = replay->instance->n_operands;
    const int64_t *placement =
        &replay->schedule->launch_placement[replay->schedule->op[i].superblock * n_operands];
    if (!enter_written(replay, i, placement))
        return false;
    for (int o = 0; o < n_operands; o++)
        if (placement[o] < 0 ? !check_untouched(replay, i, o)
                             : !replay_reads(replay, i, pti_replay_resident(replay, placement[o])))
            return false;
    for (int o = 0; o < n_operands; o++)
        if (placement[o] >= 0 && replay->instance->operand[o].writes &&
            !replay_writes(replay, i, pti_replay_resident(replay, placement[o]), placement[o]))
            return false;
    return true;
}

typedef bool replay_function(pti_replay *replay, int64_t i);

#define REPLAY_OF(name, word, stream) [PTI_##name] = REPLAY_##name,
#define REPLAY_UPLOAD                 replay_upload
#define REPLAY_COPY                   replay_copy
#define REPLAY_FILL                   replay_fill
#define REPLAY_LAUNCH                 replay_launch
#define REPLAY_DOWNLOAD               replay_download
static replay_function *const replay_of[] = {PTI_OPS(REPLAY_OF)};

static bool check_ends_clean(pti_replay *replay) {
    for (int o = 0; o < replay->instance->n_operands; o++) {
        const char *name = replay->instance->operand[o].name;
        pti_operand_state *operand = &replay->operand[o];
        for (int64_t r = operand->first_resident; r >= 0; r = replay->resident[r].next)
            if (replay->resident[r].dirty.n_boxes > 0) {
                pti_text_add(replay->why, "%s", name);
                pti_check_write_box(replay->why, &replay->resident[r].dirty.box[0]);
                return PTI_REJECT(replay->why, " is never downloaded");
            }
        pti_boxes_subtract_all(&operand->filled, &operand->combined);
        if (operand->filled.n_boxes > 0) {
            pti_text_add(replay->why, "%s", name);
            pti_check_write_box(replay->why, &operand->filled.box[0]);
            return PTI_REJECT(replay->why, " is filled in place but never written");
        }
    }
    return true;
}

static bool replay_all(pti_replay *replay) {
    for (int64_t i = 0; i < replay->schedule->n_ops; i++)
        if (!replay_of[replay->schedule->op[i].kind](replay, i))
            return false;
    return check_ends_clean(replay);
}

bool pti_schedule_check(const pti_schedule *schedule, pti_text *why) {
    if (!pti_check_superblocks(schedule, why) || !pti_check_placements(schedule, why) ||
        !pti_check_ops(schedule, why))
        return false;
    pti_replay replay;
    bool holds = pti_replay_begin(&replay, schedule, why) && replay_all(&replay);
    pti_replay_end(&replay);
    if (holds && replay.failed)
        return PTI_REJECT(why, "out of host memory to check %" PRId64 " operations",
                          schedule->n_ops);
    return holds;
}
