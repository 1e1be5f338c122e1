#include "partition/prove/replay.h"

#include "access/footprint/footprint.h"
#include "partition/prove/needs/needs.h"

#include <stdio.h>

/** One operand of the current launch, and the array that it is. */
typedef struct launch_operand {
    pti_replay *replay;
    int64_t op;
    int launch;
    const polytile_domain *threads;
    const pti_instance *instance; /* of the kernel */
    int number;
    const pti_operand *operand;
    int array;
    int64_t placement;              /* -1: none */
    int64_t resident;               /* -1: none */
    const pti_section_reach *reach; /* of each kind */
    polytile_domain *hull;          /* of each kind, see hull_of_kind() */
} launch_operand;

static launch_operand operand_at(pti_replay *replay, int64_t i, const pti_schedule_launch *launch,
                                 int number, const pti_section_reach *reaches,
                                 polytile_domain *hulls) {
    const pti_op *op = &replay->schedule->op[i];
    int64_t placement =
        pti_schedule_placements(replay->schedule, op->launch, op->superblock)[number];
    return (launch_operand){.replay = replay,
                            .op = i,
                            .launch = op->launch,
                            .threads = &op->box,
                            .instance = launch->call.instance,
                            .number = number,
                            .operand = &launch->call.instance->operand[number],
                            .array = launch->call.array[number],
                            .placement = placement,
                            .resident = placement < 0 ? -1 : pti_replay_resident(replay, placement),
                            .reach = &reaches[number * PTI_N_ACCESS_KINDS],
                            .hull = &hulls[number * PTI_N_ACCESS_KINDS]};
}

static bool reject_operand(const launch_operand *of, const polytile_domain *box,
                           const char *reason) {
    return pti_replay_reject(of->replay, of->op, of->array, box, reason);
}

static const pti_boxes *contents_of(const launch_operand *of) {
    return of->replay->resident[of->resident].content;
}

/** Return whether the superblock touches anything through a section; if so, *touched has one such
 * element. Boxes around a section's pieces may hold elements although it has none. */
static bool is_touched(const launch_operand *of, const pti_section *section,
                       polytile_domain *touched) {
    const pti_boxes nothing = {0};
    return !pti_needs_covered(of->instance, section, of->threads, &nothing, touched);
}

/** Elements that the superblock touches need a placement. */
static bool check_untouched(const launch_operand *of) {
    polytile_domain missing;
    for (int s = 0; s < of->operand->n_sections; s++)
        if (is_touched(of, &of->instance->section[of->operand->first_section + s], &missing))
            return reject_operand(of, &missing, "has no placement");
    return true;
}

static bool reject_read(const launch_operand *of, const polytile_domain *missing) {
    return reject_operand(of, missing,
                          pti_replay_is_lost(of->replay, of->array, missing)
                              ? "is read but was lost: nothing holds its newest version any more"
                              : "is read but its newest version is not all there");
}

static bool check_section_read(const launch_operand *of, const pti_section *section) {
    polytile_domain missing;
    return pti_needs_covered(of->instance, section, of->threads, &contents_of(of)[PTI_VALID],
                             &missing) ||
           reject_read(of, &missing);
}

/** Check that what is looked up of a partial operand is read, whatever its declared hull is. */
static bool check_looked_up(const launch_operand *of) {
    bool holds = true;
    for (int s = 0; s < of->operand->n_sections && holds; s++) {
        const pti_section *section = &of->instance->section[of->operand->first_section + s];
        holds = section->indirection == NULL || check_section_read(of, section);
    }
    return holds;
}

/** Of a partial operand only the hull is known: all of it is read, and all of it counts as written.
 */
static bool replay_partial_reads(const launch_operand *of) {
    polytile_domain hull = pti_footprint_hull(of->instance, of->number, PTI_TOUCHES, of->threads);
    return pti_race_use_resident(of->replay, of->op, of->resident, &hull, true) &&
           (pti_boxes_cover(&contents_of(of)[PTI_VALID], &hull) || reject_read(of, &hull)) &&
           check_looked_up(of);
}

/** Around what the superblock touches through a section; empty if that is nothing, which a box with
 * room for more does not tell by itself. */
static polytile_domain find_section_hull(const launch_operand *of, const pti_section *section) {
    polytile_domain hull, touched;
    return pti_needs_is_box(of->instance, section, of->threads, &hull) ||
                   is_touched(of, section, &touched)
               ? hull
               : pti_box_empty(of->operand->domain.n_dims);
}

/** Around the sections of a kind; empty if none touches anything. */
static void find_hull_of_kind(const launch_operand *of, pti_access_kind kind,
                              polytile_domain *hull) {
    if (pti_section_reach_box(&of->reach[kind], &of->operand->domain, of->threads, hull))
        return;
    *hull = pti_box_empty(of->operand->domain.n_dims);
    for (int s = 0; s < of->operand->n_sections; s++) {
        const pti_section *section = &of->instance->section[of->operand->first_section + s];
        if (pti_section_is_of(section, kind)) {
            const polytile_domain of_section = find_section_hull(of, section);
            *hull = pti_box_coarse_union(hull, &of_section);
        }
    }
}

/** Return the box around the sections of a kind, found once for all parts of sections. */
static polytile_domain *hull_of_kind(const launch_operand *of, pti_access_kind kind) {
    if (kind != PTI_ACCESS_TOUCHED &&
        of->reach[kind].n_sections == of->reach[PTI_ACCESS_TOUCHED].n_sections)
        return &of->hull[PTI_ACCESS_TOUCHED];
    find_hull_of_kind(of, kind, &of->hull[kind]);
    return &of->hull[kind];
}

/** What the launch changes of an operand whose reads were replayed; some boxes may overlap. */
static pti_boxes find_changed_boxes(const launch_operand *of) {
    const pti_section_reach *reach = &of->reach[PTI_ACCESS_WRITTEN];
    pti_boxes *used = of->replay->used;
    if (reach->is_known && reach->n_sections == 1) {
        polytile_domain *hull = hull_of_kind(of, PTI_ACCESS_WRITTEN);
        return (pti_boxes){.box = hull, .n_boxes = !pti_box_is_empty(hull)};
    }
    pti_boxes_clear(&used[PTI_ONLY_READ]);
    pti_boxes_clear(&used[PTI_WRITTEN]);
    pti_needs_list_operand(of->instance, of->number, of->threads, used);
    return used[PTI_WRITTEN];
}

/** What this launch combined into before goes on from there; all else starts from the identity. */
static bool check_start(const launch_operand *of, const polytile_domain *box) {
    const pti_boxes *combined = pti_replay_combined(of->replay, of->launch, of->array);
    const pti_boxes *valid = &contents_of(of)[PTI_VALID];
    pti_content fresh = pti_identity_of(of->operand->reduction);
    const pti_boxes *identity = &contents_of(of)[fresh];
    polytile_domain common;
    if (!pti_replay_knows(of->replay, of->resident, 1u << PTI_VALID | 1u << fresh, box, &common))
        return reject_read(of, &common);
    for (int k = 0; k < identity->n_boxes; k++)
        if (pti_box_intersect(&identity->box[k], box, &common) && pti_boxes_meet(combined, &common))
            return reject_operand(of, &common, "starts again after it was combined into before");
    for (int k = 0; k < valid->n_boxes; k++)
        if (pti_box_intersect(&valid->box[k], box, &common) && !pti_boxes_cover(combined, &common))
            return reject_operand(of, &common, "starts from the identity, not from what was there");
    return true;
}

/** A reduction that starts from the identity reads just what it writes. */
static bool check_fresh_reads(const launch_operand *of) {
    const pti_boxes written = find_changed_boxes(of);
    for (int k = 0; k < written.n_boxes; k++)
        if (!check_start(of, &written.box[k]))
            return false;
    return true;
}

/** What is around all that is read is mostly there; else each section is looked at. */
static bool check_reads(const launch_operand *of, const polytile_domain *read) {
    if (pti_box_is_empty(read) || pti_boxes_cover(&contents_of(of)[PTI_VALID], read))
        return true;
    for (int s = 0; s < of->operand->n_sections; s++) {
        const pti_section *section = &of->instance->section[of->operand->first_section + s];
        if (pti_section_is_of(section, PTI_ACCESS_READ) && !check_section_read(of, section))
            return false;
    }
    return true;
}

/** Return whether a piece has what a section of another piece of its array touches inside the box
 * where bodies look for elements, as they find them here; nothing of it may be written. */
static bool check_met_section(const launch_operand *of, const pti_section *section,
                              const polytile_domain *box) {
    pti_boxes *met = &of->replay->moved[PTI_VALID];
    pti_boxes_clear(met);
    pti_needs_list(of->instance, section, of->threads, met);
    pti_boxes_clip(met, box);
    if (met->n_boxes > 0 && (of->operand->writes || section->role != POLYTILE_IN))
        return reject_operand(of, &met->box[0], "is written where another piece has it, too");
    for (int k = 0; k < met->n_boxes; k++)
        if (!pti_boxes_cover(&contents_of(of)[PTI_VALID], &met->box[k]))
            return reject_read(of, &met->box[k]);
    return true;
}

/** Check what all other pieces of the array have. Bodies look for elements in the box around what
 * the piece has of them, with its steps. */
static bool check_met_pieces(const launch_operand *of) {
    const pti_instance *instance = of->instance;
    if (instance->n_further == 0)
        return true;
    const int array = pti_operand_array(instance, of->number);
    const polytile_domain box = pti_footprint_hull(instance, of->number, PTI_TOUCHES, of->threads);
    bool holds = true;
    for (int s = 0; s < instance->n_sections && holds; s++)
        holds = instance->section[s].operand == of->number ||
                pti_operand_array(instance, instance->section[s].operand) != array ||
                check_met_section(of, &instance->section[s], &box);
    return holds;
}

/** Record what a launch uses of an operand, and check what it reads. */
static bool replay_reads(const launch_operand *of) {
    if (of->operand->partial)
        return replay_partial_reads(of);
    const polytile_domain *touched = hull_of_kind(of, PTI_ACCESS_TOUCHED);
    if (pti_box_is_empty(touched))
        return true;
    if (!pti_race_use_resident(of->replay, of->op, of->resident, touched,
                               pti_operand_stores(of->operand)))
        return false;
    if (of->reach[PTI_ACCESS_READ].n_sections > 0 &&
        !check_reads(of, hull_of_kind(of, PTI_ACCESS_READ)))
        return false;
    if (!check_met_pieces(of))
        return false;
    return !of->operand->fresh || check_fresh_reads(of);
}

/** What other launches combined into does not count for this one; it is known of one launch at a
 * time, so that those of one array are not interleaved. */
static bool begin_combining(const launch_operand *of) {
    pti_operand_state *state = &of->replay->operand[of->array];
    char reason[128];
    if (!of->operand->fresh || state->combining == of->launch)
        return true;
    snprintf(reason, sizeof reason,
             "starts from the identity in launches %d and %d, which must not be interleaved",
             of->launch, state->combining);
    if (state->combining > of->launch)
        return reject_operand(of, NULL, reason);
    state->combining = of->launch;
    pti_boxes_clear(&state->combined);
    return true;
}

static bool replay_writes(const launch_operand *of) {
    const polytile_domain *hull = &of->replay->schedule->placement[of->placement].layout.hull;
    pti_operand_state *state = &of->replay->operand[of->array];
    const pti_boxes written = find_changed_boxes(of);
    for (int k = 0; k < written.n_boxes; k++) {
        if (!pti_box_contains(hull, &written.box[k]))
            return reject_operand(of, &written.box[k], "is written outside its placement");
        pti_replay_invalidate(of->replay, of->resident, &written.box[k]);
        if (of->operand->fresh)
            pti_boxes_attach(&state->combined, &written.box[k]);
        pti_boxes_detach(&state->filled, &written.box[k]);
        pti_boxes_detach(&state->zero, &written.box[k]);
    }
    return true;
}

/** Placements into which a launch is the first to store take over their memory before it reads any.
 */
static bool enter_written(const launch_operand *of) {
    return begin_combining(of) && (of->placement < 0 || !pti_operand_stores(of->operand) ||
                                   pti_replay_enter(of->replay, of->op, of->resident, true));
}

static bool find_reads(const launch_operand *of) {
    return of->placement < 0 ? check_untouched(of) : replay_reads(of);
}

/** Scratch lies in its placement, whose memory the launch has for itself while it runs: other uses
 * of it race, or come after. Nothing is known of what it holds then. */
static bool replay_scratch(const launch_operand *of) {
    const polytile_domain *touched = hull_of_kind(of, PTI_ACCESS_TOUCHED);
    return pti_box_is_empty(touched) ||
           pti_box_contains(&of->replay->schedule->placement[of->placement].layout.hull, touched) ||
           reject_operand(of, touched, "is scratch outside its placement");
}

static bool invalidate_written(const launch_operand *of) {
    if (of->placement >= 0 && of->operand->is_scratch)
        return replay_scratch(of);
    return of->placement < 0 || !of->operand->writes || replay_writes(of);
}

bool pti_replay_launch(pti_replay *replay, int64_t op) {
    static bool (*const steps[])(const launch_operand *of) = {enter_written, find_reads,
                                                              invalidate_written};
    const pti_schedule_launch *launch = &replay->schedule->launch[replay->schedule->op[op].launch];
    int n_operands = launch->call.instance->n_operands;
    const pti_section_reach *reaches =
        pti_section_reaches_of(&replay->reaches, launch->call.instance);
    launch_operand of[PTI_MAX_OPERANDS];
    polytile_domain hulls[PTI_MAX_OPERANDS * PTI_N_ACCESS_KINDS];
    if (reaches == NULL)
        return pti_replay_reject(replay, op, 0, NULL, "out of host memory to check its sections");
    if (n_operands > PTI_MAX_OPERANDS)
        return pti_replay_reject(replay, op, 0, NULL, "is one of more operands than a kernel has");
    for (int o = 0; o < n_operands; o++)
        of[o] = operand_at(replay, op, launch, o, reaches, hulls);
    for (size_t step = 0; step < sizeof steps / sizeof *steps; step++)
        for (int o = 0; o < n_operands; o++)
            if (!steps[step](&of[o]))
                return false;
    return true;
}
