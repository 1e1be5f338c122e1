#include "partition/prove/replay.h"

#include "base/checked.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void advance_clock(int n_streams, int64_t *done, const int64_t *other) {
    for (int s = 0; s < n_streams; s++)
        done[s] = pti_max(done[s], other[s]);
}

/** Mark all operations that others wait for; false when memory runs out. */
static bool begin_waits(pti_waits *waits, const pti_schedule *schedule) {
    int64_t n_kept = 0;
    waits->n_streams = pti_schedule_n_streams(schedule);
    waits->kept = calloc((size_t)schedule->n_ops + 1, sizeof *waits->kept);
    for (int64_t w = 0; w < schedule->n_waits && waits->kept != NULL; w++) {
        int64_t *kept = &waits->kept[schedule->wait[w]];
        *kept = *kept > 0 ? *kept : ++n_kept;
    }
    waits->at = malloc(((size_t)n_kept + 1) * (size_t)waits->n_streams * sizeof *waits->at);
    return waits->kept != NULL && waits->at != NULL;
}

/** What is kept of the clock at an operation that others wait for. */
static int64_t *kept_clock(const pti_waits *waits, int64_t op) {
    return &waits->at[(waits->kept[op] - 1) * waits->n_streams];
}

void pti_replay_go_on(pti_replay *replay, int64_t i) {
    pti_waits *waits = &replay->waits;
    const pti_op *op = &replay->schedule->op[i];
    pti_stream stream = pti_op_stream(op);
    pti_clock *clock = &waits->of[stream];
    for (int64_t w = op->first_wait; w < op->first_wait + op->n_waits; w++)
        advance_clock(waits->n_streams, clock->done, kept_clock(waits, replay->schedule->wait[w]));
    clock->done[stream] = i;
    waits->stream = stream;
    waits->clock = clock;
    waits->awaited = waits->newest.done[stream];
    if (waits->kept[i] == 0)
        return;
    waits->newest.done[stream] = i;
    memcpy(kept_clock(waits, i), clock->done, (size_t)waits->n_streams * sizeof *clock->done);
}

/** Sets of nothing, in memory that other residents' sets grew in, if there is some. */
static pti_boxes *take_content(pti_replay *replay) {
    if (replay->n_spare > 0)
        return replay->spare[--replay->n_spare];
    pti_boxes *content = &replay->content[PTI_N_CONTENTS * replay->n_contents++];
    memset(content, 0, PTI_N_CONTENTS * sizeof *content);
    return content;
}

static void give_content(pti_replay *replay, pti_boxes *content) {
    for (int c = 0; c < PTI_N_CONTENTS; c++)
        pti_boxes_clear(&content[c]);
    replay->spare[replay->n_spare++] = content;
}

static void link_resident(pti_replay *replay, int64_t r) {
    pti_resident *resident = &replay->resident[r];
    pti_operand_state *operand = &replay->operand[resident->operand];
    resident->life = PTI_LIVE;
    resident->content = take_content(replay);
    resident->next = operand->first_resident;
    resident->previous = -1;
    if (resident->next >= 0)
        replay->resident[resident->next].previous = r;
    operand->first_resident = r;
}

static void unlink_resident(pti_replay *replay, int64_t r) {
    pti_resident *resident = &replay->resident[r];
    if (resident->next >= 0)
        replay->resident[resident->next].previous = resident->previous;
    if (resident->previous >= 0)
        replay->resident[resident->previous].next = resident->next;
    else
        replay->operand[resident->operand].first_resident = resident->next;
    resident->life = PTI_OVERWRITTEN;
}

/** In place every array is there from the start; what a fresh reduction holds does not count. */
static void begin_in_place(pti_replay *replay) {
    for (int o = 0; o < replay->instance->n_operands; o++) {
        link_resident(replay, o);
        if (!replay->instance->operand[o].fresh)
            pti_boxes_add(&replay->resident[o].content[PTI_VALID],
                          &replay->instance->operand[o].domain);
    }
}

/** Neither filled nor touched. */
static void *new_array(pti_replay *replay, int64_t n, size_t bytes) {
    void *array = malloc(((size_t)n + 1) * bytes);
    replay->failed |= array == NULL;
    return array;
}

/** Let all histories and clocks be of nothing, in one list of numbers. */
static void begin_clocks(pti_replay *replay) {
    pti_waits *waits = &replay->waits;
    const int n_streams = waits->n_streams, n_operands = replay->instance->n_operands;
    const int64_t n_lists = 2 * replay->n_residents + n_operands + n_streams + 1;
    int64_t *next = replay->clocks = new_array(replay, n_lists, (size_t)n_streams * sizeof *next);
    if (next == NULL)
        return;
    memset(next, -1, (size_t)(n_lists * n_streams) * sizeof *next);
    waits->newest.done = next;
    for (int s = 0; s < n_streams; s++)
        waits->of[s].done = next += n_streams;
    for (int o = 0; o < n_operands; o++)
        replay->operand[o].host.newest = next += n_streams;
    for (int64_t r = 0; r < replay->n_residents; r++) {
        replay->resident[r].history.newest = next += n_streams;
        replay->resident[r].after.done = next += n_streams;
    }
}

bool pti_replay_begin(pti_replay *replay, const pti_schedule *schedule, pti_text *why) {
    int n_operands = schedule->instance->n_operands;
    *replay = (pti_replay){
        .schedule = schedule, .instance = schedule->instance, .why = why, .spare_use = -1};
    replay->n_residents = schedule->in_place ? n_operands : schedule->n_placements;
    replay->resident = new_array(replay, replay->n_residents, sizeof *replay->resident);
    replay->content =
        new_array(replay, replay->n_residents, PTI_N_CONTENTS * sizeof *replay->content);
    replay->spare = new_array(replay, replay->n_residents, sizeof *replay->spare);
    replay->operand = calloc((size_t)n_operands + 1, sizeof *replay->operand);
    replay->segment = new_array(replay, 2 * replay->n_residents, sizeof *replay->segment);
    if (!begin_waits(&replay->waits, schedule) || replay->operand == NULL || replay->failed)
        return PTI_REJECT(why, "out of host memory to check %" PRId64 " operations",
                          schedule->n_ops);
    for (int64_t r = 0; r < replay->n_residents; r++)
        replay->resident[r] =
            (pti_resident){.operand = schedule->in_place ? (int)r : schedule->placement[r].operand};
    for (int o = 0; o < n_operands; o++)
        replay->operand[o] = (pti_operand_state){.first_resident = -1};
    begin_clocks(replay);
    if (replay->failed)
        return PTI_REJECT(why, "out of host memory to check %" PRId64 " operations",
                          schedule->n_ops);
    if (schedule->in_place)
        begin_in_place(replay);
    return true;
}

static void free_set(pti_replay *replay, pti_boxes *set) {
    replay->failed |= set->failed;
    pti_boxes_free(set);
}

static void forget_all(pti_replay *replay, pti_boxes *content) {
    for (int c = 0; c < PTI_N_CONTENTS; c++)
        free_set(replay, &content[c]);
}

void pti_replay_end(pti_replay *replay) {
    for (int64_t k = 0; k < replay->n_contents; k++)
        forget_all(replay, &replay->content[k * PTI_N_CONTENTS]);
    forget_all(replay, replay->moved);
    for (int o = 0; replay->operand != NULL && o < replay->instance->n_operands; o++) {
        free_set(replay, &replay->operand[o].unwritten);
        free_set(replay, &replay->operand[o].zero);
        free_set(replay, &replay->operand[o].lost);
        free_set(replay, &replay->operand[o].combined);
        free_set(replay, &replay->operand[o].filled);
    }
    free_set(replay, &replay->reused);
    pti_section_reaches_free(&replay->reaches);
    for (int way = 0; way < PTI_N_USAGES; way++) {
        free_set(replay, &replay->used[way]);
        free_set(replay, &replay->used_before[way]);
    }
    free(replay->waits.kept);
    free(replay->waits.at);
    free(replay->clocks);
    free(replay->resident);
    free(replay->content);
    free(replay->spare);
    free(replay->operand);
    free(replay->segment);
    free(replay->use);
}

int64_t pti_replay_resident(const pti_replay *replay, int64_t placement) {
    return replay->schedule->in_place ? replay->schedule->placement[placement].operand : placement;
}

pti_content pti_identity_of(polytile_role reduction) {
    return (pti_content)(PTI_IDENTITY + (int)reduction - POLYTILE_SUM);
}

bool pti_replay_reject(pti_replay *replay, int64_t i, int operand, const polytile_domain *box,
                       const char *reason) {
    const pti_op *op = &replay->schedule->op[i];
    pti_text_add(replay->why, "operation %" PRId64 " (%s for superblock %" PRId64, i,
                 pti_op_word(op->kind), op->superblock);
    if (replay->schedule->n_launches > 1)
        pti_text_add(replay->why, " of launch %d", op->launch);
    pti_text_add(replay->why, "), %s", replay->instance->operand[operand].name);
    if (box != NULL)
        pti_box_write(replay->why, box);
    return PTI_REJECT(replay->why, ": %s", reason);
}

/** The position of the first segment that ends after a byte. */
static int64_t find_segment(const pti_replay *replay, int64_t byte) {
    int64_t lo = 0, hi = replay->n_segments;
    while (lo < hi) {
        int64_t middle = lo + (hi - lo) / 2;
        if (replay->segment[middle].end_byte > byte)
            hi = middle;
        else
            lo = middle + 1;
    }
    return lo;
}

/** Add to what is lost the part of a box that is dirty in one resident and in no other. */
static void lose_elements(pti_replay *replay, int64_t r, const polytile_domain *box) {
    pti_operand_state *operand = &replay->operand[replay->resident[r].operand];
    if (!pti_boxes_meet(&replay->resident[r].content[PTI_DIRTY], box))
        return;
    pti_boxes_copy(&replay->reused, &replay->resident[r].content[PTI_DIRTY]);
    pti_boxes_clip(&replay->reused, box);
    for (int64_t q = operand->first_resident; q >= 0; q = replay->resident[q].next)
        if (q != r)
            pti_boxes_subtract_all(&replay->reused, &replay->resident[q].content[PTI_DIRTY]);
    pti_boxes_unite(&operand->lost, &replay->reused, pti_boxes_attach);
}

/** Note the last use of a resident on each stream: whatever takes its memory must come after these.
 * Then let go of its uses. */
static void end_uses(pti_replay *replay, pti_resident *resident) {
    for (int s = 0; s < replay->waits.n_streams; s++) {
        int64_t newest = resident->history.newest[s], oldest = newest;
        if (newest < 0)
            continue;
        resident->after.done[s] = pti_max(resident->after.done[s], replay->use[newest].last_op);
        while (replay->use[oldest].number > 0)
            oldest = replay->use[oldest].skip_to;
        replay->use[oldest].previous = replay->spare_use;
        replay->spare_use = newest;
    }
}

/** A resident's memory goes to another; what is newest in it is lost if it is not elsewhere too. */
static void bury_resident(pti_replay *replay, int64_t r) {
    pti_resident *resident = &replay->resident[r];
    unlink_resident(replay, r);
    end_uses(replay, resident);
    lose_elements(replay, r, &replay->schedule->placement[r].layout.hull);
    give_content(replay, resident->content);
}

/** Put a new segment in place of those from .. to - 1, of which it may leave an end at each side.
 */
static void replace_segments(pti_replay *replay, int64_t from, int64_t to, pti_segment added) {
    pti_segment pieces[3];
    int n_pieces = 0;
    if (from < to && replay->segment[from].first_byte < added.first_byte) {
        pieces[n_pieces] = replay->segment[from];
        pieces[n_pieces++].end_byte = added.first_byte;
    }
    pieces[n_pieces++] = added;
    if (from < to && replay->segment[to - 1].end_byte > added.end_byte) {
        pieces[n_pieces] = replay->segment[to - 1];
        pieces[n_pieces++].first_byte = added.end_byte;
    }
    memmove(&replay->segment[from + n_pieces], &replay->segment[to],
            (size_t)(replay->n_segments - to) * sizeof *replay->segment);
    memcpy(&replay->segment[from], pieces, (size_t)n_pieces * sizeof *pieces);
    replay->n_segments += n_pieces - (to - from);
}

static pti_segment segment_of(const pti_replay *replay, int64_t r) {
    const pti_placement *placement = &replay->schedule->placement[r];
    return (pti_segment){placement->offset_bytes,
                         placement->offset_bytes + placement->layout.size_bytes, r};
}

bool pti_replay_place(pti_replay *replay, int64_t r) {
    pti_segment added = segment_of(replay, r);
    int64_t at = find_segment(replay, added.first_byte);
    if (at < replay->n_segments && replay->segment[at].first_byte < added.end_byte)
        return false;
    replace_segments(replay, at, at, added);
    link_resident(replay, r);
    return true;
}

static void take_over(pti_replay *replay, int64_t r) {
    pti_segment added = segment_of(replay, r);
    int64_t from = find_segment(replay, added.first_byte), to = from;
    for (; to < replay->n_segments && replay->segment[to].first_byte < added.end_byte; to++) {
        int64_t before = replay->segment[to].resident;
        if (replay->resident[before].life == PTI_LIVE)
            bury_resident(replay, before);
        advance_clock(replay->waits.n_streams, replay->resident[r].after.done,
                      replay->resident[before].after.done);
    }
    replace_segments(replay, from, to, added);
    link_resident(replay, r);
}

bool pti_replay_enter(pti_replay *replay, int64_t op, int64_t r, bool writes) {
    pti_resident *resident = &replay->resident[r];
    if (resident->life == PTI_UNUSED && writes)
        take_over(replay, r);
    if (resident->life == PTI_UNUSED)
        return pti_replay_reject(replay, op, resident->operand, NULL,
                                 "is read where nothing was written yet");
    if (resident->life == PTI_OVERWRITTEN)
        return pti_replay_reject(replay, op, resident->operand, NULL,
                                 "is used where other data has taken its place");
    for (int s = 0; s < replay->waits.n_streams; s++)
        if (resident->after.done[s] > replay->waits.clock->done[s])
            return pti_replay_reject(replay, op, resident->operand, NULL,
                                     "does not wait for the last use of the memory it takes over");
    return true;
}

bool pti_replay_knows(pti_replay *replay, int64_t r, unsigned ways, const polytile_domain *box,
                      polytile_domain *missing) {
    pti_boxes *rest = &replay->reused;
    pti_boxes_assign(rest, box);
    for (int c = 0; c < PTI_N_CONTENTS; c++)
        if ((ways >> c & 1) != 0)
            pti_boxes_subtract_all(rest, &replay->resident[r].content[c]);
    *missing = rest->n_boxes > 0 ? rest->box[0] : *box;
    return rest->n_boxes == 0 && !rest->failed;
}

bool pti_replay_is_lost(const pti_replay *replay, int operand, const polytile_domain *box) {
    return pti_boxes_meet(&replay->operand[operand].lost, box);
}

bool pti_replay_host_is_stale(const pti_replay *replay, int operand, const polytile_domain *box) {
    if (pti_replay_is_lost(replay, operand, box))
        return true;
    for (int64_t r = replay->operand[operand].first_resident; r >= 0; r = replay->resident[r].next)
        if (pti_boxes_meet(&replay->resident[r].content[PTI_DIRTY], box))
            return true;
    return false;
}

void pti_replay_clean(pti_replay *replay, int operand, const polytile_domain *box) {
    for (int64_t r = replay->operand[operand].first_resident; r >= 0; r = replay->resident[r].next)
        if (replay->resident[r].content[PTI_DIRTY].n_boxes > 0)
            pti_boxes_detach(&replay->resident[r].content[PTI_DIRTY], box);
}

void pti_replay_overwrite(pti_replay *replay, int64_t resident, const polytile_domain *box) {
    lose_elements(replay, resident, box);
    for (int c = 0; c < PTI_N_CONTENTS; c++)
        pti_boxes_detach(&replay->resident[resident].content[c], box);
}

/** A newer version is elsewhere; an identity stays what it is. */
static void outdate_elements(pti_replay *replay, int64_t r, const polytile_domain *box) {
    pti_boxes_detach(&replay->resident[r].content[PTI_VALID], box);
    pti_boxes_detach(&replay->resident[r].content[PTI_DIRTY], box);
}

void pti_replay_invalidate(pti_replay *replay, int64_t resident, const polytile_domain *box) {
    pti_boxes *content = replay->resident[resident].content;
    pti_operand_state *operand = &replay->operand[replay->resident[resident].operand];
    for (int64_t r = operand->first_resident; r >= 0; r = replay->resident[r].next)
        if (r != resident)
            outdate_elements(replay, r, box);
    for (int c = PTI_IDENTITY; c < PTI_N_CONTENTS; c++)
        if (content[c].n_boxes > 0)
            pti_boxes_detach(&content[c], box);
    pti_boxes_attach(&content[PTI_VALID], box);
    if (!replay->schedule->in_place)
        pti_boxes_attach(&content[PTI_DIRTY], box);
    pti_boxes_detach(&operand->unwritten, box);
    pti_boxes_detach(&operand->lost, box);
}

void pti_replay_invalidate_host(pti_replay *replay, int operand, const polytile_domain *box) {
    pti_operand_state *state = &replay->operand[operand];
    for (int64_t r = state->first_resident; r >= 0; r = replay->resident[r].next)
        outdate_elements(replay, r, box);
    pti_boxes_subtract(&state->unwritten, box);
    pti_boxes_subtract(&state->zero, box);
    pti_boxes_subtract(&state->lost, box);
}

const pti_boxes *pti_replay_combined(const pti_replay *replay, int launch, int operand) {
    static const pti_boxes nothing;
    const pti_operand_state *state = &replay->operand[operand];
    return state->combining == launch ? &state->combined : &nothing;
}
