#include "partition/prove/joint/joint_replay.h"

/* What devices drop, and elements that go from device to device: host memory does not get them. */

/** What the device drops is valid still as far as host memory has it, or will when the device is
 * done with what it downloads before. */
static void drop_held(pti_joint_replay *replay, pti_joint_place at, pti_joint_cell *cell) {
    const pti_boxes *on_host = pti_joint_on_host(replay, at.op->array, at.op->member);
    pti_boxes *left = &replay->touched;
    if (pti_boxes_find_uncovered(on_host, &at.op->boxes) == NULL) {
        pti_boxes_subtract_all(&cell->valid, &at.op->boxes);
        pti_joint_unite_sets(&cell->valid, &at.op->boxes);
        return;
    }
    pti_boxes_intersect(left, &at.op->boxes, &cell->fetching);
    pti_boxes_intersect(&replay->old, &at.op->boxes, on_host);
    pti_joint_unite_sets(left, &replay->old);
    pti_boxes_subtract_all(&cell->valid, &at.op->boxes);
    pti_joint_unite_sets(&cell->valid, left);
}

void pti_joint_forget(pti_joint_replay *replay, pti_joint_place at, pti_joint_cell *cell) {
    drop_held(replay, at, cell);
    pti_joint_unite_sets(&cell->forgetting, &at.op->boxes);
    pti_boxes_subtract_all(&cell->held, &at.op->boxes);
    pti_boxes_subtract_all(&cell->pulled, &at.op->boxes);
    if (replay->schedule->keeps[at.op->member]) {
        pti_boxes_intersect(&replay->old, &at.op->boxes, &cell->loose);
        pti_joint_unite_sets(&cell->late, &replay->old);
        pti_boxes_subtract_all(&cell->loose, &at.op->boxes);
    }
}

/** Once nobody of a process pulls, nothing is lent. */
static void end_pulls(pti_joint_replay *replay, const pti_joint_list *list) {
    for (int a = 0; a < replay->schedule->n_arrays && !pti_joint_find_pulling(replay, list); a++)
        for (int q = list->first; q < list->first + list->n_local; q++)
            pti_boxes_clear(&pti_joint_cell_of(replay, a, q)->lent);
}

void pti_joint_settle_pulls(pti_joint_replay *replay, const pti_joint_list *list, int member) {
    replay->is_busy[member] = false;
    if (!replay->is_pulling[member])
        return;
    replay->is_pulling[member] = false;
    end_pulls(replay, list);
}

bool pti_joint_find_pulling(const pti_joint_replay *replay, const pti_joint_list *list) {
    bool is = false;
    for (int q = list->first; q < list->first + list->n_local; q++)
        is |= replay->is_pulling[q];
    return is;
}

/** Return why elements of a peer cannot be pulled, and a box of them; NULL: they can. */
static const char *find_obstacle(pti_joint_replay *replay, pti_joint_place at,
                                 const polytile_domain **box) {
    const pti_joint_cell *own = pti_joint_cell_of(replay, at.op->array, at.op->member),
                         *peer = pti_joint_cell_of(replay, at.op->array, at.op->peer);
    const struct {
        const polytile_domain *box;
        const char *why;
    } obstacles[] = {
        {pti_boxes_find_uncovered(&peer->valid, &at.op->boxes),
         "the peer does not have it in its newest version"},
        {pti_boxes_find_meeting(&peer->written, &at.op->boxes),
         "the launch that comes next wrote it already"},
        {pti_boxes_find_meeting(&own->written, &at.op->boxes),
         "the launch that comes next wrote it already"},
        {pti_boxes_find_meeting(&peer->pulled, &at.op->boxes), "the peer pulled it itself"},
        {pti_boxes_find_meeting(&own->lent, &at.op->boxes), "another member is pulling it"},
    };
    for (size_t k = 0; k < sizeof obstacles / sizeof *obstacles; k++) {
        *box = obstacles[k].box;
        if (*box != NULL)
            return obstacles[k].why;
    }
    return NULL;
}

/** Return whether another member's device than the peer's may have older elements, which could be
 * taken for the newest. */
static bool has_older(pti_joint_replay *replay, pti_joint_place at, polytile_domain *found) {
    bool has = false;
    for (int q = at.list->first; q < at.list->first + at.list->n_local && !has; q++) {
        const pti_joint_cell *cell = pti_joint_cell_of(replay, at.op->array, q);
        if (q == at.op->member || q == at.op->peer)
            continue;
        pti_boxes_intersect(&replay->old, &cell->loose, &at.op->boxes);
        pti_boxes_subtract_all(&replay->old, &cell->valid);
        has = replay->old.n_boxes > 0;
        *found = has ? replay->old.box[0] : *found;
    }
    return has;
}

/** Nothing runs on the peer, whose device keeps what it has, and neither that one nor the member's
 * own gives it up before it is forgotten. */
static bool may_pull(pti_joint_replay *replay, pti_joint_place at) {
    const pti_joint_schedule *schedule = replay->schedule;
    const polytile_domain *box;
    polytile_domain older;
    if (!schedule->keeps[at.op->member] || !schedule->keeps[at.op->peer] ||
        !pti_joint_shares(schedule, at.op->array, at.op->member, at.op->peer))
        return pti_joint_reject(replay, at, NULL, "one of the devices may not keep it");
    if (replay->is_busy[at.op->peer])
        return pti_joint_reject(replay, at, NULL, "the peer may still be busy");
    const char *why = find_obstacle(replay, at, &box);
    if (why != NULL)
        return pti_joint_reject(replay, at, box, why);
    if (has_older(replay, at, &older))
        return pti_joint_reject(replay, at, &older, "another device may have an older version");
    return true;
}

/* What the device has of it is dropped first. */
bool pti_joint_pull(pti_joint_replay *replay, pti_joint_place at) {
    pti_joint_cell *cell = pti_joint_cell_of(replay, at.op->array, at.op->member);
    if (!may_pull(replay, at))
        return false;
    pti_joint_forget(replay, at, cell);
    pti_boxes_subtract_all(&cell->valid, &at.op->boxes);
    pti_joint_unite_sets(&cell->valid, &at.op->boxes);
    pti_joint_unite_sets(&cell->pulled, &at.op->boxes);
    pti_joint_unite_sets(&pti_joint_cell_of(replay, at.op->array, at.op->peer)->lent,
                         &at.op->boxes);
    replay->is_pulling[at.op->member] = true;
    return true;
}
