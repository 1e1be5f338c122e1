#include "partition/window/tiles.h"

#include "access/footprint/call.h"
#include "access/set/boxes.h"
#include "base/checked.h"
#include "base/list.h"
#include "partition/ping_pong/margins.h"
#include "partition/ping_pong/ping_pong.h"
#include "partition/ping_pong/tile_cost.h"
#include "partition/window/tiles_text.h"

#include <stdlib.h>

/** Launches that follow one another and whose arrays change roles in turn, and how they are
 * tiled. */
typedef struct sequence {
    pti_ping_pong ping_pong;
    pti_role_change change; /* once there are two launches */
    pti_schedule *schedule;
    const pti_call *call;    /* of all launches of the schedule */
    const int64_t *first_op; /* of each of them; -1: its operations are apart */
    int first, end;          /* the launches */
    int n_together;          /* 0: they do not run as one */
} sequence;

/** Return whether all superblocks of a launch find each array where those of another one do. */
static bool are_places_kept(const pti_schedule *schedule, int launch, int before) {
    const int64_t *known =
        pti_schedule_placements(schedule, before, schedule->launch[before].first_superblock);
    const pti_schedule_launch *schedule_launch = &schedule->launch[launch];
    const pti_call *call = &schedule_launch->call;
    bool are = true;
    for (int64_t k = 0; k < schedule_launch->n_superblocks && are; k++) {
        const int64_t *own =
            pti_schedule_placements(schedule, launch, schedule_launch->first_superblock + k);
        for (int o = 0; o < call->instance->n_operands && are; o++) {
            const int other = pti_call_find_operand(&schedule->launch[before].call, call->array[o]);
            are = own[o] >= 0 && other >= 0 && own[o] == known[other];
        }
    }
    return are;
}

/** Return whether a launch has threads of the one before alone. */
static bool has_threads_of_before(const sequence *of, int launch) {
    return pti_box_contains(&of->call[launch - 1].instance->threads,
                            &of->call[launch].instance->threads);
}

/** Return whether a launch goes on with a sequence; the second one says how. */
static bool continues_sequence(sequence *of, int launch) {
    pti_role_change change;
    if (!pti_role_change_find(&of->call[launch], &of->call[launch - 1], &change))
        return false;
    if (launch == of->first + 1)
        of->change = change;
    return pti_role_changes_are_alike(&change, &of->change) &&
           change.n_alive <= PTI_TILE_MOST_STORED && has_threads_of_before(of, launch) &&
           of->first_op[launch] >= 0 &&
           of->first_op[launch] ==
               of->first_op[launch - 1] + of->schedule->launch[launch - 1].n_superblocks &&
           are_places_kept(of->schedule, launch, launch - 1) &&
           are_places_kept(of->schedule, launch - 1, launch);
}

/* Operations that nothing comes between. */

/** Return of each operation whether something waits for it; NULL when memory runs out. */
static bool *list_awaited(const pti_schedule *schedule) {
    bool *is_awaited = calloc((size_t)schedule->n_ops + 1, sizeof *is_awaited);
    for (int64_t w = 0; w < schedule->n_waits && is_awaited != NULL; w++)
        is_awaited[schedule->wait[w]] = true;
    return is_awaited;
}

/** Return whether the operations of a launch follow one another, and that before them. */
static bool are_together(const pti_schedule *schedule, const bool *is_awaited, int64_t first,
                         int launch, bool has_before) {
    const int64_t n = schedule->launch[launch].n_superblocks;
    bool are = first + n <= schedule->n_ops;
    for (int64_t k = first; k < first + n && are; k++) {
        const pti_op *op = &schedule->op[k];
        const bool is_joined = k > first || has_before;
        are = op->kind == PTI_LAUNCH && op->launch == launch && op->lane == 0 &&
              (!is_joined || !is_awaited[k - 1]);
    }
    return are;
}

/** Find the first operation of each launch whose operations are together. */
static bool find_first_ops(const pti_schedule *schedule, int64_t *first_op) {
    bool *is_awaited = list_awaited(schedule);
    for (int l = 0; l < schedule->n_launches; l++)
        first_op[l] = -1;
    for (int64_t k = 0; k < schedule->n_ops && is_awaited != NULL; k++) {
        const pti_op *op = &schedule->op[k];
        if (op->kind == PTI_LAUNCH && first_op[op->launch] < 0 &&
            are_together(schedule, is_awaited, k, op->launch, false))
            first_op[op->launch] = k;
    }
    free(is_awaited);
    return is_awaited != NULL;
}

/** Return whether nothing comes between a launch's operations and those of the one before. */
static bool is_joined(const sequence *of, const bool *is_awaited, int launch) {
    return are_together(of->schedule, is_awaited, of->first_op[launch], launch, true);
}

/* Groups. */

/** Find what launches of a group need; false if they do not run as one. */
static bool find_margins(const sequence *of, int first, int n_launches, pti_tiling *tiling,
                         polytile_status *status) {
    pti_text ignored = {0};
    *tiling = (pti_tiling){.n_launches = n_launches,
                           .call = of->call + first,
                           .n_arrays = of->schedule->instance->n_operands,
                           .rounds = of->ping_pong.rounds};
    *status = pti_margins_find(tiling, &ignored);
    pti_text_free(&ignored);
    return *status == POLYTILE_OK && tiling->margin != NULL &&
           pti_ping_pong_has_even_margins(&of->ping_pong.margin_per_launch, tiling);
}

static bool fills_device(const sequence *of) {
    const polytile_domain *threads = &of->call[of->first].instance->threads;
    int64_t tile[2];
    return pti_ping_pong_find_tile(&of->ping_pong, of->n_together, tile) &&
           pti_ceil_div(pti_range_count(threads->range[0]), tile[0]) *
                   pti_ceil_div(pti_range_count(threads->range[1]), tile[1]) >=
               of->ping_pong.room->n_tiles;
}

/** Return launches as one; first_op and n_ops are theirs. */
static pti_tiles begin_tiles(const sequence *of, int first, int n_launches) {
    const int last = first + n_launches - 1;
    pti_tiles made = {.first_op = of->first_op[first],
                      .first_launch = first,
                      .n_launches = n_launches,
                      .margin_per_launch = of->ping_pong.margin_per_launch,
                      .rounds = of->ping_pong.rounds,
                      .n_stored = of->change.n_alive,
                      .own = of->call[last].instance->threads};
    pti_role_change_list_alive(&of->change, &of->call[last], made.stored);
    for (int l = first; l <= last; l++)
        made.n_ops += of->schedule->launch[l].n_superblocks;
    return made;
}

static polytile_status append_tiles(pti_schedule *schedule, const pti_tiles *made) {
    if (!PTI_RESIZE(schedule->tiles, schedule->n_tiles + 1))
        return POLYTILE_NO_MEMORY;
    schedule->tiles[schedule->n_tiles++] = *made;
    return POLYTILE_OK;
}

static polytile_status add_tiles_of_group(const sequence *of, int first, int n_launches) {
    pti_tiles made = begin_tiles(of, first, n_launches);
    pti_tiling tiling;
    polytile_status status;
    const bool is_tiled = find_margins(of, first, n_launches, &tiling, &status) &&
                          tiling.is_stored[made.stored[0]] &&
                          pti_ping_pong_shrinks_evenly(&of->ping_pong.margin_per_launch,
                                                       of->call + first, n_launches) &&
                          pti_ping_pong_find_tile(&of->ping_pong, n_launches, made.tile);
    pti_tiling_free(&tiling);
    return status == POLYTILE_OK && is_tiled ? append_tiles(of->schedule, &made) : status;
}

/** Cut all launches of a sequence but the last into groups of odd numbers, as even as possible. */
static polytile_status add_groups(const sequence *of) {
    const pti_ping_pong_groups groups = pti_ping_pong_cut(of->end - of->first - 1, of->n_together);
    polytile_status status = POLYTILE_OK;
    int first = of->first;
    for (int g = 0; g < groups.n_groups && status == POLYTILE_OK; g++) {
        const int n_launches = pti_ping_pong_group(&groups, g);
        if (n_launches >= PTI_PING_PONG_LEAST)
            status = add_tiles_of_group(of, first, n_launches);
        first += n_launches;
    }
    return status;
}

/* Two parts, the first of which stores aside. */

/** Let launches run as one in two parts of n_launches each; where the memory aside is comes later.
 */
static polytile_status add_tiles_of_pair(const sequence *of, int first, int n_launches) {
    pti_tiles made = begin_tiles(of, first, 2 * n_launches);
    int aside[PTI_TILE_MOST_STORED];
    pti_tiling tiling;
    polytile_status status = POLYTILE_OK;
    bool is_tiled = pti_ping_pong_find_tile(&of->ping_pong, n_launches, made.tile) &&
                    pti_ping_pong_shrinks_evenly(&of->ping_pong.margin_per_launch, of->call + first,
                                                 2 * n_launches);
    for (int part = 0; part < 2 && is_tiled; part++) {
        is_tiled = find_margins(of, first + part * n_launches, n_launches, &tiling, &status);
        pti_tiling_free(&tiling);
    }
    made.n_aside = made.n_stored;
    pti_role_change_list_alive(&of->change, &of->call[first + n_launches - 1], aside);
    for (int k = 0; k < made.n_aside; k++)
        made.aside[k] = (pti_tile_aside){.array = aside[k], .offset_bytes = -1};
    return status == POLYTILE_OK && is_tiled ? append_tiles(of->schedule, &made) : status;
}

/** Cut launches of a sequence into pairs of parts, as even as possible. One launch is left over if
 * their number is odd, and the last one if there are more arrays than tiles store. */
static polytile_status add_pairs(const sequence *of) {
    const int n_lost = of->change.n_phases - of->change.n_alive;
    const int n_launches = (of->end - of->first - n_lost) / 2;
    const int n_pairs = (int)pti_ceil_div(n_launches, of->n_together);
    polytile_status status = POLYTILE_OK;
    int first = of->first;
    for (int p = 0; p < n_pairs && status == POLYTILE_OK; p++) {
        const int n_of_part = (n_launches + p) / n_pairs;
        if (n_of_part >= PTI_PING_PONG_LEAST)
            status = add_tiles_of_pair(of, first, n_of_part);
        first += 2 * n_of_part;
    }
    return status;
}

/* What tiles lose. */

/** Return whether a schedule downloads an element of an array, or has it at the end. */
static bool needs_element_of(const pti_schedule *schedule, int array, const pti_boxes *boxes) {
    bool does = false;
    for (int h = 0; h < schedule->n_after; h++)
        for (int b = 0; b < boxes->n_boxes; b++)
            does |= schedule->placement[schedule->after[h].placement].operand == array &&
                    pti_boxes_meet(&schedule->after[h].valid, &boxes->box[b]);
    for (int64_t k = 0; k < schedule->n_ops; k++) {
        const pti_op *op = &schedule->op[k];
        for (int b = 0; b < boxes->n_boxes; b++) {
            polytile_domain common;
            does |= op->kind == PTI_DOWNLOAD &&
                    schedule->placement[op->placement].operand == array &&
                    pti_box_intersect(&op->box, &boxes->box[b], &common);
        }
    }
    return does;
}

/** Return whether no launch reads what the launches of a sequence lose: they end the schedule, and
 * shrink so that each reads what the next tile computes. */
static bool is_read_by_none(const sequence *of) {
    return of->end == of->schedule->n_launches &&
           pti_ping_pong_shrinks_evenly(&of->ping_pong.margin_per_launch, of->call + of->first,
                                        of->end - of->first);
}

/** Find what launches of a sequence write of an array beside the threads of the last one: of those
 * that write it the first has the most threads. */
static void find_lost(const sequence *of, int array, pti_boxes *lost) {
    int l = of->first;
    pti_boxes_clear(lost);
    while (l < of->end && !pti_call_writes(&of->call[l], array))
        l++;
    if (l == of->end)
        return;
    pti_boxes_append(lost, &of->call[l].instance->threads);
    pti_boxes_subtract(lost, &of->call[of->end - 1].instance->threads);
}

/** Find whether somebody needs what tiles lose because launches have fewer threads than those
 * before. What other members compute is not needed. */
static polytile_status find_needed(const sequence *of, bool *is_needed) {
    const pti_call *first = &of->call[of->first];
    const bool is_read = !is_read_by_none(of);
    pti_boxes lost = {0};
    *is_needed = false;
    for (int o = 0; o < first->instance->n_operands; o++) {
        if (of->change.before[o] == o)
            continue;
        find_lost(of, first->array[o], &lost);
        *is_needed |=
            lost.n_boxes > 0 && (is_read || needs_element_of(of->schedule, first->array[o], &lost));
    }
    const bool has_failed = lost.failed;
    pti_boxes_free(&lost);
    return has_failed ? POLYTILE_NO_MEMORY : POLYTILE_OK;
}

/** obstacle: why their margin is not known, if so. */
static void describe_sequence(const sequence *of, const pti_text *obstacle, bool is_needed,
                              int n_tiles, pti_text *why) {
    const char *name = of->call[of->first].instance->kernel_name;
    const char *separator = why->length > 0 ? "; " : "";
    pti_text_add(why, "%s%d launches of %s in a row, ", separator, of->end - of->first, name);
    pti_tiles_describe_roles(&of->change, why);
    if (n_tiles > 0 && of->change.n_alive > 1)
        pti_text_add(why, "run as %d pairs%s, at most twice %d as one in ", n_tiles,
                     of->change.n_phases > of->change.n_alive ? " and the last by itself" : "",
                     of->n_together);
    else if (n_tiles > 0)
        pti_text_add(why, "run as %d and the last by itself, at most %d as one in ", n_tiles,
                     of->n_together);
    else if (obstacle->length > 0)
        pti_text_add(why, "run one by one: %s", obstacle->data);
    else if (of->n_together == 0)
        pti_text_add(why, "run one by one: in tiles they would take as long");
    else if (is_needed)
        pti_text_add(why, "run one by one: what the first ones compute beside the last is needed");
    else
        pti_text_add(why, "run one by one: too few tiles to fill the device");
    if (n_tiles > 0)
        pti_tiles_describe_largest(&of->ping_pong, of->n_together, why);
}

/** Return whether tiles may store as many arrays as launches keep alive. */
static bool may_store_alive(const sequence *of, pti_text *why) {
    const bool may = of->change.n_alive == 1 || of->ping_pong.rounds == 0;
    if (!may)
        pti_text_add(why, "tiles that go round periodic arrays store one array, not %d",
                     of->change.n_alive);
    return may;
}

static polytile_status tile_sequence(sequence *of, pti_text *why) {
    const int n_before = of->schedule->n_tiles;
    bool is_known, is_needed;
    pti_text obstacle = {0};
    polytile_status status;
    of->ping_pong.instance = of->call[of->first].instance;
    of->ping_pong.n_stored = of->change.n_alive;
    PTI_TRY(pti_ping_pong_find_margin(&of->ping_pong, of->call + of->first,
                                      of->schedule->instance->n_operands, &is_known, &obstacle));
    PTI_TRY(find_needed(of, &is_needed));
    is_known = is_known && may_store_alive(of, &obstacle);
    of->n_together = is_known ? pti_ping_pong_choose(&of->ping_pong) : 0;
    if (of->n_together > 0 && !is_needed && fills_device(of))
        PTI_TRY(of->change.n_alive == 1 ? add_groups(of) : add_pairs(of));
    describe_sequence(of, &obstacle, is_needed, of->schedule->n_tiles - n_before, why);
    status = obstacle.failed ? POLYTILE_NO_MEMORY : POLYTILE_OK;
done:
    pti_text_free(&obstacle);
    return status;
}

/** Return whether a launch begins a sequence; arrays changed roles in another way before it. */
static bool begins_sequence(const sequence *of, int launch, pti_tile_filter *kernel_of,
                            const void *filter) {
    pti_role_change change;
    return launch + 1 < of->schedule->n_launches &&
           kernel_of(filter, launch + 1) != PTI_TILES_NONE &&
           pti_role_change_may_begin(of->call[launch].instance) &&
           pti_role_change_find(&of->call[launch + 1], &of->call[launch], &change) &&
           has_threads_of_before(of, launch + 1);
}

/** Skip launches from one on whose arrays change roles in another way, and say so unless they are
 * few. Returns the launch after them; the last of them if it begins a sequence. */
static int skip_other_changes(const sequence *of, int launch, pti_tile_filter *kernel_of,
                              const void *filter, pti_text *why) {
    int end = launch + 1;
    while (end < of->schedule->n_launches && kernel_of(filter, end - 1) != PTI_TILES_NONE &&
           kernel_of(filter, end) != PTI_TILES_NONE &&
           pti_roles_change_otherwise(&of->call[end], &of->call[end - 1]))
        end++;
    if (end > launch + 1 && begins_sequence(of, end - 1, kernel_of, filter))
        end--;
    if (end - launch > PTI_PING_PONG_LEAST)
        pti_text_add(why,
                     "%s%d launches of %s in a row run one by one: their arrays do not change "
                     "roles in turn",
                     why->length > 0 ? "; " : "", end - launch,
                     of->call[launch].instance->kernel_name);
    return end;
}

static polytile_status tile_all(sequence *of, pti_tile_filter *kernel_of, const void *filter,
                                pti_text *why) {
    bool *is_awaited = list_awaited(of->schedule);
    polytile_status status = is_awaited == NULL ? POLYTILE_NO_MEMORY : POLYTILE_OK;
    for (int l = 0; l < of->schedule->n_launches && status == POLYTILE_OK; l = of->end) {
        of->first = l;
        of->end = skip_other_changes(of, l, kernel_of, filter, why);
        if (of->end > l + 1 || of->first_op[l] < 0 ||
            !pti_role_change_may_begin(of->call[l].instance) ||
            kernel_of(filter, l) == PTI_TILES_NONE)
            continue;
        while (of->end < of->schedule->n_launches && kernel_of(filter, of->end) != PTI_TILES_NONE &&
               continues_sequence(of, of->end) && is_joined(of, is_awaited, of->end))
            of->end++;
        of->ping_pong.may_go_round = kernel_of(filter, l) == PTI_TILES_ROUND;
        if (of->end - of->first > PTI_PING_PONG_LEAST)
            status = tile_sequence(of, why);
    }
    free(is_awaited);
    return status;
}

polytile_status pti_tiles_find(const pti_tile_room *room, pti_tile_filter *kernel_of,
                               const void *filter, pti_schedule *schedule, pti_text *why) {
    const size_t n_launches = (size_t)schedule->n_launches;
    pti_call *call = calloc(n_launches + 1, sizeof *call);
    int64_t *first_op = calloc(n_launches + 1, sizeof *first_op);
    polytile_status status = POLYTILE_NO_MEMORY;
    sequence made = {
        .ping_pong.room = room, .schedule = schedule, .call = call, .first_op = first_op};
    for (int l = 0; l < schedule->n_launches && call != NULL; l++)
        call[l] = schedule->launch[l].call;
    if (call != NULL && first_op != NULL && find_first_ops(schedule, first_op))
        status = tile_all(&made, kernel_of, filter, why);
    free(call);
    free(first_op);
    return status;
}
