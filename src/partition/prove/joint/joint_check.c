#include "partition/prove/joint/joint_check.h"

#include "access/set/box_text.h"
#include "base/error.h"
#include "partition/prove/joint/joint_replay.h"
#include "partition/prove/shape/shape.h"

#include <stdlib.h>

static bool begin_replay(pti_joint_replay *replay, const pti_joint_schedule *schedule,
                         pti_text *why) {
    size_t n_members = (size_t)schedule->n_members, n_arrays = (size_t)schedule->n_arrays,
           n_cells = n_members * n_arrays + 1;
    *replay = (pti_joint_replay){.schedule = schedule, .why = why};
    replay->next = calloc((size_t)schedule->n_lists + 1, sizeof *replay->next);
    replay->is_busy = calloc(n_members + 1, sizeof *replay->is_busy);
    replay->is_pulling = calloc(n_members + 1, sizeof *replay->is_pulling);
    replay->cell = calloc(n_cells, sizeof *replay->cell);
    replay->on_host = calloc(n_cells, sizeof *replay->on_host);
    replay->combines = calloc(n_arrays * (size_t)schedule->n_launches + 1, sizeof(bool));
    replay->combined = calloc(n_arrays + 1, sizeof *replay->combined);
    replay->threads = calloc(n_members + 1, sizeof *replay->threads);
    replay->process = calloc(n_members + 1, sizeof *replay->process);
    return replay->next != NULL && replay->cell != NULL && replay->on_host != NULL &&
           replay->combines != NULL && replay->combined != NULL && replay->threads != NULL &&
           replay->process != NULL && replay->is_busy != NULL && replay->is_pulling != NULL;
}

static bool free_cell(pti_joint_cell *cell) {
    pti_boxes *sets[] = {&cell->valid,      &cell->loose, &cell->reading,  &cell->fetching,
                         &cell->forgetting, &cell->read,  &cell->written,  &cell->held,
                         &cell->former,     &cell->late,  &cell->outdated, &cell->pulled,
                         &cell->lent};
    bool failed = false;
    for (size_t s = 0; s < sizeof sets / sizeof *sets; s++) {
        failed |= sets[s]->failed;
        pti_boxes_free(sets[s]);
    }
    return failed;
}

static bool free_sets(pti_boxes *sets, int n_sets) {
    bool failed = false;
    for (int s = 0; sets != NULL && s < n_sets; s++)
        failed |= sets[s].failed;
    pti_boxes_free_list(sets, n_sets);
    return failed;
}

/** Return whether memory ran out. */
static bool end_replay(pti_joint_replay *replay) {
    int n_cells = replay->schedule->n_members * replay->schedule->n_arrays;
    bool failed = replay->failed;
    for (int c = 0; replay->cell != NULL && c < n_cells; c++)
        failed |= free_cell(&replay->cell[c]);
    pti_boxes *reused[] = {&replay->touched, &replay->listed, &replay->changed, &replay->rest,
                           &replay->old};
    for (size_t s = 0; s < sizeof reused / sizeof *reused; s++) {
        failed |= reused[s]->failed;
        pti_boxes_free(reused[s]);
    }
    failed |= free_sets(replay->on_host, n_cells);
    failed |= free_sets(replay->combined, replay->schedule->n_arrays);
    failed |= free_sets(replay->threads, replay->schedule->n_members);
    free(replay->cell);
    free(replay->combines);
    free(replay->next);
    free(replay->process);
    free(replay->is_busy);
    free(replay->is_pulling);
    free(replay->message);
    return failed;
}

static void take_holdings(pti_joint_replay *replay) {
    const pti_joint_schedule *schedule = replay->schedule;
    for (int k = 0; k < schedule->n_lists; k++)
        for (int q = 0; q < schedule->list[k].n_local; q++)
            replay->process[schedule->list[k].first + q] = k;
    for (int q = 0; q < schedule->n_members; q++)
        replay->is_busy[q] = true;
    for (int c = 0; c < schedule->n_members * schedule->n_arrays; c++) {
        pti_boxes_copy(&replay->cell[c].valid, &schedule->before[c].valid);
        pti_boxes_copy(&replay->cell[c].loose, &schedule->before[c].loose);
        pti_boxes_copy(&replay->cell[c].reading, &schedule->before[c].reading);
    }
}

/** Every list has the same ones, or they cannot all go on. */
static void note_combined(pti_joint_replay *replay) {
    const pti_joint_schedule *schedule = replay->schedule;
    for (int o = 0; schedule->n_lists > 0 && o < schedule->list[0].n_ops; o++) {
        const pti_joint_op *op = &schedule->list[0].op[o];
        if (op->kind == PTI_JOINT_COMBINE)
            replay->combines[op->launch * schedule->n_arrays + op->array] = true;
    }
}

/* The order of the lists. */

static bool has_next(const pti_joint_replay *replay, int list) {
    return replay->next[list] < replay->schedule->list[list].n_ops;
}

static pti_joint_place place_of(const pti_joint_replay *replay, int list) {
    const pti_joint_list *joint_list = &replay->schedule->list[list];
    return (pti_joint_place){joint_list, &joint_list->op[replay->next[list]]};
}

static bool are_ops_alike(const pti_joint_op *one, const pti_joint_op *other) {
    return one->kind == other->kind && one->launch == other->launch && one->array == other->array &&
           pti_boxes_are_alike(&one->boxes, &other->boxes);
}

static bool all_are_at(const pti_joint_replay *replay, const pti_joint_op *op) {
    for (int k = 0; k < replay->schedule->n_lists; k++)
        if (!has_next(replay, k) || !are_ops_alike(op, place_of(replay, k).op))
            return false;
    return true;
}

static bool may_go_on(const pti_joint_replay *replay, const pti_joint_op *op) {
    if (op->kind == PTI_JOINT_RECEIVE)
        return pti_joint_find_message(replay, op->peer, op->member) != NULL;
    return op->kind != PTI_JOINT_COMBINE || all_are_at(replay, op);
}

static bool combine_all(pti_joint_replay *replay, pti_joint_place at) {
    for (int k = 0; k < replay->schedule->n_lists; k++)
        pti_joint_settle(replay, place_of(replay, k));
    for (int k = 0; k < replay->schedule->n_lists; k++)
        replay->next[k]++;
    return pti_joint_combine(replay, at);
}

static bool replay_op(pti_joint_replay *replay, int list) {
    pti_joint_place at = place_of(replay, list);
    if (at.op->kind == PTI_JOINT_COMBINE)
        return combine_all(replay, at);
    pti_joint_settle(replay, at);
    replay->next[list]++;
    return at.op->kind == PTI_JOINT_RUN ? pti_joint_run(replay, at) : pti_joint_move(replay, at);
}

static bool is_at_hand(const pti_joint_replay *replay, int list) {
    return has_next(replay, list) && place_of(replay, list).op->launch <= replay->launch;
}

/** As far as a list can go; *has_gone stays if that is nowhere. */
static bool replay_list(pti_joint_replay *replay, int list, bool *has_gone) {
    while (is_at_hand(replay, list)) {
        pti_joint_place at = place_of(replay, list);
        if (at.op->launch < replay->launch)
            return pti_joint_reject(replay, at, NULL, "stands after operations of later launches");
        if (!may_go_on(replay, at.op))
            return true;
        *has_gone = true;
        if (!replay_op(replay, list))
            return false;
    }
    return true;
}

static bool reject_waiting(const pti_joint_replay *replay) {
    for (int k = 0; k < replay->schedule->n_lists; k++)
        if (is_at_hand(replay, k))
            return pti_joint_reject(replay, place_of(replay, k), NULL,
                                    "waits for others that never get so far");
    return true;
}

/** All lists up to what is after the current launch. */
static bool replay_launch(pti_joint_replay *replay) {
    bool has_gone = true;
    while (has_gone) {
        has_gone = false;
        for (int k = 0; k < replay->schedule->n_lists; k++)
            if (!replay_list(replay, k, &has_gone))
                return false;
    }
    return reject_waiting(replay);
}

static bool check_messages(const pti_joint_replay *replay) {
    for (int m = 0; m < replay->n_messages; m++)
        if (!replay->message[m].is_received)
            return PTI_REJECT(replay->why,
                              "a message of %s from member %d to member %d is never "
                              "received",
                              replay->schedule->array[replay->message[m].op->array].name,
                              replay->message[m].op->member, replay->message[m].op->peer);
    return true;
}

static bool reject_holding(const pti_joint_replay *replay, int cell, const polytile_domain *box,
                           const char *reason) {
    int n_members = replay->schedule->n_members;
    pti_text_add(replay->why, "after all operations, %s ",
                 replay->schedule->array[cell / n_members].name);
    pti_box_write(replay->why, box);
    return PTI_REJECT(replay->why, " of member %d: %s", cell % n_members, reason);
}

/** Nobody may still read what another one's device may bring to the host in a newer version. */
static bool check_former(const pti_joint_replay *replay, int cell) {
    const int n_members = replay->schedule->n_members, array = cell / n_members;
    for (int q = 0; q < n_members; q++) {
        if (q == cell % n_members ||
            !pti_joint_shares(replay->schedule, array, q, cell % n_members))
            continue;
        const polytile_domain *box = pti_boxes_find_meeting(
            &pti_joint_cell_of(replay, array, q)->loose, &replay->cell[cell].former);
        if (box != NULL)
            return reject_holding(replay, cell, box, "may still be read in a former version");
    }
    return true;
}

static bool check_holdings(const pti_joint_replay *replay) {
    const pti_joint_schedule *schedule = replay->schedule;
    for (int c = 0; c < schedule->n_members * schedule->n_arrays; c++) {
        const pti_joint_holding *after = &schedule->after[c];
        const pti_joint_cell *cell = &replay->cell[c];
        const polytile_domain *box = pti_boxes_find_uncovered(&cell->valid, &after->valid);
        if (box != NULL)
            return reject_holding(replay, c, box, "not all is there in its newest version");
        box = pti_boxes_find_uncovered(&after->loose, &cell->loose);
        if (box != NULL)
            return reject_holding(replay, c, box,
                                  "its device may bring to the host what it should not");
        box = pti_boxes_find_uncovered(&after->loose, &cell->late);
        if (box != NULL)
            return reject_holding(replay, c, box, "is forgotten, and nobody waits for that");
        box = pti_boxes_find_uncovered(&after->reading, &cell->reading);
        if (box != NULL)
            return reject_holding(replay, c, box, "may still be read in host memory");
        if (cell->pulled.n_boxes > 0)
            return reject_holding(replay, c, &cell->pulled.box[0], "is pulled, and not forgotten");
        if (!check_former(replay, c))
            return false;
    }
    return true;
}

static bool replay_all(pti_joint_replay *replay) {
    take_holdings(replay);
    note_combined(replay);
    for (; replay->launch < replay->schedule->n_launches; replay->launch++)
        if (!replay_launch(replay) || !pti_joint_end_launch(replay))
            return false;
    return replay_launch(replay) && check_messages(replay) && check_holdings(replay);
}

static bool prove_schedule(const pti_joint_schedule *schedule, pti_text *why) {
    pti_joint_replay replay;
    if (!pti_joint_check_shape(schedule, why))
        return false;
    bool is_there = begin_replay(&replay, schedule, why);
    bool holds = is_there && replay_all(&replay);
    bool failed = end_replay(&replay) || !is_there;
    why->failed |= failed;
    return holds && !failed;
}

/** Sets that could not grow look like sets without elements: who has no memory proves nothing. */
bool pti_joint_check(const pti_joint_schedule *schedule, pti_text *why) {
    if (prove_schedule(schedule, why))
        return true;
    pti_text_free(why);
    *why = (pti_text){0};
    bool holds = prove_schedule(schedule, why);
    why->failed = why->failed || (!holds && !pti_memory_is_there());
    return holds;
}
