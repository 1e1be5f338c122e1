#include "partition/prove/joint/joint_replay.h"

#include <stdlib.h>

/* Waiting. */

static void settle_cell(pti_joint_replay *replay, int array, int member) {
    pti_joint_cell *cell = pti_joint_cell_of(replay, array, member);
    pti_joint_unite_sets(pti_joint_on_host(replay, array, member), &cell->fetching);
    pti_boxes_subtract_all(&cell->loose, &cell->fetching);
    pti_boxes_subtract_all(&cell->loose, &cell->forgetting);
    pti_boxes_clear(&cell->fetching);
    pti_boxes_clear(&cell->outdated);
    pti_boxes_clear(&cell->forgetting);
    pti_boxes_clear(&cell->late);
    pti_boxes_clear(&cell->reading);
    pti_boxes_clear(&cell->former);
    cell->reduces = false;
}

void pti_joint_outdate(pti_joint_replay *replay, pti_joint_cell *cell, const pti_boxes *changed) {
    const pti_boxes *dirty[] = {&cell->loose, &cell->late};
    pti_boxes under_way = {0}, written = {0};
    pti_boxes_intersect(&under_way, &cell->fetching, changed);
    for (int k = 0; k < 2 && under_way.n_boxes > 0; k++) {
        pti_boxes_intersect(&written, &under_way, dirty[k]);
        pti_joint_unite_sets(&cell->outdated, &written);
    }
    pti_boxes_subtract_all(&cell->fetching, changed);
    replay->failed |= under_way.failed || written.failed;
    pti_boxes_free(&under_way);
    pti_boxes_free(&written);
}

/** Return whether a member runs threads of the current launch, which uses an array. */
static bool is_used(const pti_joint_replay *replay, int array, int member) {
    bool is = false;
    if (replay->launch == replay->schedule->n_launches || replay->threads[member].n_boxes == 0)
        return false;
    const pti_call *call = &replay->schedule->launch[replay->launch];
    for (int o = 0; o < call->instance->n_operands; o++)
        is |= array < 0 || call->array[o] == array;
    return is;
}

/** Whoever waits for one array of a launch waits for all of the launch. */
static void settle_launch(pti_joint_replay *replay, int array, int member) {
    for (int a = 0; a < replay->schedule->n_arrays && is_used(replay, array, member); a++)
        pti_boxes_clear(&pti_joint_cell_of(replay, a, member)->read);
}

const polytile_domain *pti_joint_find_reading(const pti_joint_cell *cell, const pti_boxes *boxes) {
    const polytile_domain *box = pti_boxes_find_meeting(&cell->reading, boxes);
    return box != NULL ? box : pti_boxes_find_meeting(&cell->read, boxes);
}

void pti_joint_settle(pti_joint_replay *replay, pti_joint_place at) {
    for (int w = 0; w < at.op->n_waits; w++) {
        const pti_joint_wait *wait = &at.list->wait[at.op->first_wait + w];
        for (int a = 0; a < replay->schedule->n_arrays; a++)
            if (wait->array < 0 || wait->array == a)
                settle_cell(replay, a, wait->member);
        settle_launch(replay, wait->array, wait->member);
        if (wait->array < 0)
            pti_joint_settle_pulls(replay, at.list, wait->member);
    }
}

/* What others do with the same host memory. */

static bool is_other(const pti_joint_replay *replay, int array, int member, int other) {
    return other != member && pti_joint_shares(replay->schedule, array, member, other);
}

/** Elements that the current launch may be writing in a member's host memory. */
static const polytile_domain *find_box_being_written(const pti_joint_replay *replay,
                                                     pti_joint_place at, int member) {
    for (int q = at.list->first; q < at.list->first + at.list->n_local; q++) {
        if (!pti_joint_shares(replay->schedule, at.op->array, member, q) ||
            replay->schedule->keeps[q])
            continue;
        const pti_joint_cell *cell = pti_joint_cell_of(replay, at.op->array, q);
        const polytile_domain *found = pti_boxes_find_meeting(&cell->written, &at.op->boxes);
        if (found != NULL)
            return found;
    }
    return NULL;
}

/** Elements of a set of which another member's download of a former version is under way. */
static const polytile_domain *find_outdated(const pti_joint_replay *replay, pti_joint_place at,
                                            const pti_boxes *set) {
    const polytile_domain *box = NULL;
    for (int q = at.list->first; box == NULL && q < at.list->first + at.list->n_local; q++)
        if (is_other(replay, at.op->array, at.op->member, q))
            box =
                pti_boxes_find_meeting(&pti_joint_cell_of(replay, at.op->array, q)->outdated, set);
    return box;
}

/** Elements of a set that another member has in a former version, and may still read in host
 * memory, or bring to the host; *found holds some of them. */
static bool has_former(pti_joint_replay *replay, pti_joint_place at, const pti_boxes *set,
                       bool reads, polytile_domain *found) {
    pti_boxes former = {0};
    bool has = false;
    for (int q = at.list->first; !has && q < at.list->first + at.list->n_local; q++) {
        const pti_joint_cell *cell = pti_joint_cell_of(replay, at.op->array, q);
        if (!is_other(replay, at.op->array, at.op->member, q) ||
            (!reads && replay->schedule->keeps[q]))
            continue;
        pti_boxes_copy(&former, reads ? &cell->former : &cell->loose);
        if (!reads)
            pti_boxes_subtract_all(&former, &cell->valid);
        const polytile_domain *box = pti_boxes_find_meeting(&former, set);
        has = box != NULL;
        *found = has ? *box : *found;
    }
    replay->failed |= former.failed;
    pti_boxes_free(&former);
    return has;
}

bool pti_joint_may_write(const pti_joint_replay *replay, pti_joint_place at, int member) {
    const pti_boxes *boxes = &at.op->boxes;
    for (int q = at.list->first; q < at.list->first + at.list->n_local; q++) {
        if (!pti_joint_shares(replay->schedule, at.op->array, member, q))
            continue;
        const pti_joint_cell *cell = pti_joint_cell_of(replay, at.op->array, q);
        const polytile_domain *box = pti_joint_find_reading(cell, boxes);
        if (box != NULL)
            return pti_joint_reject(replay, at, box, "is written while launches may still read it");
        box = replay->schedule->keeps[q] ? NULL : pti_boxes_find_meeting(&cell->loose, boxes);
        if (box != NULL)
            return pti_joint_reject(replay, at, box,
                                    "is written where a device may bring older elements");
        box = pti_boxes_find_meeting(&cell->fetching, boxes);
        box = box != NULL ? box : pti_boxes_find_meeting(&cell->outdated, boxes);
        if (box != NULL)
            return pti_joint_reject(replay, at, box,
                                    "is written while a download may write it, too");
    }
    return true;
}

/* Operations. */

/** What comes to the host in a former version is on the host no more, nor with members that may
 * have it there. */
static bool overwrite_host(pti_joint_replay *replay, pti_joint_place at, const pti_boxes *old) {
    pti_boxes lost = {0};
    bool holds = true;
    pti_boxes_subtract_all(pti_joint_on_host(replay, at.op->array, at.op->member), old);
    for (int q = at.list->first; holds && q < at.list->first + at.list->n_local; q++) {
        pti_joint_cell *cell = pti_joint_cell_of(replay, at.op->array, q);
        if (!is_other(replay, at.op->array, at.op->member, q))
            continue;
        const polytile_domain *box = pti_joint_find_reading(cell, old);
        if (box != NULL)
            holds = pti_joint_reject(replay, at, box,
                                     "a former version comes to the host where another member may "
                                     "still read the newest");
        pti_boxes_copy(&lost, old);
        pti_boxes_subtract_all(&lost, &cell->loose);
        pti_boxes_subtract_all(&cell->valid, &lost);
        pti_boxes_subtract_all(&cell->fetching, old);
    }
    replay->failed |= lost.failed;
    pti_boxes_free(&lost);
    return holds;
}

/** Take what is not in its newest version. */
static bool fetch_old(pti_joint_replay *replay, pti_joint_place at, pti_boxes *old) {
    pti_joint_cell *cell = pti_joint_cell_of(replay, at.op->array, at.op->member);
    pti_boxes changed = {0};
    pti_boxes_copy(old, &at.op->boxes);
    pti_boxes_subtract_all(old, &cell->valid);
    pti_boxes_intersect(&changed, old, &cell->loose);
    pti_joint_unite_sets(&cell->forgetting, old);
    pti_joint_unite_sets(&cell->outdated, &changed);
    bool holds = overwrite_host(replay, at, &changed);
    replay->failed |= changed.failed;
    pti_boxes_free(&changed);
    return holds;
}

/** Replay the download of elements in their newest version. */
static bool fetch_newest(pti_joint_replay *replay, pti_joint_place at, const pti_boxes *old) {
    pti_joint_cell *cell = pti_joint_cell_of(replay, at.op->array, at.op->member);
    pti_boxes newest = {0}, changed = {0};
    polytile_domain box;
    bool holds = true;
    pti_boxes_copy(&newest, &at.op->boxes);
    pti_boxes_subtract_all(&newest, old);
    pti_boxes_intersect(&changed, &newest, &cell->loose);
    if (has_former(replay, at, &newest, false, &box))
        holds = pti_joint_reject(replay, at, &box,
                                 "another device may bring older elements to the host later");
    else if (has_former(replay, at, &changed, true, &box))
        holds =
            pti_joint_reject(replay, at, &box, "another member may still read the former version");
    else if (find_outdated(replay, at, &newest) != NULL)
        holds = pti_joint_reject(
            replay, at, find_outdated(replay, at, &newest),
            "another member's download may bring older elements to the host later");
    pti_joint_unite_sets(&cell->fetching, &newest);
    replay->failed |= newest.failed || changed.failed;
    pti_boxes_free(&newest);
    pti_boxes_free(&changed);
    return holds;
}

static bool move_fetch(pti_joint_replay *replay, pti_joint_place at) {
    const pti_joint_cell *cell = pti_joint_cell_of(replay, at.op->array, at.op->member);
    const polytile_domain *box = pti_boxes_find_meeting(&cell->written, &at.op->boxes);
    pti_boxes old = {0};
    if (box != NULL)
        return pti_joint_reject(replay, at, box, "the launch that comes next wrote it already");
    box = pti_boxes_find_meeting(&cell->pulled, &at.op->boxes);
    if (box != NULL)
        return pti_joint_reject(replay, at, box,
                                "was pulled, so that it does not come to the host");
    replay->is_busy[at.op->member] = true;
    bool holds = fetch_old(replay, at, &old) && fetch_newest(replay, at, &old);
    replay->failed |= old.failed;
    pti_boxes_free(&old);
    return holds;
}

/** A device that keeps what it has brings none of that to the host before it has forgotten it, as
 * long as everything fits it: after this schedule that may be over. */
static bool move_forget(pti_joint_replay *replay, pti_joint_place at) {
    pti_joint_cell *cell = pti_joint_cell_of(replay, at.op->array, at.op->member);
    const polytile_domain *box = pti_boxes_find_meeting(&cell->written, &at.op->boxes);
    if (box != NULL)
        return pti_joint_reject(replay, at, box, "the launch that comes next wrote it already");
    if (pti_joint_find_pulling(replay, at.list))
        return pti_joint_reject(replay, at, NULL, "runs while members pull from each other");
    replay->is_busy[at.op->member] = true;
    pti_joint_forget(replay, at, cell);
    return true;
}

static bool may_read(const pti_joint_replay *replay, pti_joint_place at, int member) {
    const pti_boxes *on_host = pti_joint_on_host(replay, at.op->array, member);
    const polytile_domain *box = pti_boxes_find_uncovered(on_host, &at.op->boxes);
    if (box != NULL)
        return pti_joint_reject(replay, at, box,
                                "host memory does not have it in its newest version");
    box = find_box_being_written(replay, at, member);
    if (box != NULL)
        return pti_joint_reject(replay, at, box, "the launch that comes next may be writing it");
    return true;
}

static bool write_host(pti_joint_replay *replay, pti_joint_place at) {
    if (!pti_joint_may_write(replay, at, at.op->member))
        return false;
    pti_boxes_unite(pti_joint_on_host(replay, at.op->array, at.op->member), &at.op->boxes,
                    pti_boxes_gather);
    return true;
}

static bool move_copy(pti_joint_replay *replay, pti_joint_place at) {
    return may_read(replay, at, at.op->peer) &&
           (pti_joint_shares(replay->schedule, at.op->array, at.op->member, at.op->peer) ||
            write_host(replay, at));
}

static bool move_send(pti_joint_replay *replay, pti_joint_place at) {
    if (!may_read(replay, at, at.op->member))
        return false;
    if (replay->n_messages == replay->message_capacity) {
        int capacity = 2 * replay->message_capacity + 16;
        pti_joint_message *grown = realloc(replay->message, (size_t)capacity * sizeof *grown);
        replay->failed |= grown == NULL;
        if (grown == NULL)
            return false;
        replay->message = grown;
        replay->message_capacity = capacity;
    }
    replay->message[replay->n_messages++] = (pti_joint_message){.op = at.op};
    return true;
}

pti_joint_message *pti_joint_find_message(const pti_joint_replay *replay, int from, int to) {
    for (int m = 0; m < replay->n_messages; m++) {
        pti_joint_message *message = &replay->message[m];
        if (!message->is_received &&
            replay->process[message->op->member] == replay->process[from] &&
            replay->process[message->op->peer] == replay->process[to])
            return message;
    }
    return NULL;
}

static bool move_receive(pti_joint_replay *replay, pti_joint_place at) {
    pti_joint_message *message = pti_joint_find_message(replay, at.op->peer, at.op->member);
    message->is_received = true;
    if (message->op->member != at.op->peer || message->op->peer != at.op->member ||
        message->op->array != at.op->array ||
        !pti_boxes_are_alike(&message->op->boxes, &at.op->boxes))
        return pti_joint_reject(replay, at, NULL, "what is sent is something else");
    if (message->op->launch != at.op->launch)
        return pti_joint_reject(replay, at, NULL, "what is sent is of another version");
    return write_host(replay, at);
}

static bool move_nothing(pti_joint_replay *replay, pti_joint_place at) {
    (void)replay;
    (void)at;
    return true;
}

bool pti_joint_move(pti_joint_replay *replay, pti_joint_place at) {
    static bool (*const move_of[])(pti_joint_replay *, pti_joint_place) = {
        [PTI_JOINT_FETCH] = move_fetch, [PTI_JOINT_FORGET] = move_forget,
        [PTI_JOINT_SEND] = move_send,   [PTI_JOINT_RECEIVE] = move_receive,
        [PTI_JOINT_COPY] = move_copy,   [PTI_JOINT_PULL] = pti_joint_pull,
        [PTI_JOINT_WAIT] = move_nothing};
    const polytile_domain *box =
        at.op->kind == PTI_JOINT_WAIT
            ? NULL
            : pti_boxes_find_meeting(&replay->combined[at.op->array], &at.op->boxes);
    if (box != NULL)
        return pti_joint_reject(replay, at, box, "the launch that comes next combined it already");
    return move_of[at.op->kind](replay, at);
}
