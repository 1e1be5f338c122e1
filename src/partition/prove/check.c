#include "partition/prove/check.h"

#include "partition/prove/period.h"
#include "partition/prove/programs/column_program.h"
#include "partition/prove/programs/slab_program.h"
#include "partition/prove/replay.h"
#include "partition/prove/slab_tiles.h"
#include "partition/prove/tiles.h"

#include <inttypes.h>
#include <stdlib.h>

static const pti_boxes *content_of(const pti_replay *replay, int64_t resident) {
    return replay->resident[resident].content;
}

/** Return whether an operation's launch reads an array by an operand that does not start from an
 * identity: elements of its own may come in, which check_start() of the launch tells from the
 * others. */
static bool is_read_besides(const pti_schedule *schedule, const pti_op *op, int array) {
    const pti_call *call = &pti_schedule_launch_of(schedule, op)->call;
    bool is = false;
    for (int o = 0; o < call->instance->n_operands; o++)
        is |= call->array[o] == array && call->instance->operand[o].reads &&
              !call->instance->operand[o].fresh;
    return is;
}

static bool replay_upload(pti_replay *replay, int64_t i) {
    const pti_op *op = &replay->schedule->op[i];
    int64_t r = op->placement;
    int o = replay->resident[r].operand;
    if (!pti_race_use_resident(replay, i, r, &op->box, true))
        return false;
    if (pti_boxes_meet(&replay->operand[o].unwritten, &op->box))
        return pti_replay_reject(replay, i, o, &op->box,
                                 "was not written by anyone, so that the host does not hold it");
    if (pti_replay_is_lost(replay, o, &op->box))
        return pti_replay_reject(replay, i, o, &op->box,
                                 "was lost: nothing holds its newest version any more");
    if (pti_replay_host_is_stale(replay, o, &op->box))
        return pti_replay_reject(replay, i, o, &op->box, "the host's version is out of date");
    if (pti_schedule_fresh(replay->schedule, op, o) != NULL &&
        !is_read_besides(replay->schedule, op, o) &&
        !pti_boxes_cover(pti_replay_combined(replay, op->launch, o), &op->box))
        return pti_replay_reject(replay, i, o, &op->box,
                                 "starts from the identity, not from what the host holds");
    pti_replay_overwrite(replay, r, &op->box);
    pti_boxes_attach(&replay->resident[r].content[PTI_VALID], &op->box);
    return pti_race_use(replay, i, (pti_memory){true, o}, &op->box, false);
}

typedef bool copy_check(const pti_placement *source, const pti_placement *target,
                        const polytile_domain *box, int64_t element_bytes);

static bool copy_is(const pti_replay *replay, const pti_op *op, copy_check *is) {
    const pti_placement *source = &replay->schedule->placement[op->source_placement];
    return is(source, &replay->schedule->placement[op->placement], &op->box,
              replay->instance->operand[source->operand].element_bytes);
}

/** A copy's target may take over its source's own memory, if no byte of the box is in both places,
 * or if all of it moves along that memory. */
static bool check_copy_ways(pti_replay *replay, int64_t i) {
    const pti_op *op = &replay->schedule->op[i];
    const pti_resident *source = &replay->resident[op->source_placement];
    return source->life == PTI_LIVE || copy_is(replay, op, pti_check_copy_apart) ||
           copy_is(replay, op, pti_check_copy_overlaps) ||
           pti_replay_reject(replay, i, source->operand, &op->box,
                             "is copied onto itself, and not along one dimension");
}

/** Keep what a copy reads, before its target takes over the source's memory. */
static void keep_copied_contents(pti_replay *replay, const pti_op *op) {
    for (int c = 0; c < PTI_N_CONTENTS; c++) {
        pti_boxes_copy(&replay->moved[c], &content_of(replay, op->source_placement)[c]);
        pti_boxes_clip(&replay->moved[c], &op->box);
    }
}

/** Give the target what was known of the source's elements. */
static void fill_in_copied_contents(pti_replay *replay, const pti_op *op) {
    pti_resident *target = &replay->resident[op->placement];
    pti_replay_overwrite(replay, op->placement, &op->box);
    pti_boxes_subtract_all(&replay->operand[target->operand].lost, &replay->moved[PTI_VALID]);
    for (int c = 0; c < PTI_N_CONTENTS; c++)
        pti_boxes_unite(&target->content[c], &replay->moved[c], pti_boxes_attach);
}

/** A copy along its own memory may have gaps, of which nothing is known before or after. */
static bool replay_copy(pti_replay *replay, int64_t i) {
    const pti_op *op = &replay->schedule->op[i];
    polytile_domain unknown;
    if (!pti_race_use_resident(replay, i, op->source_placement, &op->box, false))
        return false;
    if (!copy_is(replay, op, pti_check_copy_overlaps) &&
        !pti_replay_knows(replay, op->source_placement, ~0u, &op->box, &unknown))
        return pti_replay_reject(replay, i, replay->resident[op->source_placement].operand,
                                 &op->box, "is not all in the placement it is copied from");
    keep_copied_contents(replay, op);
    if (!pti_race_use_resident(replay, i, op->placement, &op->box, true) ||
        !check_copy_ways(replay, i))
        return false;
    fill_in_copied_contents(replay, op);
    return true;
}

/** Keep of zeros of an array those that an earlier fill brought to the host, as they are there
 * still. */
static void keep_on_host(const pti_replay *replay, int array, pti_boxes *zeros) {
    const pti_operand_state *operand_state = &replay->operand[array];
    pti_boxes_subtract_all(zeros, &operand_state->unwritten);
    pti_boxes_subtract_all(zeros, &operand_state->lost);
    for (int64_t r = operand_state->first_resident; r >= 0; r = replay->resident[r].next)
        pti_boxes_subtract_all(zeros, &replay->resident[r].content[PTI_DIRTY]);
}

/** Elements that nobody wrote are zero: a fill makes them so, and counts as written, but may be
 * repeated: then it is no newer than what the host has. What else it overwrites is not known any
 * more. */
static bool fill_unwritten(pti_replay *replay, int64_t i, int64_t r) {
    const polytile_domain *box = &replay->schedule->op[i].box;
    int o = replay->resident[r].operand;
    pti_boxes *zeros = &replay->moved[PTI_VALID], *on_host = &replay->moved[PTI_DIRTY];
    if (!pti_boxes_meet(&replay->operand[o].zero, box))
        return pti_replay_reject(replay, i, o, box,
                                 "does not start from an identity, nor is any of it unwritten");
    if (!pti_race_use_resident(replay, i, r, box, true))
        return false;
    pti_replay_overwrite(replay, r, box);
    pti_boxes_copy(zeros, &replay->operand[o].zero);
    pti_boxes_clip(zeros, box);
    pti_boxes_copy(on_host, zeros);
    keep_on_host(replay, o, on_host);
    pti_boxes_subtract_all(zeros, on_host);
    for (int k = 0; k < zeros->n_boxes; k++)
        pti_replay_invalidate(replay, r, &zeros->box[k]);
    pti_boxes_unite(&replay->resident[r].content[PTI_VALID], on_host, pti_boxes_gather);
    return true;
}

static bool fill_identity(pti_replay *replay, int64_t i, int64_t r, polytile_role reduction) {
    const pti_op *op = &replay->schedule->op[i];
    int o = replay->resident[r].operand;
    if (pti_boxes_meet(pti_replay_combined(replay, op->launch, o), &op->box))
        return pti_replay_reject(replay, i, o, &op->box, "was combined into before");
    if (!pti_race_use_resident(replay, i, r, &op->box, true))
        return false;
    pti_replay_overwrite(replay, r, &op->box);
    pti_boxes_attach(&replay->resident[r].content[pti_identity_of(reduction)], &op->box);
    if (replay->schedule->in_place)
        pti_boxes_attach(&replay->operand[o].filled, &op->box);
    return true;
}

static bool replay_fill(pti_replay *replay, int64_t i) {
    const pti_op *op = &replay->schedule->op[i];
    int64_t r = pti_replay_resident(replay, op->placement);
    const pti_operand *fresh =
        pti_schedule_fresh(replay->schedule, op, replay->resident[r].operand);
    return fresh == NULL ? fill_unwritten(replay, i, r)
                         : fill_identity(replay, i, r, fresh->reduction);
}

/** Elements that are no newer than the host's may come along, since they change nothing there. */
static bool replay_download(pti_replay *replay, int64_t i) {
    const pti_op *op = &replay->schedule->op[i];
    int o = replay->resident[op->placement].operand;
    if (!pti_race_use_resident(replay, i, op->placement, &op->box, false))
        return false;
    if (!pti_boxes_meet(&content_of(replay, op->placement)[PTI_DIRTY], &op->box))
        return pti_replay_reject(replay, i, o, &op->box,
                                 "is not newer than the host's (too early, twice, or not written "
                                 "here)");
    if (!pti_boxes_cover(&content_of(replay, op->placement)[PTI_VALID], &op->box))
        return pti_replay_reject(replay, i, o, &op->box, "is not all in its newest version");
    pti_replay_clean(replay, o, &op->box);
    return pti_race_use(replay, i, (pti_memory){true, o}, &op->box, true);
}

typedef bool replay_function(pti_replay *replay, int64_t i);

#define REPLAY_OF(name, word, stream) [PTI_##name] = REPLAY_##name,
#define REPLAY_UPLOAD                 replay_upload
#define REPLAY_COPY                   replay_copy
#define REPLAY_FILL                   replay_fill
#define REPLAY_LAUNCH                 pti_replay_launch
#define REPLAY_DOWNLOAD               replay_download
static replay_function *const replay_of[] = {PTI_OPS(REPLAY_OF)};

/** Replay invalidations before an operation, or after all; *next is the first not replayed. */
static void replay_invalidations(pti_replay *replay, int64_t i, int *next) {
    const pti_schedule *schedule = replay->schedule;
    for (; *next < schedule->n_invalidations && schedule->invalidation[*next].first_op == i;
         ++*next) {
        const pti_invalidation *invalidation = &schedule->invalidation[*next];
        for (int k = 0; k < invalidation->boxes.n_boxes; k++)
            pti_replay_invalidate_host(replay, invalidation->operand, &invalidation->boxes.box[k]);
    }
}

/** Return whether an operation moves what tiles of slabs store aside: where launches run one by one
 * nothing is there, and it changes nothing else (shape.h). */
static bool is_aside(const pti_schedule *schedule, const pti_op *op) {
    return op->kind == PTI_COPY && schedule->placement[op->placement].is_aside;
}

static bool replay_all(pti_replay *replay, const pti_stretch_state *before) {
    int next = 0;
    if (!pti_holdings_begin(replay))
        return false;
    for (int a = 0; before != NULL && a < replay->instance->n_operands; a++)
        pti_boxes_copy(&replay->operand[a].lost, &before[a].lost);
    for (int64_t i = 0; i < replay->schedule->n_ops; i++) {
        replay_invalidations(replay, i, &next);
        pti_replay_go_on(replay, i);
        if (!is_aside(replay->schedule, &replay->schedule->op[i]) &&
            !replay_of[replay->schedule->op[i].kind](replay, i))
            return false;
        pti_replay_tiles(replay, i);
    }
    replay_invalidations(replay, replay->schedule->n_ops, &next);
    return pti_holdings_end(replay);
}

/** A stretch of a schedule with a period, and what is known of arrays before and after it. */
typedef struct stretch_proof {
    const pti_period *period;
    const pti_stretch_state *before; /* NULL: before the prologue */
    pti_stretch_state *after;        /* found */
} stretch_proof;

/** Prove a flat schedule; stretch: NULL if it is none. */
static bool prove_flat(const pti_schedule *schedule, stretch_proof *stretch, pti_text *why) {
    if (!pti_check_launches(schedule, why) || !pti_check_superblocks(schedule, why) ||
        !pti_check_placements(schedule, why) || !pti_check_ops(schedule, why) ||
        !pti_check_invalidations(schedule, why) || !pti_check_order(schedule, why) ||
        !pti_check_tiles(schedule, why))
        return false;
    pti_replay replay;
    bool holds = pti_replay_begin(&replay, schedule, why) &&
                 replay_all(&replay, stretch == NULL ? NULL : stretch->before);
    if (holds && stretch != NULL)
        stretch->after = pti_array_states_of(&replay, stretch->period);
    pti_replay_end(&replay);
    replay.failed |= holds && stretch != NULL && stretch->after == NULL;
    if (holds && replay.failed)
        return PTI_REJECT(why, "out of host memory to check %" PRId64 " operations",
                          schedule->n_ops);
    return holds;
}

static bool prove_schedule(const pti_schedule *schedule, pti_text *why) {
    return prove_flat(schedule, NULL, why);
}

/** Prove what a device does that runs launches of slabs as one. */
static bool prove_slabs(const pti_schedule *schedule, pti_text *why) {
    pti_slab_program program;
    bool holds = pti_slab_program_make(schedule, &program);
    why->failed = why->failed || !holds;
    if (holds && !prove_schedule(program.schedule, why))
        holds = PTI_REJECT(why, " (with the launches of each slab that run as one)");
    pti_slab_program_free(&program);
    return holds;
}

/** Prove what a device does that runs launches column by column. */
static bool prove_columns(const pti_schedule *schedule, pti_text *why) {
    if (!pti_check_columns(schedule, why))
        return false;
    pti_schedule *program = pti_column_program_make(schedule);
    bool holds = program != NULL;
    why->failed = why->failed || !holds;
    if (holds && !prove_schedule(program, why))
        holds = PTI_REJECT(why, " (column by column)");
    pti_schedule_free(program);
    return holds;
}

/** Let launches of a stretch be of its threads alone. parts: of each launch. */
static void narrow_launches(pti_schedule *made, pti_instance *parts) {
    for (int l = 0; l < made->n_launches; l++) {
        pti_schedule_launch *launch = &made->launch[l];
        const bool is_alone = launch->call.instance == made->instance;
        parts[l] = *launch->call.instance;
        parts[l].threads =
            pti_around_superblocks(made, launch->first_superblock, launch->n_superblocks);
        launch->call.instance = &parts[l];
        if (is_alone)
            made->instance = &parts[l];
    }
}

/** Prove a stretch of a schedule, its launches one after the other. */
static bool prove_stretch(const pti_schedule *schedule, const pti_stretch *stretch,
                          stretch_proof *proof, pti_text *why) {
    pti_schedule *made = pti_stretch_make(schedule, stretch);
    pti_instance *parts = calloc((size_t)schedule->n_launches + 1, sizeof *parts);
    bool holds = made != NULL && parts != NULL &&
                 (proof->before == NULL || pti_array_states_give(proof->before, made));
    why->failed |= !holds;
    if (holds) {
        narrow_launches(made, parts);
        holds = prove_flat(made, proof, why);
    }
    if (!holds && stretch->is_prologue)
        pti_text_add(why, " (in the prologue)");
    else if (!holds)
        pti_text_add(why, " (in turns %" PRId64 " to %" PRId64 " of the period%s)",
                     stretch->first_turn, stretch->end_turn - 1,
                     stretch->is_last ? " and the epilogue" : "");
    pti_schedule_free(made);
    free(parts);
    return holds;
}

/** Prove the stretches of a schedule with a period; of those that are the same shifted, one. */
static bool prove_stretches(const pti_schedule *schedule, pti_text *why) {
    const pti_period *period = &schedule->period;
    const int64_t n_turns = pti_stretch_turns(schedule), n = period->times / n_turns;
    const pti_stretch prologue = {.is_prologue = true}, middle = {.end_turn = n_turns},
                      last = {n * n_turns, period->times, .is_last = true};
    stretch_proof first = {.period = period}, turns = {.period = period}, end = {.period = period};
    bool holds = prove_stretch(schedule, &prologue, &first, why);
    turns.before = first.after;
    holds = holds && prove_stretch(schedule, &middle, &turns, why) &&
            pti_check_states_move(schedule, n_turns, n, first.after, turns.after, why);
    end.before = turns.after;
    holds = holds && prove_stretch(schedule, &last, &end, why) &&
            pti_check_last_rows(schedule, (n - 1) * n_turns, turns.after, end.after, why);
    pti_stretch_states_free(first.after, schedule->instance->n_operands);
    pti_stretch_states_free(turns.after, schedule->instance->n_operands);
    pti_stretch_states_free(end.after, schedule->instance->n_operands);
    return holds;
}

/** Prove a schedule as it runs one by one, as it does with all that may run as one, and column by
 * column. */
static bool prove_ways(const pti_schedule *schedule, pti_text *why) {
    if (schedule->period.times != 0)
        return pti_check_period(schedule, why) && pti_check_turns_in_order(schedule, why) &&
               prove_stretches(schedule, why);
    return prove_schedule(schedule, why) &&
           (!pti_has_slab_tiles(schedule) || prove_slabs(schedule, why)) &&
           (schedule->columns.n == 0 || prove_columns(schedule, why));
}

/** Sets that could not grow look like sets without elements: who has no memory proves nothing. */
bool pti_schedule_check(const pti_schedule *schedule, pti_text *why) {
    if (prove_ways(schedule, why))
        return true;
    pti_text_free(why);
    *why = (pti_text){0};
    bool holds = prove_ways(schedule, why);
    why->failed = why->failed || (!holds && !pti_memory_is_there());
    return holds;
}
