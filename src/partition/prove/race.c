#include "partition/prove/replay.h"

#include "base/list.h"
#include "partition/prove/needs/needs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static pti_history *history_of(const pti_replay *replay, pti_memory memory) {
    return memory.is_host ? &replay->operand[memory.number].host
                          : &replay->resident[memory.number].history;
}

static int operand_of(const pti_replay *replay, pti_memory memory) {
    return memory.is_host ? (int)memory.number : replay->resident[memory.number].operand;
}

static void list_launch(const pti_replay *replay, const pti_op *op, int64_t resident,
                        pti_boxes *used) {
    const pti_instance *instance = replay->schedule->launch[op->launch].call.instance;
    const int64_t *placed = pti_schedule_placements(replay->schedule, op->launch, op->superblock);
    for (int o = 0; o < instance->n_operands; o++)
        if (placed[o] >= 0 && pti_replay_resident(replay, placed[o]) == resident)
            pti_needs_list_operand(instance, o, &op->box, used);
}

/** Exactly what an operation reads and writes of some memory; some boxes may overlap. */
static void list_used(const pti_replay *replay, int64_t i, pti_memory memory, pti_boxes *used) {
    const pti_op *op = &replay->schedule->op[i];
    pti_boxes_clear(&used[PTI_ONLY_READ]);
    pti_boxes_clear(&used[PTI_WRITTEN]);
    if (op->kind == PTI_LAUNCH) {
        if (!memory.is_host)
            list_launch(replay, op, memory.number, used);
        return;
    }
    int64_t target = pti_replay_resident(replay, op->placement);
    if (memory.is_host && replay->resident[target].operand == memory.number &&
        (op->kind == PTI_UPLOAD || op->kind == PTI_DOWNLOAD))
        pti_boxes_append(&used[op->kind == PTI_DOWNLOAD ? PTI_WRITTEN : PTI_ONLY_READ], &op->box);
    if (!memory.is_host && target == memory.number)
        pti_boxes_append(&used[op->kind == PTI_DOWNLOAD ? PTI_ONLY_READ : PTI_WRITTEN], &op->box);
    if (!memory.is_host && op->kind == PTI_COPY && op->source_placement == memory.number)
        pti_boxes_append(&used[PTI_ONLY_READ], &op->box);
}

static bool reject_race(pti_replay *replay, int64_t op, int operand, int64_t other,
                        const polytile_domain *box, const char *does) {
    char reason[96];
    snprintf(reason, sizeof reason, "may run beside operation %" PRId64 " (%s), which %s it", other,
             pti_op_word(replay->schedule->op[other].kind), does);
    return pti_replay_reject(replay, op, operand, box, reason);
}

/** Check an operation, whose uses are in replay->used, against one operation of another use. */
static bool check_pair(pti_replay *replay, int64_t op, pti_memory memory, int64_t other) {
    const pti_boxes *mine = replay->used, *its = replay->used_before;
    list_used(replay, other, memory, replay->used_before);
    const polytile_domain *box = pti_boxes_find_meeting(&mine[PTI_WRITTEN], &its[PTI_WRITTEN]);
    if (box == NULL)
        box = pti_boxes_find_meeting(&mine[PTI_ONLY_READ], &its[PTI_WRITTEN]);
    int operand = operand_of(replay, memory);
    if (box != NULL)
        return reject_race(replay, op, operand, other, box, "writes");
    box = pti_boxes_find_meeting(&mine[PTI_WRITTEN], &its[PTI_ONLY_READ]);
    return box == NULL || reject_race(replay, op, operand, other, box, "reads");
}

static bool check_exactly(pti_replay *replay, int64_t op, pti_memory memory, const pti_use *use) {
    pti_stream stream = pti_op_stream(&replay->schedule->op[use->first_op]);
    list_used(replay, op, memory, replay->used);
    for (int64_t other = use->first_op; other <= use->last_op; other++)
        if (pti_op_stream(&replay->schedule->op[other]) == stream &&
            !check_pair(replay, op, memory, other))
            return false;
    return true;
}

static bool extend_use_by(const pti_replay *replay, int64_t op, pti_use *use,
                          const pti_bounding_box *ends, bool writes) {
    if (use->first_op <= replay->waits.awaited || use->writes != writes ||
        !pti_bounding_absorb(&use->ends, ends))
        return false;
    use->last_op = op;
    return true;
}

/** Merges an operation into the newest use of its stream or the one before, if no other stream
 * waits in between; false: it needs a use of its own. */
static bool merge_use(pti_replay *replay, int64_t op, int64_t newest, const pti_bounding_box *ends,
                      bool writes) {
    if (newest < 0 || extend_use_by(replay, op, &replay->use[newest], ends, writes))
        return newest >= 0;
    pti_use *use = &replay->use[newest];
    if (use->number == 0 || !extend_use_by(replay, op, &replay->use[use->previous], ends, writes))
        return false;
    pti_bounding_extend(&use->skip, ends);
    return true;
}

/** Return the position of a use to fill in; -1 when memory runs out. */
static int64_t allocate_use(pti_replay *replay) {
    int64_t spare = replay->spare_use;
    if (spare >= 0) {
        replay->spare_use = replay->use[spare].previous;
        return spare;
    }
    return PTI_GROW(replay->use, replay->n_uses, &replay->uses_capacity) ? replay->n_uses++ : -1;
}

/** Join the skip of a use from those before it, which do not change any more. */
static void add_skip(const pti_replay *replay, pti_use *use) {
    const pti_use *before = &replay->use[use->previous];
    int64_t end = use->number & (use->number - 1);
    use->skip = before->ends;
    use->skip_to = use->previous;
    for (; before->number > end; before = &replay->use[use->skip_to]) {
        pti_bounding_extend(&use->skip, &before->skip);
        use->skip_to = before->skip_to;
    }
}

static void record_use(pti_replay *replay, int64_t op, pti_history *history,
                       const pti_bounding_box *ends, bool writes) {
    int64_t *newest = &history->newest[replay->waits.stream];
    if (merge_use(replay, op, *newest, ends, writes))
        return;
    int64_t taken = allocate_use(replay);
    if (taken < 0) {
        replay->failed = true;
        return;
    }
    pti_use *use = &replay->use[taken];
    use->first_op = use->last_op = op;
    use->previous = *newest;
    use->writes = writes;
    use->ends = *ends;
    use->number = 0;
    if (*newest >= 0) {
        use->number = replay->use[*newest].number + 1;
        add_skip(replay, use);
    }
    *newest = taken;
}

/** Return the use before one that a search continues with; all in between lie apart. */
static int64_t find_use_before(const pti_replay *replay, int64_t u, const pti_bounding_box *ends) {
    const pti_use *use = &replay->use[u];
    while (use->number > 0 && pti_bounding_apart(&use->skip, ends))
        use = &replay->use[use->skip_to];
    return use->previous;
}

bool pti_race_use(pti_replay *replay, int64_t op, pti_memory memory, const polytile_domain *box,
                  bool writes) {
    pti_history *history = history_of(replay, memory);
    const pti_clock *clock = replay->waits.clock;
    pti_bounding_box ends = pti_bounding_of(box);
    for (int s = 0; s < replay->waits.n_streams; s++)
        for (int64_t u = s == (int)replay->waits.stream ? -1 : history->newest[s];
             u >= 0 && replay->use[u].first_op > clock->done[s];
             u = find_use_before(replay, u, &ends))
            if ((writes || replay->use[u].writes) &&
                !pti_bounding_apart(&replay->use[u].ends, &ends) &&
                !check_exactly(replay, op, memory, &replay->use[u]))
                return false;
    record_use(replay, op, history, &ends, writes);
    return true;
}

bool pti_race_use_resident(pti_replay *replay, int64_t op, int64_t resident,
                           const polytile_domain *box, bool writes) {
    return pti_replay_enter(replay, op, resident, writes) &&
           pti_race_use(replay, op, (pti_memory){false, resident}, box, writes);
}
