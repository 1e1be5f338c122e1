#include "partition/memory/plan_cache.h"

#include "base/checked.h"
#include "base/list.h"
#include "base/mix.h"
#include "partition/memory/snapshot.h"

#include <stdlib.h>
#include <string.h>

/** Take a user from a snapshot; without any it is freed. */
static void release_snapshot(pti_residency *residency, pti_snapshot *snapshot) {
    if (snapshot == NULL || --snapshot->n_users > 0)
        return;
    pti_snapshot **link = &residency->plans.known;
    while (*link != snapshot)
        link = &(*link)->next;
    *link = snapshot->next;
    residency->plans.bytes -= snapshot->bytes;
    pti_snapshot_free(residency, snapshot);
}

/** Bring the residency to a snapshot, whose memory both share, and release the former one. */
static void enter_snapshot(pti_residency *residency, pti_snapshot *snapshot) {
    pti_snapshot *former = residency->plans.at;
    snapshot->n_users++;
    residency->plans.at = snapshot;
    residency->plans.is_shared = true;
    pti_snapshot_enter(snapshot, residency);
    release_snapshot(residency, former);
}

/** Forgets which snapshot the residency equals; its memory is its own. */
static void leave_snapshot(pti_residency *residency) {
    pti_snapshot *former = residency->plans.at;
    residency->plans.at = NULL;
    release_snapshot(residency, former);
}

static void free_keys(pti_step_key *keys, int n_steps) {
    for (int s = 0; keys != NULL && s < n_steps; s++)
        pti_boxes_free(&keys[s].boxes);
    free(keys);
}

static void end_transition(pti_residency *residency, int k) {
    pti_plans *plans = &residency->plans;
    pti_transition ended = plans->transition[k];
    plans->transition[k] = plans->transition[--plans->n_transitions];
    plans->bytes -= ended.bytes;
    pti_schedule_free(ended.schedule);
    free_keys(ended.step, ended.n_steps);
    pti_relocation_free(&ended.relocation);
    release_snapshot(residency, ended.from);
    release_snapshot(residency, ended.to);
}

static int find_oldest(const pti_plans *plans) {
    int oldest = 0;
    for (int k = 1; k < plans->n_transitions; k++)
        if (plans->transition[k].last_used < plans->transition[oldest].last_used)
            oldest = k;
    return oldest;
}

/** End the transitions used longest ago until `bytes` more bytes are within the limit. */
static void end_oldest_transitions(pti_residency *residency, int64_t bytes) {
    pti_plans *plans = &residency->plans;
    while (plans->n_transitions > 0 && plans->bytes + bytes > plans->most_bytes)
        end_transition(residency, find_oldest(plans));
}

/** Return the known snapshot that equals another but for places, which are found; NULL: none. */
static pti_snapshot *find_snapshot(pti_residency *residency, const pti_snapshot *like) {
    pti_snapshot *snapshot = residency->plans.known;
    while (snapshot != NULL &&
           !pti_snapshot_is_like(residency, snapshot, like, residency->plans.place))
        snapshot = snapshot->next;
    return snapshot;
}

/** Have room for the places of n segments. False when memory runs out. */
static bool reserve_places(pti_plans *plans, int n) {
    if (n <= plans->n_places)
        return true;
    if (!PTI_RESIZE(plans->place, 2 * n) || !PTI_RESIZE(plans->former_place, 2 * n))
        return false;
    plans->n_places = 2 * n;
    return true;
}

static void find_segment_places(const pti_segments *segments, int64_t *place) {
    for (int k = 0; k < segments->n_segments; k++)
        place[k] = segments->memory[k].offset_bytes;
}

/** Bring the residency to the known snapshot that equals it, or add one. Where memory runs out,
 * or it is too large to be kept, none is known. */
static void find_or_add_snapshot(pti_residency *residency) {
    pti_plans *plans = &residency->plans;
    pti_snapshot_normalise(residency);
    pti_snapshot *made = pti_snapshot_of(residency);
    if (made == NULL || made->bytes > plans->most_bytes / 4 ||
        !reserve_places(plans, made->segments.n_segments)) {
        free(made);
        leave_snapshot(residency);
        return;
    }
    pti_snapshot *known = find_snapshot(residency, made);
    if (known == NULL) {
        end_oldest_transitions(residency, made->bytes);
        find_segment_places(&made->segments, plans->place);
        made->next = plans->known;
        plans->known = made;
        plans->bytes += made->bytes;
        enter_snapshot(residency, made);
        return;
    }
    enter_snapshot(residency, known);
    pti_snapshot_free(residency, made);
}

/** Return whether a window can be recognised later. */
static bool is_named(const pti_residency *residency, const pti_window_request *window) {
    bool named = residency->plans.most_bytes > 0;
    for (int s = 0; s < window->n_steps && named; s++)
        named = window->steps[s].kind != PTI_STEP_LAUNCH || window->steps[s].serial != 0;
    return named;
}

static uint64_t mix_boxes(uint64_t hash, const pti_boxes *boxes) {
    for (int k = 0; k < boxes->n_boxes; k++)
        for (int d = 0; d < boxes->box[k].n_dims; d++)
            hash = pti_mix(pti_mix(hash, boxes->box[k].range[d].lo), boxes->box[k].range[d].hi);
    return hash;
}

static uint64_t hash_window(const pti_window_request *window) {
    uint64_t hash = pti_mix(0, window->n_steps);
    for (int s = 0; s < window->n_steps; s++) {
        const pti_step *step = &window->steps[s];
        hash = pti_mix(pti_mix(hash, (int64_t)step->kind),
                       step->kind == PTI_STEP_LAUNCH ? step->serial : step->position);
        if (step->boxes != NULL)
            hash = mix_boxes(hash, step->boxes);
    }
    return hash;
}

static bool is_cheap(const pti_plans *plans, const pti_window_request *window) {
    int64_t n_superblocks = 0;
    for (int s = 0; s < window->n_steps && n_superblocks < plans->cheap_superblocks; s++) {
        const pti_step *step = &window->steps[s];
        n_superblocks += step->kind == PTI_STEP_LAUNCH ? step->partition->n_superblocks : 0;
    }
    return n_superblocks < plans->cheap_superblocks;
}

/** Note that a cheap window came; whether it comes often. */
static bool comes_often(pti_plans *plans, const pti_window_request *window) {
    uint64_t hash = hash_window(window);
    pti_cheap_window *bucket = &plans->cheap[hash % PTI_CHEAP_BUCKETS];
    if (bucket->hash != hash)
        *bucket = (pti_cheap_window){.hash = hash};
    bucket->n_times += bucket->n_times < PTI_CHEAP_TIMES;
    return bucket->n_times == PTI_CHEAP_TIMES;
}

static bool is_kept(pti_residency *residency, const pti_window_request *window) {
    return is_named(residency, window) &&
           (!is_cheap(&residency->plans, window) || comes_often(&residency->plans, window));
}

/** Return whether a key has these boxes; NULL: none. */
static bool are_boxes(const pti_boxes *key, const pti_boxes *boxes) {
    return boxes == NULL ? key->n_boxes == 0 : pti_boxes_are_alike(key, boxes);
}

static bool is_step(const pti_step_key *key, const pti_step *step) {
    if (key->kind != step->kind || !are_boxes(&key->boxes, step->boxes))
        return false;
    return step->kind == PTI_STEP_LAUNCH ? key->serial == step->serial
                                         : key->position == step->position;
}

static bool is_window(const pti_transition *transition, const pti_window_request *window) {
    bool same =
        transition->n_steps == window->n_steps && transition->has_link == (window->link != NULL);
    for (int s = 0; s < window->n_steps && same; s++)
        same = is_step(&transition->step[s], &window->steps[s]);
    return same && (window->link == NULL ||
                    memcmp(&transition->link, window->link, sizeof transition->link) == 0);
}

static void end_unkept(pti_residency *residency) {
    pti_schedule_free(residency->plans.unkept);
    residency->plans.unkept = NULL;
}

/** Go where a transition leads from where the residency is. */
static pti_schedule *apply_transition(pti_residency *residency, pti_transition *transition) {
    pti_plans *plans = &residency->plans;
    pti_relocation *relocation = &transition->relocation;
    transition->last_used = ++plans->n_uses;
    plans->n_hits++;
    plans->n_moved += pti_relocation_apply(relocation, plans->place, transition->schedule);
    memcpy(plans->place, relocation->after,
           (size_t)relocation->n_after * sizeof *relocation->after);
    enter_snapshot(residency, transition->to);
    return transition->schedule;
}

pti_schedule *pti_plans_find(pti_residency *residency, const pti_window_request *window) {
    pti_plans *plans = &residency->plans;
    end_unkept(residency);
    plans->keeps = is_kept(residency, window);
    if (plans->keeps && !plans->is_shared)
        find_or_add_snapshot(residency);
    for (int k = 0; k < plans->n_transitions && plans->is_shared; k++) {
        pti_transition *transition = &plans->transition[k];
        if (transition->from == plans->at && is_window(transition, window) &&
            pti_relocation_fits(&transition->relocation, plans->place))
            return apply_transition(residency, transition);
    }
    return NULL;
}

bool pti_plans_begin(pti_residency *residency) {
    if (!residency->plans.is_shared)
        return true;
    if (!pti_snapshot_unshare(residency))
        return false;
    pti_snapshot_place(residency, residency->plans.place);
    residency->plans.is_shared = false;
    return true;
}

static int64_t bytes_of_holdings(const pti_holding *holding, int n_holdings) {
    int64_t n_boxes = 0;
    for (int k = 0; k < n_holdings; k++)
        n_boxes += holding[k].valid.capacity + holding[k].dirty.capacity;
    return n_holdings * (int64_t)sizeof *holding + n_boxes * (int64_t)sizeof(polytile_domain);
}

/** Lists have room for twice what a superblock's launch uses, see pti_builder_begin(). */
static int64_t bytes_of_schedule(const pti_schedule *schedule) {
    int64_t n_superblocks = schedule->n_superblocks;
    int64_t n_pieces = schedule->n_launch_placements;
    int64_t n_room = 2 * (n_pieces + n_superblocks);
    return (int64_t)sizeof *schedule + schedule->n_launches * (int64_t)sizeof *schedule->launch +
           n_superblocks * (int64_t)sizeof *schedule->superblock +
           n_pieces * (int64_t)sizeof *schedule->launch_placement +
           pti_max(schedule->n_placements, n_pieces) * (int64_t)sizeof *schedule->placement +
           pti_max(schedule->n_ops, n_room) * (int64_t)sizeof *schedule->op +
           pti_max(schedule->n_waits, n_room) * (int64_t)sizeof *schedule->wait +
           bytes_of_holdings(schedule->before, schedule->n_before) +
           bytes_of_holdings(schedule->after, schedule->n_after);
}

/** NULL when memory runs out. */
static pti_step_key *keys_of(const pti_window_request *window) {
    bool failed = false;
    pti_step_key *keys = calloc((size_t)window->n_steps + 1, sizeof *keys);
    for (int s = 0; s < window->n_steps && keys != NULL; s++) {
        const pti_step *step = &window->steps[s];
        keys[s] = (pti_step_key){step->kind, step->position, step->serial, {0}};
        if (step->boxes != NULL)
            pti_boxes_copy(&keys[s].boxes, step->boxes);
        failed |= keys[s].boxes.failed;
    }
    if (!failed)
        return keys;
    free_keys(keys, window->n_steps);
    return NULL;
}

/** With its boxes, which the schedule may have copied once more. */
static int64_t bytes_of_keys(const pti_window_request *window) {
    int64_t n_boxes = 0;
    for (int s = 0; s < window->n_steps; s++)
        n_boxes += window->steps[s].boxes == NULL ? 0 : window->steps[s].boxes->n_boxes;
    return window->n_steps * (int64_t)(sizeof(pti_step_key) + sizeof(pti_invalidation)) +
           2 * n_boxes * (int64_t)sizeof(polytile_domain);
}

/** Fill in where places lead, and what the transition takes; false when memory runs out, or it
 * takes too much of what all transitions may take. */
static bool is_worth_keeping(const pti_plans *plans, pti_transition *made) {
    pti_placed before = {&made->from->segments, plans->former_place};
    pti_placed after = {&made->to->segments, plans->place};
    if (made->step == NULL ||
        !pti_relocation_create(&before, &after, made->schedule, &made->relocation))
        return false;
    made->bytes += pti_relocation_bytes(&made->relocation, made->schedule);
    return made->bytes <= plans->most_bytes / 2;
}

/** Add the transition by a schedule from a snapshot, which gets a user, to the residency's. */
static void add_transition(pti_residency *residency, pti_snapshot *from,
                           const pti_window_request *window, pti_schedule *schedule) {
    pti_plans *plans = &residency->plans;
    pti_transition made = {.from = from,
                           .to = plans->at,
                           .n_steps = window->n_steps,
                           .step = keys_of(window),
                           .has_link = window->link != NULL,
                           .schedule = schedule,
                           .bytes = bytes_of_schedule(schedule) + bytes_of_keys(window),
                           .last_used = ++plans->n_uses};
    if (made.has_link)
        made.link = *window->link;
    if (!is_worth_keeping(plans, &made)) {
        free_keys(made.step, made.n_steps);
        pti_relocation_free(&made.relocation);
        plans->unkept = schedule;
        return;
    }
    if (plans->n_transitions == PTI_MAX_TRANSITIONS)
        end_transition(residency, find_oldest(plans));
    end_oldest_transitions(residency, made.bytes);
    made.from->n_users++;
    made.to->n_users++;
    plans->bytes += made.bytes;
    plans->transition[plans->n_transitions++] = made;
}

static void swap_places(pti_plans *plans) {
    int64_t *place = plans->place;
    plans->place = plans->former_place;
    plans->former_place = place;
}

void pti_plans_keep(pti_residency *residency, const pti_window_request *window,
                    pti_schedule *schedule) {
    pti_plans *plans = &residency->plans;
    pti_snapshot *from = plans->at;
    if (from == NULL || !plans->keeps) {
        leave_snapshot(residency);
        plans->unkept = schedule;
        return;
    }
    from->n_users++;
    swap_places(plans);
    find_or_add_snapshot(residency);
    if (plans->at == NULL)
        plans->unkept = schedule;
    else
        add_transition(residency, from, window, schedule);
    release_snapshot(residency, from);
}

/** Make a snapshot's memory the residency's own; nobody else uses it. */
static void take_over_snapshot(pti_residency *residency) {
    pti_snapshot *at = residency->plans.at;
    pti_snapshot_place(residency, residency->plans.place);
    residency->plans.known = NULL;
    residency->plans.bytes = 0;
    residency->plans.at = NULL;
    residency->plans.is_shared = false;
    free(at);
}

void pti_plans_clear(pti_residency *residency) {
    end_unkept(residency);
    while (residency->plans.n_transitions > 0)
        end_transition(residency, residency->plans.n_transitions - 1);
    if (residency->plans.is_shared)
        take_over_snapshot(residency);
    else
        leave_snapshot(residency);
}

void pti_plans_end(pti_residency *residency) {
    pti_plans_clear(residency);
    free(residency->plans.place);
    free(residency->plans.former_place);
}
