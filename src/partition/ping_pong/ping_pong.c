#include "partition/ping_pong/ping_pong.h"

#include "access/footprint/call.h"
#include "access/set/box.h"
#include "base/checked.h"
#include "partition/cost/predict.h"
#include "partition/ping_pong/margins.h"

#include <inttypes.h>
#include <string.h>

/** Launches of a group at most, an odd number, and no more than a tile kernel takes: longer ones
 * compute too much of their borders. */
enum { MOST_LAUNCHES = 15 };

/** Rows of a tile with its border are a multiple of this. */
enum { ROWS_TOGETHER = 8 };

/** 228 KiB of shared memory for two thread blocks on each of 132 multiprocessors, less what CUDA
 * takes of a block. */
const pti_tile_room pti_tile_room_default = {
    .image_bytes = (228 / 2 - 1) * 1024 / PTI_TILE_IMAGES, .n_columns = 128, .n_tiles = 264};

/**
 * What a thread's accesses cost in a tile, in passes of the array through memory: five points on an
 * H100, docs/on_chip.md.
 */
static const double access_cost = 0.065;

/** Tiles pay if they cost at most this part of launch after launch. */
static const double worth = 0.8;

/** Fewer launches a group are as good as more that cost this much less. */
static const double as_good = 1.05;

static bool is_read_only(const pti_operand *operand) {
    return operand->reads && !operand->writes && !operand->is_scratch;
}

/** Return whether each thread writes the element that has its indices, and reads no other one of
 * the array. */
static bool is_written_in_place(const pti_instance *instance, int number) {
    const pti_operand *operand = &instance->operand[number];
    const pti_section *section = &instance->section[operand->first_section];
    bool is = operand->writes && !operand->reduces && !operand->partial &&
              operand->n_sections == 1 && section->is_box && section->exact && section->edges == 0;
    for (int d = 0; d < 2 && is; d++)
        is = section->followed[d] == d && section->subscript[d].lo.constant == 0 &&
             section->subscript[d].hi.constant == 0;
    return is;
}

/** Return by how much a dimension of a section is moved round its array. */
static int64_t turn_of(const pti_instance *instance, const pti_section *section, int dim) {
    const polytile_range *array = &instance->operand[section->operand].domain.range[dim];
    const pti_subscript *subscript = &section->subscript[dim];
    return pti_turn_of(subscript->lo.constant, subscript->hi.constant, pti_range_count(*array));
}

/** Add the dimensions round which a section goes to a set; false if it has other edges. */
static bool add_rounds(const pti_instance *instance, const pti_section *section, unsigned *rounds) {
    bool is_moved = false;
    for (int d = 0; d < section->n_dims; d++) {
        if ((section->edges >> d & 1) == 0)
            continue;
        if (d >= PTI_TILING_ROUNDS || section->followed[d] != d)
            return false;
        if (turn_of(instance, section, d) != 0) {
            *rounds |= 1u << d;
            is_moved = true;
        }
    }
    return is_moved || !section->is_moved;
}

/** Return whether threads go once round the arrays along a dimension. */
static bool do_threads_go_round(const pti_instance *instance, int dim) {
    bool is = true;
    for (int o = 0; o < instance->n_operands; o++)
        is = is &&
             pti_range_equals(instance->operand[o].domain.range[dim],
                              instance->threads.range[dim]) &&
             pti_range_equals(instance->operand[o].whole.range[dim], instance->threads.range[dim]);
    return is;
}

/** Find the dimensions along which arrays are periodic; false if a launch has edges that tiles do
 * not know. */
static bool find_rounds(const pti_instance *instance, unsigned *rounds) {
    bool are_known = true;
    *rounds = 0;
    for (int s = 0; s < instance->n_sections && are_known; s++)
        are_known = add_rounds(instance, &instance->section[s], rounds);
    for (int d = 0; d < PTI_TILING_ROUNDS && are_known; d++)
        are_known = !pti_goes_round(*rounds, d) || do_threads_go_round(instance, d);
    return are_known;
}

static bool has_plain_indices(const pti_instance *instance) {
    unsigned rounds;
    bool has = instance->given == NULL && instance->n_further == 0 && !instance->is_team &&
               !pti_instance_has_steps(instance) && find_rounds(instance, &rounds);
    for (int o = 0; o < instance->n_operands; o++)
        for (int d = 0; d < POLYTILE_MAX_DIMS; d++)
            has = has && instance->operand[o].shear[d].slope == 0;
    return has;
}

/** Return the operand that a launch writes; -1: none, or several. */
static int written_operand(const pti_instance *instance) {
    int written = -1, n_written = 0;
    for (int o = 0; o < instance->n_operands; o++)
        if (!is_read_only(&instance->operand[o])) {
            written = o;
            n_written++;
        }
    return n_written == 1 ? written : -1;
}

bool pti_turns_may_begin(const pti_instance *instance) {
    const int n = instance->n_operands, written = written_operand(instance);
    bool may = instance->n_indices == 2 && n >= 2 && n <= PTI_PING_PONG_MOST_ARRAYS &&
               written >= 0 && has_plain_indices(instance);
    for (int o = 0; o < n && may; o++)
        may = instance->operand[o].domain.n_dims == 2 &&
              instance->operand[o].element_bytes == instance->operand[0].element_bytes;
    return may && is_written_in_place(instance, written);
}

bool pti_ping_pong_may_begin(const pti_instance *instance) {
    return pti_turns_may_begin(instance) && !instance->operand[written_operand(instance)].reads;
}

/** The arrays that launches alternate between are alike as the program has them: members may hold
 * other rows of the one than of the other. */
static bool are_launches_alike(const pti_instance *one, const pti_instance *other) {
    bool are =
        one == other || (one->declaration_hash == other->declaration_hash &&
                         strcmp(one->kernel_name, other->kernel_name) == 0 &&
                         memcmp(one->parameter, other->parameter, sizeof one->parameter) == 0 &&
                         one->n_operands == other->n_operands);
    for (int o = 0; o < one->n_operands && are; o++)
        are = pti_box_compare(&one->operand[o].whole, &other->operand[o].whole) == 0 &&
              one->operand[o].element_bytes == other->operand[o].element_bytes;
    return are;
}

static bool are_arrays_distinct(const pti_call *call) {
    bool are = true;
    for (int o = 0; o < call->instance->n_operands; o++)
        for (int p = 0; p < o; p++)
            are = are && call->array[o] != call->array[p];
    return are;
}

/** Find by which operands the launch before has the arrays; false: it has not all of them, or those
 * that change are not alike. */
static bool find_operands_before(const pti_call *call, const pti_call *before, pti_turns *turns) {
    const pti_operand *operand = call->instance->operand;
    bool are = call->instance->n_operands <= PTI_PING_PONG_MOST_ARRAYS;
    for (int o = 0; o < call->instance->n_operands && are; o++) {
        turns->before[o] = pti_call_find_operand(before, call->array[o]);
        are = turns->before[o] >= 0 &&
              pti_box_compare(&operand[o].whole, &operand[turns->before[o]].whole) == 0;
    }
    return are;
}

/** Return how many operands have arrays that the launch before has by others. */
static int count_turning(const pti_turns *turns, int n_operands) {
    int n = 0;
    for (int o = 0; o < n_operands; o++)
        n += turns->before[o] != o;
    return n;
}

/** Return after how many launches the array of an operand comes back; 0: it does not. */
static int count_phases(const pti_turns *turns, int operand, int n_operands) {
    int n = 1, at = turns->before[operand];
    for (; at != operand && n <= n_operands; n++)
        at = turns->before[at];
    return at == operand ? n : 0;
}

bool pti_turns_find(const pti_call *call, const pti_call *before, pti_turns *turns) {
    const pti_instance *instance = call->instance;
    const int written = written_operand(instance);
    *turns = (pti_turns){.n_phases = 0};
    if (written < 0 || !are_launches_alike(instance, before->instance) ||
        !are_arrays_distinct(call) || !find_operands_before(call, before, turns))
        return false;
    turns->n_phases = count_phases(turns, written, instance->n_operands);
    turns->n_alive = turns->n_phases - !instance->operand[written].reads;
    return turns->n_phases > 1 && turns->n_phases == count_turning(turns, instance->n_operands);
}

bool pti_turns_reads_written(const pti_call *call, const pti_call *before) {
    bool does = false;
    for (int o = 0; o < before->instance->n_operands; o++) {
        const int with = before->instance->operand[o].writes
                             ? pti_call_find_operand(call, before->array[o])
                             : -1;
        does |= with >= 0 && call->instance->operand[with].reads;
    }
    return does;
}

/** Return what a launch by itself has that tiles do not know; NULL: nothing. */
static const char *obstacle_of(const pti_instance *instance) {
    const int n = instance->n_operands;
    if (instance->n_indices != 2)
        return "tiles are for launches of two indices";
    if (n < 2 || n > PTI_PING_PONG_MOST_ARRAYS)
        return "tiles are for launches of two to four arrays";
    if (written_operand(instance) < 0)
        return "each of them writes none of its arrays, or several";
    return pti_turns_may_begin(instance)
               ? NULL
               : "not all arrays have two dimensions and elements of one size, or a thread writes "
                 "others than the element that has its indices";
}

/** Return why two launches that may each be in tiles are not in the same; NULL: they may be. */
static const char *obstacle_between(const pti_call *call, const pti_call *before) {
    pti_turns turns;
    if (!are_launches_alike(call->instance, before->instance))
        return "the one before is of another kernel, or its arrays are of other extents";
    if (!pti_turns_find(call, before, &turns))
        return "their arrays do not change roles in turn";
    if (turns.n_alive > PTI_TILE_MOST_STORED)
        return "too many of their arrays are alive";
    return NULL;
}

bool pti_turns_explain(const pti_call *call, const pti_call *before, pti_text *why) {
    const char *obstacle = obstacle_of(call->instance);
    if (obstacle == NULL)
        obstacle = obstacle_between(call, before);
    if (obstacle != NULL)
        pti_text_add(why, "launches of %s run one by one: %s", call->instance->kernel_name,
                     obstacle);
    return obstacle != NULL;
}

bool pti_turns_are_alike(const pti_turns *one, const pti_turns *other) {
    bool are = one->n_phases == other->n_phases && one->n_alive == other->n_alive;
    for (int o = 0; o < PTI_PING_PONG_MOST_ARRAYS; o++)
        are = are && one->before[o] == other->before[o];
    return are;
}

void pti_turns_list_alive(const pti_turns *turns, const pti_call *call, int *array) {
    const pti_instance *instance = call->instance;
    int n = 0;
    for (int o = 0; o < instance->n_operands; o++)
        if (turns->before[o] != o && instance->operand[o].reads)
            array[n++] = call->array[turns->before[o]];
}

pti_ping_pong_operands pti_ping_pong_find_operands(const pti_call *call, const pti_call *before) {
    pti_ping_pong_operands found = {.from = -1, .to = -1};
    pti_turns turns;
    if (!pti_turns_find(call, before, &turns) || turns.n_phases != 2)
        return found;
    found.to = written_operand(call->instance);
    found.from = turns.before[found.to];
    return found;
}

static bool goes_back(const pti_call *call, const pti_call *before) {
    return pti_ping_pong_find_operands(call, before).to >= 0;
}

bool pti_ping_pong_follows(const pti_call *call, const pti_call *before) {
    return goes_back(call, before) &&
           pti_box_compare(&call->instance->threads, &before->instance->threads) == 0;
}

bool pti_ping_pong_takes_other_turns(const pti_call *call, const pti_call *before) {
    const int written = written_operand(before->instance);
    bool reads_written = false;
    pti_turns turns;
    if (written < 0 || call->instance->n_indices != 2 ||
        !are_launches_alike(call->instance, before->instance) ||
        pti_turns_find(call, before, &turns))
        return false;
    for (int o = 0; o < call->instance->n_operands; o++)
        reads_written |= o != written && call->array[o] == before->array[written];
    return reads_written;
}

bool pti_ping_pong_shrinks_evenly(const pti_margin *step, const pti_call *call, int n_launches) {
    const polytile_domain *first = &call[0].instance->threads,
                          *last = &call[n_launches - 1].instance->threads;
    bool do_shrink = true;
    for (int l = 0; l < n_launches; l++)
        for (int d = 0; d < first->n_dims && do_shrink; d++) {
            const int64_t n_later = n_launches - 1 - l;
            const polytile_range *range = &call[l].instance->threads.range[d];
            do_shrink = range->lo == pti_max(first->range[d].lo,
                                             last->range[d].lo - n_later * step->before[d]) &&
                        range->hi == pti_min(first->range[d].hi,
                                             last->range[d].hi + n_later * step->after[d]);
        }
    return do_shrink;
}

/** Return whether a section is of the element that has the thread's indices, and of those at most a
 * step around it. */
static bool is_within_step(const pti_instance *instance, const pti_section *section,
                           const pti_ping_pong *ping_pong) {
    const pti_margin *step = &ping_pong->step;
    bool is = section->n_dims == 2;
    for (int d = 0; d < 2 && is; d++) {
        const int64_t turn =
            pti_goes_round(ping_pong->rounds, d) ? turn_of(instance, section, d) : 0;
        is = section->followed[d] == d &&
             section->subscript[d].lo.constant - turn >= -step->before[d] &&
             section->subscript[d].hi.constant - turn <= step->after[d];
    }
    return is;
}

/** A tile's border is as wide as what launches read of what the one before wrote: it must do for
 * other arrays. */
static bool are_within_step(const pti_instance *instance, const pti_ping_pong *ping_pong,
                            pti_text *why) {
    int s = 0;
    while (s < instance->n_sections && is_within_step(instance, &instance->section[s], ping_pong))
        s++;
    if (s < instance->n_sections)
        pti_text_add(why, "%s reads %s beyond the border that the arrays need which change roles",
                     instance->kernel_name, instance->operand[instance->section[s].operand].name);
    return s == instance->n_sections;
}

/** Return whether a periodic array has the columns of a tile once. */
static bool has_columns(const pti_ping_pong *ping_pong) {
    return !pti_goes_round(ping_pong->rounds, 1) ||
           pti_range_count(ping_pong->instance->threads.range[1]) >= ping_pong->room->n_columns;
}

static bool check_columns(const pti_ping_pong *ping_pong, pti_text *why) {
    if (!has_columns(ping_pong))
        pti_text_add(why, "%s goes round %" PRId64 " columns; a tile has %" PRId64,
                     ping_pong->instance->kernel_name,
                     pti_range_count(ping_pong->instance->threads.range[1]),
                     ping_pong->room->n_columns);
    return has_columns(ping_pong);
}

bool pti_ping_pong_lacks_rounds(const pti_ping_pong *ping_pong, const char *kernel, pti_text *why) {
    const bool lacks = ping_pong->rounds != 0 && !ping_pong->may_go_round;
    if (lacks)
        pti_text_add(why,
                     "the tiles of %s do not go round periodic arrays; compile the kernel with "
                     "POLYTILE_PERIODIC_TILES defined as 1",
                     kernel);
    return lacks;
}

polytile_status pti_ping_pong_find_step(pti_ping_pong *ping_pong, const pti_call *call,
                                        int n_arrays, bool *is_found, pti_text *why) {
    pti_tiling tiling = {.n_launches = 2, .call = call, .n_arrays = n_arrays};
    *is_found = false;
    if (!find_rounds(call->instance, &ping_pong->rounds) ||
        pti_ping_pong_lacks_rounds(ping_pong, call->instance->kernel_name, why))
        return POLYTILE_OK;
    tiling.rounds = ping_pong->rounds;
    polytile_status status = pti_margins_find(&tiling, why);
    if (status == POLYTILE_OK && tiling.margin != NULL) {
        ping_pong->step = tiling.margin[0];
        *is_found =
            are_within_step(call->instance, ping_pong, why) && check_columns(ping_pong, why);
    }
    pti_tiling_free(&tiling);
    return status;
}

bool pti_ping_pong_has_even_margins(const pti_margin *step, const pti_tiling *tiling) {
    bool has = true;
    for (int l = 0; l < tiling->n_launches; l++)
        for (int d = 0; d < 2; d++) {
            const int n_later = tiling->n_launches - 1 - l;
            has = has && tiling->margin[l].before[d] == n_later * step->before[d] &&
                  tiling->margin[l].after[d] == n_later * step->after[d];
        }
    return has;
}

static int64_t most_rows(const pti_ping_pong *ping_pong) {
    const int64_t row_bytes = ping_pong->instance->n_operands * ping_pong->room->n_columns *
                              ping_pong->instance->operand[0].element_bytes;
    const int64_t most =
        PTI_TILE_IMAGES * ping_pong->room->image_bytes / row_bytes / ROWS_TOGETHER * ROWS_TOGETHER;
    return pti_goes_round(ping_pong->rounds, 0)
               ? pti_min(most, pti_range_count(ping_pong->instance->threads.range[0]))
               : most;
}

static int count_loaded(const pti_ping_pong *ping_pong) {
    int n = 0;
    for (int o = 0; o < ping_pong->instance->n_operands; o++)
        n += ping_pong->instance->operand[o].reads;
    return n;
}

int pti_ping_pong_passes_apart(const pti_ping_pong *ping_pong) {
    return count_loaded(ping_pong) + 1;
}

/** Return how much longer a tile with its border is along an index. */
static int64_t border_of(const pti_ping_pong *ping_pong, int n_launches, int dim) {
    return n_launches * (ping_pong->step.before[dim] + ping_pong->step.after[dim]);
}

bool pti_ping_pong_find_tile(const pti_ping_pong *ping_pong, int n_launches, int64_t *tile) {
    tile[0] = most_rows(ping_pong) - border_of(ping_pong, n_launches, 0);
    tile[1] = ping_pong->room->n_columns - border_of(ping_pong, n_launches, 1);
    return tile[0] > 0 && tile[1] > 0 && has_columns(ping_pong);
}

double pti_ping_pong_cost(const pti_ping_pong *ping_pong, int n_launches, int64_t own_rows) {
    int64_t tile[2];
    double computed = 0;
    if (!pti_ping_pong_find_tile(ping_pong, n_launches, tile) || own_rows < 1)
        return 2 * pti_ping_pong_passes_apart(ping_pong);
    const double all =
        (double)((own_rows + border_of(ping_pong, n_launches, 0)) * ping_pong->room->n_columns);
    const double own = (double)(own_rows * tile[1]);
    for (int l = 0; l < n_launches; l++)
        computed += (double)(own_rows + border_of(ping_pong, l, 0)) *
                    (double)(tile[1] + border_of(ping_pong, l, 1));
    return (ping_pong->n_stored + count_loaded(ping_pong) * all / own) / n_launches +
           access_cost * pti_thread_accesses(ping_pong->instance) * computed / own / n_launches;
}

/** Return what a launch costs in the largest tiles. */
static double least_cost(const pti_ping_pong *ping_pong, int n_launches) {
    int64_t tile[2];
    return pti_ping_pong_find_tile(ping_pong, n_launches, tile)
               ? pti_ping_pong_cost(ping_pong, n_launches, tile[0])
               : 2 * pti_ping_pong_passes_apart(ping_pong);
}

/** The fewest launches a group that are about as good as the best. */
int pti_ping_pong_choose_among(const pti_ping_pong *ping_pong, int least, int step) {
    double best = least_cost(ping_pong, least);
    int n = least;
    for (int k = least; k <= MOST_LAUNCHES; k += step)
        best = best < least_cost(ping_pong, k) ? best : least_cost(ping_pong, k);
    while (least_cost(ping_pong, n) > as_good * best)
        n += step;
    return best <= worth * pti_ping_pong_passes_apart(ping_pong) ? n : 0;
}

int pti_ping_pong_choose(const pti_ping_pong *ping_pong) {
    return pti_ping_pong_choose_among(ping_pong, PTI_PING_PONG_LEAST, 2);
}

pti_ping_pong_groups pti_ping_pong_cut(int n_launches, int most) {
    pti_ping_pong_groups made = {.n_groups = (int)pti_ceil_div(n_launches, most)};
    made.n_groups += (n_launches - made.n_groups) % 2;
    const int n_pairs = (n_launches - made.n_groups) / 2;
    made.n_launches = 1 + 2 * (n_pairs / made.n_groups);
    made.n_longer = n_pairs % made.n_groups;
    return made;
}
