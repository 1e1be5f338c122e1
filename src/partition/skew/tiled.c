#include "partition/skew/tiled.h"

#include "base/checked.h"
#include "base/list.h"
#include "partition/ping_pong/margins.h"
#include "partition/skew/folded.h"

#include <stdlib.h>

/** The index along which slabs with tiles are cut. */
enum { ALONG = 0 };

/** The part of the idle end of a slab's tiles that stays idle although the next slab runs on the
 * other stream. */
static const double left_by_others = 0.25;

/* Sequences. */

/** Return the program's launch. */
static const pti_call *program_call(const pti_chain *chain, int launch) {
    return chain->folded != NULL ? &chain->folded->call[launch / pti_chain_unit(chain)]
                                 : &chain->launch[launch].call;
}

static int n_program_arrays(const pti_chain *chain) {
    return chain->folded != NULL ? chain->folded->arrays->n_operands : chain->arrays->n_operands;
}

/** Ping-pong launches go from the array that is read first to the other one. */
static bool are_ping_pong_arrays(const pti_instance *instance) {
    return pti_ping_pong_may_begin(instance) && instance->n_operands == PTI_TILE_IMAGES &&
           instance->operand[PTI_TILE_IMAGES - 1].writes;
}

static bool may_be_in_sequence(const pti_chain *chain, const pti_tile_kernel *tiles, int launch) {
    const pti_instance *instance = program_call(chain, launch)->instance;
    return tiles[launch] != PTI_TILES_NONE && chain->launch[launch].index == ALONG &&
           pti_role_change_may_begin(instance) &&
           (chain->folded == NULL || are_ping_pong_arrays(instance));
}

/** Return whether slabs know launches whose arrays take such change. */
static bool is_change_known(const pti_chain *chain, const pti_role_change *change,
                            const pti_instance *instance) {
    return chain->folded == NULL ? change->n_alive <= PTI_TILE_MOST_STORED
                                 : change->n_alive == 1 && are_ping_pong_arrays(instance);
}

static int64_t lag_behind(const pti_chain *chain, int launch) {
    return chain->launch[launch].offset - chain->launch[launch - pti_chain_unit(chain)].offset;
}

/** Return whether a launch goes on with a sequence; the second one says how. */
static bool joins_sequence(const pti_chain *chain, const pti_tile_kernel *tiles,
                           pti_tiled_sequence *sequence, int launch) {
    const pti_call *call = program_call(chain, launch),
                   *before = program_call(chain, launch - sequence->n_halves);
    pti_role_change change;
    if (!may_be_in_sequence(chain, tiles, launch) || !pti_role_change_find(call, before, &change) ||
        pti_box_compare(&call->instance->threads, &before->instance->threads) != 0 ||
        !is_change_known(chain, &change, call->instance))
        return false;
    if (launch == sequence->first + sequence->n_halves)
        sequence->change = change;
    return pti_role_changes_are_alike(&change, &sequence->change) &&
           (launch == sequence->first + sequence->n_halves ||
            lag_behind(chain, launch) == sequence->lag);
}

/** Find the launches of a sequence from the first one on. */
static void extend_sequence(const pti_chain *chain, const pti_tile_kernel *tiles,
                            pti_tiled_sequence *sequence) {
    sequence->end = sequence->first + sequence->n_halves;
    while (sequence->end < chain->n_launches &&
           joins_sequence(chain, tiles, sequence, sequence->end)) {
        sequence->lag = lag_behind(chain, sequence->end);
        sequence->end += sequence->n_halves;
    }
}

/** Return the one array that is alive after a launch of ping-pong ones, which it wrote. */
static int array_alive_after(const pti_tiled_sequence *sequence, const pti_call *call) {
    int array[PTI_PING_PONG_MOST_ARRAYS];
    pti_role_change_list_alive(&sequence->change, call, array);
    return array[0];
}

/** Return whether a group may have n_launches launches: margins are even, and the array that its
 * last launch writes is stored. */
static polytile_status try_group(const pti_chain *chain, const pti_tiled_sequence *sequence,
                                 int n_launches, pti_call *call, bool *may_be) {
    pti_text ignored = {0};
    pti_tiling tiling = {.n_launches = n_launches,
                         .call = call,
                         .n_arrays = n_program_arrays(chain),
                         .rounds = sequence->ping_pong.rounds};
    for (int l = 0; l < n_launches; l++)
        call[l] = *program_call(chain, sequence->first + sequence->n_halves * l);
    polytile_status status = pti_margins_find(&tiling, &ignored);
    *may_be = status == POLYTILE_OK && tiling.margin != NULL &&
              (sequence->change.n_alive > 1 ||
               tiling.is_stored[array_alive_after(sequence, &call[n_launches - 1])]) &&
              pti_ping_pong_has_even_margins(&sequence->ping_pong.margin_per_launch, &tiling);
    pti_tiling_free(&tiling);
    pti_text_free(&ignored);
    return status;
}

/** Check the groups that are as long as the sequence allows; shorter ones are like them. */
static polytile_status check_groups(const pti_chain *chain, pti_tiled_sequence *sequence) {
    const int n_launches = sequence->n_together;
    bool may_be;
    pti_call *call = calloc((size_t)n_launches + 1, sizeof *call);
    if (call == NULL)
        return POLYTILE_NO_MEMORY;
    polytile_status status = try_group(chain, sequence, n_launches, call, &may_be);
    if (!may_be)
        sequence->n_together = 0;
    free(call);
    return status;
}

/** Return the fewest launches of a group: where there is memory aside, of which each array has its
 * role again. */
static int least_of_group(const pti_tiled_sequence *sequence) {
    const int n_phases = sequence->change.n_phases;
    return sequence->change.n_alive == 1
               ? PTI_PING_PONG_LEAST
               : n_phases * (int)pti_ceil_div(PTI_PING_PONG_LEAST, n_phases);
}

/** Return how many launches groups have more than others at least. */
static int step_of_groups(const pti_tiled_sequence *sequence) {
    return sequence->change.n_alive == 1 ? 2 : sequence->change.n_phases;
}

/** Tiles with memory aside go round no arrays. */
static bool suit_rounds(const pti_tiled_sequence *sequence) {
    return sequence->change.n_alive == 1 || sequence->ping_pong.rounds == 0;
}

/** Find how many launches of a sequence run as one; 0: each by itself. */
static polytile_status find_together(pti_chain *chain, pti_tiled_sequence *sequence) {
    const pti_call first[] = {*program_call(chain, sequence->first),
                              *program_call(chain, sequence->first + sequence->n_halves)};
    pti_text ignored = {0};
    bool is_found;
    polytile_status status;
    sequence->ping_pong.instance = program_call(chain, sequence->first)->instance;
    PTI_TRY(pti_ping_pong_find_margin(&sequence->ping_pong, first, n_program_arrays(chain),
                                      &is_found, &ignored));
    if (chain->lacks_rounds.length == 0)
        pti_ping_pong_lacks_rounds(&sequence->ping_pong, sequence->ping_pong.instance->kernel_name,
                                   &chain->lacks_rounds);
    if (!is_found || !suit_rounds(sequence) || sequence->lag < pti_tiled_reach(sequence))
        goto done;
    sequence->n_together = pti_ping_pong_choose_among(
        &sequence->ping_pong, least_of_group(sequence), step_of_groups(sequence));
    while (sequence->n_together > (sequence->end - sequence->first) / sequence->n_halves)
        sequence->n_together -= step_of_groups(sequence);
    if (sequence->n_together < least_of_group(sequence))
        sequence->n_together = 0;
    if (sequence->n_together > 0)
        PTI_TRY(check_groups(chain, sequence));
done:
    pti_text_free(&ignored);
    return status;
}

bool pti_tiled_has_aside(const pti_tiled_chain *tiled) {
    bool has = false;
    for (int r = 0; r < tiled->n_sequences; r++)
        has = has || pti_tiled_n_aside(&tiled->sequence[r]) > 0;
    return has;
}

static polytile_status add_sequence(const bool *dropped, pti_chain *chain,
                                    pti_tiled_sequence *sequence) {
    pti_tiled_chain *tiled = chain->tiled;
    polytile_status status;
    if (pti_tiled_n_aside(sequence) > 0 && pti_tiled_has_aside(tiled))
        return POLYTILE_OK;
    sequence->ping_pong.room = &tiled->room;
    sequence->ping_pong.n_stored = sequence->change.n_alive;
    sequence->is_lost_well =
        sequence->change.n_alive == 1 && sequence->end == chain->n_launches &&
        dropped[array_alive_after(sequence,
                                  program_call(chain, sequence->end - 1 - sequence->n_halves))];
    PTI_TRY(find_together(chain, sequence));
    if (sequence->n_together == 0)
        return POLYTILE_OK;
    if (!PTI_RESIZE(tiled->sequence, tiled->n_sequences + 1))
        return POLYTILE_NO_MEMORY;
    tiled->sequence[tiled->n_sequences++] = *sequence;
done:
    return status;
}

static polytile_status find_sequences(const pti_tile_kernel *tiles, const bool *dropped,
                                      pti_chain *chain) {
    const int n_halves = pti_chain_unit(chain);
    polytile_status status = POLYTILE_OK;
    pti_tiled_sequence sequence;
    for (int l = 0; l < chain->n_launches && status == POLYTILE_OK; l = sequence.end) {
        sequence = (pti_tiled_sequence){.first = l, .end = l + n_halves, .n_halves = n_halves};
        if (!may_be_in_sequence(chain, tiles, l))
            continue;
        extend_sequence(chain, tiles, &sequence);
        sequence.ping_pong.may_go_round = tiles[l] == PTI_TILES_ROUND;
        if (sequence.end - sequence.first >= PTI_PING_PONG_LEAST * n_halves)
            status = add_sequence(dropped, chain, &sequence);
    }
    return status;
}

polytile_status pti_tiled_find(const pti_tile_room *room, const pti_tile_kernel *tiles,
                               const bool *dropped, pti_chain *chain) {
    if (room->image_bytes == 0)
        return POLYTILE_OK;
    chain->tiled = calloc(1, sizeof *chain->tiled);
    if (chain->tiled == NULL)
        return POLYTILE_NO_MEMORY;
    chain->tiled->room = *room;
    polytile_status status = find_sequences(tiles, dropped, chain);
    if (status == POLYTILE_OK && chain->tiled->n_sequences > 0)
        return POLYTILE_OK;
    pti_tiled_free(chain->tiled);
    chain->tiled = NULL;
    return status;
}

void pti_tiled_free(pti_tiled_chain *tiled) {
    if (tiled != NULL)
        free(tiled->sequence);
    free(tiled);
}

/* Units. */

static const pti_tiled_sequence *sequence_with(const pti_chain *chain, int launch) {
    for (int r = 0; chain->tiled != NULL && r < chain->tiled->n_sequences; r++)
        if (launch >= chain->tiled->sequence[r].first && launch < chain->tiled->sequence[r].end)
            return &chain->tiled->sequence[r];
    return NULL;
}

/** Return whether groups lose what they write of an array. */
static bool do_groups_lose(const pti_tiled_sequence *sequence) {
    return sequence->change.n_alive < sequence->change.n_phases;
}

/** Return how many of a sequence's launches from one on may be in groups, those before `end`: all
 * if nothing is lost, the next launch writes all of what is lost, or nobody needs it. */
static int count_grouped(const pti_tiled_sequence *sequence, int first, int end) {
    const int to = end < sequence->end ? end : sequence->end;
    return (to - first) / sequence->n_halves -
           (to == sequence->end && !sequence->is_lost_well && do_groups_lose(sequence) ? 1 : 0);
}

/** Return how many groups there are, of n_grouped launches, that store aside and where arrays are
 * in turn: an even number. */
static int count_turning_groups(const pti_tiled_sequence *sequence, int n_grouped) {
    const int least = least_of_group(sequence);
    int n_groups = (int)pti_ceil_div(n_grouped, sequence->n_together);
    n_groups += n_groups % 2;
    while (n_groups * least > n_grouped)
        n_groups -= 2;
    return n_groups;
}

/** Add such groups for a sequence's launches from one on. Returns the number of units. */
static int cut_turning(const pti_tiled_sequence *sequence, int first, int n_grouped,
                       pti_tiled_unit *unit) {
    const int n_phases = sequence->change.n_phases;
    const int n_groups = count_turning_groups(sequence, n_grouped);
    const int n_rounds =
        (int)pti_min(n_grouped / n_phases, (int64_t)n_groups * (sequence->n_together / n_phases));
    for (int g = 0, at = first; g < n_groups; at += unit[g++].n_launches)
        unit[g] = (pti_tiled_unit){.first = at,
                                   .n_launches = n_phases * ((n_rounds + g) / n_groups),
                                   .sequence = sequence,
                                   .is_from_aside = g % 2 == 1};
    return n_groups;
}

/** Add groups of odd numbers for a sequence's launches from one on. Returns the number of units. */
static int cut_ping_pong(const pti_tiled_sequence *sequence, int first, int n_grouped,
                         pti_tiled_unit *unit) {
    const pti_ping_pong_groups groups = pti_ping_pong_cut(n_grouped, sequence->n_together);
    for (int g = 0, at = first; g < groups.n_groups; at += unit[g++].n_launches)
        unit[g] =
            (pti_tiled_unit){.first = at,
                             .n_launches = sequence->n_halves * pti_ping_pong_group(&groups, g),
                             .sequence = sequence};
    return groups.n_groups;
}

/** Add units for a sequence's launches from one on. Returns the number of units. */
static int cut_sequence(const pti_tiled_sequence *sequence, int first, int end,
                        pti_tiled_unit *unit) {
    const int n_grouped = count_grouped(sequence, first, end),
              to = end < sequence->end ? end : sequence->end;
    int n_units = 0, at = first;
    if (n_grouped > 0)
        n_units = pti_tiled_n_aside(sequence) > 0 ? cut_turning(sequence, first, n_grouped, unit)
                                                  : cut_ping_pong(sequence, first, n_grouped, unit);
    if (n_units > 0)
        at = unit[n_units - 1].first + unit[n_units - 1].n_launches;
    for (; at < to; at++)
        unit[n_units++] = (pti_tiled_unit){.first = at, .n_launches = 1, .sequence = sequence};
    return n_units;
}

int pti_tiled_n_launches(const pti_tiled_unit *unit) {
    const int n_halves = unit->sequence->n_halves;
    return (unit->n_launches + n_halves - 1) / n_halves;
}

int64_t pti_tiled_reach(const pti_tiled_sequence *sequence) {
    const pti_margin *per_launch = &sequence->ping_pong.margin_per_launch;
    return pti_max(per_launch->before[ALONG], per_launch->after[ALONG]);
}

/** Return by how much more than the chain says a unit must be after the one before. */
static int64_t delay_after(const pti_tiled_unit *before, const pti_tiled_unit *unit) {
    const pti_tiled_sequence *sequence = before->sequence;
    if (sequence == NULL)
        return 0;
    const int64_t reach = sequence->n_halves == 1
                              ? sequence->ping_pong.margin_per_launch.before[ALONG]
                              : pti_tiled_reach(sequence);
    return sequence == unit->sequence ? pti_max(0, pti_tiled_n_launches(before) * reach -
                                                       pti_tiled_n_launches(unit) * sequence->lag)
                                      : (sequence->n_together - 1) * (reach + sequence->lag);
}

int pti_tiled_cut(const pti_chain *chain, int first, int end, pti_tiled_unit *unit) {
    int n_units = 0;
    for (int l = first; l < end;) {
        const pti_tiled_sequence *sequence = sequence_with(chain, l);
        int n_added = 1;
        if (sequence == NULL)
            unit[n_units] = (pti_tiled_unit){.first = l, .n_launches = 1};
        else
            n_added = cut_sequence(sequence, l, end, unit + n_units);
        n_units += n_added;
        l = unit[n_units - 1].first + unit[n_units - 1].n_launches;
    }
    for (int u = 1; u < n_units; u++)
        unit[u].delay = unit[u - 1].delay + delay_after(&unit[u - 1], &unit[u]);
    return n_units;
}

/** The own rows of a tile, so that tiles cut slabs of `slab` rows evenly; 0: there is no tile. */
static int64_t find_tile_rows(const pti_tiled_sequence *sequence, int n_launches, int64_t slab) {
    int64_t tile[2];
    if (!pti_ping_pong_find_tile(&sequence->ping_pong, n_launches, tile))
        return 0;
    return pti_ceil_div(slab, pti_ceil_div(slab, tile[0]));
}

int64_t pti_tiled_most_rows(const pti_tiled_unit *unit) {
    int64_t tile[2];
    return pti_ping_pong_find_tile(&unit->sequence->ping_pong, pti_tiled_n_launches(unit), tile)
               ? tile[0]
               : 0;
}

double pti_tiled_cost(const pti_tiled_unit *unit, int64_t slab, double alone) {
    const pti_ping_pong *ping_pong = &unit->sequence->ping_pong;
    const polytile_range *across = &ping_pong->instance->threads.range[1 - ALONG];
    const int n_launches = pti_tiled_n_launches(unit);
    const int64_t rows = find_tile_rows(unit->sequence, n_launches, slab);
    int64_t tile[2];
    if (rows == 0 || !pti_ping_pong_find_tile(ping_pong, n_launches, tile))
        return pti_ping_pong_passes_apart(ping_pong);
    const int64_t n_tiles =
        pti_ceil_div(slab, rows) * pti_ceil_div(pti_range_count(*across), tile[1]);
    const int64_t n_at_once = pti_max(1, ping_pong->room->n_tiles);
    const double waves = (double)pti_ceil_div(n_tiles, n_at_once) * (double)n_at_once;
    return pti_ping_pong_cost(ping_pong, n_launches, rows) *
           (1 + (alone + (1 - alone) * left_by_others) * (waves / (double)n_tiles - 1));
}

/** List the arrays that are alive after a unit. */
static void list_alive(const pti_chain *chain, const pti_tiled_unit *unit, int *array) {
    pti_role_change_list_alive(&unit->sequence->change,
                               program_call(chain, unit->first + unit->n_launches - 1), array);
}

int pti_tiled_list_aside(const pti_chain *chain, const pti_tiled_unit *unit, int n_units,
                         int array[PTI_TILE_MOST_STORED]) {
    for (int u = 0; u < n_units; u++)
        if (unit[u].n_launches > 1 && pti_tiled_n_aside(unit[u].sequence) > 0) {
            list_alive(chain, &unit[u], array);
            return pti_tiled_n_aside(unit[u].sequence);
        }
    return 0;
}

pti_tiles pti_tiled_tiles(const pti_chain *chain, const pti_tiled_unit *unit, int64_t slab,
                          const polytile_domain *own) {
    const pti_tiled_sequence *sequence = unit->sequence;
    pti_tiles made = {.first_launch = unit->first / sequence->n_halves,
                      .n_launches = pti_tiled_n_launches(unit),
                      .margin_per_launch = sequence->ping_pong.margin_per_launch,
                      .rounds = sequence->ping_pong.rounds,
                      .n_stored = sequence->change.n_alive,
                      .is_from_aside = unit->is_from_aside,
                      .is_of_slab = true,
                      .own = own[0],
                      .is_of_ring = sequence->n_halves > 1};
    list_alive(chain, unit, made.stored);
    if (made.is_of_ring)
        made.opposite = own[1];
    pti_ping_pong_find_tile(&sequence->ping_pong, made.n_launches, made.tile);
    made.tile[ALONG] = find_tile_rows(sequence, made.n_launches, slab);
    return made;
}
