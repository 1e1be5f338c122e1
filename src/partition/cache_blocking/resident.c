#include "partition/cache_blocking/resident.h"

#include "partition/cache_blocking/in_place.h"
#include "partition/schedule/builder.h"

#include <stdlib.h>
#include <string.h>

static bool is_launch(const pti_schedule *schedule, int64_t op) {
    return schedule->op[op].kind == PTI_LAUNCH;
}

static bool are_same_place(const pti_placement *one, const pti_placement *other) {
    return one->offset_bytes == other->offset_bytes &&
           one->layout.size_bytes == other->layout.size_bytes &&
           pti_box_equals(&one->layout.hull, &other->layout.hull) &&
           memcmp(one->layout.stride_bytes, other->layout.stride_bytes,
                  (size_t)one->layout.hull.n_dims * sizeof *one->layout.stride_bytes) == 0;
}

/** Record the place of each operand of a superblock; false if an array is at another one. */
static bool note_places(const pti_schedule *schedule, int launch, int64_t superblock,
                        const pti_placement **place) {
    const pti_call *call = &schedule->launch[launch].call;
    for (int o = 0; o < call->instance->n_operands; o++) {
        const pti_placement *used = pti_schedule_placement(schedule, launch, superblock, o);
        const pti_placement **known = &place[call->array[o]];
        if (used == NULL)
            continue;
        if (*known == NULL)
            *known = used;
        if (!are_same_place(used, *known))
            return false;
    }
    return true;
}

/** Find where launches find each array, the first place that is; NULL: they touch nothing of it.
 * False if they find one at several places. */
static bool find_array_placements(const pti_schedule *schedule, const pti_placement **place) {
    for (int l = 0; l < schedule->n_launches; l++) {
        const pti_schedule_launch *launch = &schedule->launch[l];
        for (int64_t k = 0; k < launch->n_superblocks; k++)
            if (!note_places(schedule, l, launch->first_superblock + k, place))
                return false;
    }
    return true;
}

static const pti_placement **new_places(const pti_schedule *schedule) {
    return calloc((size_t)schedule->instance->n_operands + 1, sizeof(const pti_placement *));
}

static bool is_apart_from_later(const pti_schedule *schedule, const pti_placement *const *place,
                                int array) {
    for (int a = array + 1; a < schedule->instance->n_operands && place[array] != NULL; a++)
        if (place[a] != NULL && pti_placements_overlap(place[array], place[a]))
            return false;
    return true;
}

/** Return whether a move may come before all launches: it writes only where they find the array,
 * and reads nothing that they write. */
static bool may_come_first(const pti_schedule *schedule, const pti_placement *const *place,
                           const pti_op *op) {
    const pti_placement *target = &schedule->placement[op->placement];
    const pti_placement *own = place[target->operand];
    return op->kind != PTI_DOWNLOAD && own != NULL && are_same_place(target, own) &&
           (op->kind != PTI_COPY ||
            !are_same_place(&schedule->placement[op->source_placement], own));
}

static bool has_places(const pti_schedule *apart, const pti_placement *const *place) {
    bool suits = true;
    for (int a = 0; a < apart->instance->n_operands && suits; a++)
        suits = is_apart_from_later(apart, place, a);
    for (int64_t k = 0; k < apart->n_ops && suits; k++)
        suits = is_launch(apart, k) || may_come_first(apart, place, &apart->op[k]);
    return suits;
}

bool pti_blocking_suits_resident(const pti_schedule *apart) {
    const pti_placement **place = new_places(apart);
    bool does = place != NULL && !apart->in_place && find_array_placements(apart, place) &&
                has_places(apart, place);
    free(place);
    return does;
}

/** Place every superblock's arrays where those of the other schedule are. */
static void place_operands(const pti_schedule *apart, const pti_placement *const *place,
                           pti_schedule *made) {
    for (int l = 0; l < made->n_launches; l++) {
        const pti_schedule_launch *launch = &made->launch[l];
        int64_t *placement = &made->launch_placement[launch->first_placement];
        for (int64_t k = 0; k < launch->n_superblocks; k++)
            for (int o = 0; o < launch->call.instance->n_operands; o++) {
                const pti_placement *own = place[launch->call.array[o]];
                *placement++ = own == NULL ? -1 : own - apart->placement;
            }
    }
}

/** Copy the places where launches find the arrays. */
static bool take_places(const pti_schedule *apart, pti_schedule *made) {
    free(made->placement);
    made->placement = malloc(((size_t)apart->n_placements + 1) * sizeof *made->placement);
    if (made->placement == NULL)
        return false;
    memcpy(made->placement, apart->placement,
           (size_t)apart->n_placements * sizeof *made->placement);
    made->n_placements = apart->n_placements;
    const pti_placement **place = new_places(apart);
    bool is_placed = place != NULL && find_array_placements(apart, place);
    if (is_placed)
        place_operands(apart, place, made);
    free(place);
    return is_placed;
}

static pti_holding *copy_holdings(const pti_holding *from, int n_holdings, bool *failed) {
    pti_holding *made = calloc((size_t)n_holdings + 1, sizeof *made);
    *failed |= made == NULL;
    for (int k = 0; made != NULL && k < n_holdings; k++) {
        made[k].placement = from[k].placement;
        pti_boxes_copy(&made[k].valid, &from[k].valid);
        pti_boxes_copy(&made[k].dirty, &from[k].dirty);
        *failed |= made[k].valid.failed || made[k].dirty.failed;
    }
    return made;
}

static bool take_unwritten(const pti_schedule *apart, pti_schedule *made) {
    int n_arrays = apart->instance->n_operands;
    bool failed = false;
    if (apart->unwritten == NULL)
        return true;
    made->unwritten = calloc((size_t)n_arrays + 1, sizeof *made->unwritten);
    for (int a = 0; made->unwritten != NULL && a < n_arrays; a++) {
        pti_boxes_copy(&made->unwritten[a], &apart->unwritten[a]);
        failed |= made->unwritten[a].failed;
    }
    return made->unwritten != NULL && !failed;
}

static bool take_dropped(const pti_schedule *apart, pti_schedule *made) {
    size_t n_arrays = (size_t)apart->instance->n_operands;
    if (apart->dropped == NULL)
        return true;
    made->dropped = calloc(n_arrays + 1, sizeof *made->dropped);
    if (made->dropped != NULL)
        memcpy(made->dropped, apart->dropped, n_arrays * sizeof *made->dropped);
    return made->dropped != NULL;
}

/** Copy what lies on the device before and after, which the launches keep. */
static bool take_states(const pti_schedule *apart, pti_schedule *made) {
    bool failed = false;
    made->in_place = false;
    made->arena_bytes = apart->arena_bytes;
    made->limit_bytes = apart->limit_bytes;
    made->before = copy_holdings(apart->before, apart->n_before, &failed);
    made->n_before = made->before == NULL ? 0 : apart->n_before;
    made->after = copy_holdings(apart->after, apart->n_after, &failed);
    made->n_after = made->after == NULL ? 0 : apart->n_after;
    return !failed && take_unwritten(apart, made) && take_dropped(apart, made);
}

/** Return the moves for which a move waits, at their new positions. */
static pti_last waits_of(const pti_schedule *apart, const pti_op *op, const int64_t *moved_to) {
    pti_last waits = pti_last_none();
    for (int64_t w = op->first_wait; w < op->first_wait + op->n_waits; w++) {
        int64_t awaited = apart->wait[w];
        pti_last one = pti_last_none();
        pti_last_note(&one, apart->op[awaited].kind, moved_to[awaited]);
        if (!is_launch(apart, awaited))
            pti_last_join(&waits, &one);
    }
    return waits;
}

/** Add the moves, in their order; *last: of each stream. */
static void add_moves(const pti_schedule *apart, const pti_schedule *made, pti_builder *ops,
                      int64_t *moved_to, pti_last *last) {
    for (int64_t k = 0; k < apart->n_ops && !ops->failed; k++) {
        if (is_launch(apart, k))
            continue;
        pti_op op = apart->op[k];
        pti_last waits = waits_of(apart, &op, moved_to);
        op.superblock = made->launch[op.launch].first_superblock;
        moved_to[k] = pti_builder_add(ops, &op, &waits);
        pti_last_note(last, op.kind, moved_to[k]);
    }
}

/** Join the moves of one schedule and, after them, the launches of the other. */
static bool join_ops(const pti_schedule *apart, pti_schedule *made) {
    pti_schedule joint = {0};
    pti_builder ops = {.schedule = &joint};
    pti_last last = pti_last_none();
    int64_t *moved_to = calloc((size_t)apart->n_ops + 1, sizeof *moved_to);
    if (moved_to != NULL)
        add_moves(apart, made, &ops, moved_to, &last);
    for (int64_t k = 0; k < made->n_ops && moved_to != NULL && !ops.failed; k++) {
        pti_builder_add(&ops, &made->op[k], &last);
        last = pti_last_none();
    }
    bool is_joined = moved_to != NULL && !ops.failed;
    free(moved_to);
    free(made->op);
    free(made->wait);
    made->op = joint.op;
    made->n_ops = joint.n_ops;
    made->wait = joint.wait;
    made->n_waits = joint.n_waits;
    return is_joined;
}

pti_schedule *pti_blocking_build_resident(const pti_schedule *apart, const pti_chain *chain,
                                          const pti_skew_shape *shape) {
    pti_schedule *made = pti_blocking_build_in_place(chain, shape);
    if (made == NULL)
        return NULL;
    made->instance = apart->instance;
    if (take_places(apart, made) && take_states(apart, made) && join_ops(apart, made))
        return made;
    pti_schedule_free(made);
    return NULL;
}
