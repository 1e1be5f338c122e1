#include "partition/window/tiles.h"

#include "access/set/box.h"
#include "base/checked.h"
#include "base/list.h"
#include "partition/cost/predict.h"
#include "partition/skew/margins.h"

#include <stdlib.h>
#include <string.h>

/** Launches of a group at most, an odd number: longer ones compute too much of their borders. */
enum { MOST_LAUNCHES = 15, LEAST_LAUNCHES = 3 };

/** Rows of a tile with its border are a multiple of this. */
enum { ROWS_TOGETHER = 8 };

/**
 * What a thread's accesses cost in a tile, in passes of the array through memory: five points on an
 * H100, docs/on_chip.md. A launch by itself makes two passes.
 */
static const double access_cost = 0.065, pass_cost_apart = 2;

/** Tiles pay if they cost at most this part of launch after launch. */
static const double worth = 0.8;

/** Fewer launches a group are as good as more that cost this much less. */
static const double as_good = 1.05;

/** Launches that follow one another and alternate between two arrays, and how they are tiled. */
typedef struct row {
    const pti_tile_room *room;
    pti_schedule *schedule;
    const pti_call *call;    /* of all launches of the schedule */
    const int64_t *first_op; /* of each of them; -1: its operations are apart */
    int first, end;          /* the launches */
    pti_margin step;
    int n_together; /* 0: they do not run as one */
} row;

/* Which launches alternate between two arrays. */

static bool is_read_only(const pti_operand *operand) {
    return operand->reads && !operand->writes && !operand->is_scratch;
}

/** Return whether each thread writes the element that has its indices, and reads none of the
 * array. */
static bool is_written_in_place(const pti_instance *instance, int number) {
    const pti_operand *operand = &instance->operand[number];
    const pti_section *section = &instance->section[operand->first_section];
    bool is = operand->writes && !operand->reads && !operand->reduces && !operand->partial &&
              operand->n_sections == 1 && section->is_box && section->exact && section->edges == 0;
    for (int d = 0; d < 2 && is; d++)
        is = section->followed[d] == d && section->subscript[d].lo.constant == 0 &&
             section->subscript[d].hi.constant == 0;
    return is;
}

static bool has_plain_indices(const pti_instance *instance) {
    bool has = instance->given == NULL && instance->fold == NULL && instance->n_further == 0 &&
               !instance->is_team && !pti_instance_has_steps(instance);
    for (int s = 0; s < instance->n_sections; s++)
        has = has && instance->section[s].edges == 0;
    for (int o = 0; o < instance->n_operands; o++)
        for (int d = 0; d < POLYTILE_MAX_DIMS; d++)
            has = has && instance->operand[o].shear[d].slope == 0;
    return has;
}

static bool may_begin(const pti_instance *instance) {
    return instance->n_indices == 2 && instance->n_operands == 2 && has_plain_indices(instance) &&
           instance->operand[0].domain.n_dims == 2 && instance->operand[1].domain.n_dims == 2 &&
           instance->operand[0].element_bytes == instance->operand[1].element_bytes &&
           pti_box_compare(&instance->operand[0].domain, &instance->operand[1].domain) == 0 &&
           is_read_only(&instance->operand[0]) && is_written_in_place(instance, 1);
}

static bool are_alike(const pti_instance *one, const pti_instance *other) {
    return one == other ||
           (one->declaration_hash == other->declaration_hash &&
            strcmp(one->kernel_name, other->kernel_name) == 0 &&
            memcmp(one->parameter, other->parameter, sizeof one->parameter) == 0 &&
            pti_box_compare(&one->threads, &other->threads) == 0 &&
            pti_box_compare(&one->operand[0].domain, &other->operand[0].domain) == 0 &&
            one->operand[0].element_bytes == other->operand[0].element_bytes);
}

/** Return whether all superblocks of a launch find its arrays where those of another one find the
 * other array. */
static bool are_places_exchanged(const pti_schedule *schedule, int launch, int before) {
    const int64_t *known =
        pti_schedule_placements(schedule, before, schedule->launch[before].first_superblock);
    const pti_schedule_launch *of = &schedule->launch[launch];
    bool are = true;
    for (int64_t k = 0; k < of->n_superblocks && are; k++) {
        const int64_t *own = pti_schedule_placements(schedule, launch, of->first_superblock + k);
        are = own[0] >= 0 && own[1] >= 0 && own[0] == known[1] && own[1] == known[0];
    }
    return are;
}

static bool takes_turns(const row *of, int launch) {
    const pti_call *call = &of->call[launch], *before = &of->call[launch - 1];
    return are_alike(call->instance, before->instance) && call->array[0] == before->array[1] &&
           call->array[1] == before->array[0] && call->array[0] != call->array[1] &&
           of->first_op[launch] >= 0 &&
           of->first_op[launch] ==
               of->first_op[launch - 1] + of->schedule->launch[launch - 1].n_superblocks &&
           are_places_exchanged(of->schedule, launch, launch - 1) &&
           (launch - 2 < of->first || are_places_exchanged(of->schedule, launch - 1, launch));
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
        are = op->kind == PTI_LAUNCH && op->launch == launch && !op->concurrent &&
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
static bool is_joined(const row *of, const bool *is_awaited, int launch) {
    return are_together(of->schedule, is_awaited, of->first_op[launch], launch, true);
}

/* Groups. */

/** Find what launches of a group need; false if they do not run as one. */
static bool find_margins(const row *of, int first, int n_launches, pti_tiling *tiling,
                         polytile_status *status) {
    pti_text ignored = {0};
    *tiling = (pti_tiling){.n_launches = n_launches,
                           .call = of->call + first,
                           .n_arrays = of->schedule->instance->n_operands};
    *status = pti_margins_find(tiling, &ignored);
    pti_text_free(&ignored);
    return *status == POLYTILE_OK && tiling->margin != NULL;
}

/** Find how much longer each launch's margin is than the next one's. */
static polytile_status find_step(row *of, bool *is_found) {
    pti_tiling tiling;
    polytile_status status;
    *is_found = find_margins(of, of->first, 2, &tiling, &status);
    if (*is_found)
        of->step = tiling.margin[0];
    pti_tiling_free(&tiling);
    return status;
}

static int64_t rows_of(const row *of) {
    const int64_t row_bytes =
        of->room->n_columns * of->call[of->first].instance->operand[0].element_bytes;
    return of->room->image_bytes / row_bytes / ROWS_TOGETHER * ROWS_TOGETHER;
}

/** Find the own rows and columns of a tile that runs so many launches. */
static bool find_tile(const row *of, int n_launches, int64_t *tile) {
    const int64_t with_border[] = {rows_of(of), of->room->n_columns};
    for (int d = 0; d < 2; d++)
        tile[d] = with_border[d] - n_launches * (of->step.before[d] + of->step.after[d]);
    return tile[0] > 0 && tile[1] > 0;
}

/** Return what a launch costs in tiles, in passes through memory: a tile loads its border, too, and
 * computes parts of it. */
static double cost_of(const row *of, int n_launches) {
    const pti_instance *instance = of->call[of->first].instance;
    const double all = (double)(rows_of(of) * of->room->n_columns);
    int64_t tile[2];
    double computed = 0;
    if (!find_tile(of, n_launches, tile))
        return 2 * pass_cost_apart;
    const double own = (double)(tile[0] * tile[1]);
    for (int l = 0; l < n_launches; l++)
        computed += (double)(tile[0] + l * (of->step.before[0] + of->step.after[0])) *
                    (double)(tile[1] + l * (of->step.before[1] + of->step.after[1]));
    return (1 + all / own) / n_launches +
           access_cost * pti_thread_accesses(instance) * computed / own / n_launches;
}

/** Choose the fewest launches a group that are about as good as the best. */
static int choose_n_together(const row *of) {
    double best = cost_of(of, LEAST_LAUNCHES);
    int n = LEAST_LAUNCHES;
    for (int k = LEAST_LAUNCHES; k <= MOST_LAUNCHES; k += 2)
        best = best < cost_of(of, k) ? best : cost_of(of, k);
    while (cost_of(of, n) > as_good * best)
        n += 2;
    return best <= worth * pass_cost_apart ? n : 0;
}

static bool fills_device(const row *of) {
    const polytile_domain *threads = &of->call[of->first].instance->threads;
    int64_t tile[2];
    return find_tile(of, of->n_together, tile) &&
           pti_ceil_div(pti_range_count(threads->range[0]), tile[0]) *
                   pti_ceil_div(pti_range_count(threads->range[1]), tile[1]) >=
               of->room->n_tiles;
}

/** Return whether the margins of a group are as those of tiles of a schedule have to be. */
static bool has_even_margins(const row *of, const pti_tiling *tiling) {
    bool has = true;
    for (int l = 0; l < tiling->n_launches; l++)
        for (int d = 0; d < 2; d++) {
            const int n_later = tiling->n_launches - 1 - l;
            has = has && tiling->margin[l].before[d] == n_later * of->step.before[d] &&
                  tiling->margin[l].after[d] == n_later * of->step.after[d];
        }
    return has;
}

static polytile_status add_group(const row *of, int first, int n_launches) {
    pti_schedule *schedule = of->schedule;
    pti_tiles made = {.first_op = of->first_op[first],
                      .n_launches = n_launches,
                      .step = of->step,
                      .stored = of->call[first].array[1]};
    pti_tiling tiling;
    polytile_status status;
    const bool is_tiled = find_margins(of, first, n_launches, &tiling, &status) &&
                          has_even_margins(of, &tiling) && tiling.is_stored[made.stored] &&
                          find_tile(of, n_launches, made.tile);
    pti_tiling_free(&tiling);
    if (status != POLYTILE_OK || !is_tiled)
        return status;
    for (int l = first; l < first + n_launches; l++)
        made.n_ops += schedule->launch[l].n_superblocks;
    if (!PTI_RESIZE(schedule->tiles, schedule->n_tiles + 1))
        return POLYTILE_NO_MEMORY;
    schedule->tiles[schedule->n_tiles++] = made;
    return POLYTILE_OK;
}

/** Cut all launches of a row but the last into groups of odd numbers, as even as possible. */
static polytile_status add_groups(const row *of) {
    const int n = of->end - of->first - 1;
    int n_groups = (int)pti_ceil_div(n, of->n_together), first = of->first;
    polytile_status status = POLYTILE_OK;
    n_groups += (n - n_groups) % 2;
    const int n_pairs = (n - n_groups) / 2;
    for (int g = 0; g < n_groups && status == POLYTILE_OK; g++) {
        const int n_launches = 1 + 2 * (n_pairs / n_groups + (g < n_pairs % n_groups));
        if (n_launches >= LEAST_LAUNCHES)
            status = add_group(of, first, n_launches);
        first += n_launches;
    }
    return status;
}

static void describe_row(const row *of, bool is_known, int n_tiles, pti_text *why) {
    const char *name = of->call[of->first].instance->kernel_name;
    const char *separator = why->length > 0 ? "; " : "";
    pti_text_add(why, "%s%d launches of %s in a row, which alternate between two arrays, ",
                 separator, of->end - of->first, name);
    if (n_tiles > 0)
        pti_text_add(why, "run as %d and the last by itself, at most %d as one in tiles", n_tiles,
                     of->n_together);
    else if (!is_known)
        pti_text_add(why, "run one by one: they do not read at constant offsets");
    else if (of->n_together == 0)
        pti_text_add(why, "run one by one: in tiles they would take as long");
    else
        pti_text_add(why, "run one by one: too few tiles to fill the device");
}

static polytile_status tile_row(row *of, pti_text *why) {
    const int n_before = of->schedule->n_tiles;
    bool is_known;
    polytile_status status = find_step(of, &is_known);
    if (status != POLYTILE_OK)
        return status;
    of->n_together = is_known ? choose_n_together(of) : 0;
    if (of->n_together > 0 && fills_device(of))
        status = add_groups(of);
    describe_row(of, is_known, of->schedule->n_tiles - n_before, why);
    return status;
}

static polytile_status tile_all(row *of, pti_tile_filter *may_be_tiled, const void *filter,
                                pti_text *why) {
    bool *is_awaited = list_awaited(of->schedule);
    polytile_status status = is_awaited == NULL ? POLYTILE_NO_MEMORY : POLYTILE_OK;
    for (int l = 0; l < of->schedule->n_launches && status == POLYTILE_OK; l = of->end) {
        of->first = l;
        of->end = l + 1;
        if (of->first_op[l] < 0 || !may_begin(of->call[l].instance) || !may_be_tiled(filter, l))
            continue;
        while (of->end < of->schedule->n_launches && may_be_tiled(filter, of->end) &&
               takes_turns(of, of->end) && is_joined(of, is_awaited, of->end))
            of->end++;
        if (of->end - of->first > LEAST_LAUNCHES)
            status = tile_row(of, why);
    }
    free(is_awaited);
    return status;
}

polytile_status pti_tiles_find(const pti_tile_room *room, pti_tile_filter *may_be_tiled,
                               const void *of, pti_schedule *schedule, pti_text *why) {
    const size_t n_launches = (size_t)schedule->n_launches;
    pti_call *call = calloc(n_launches + 1, sizeof *call);
    int64_t *first_op = calloc(n_launches + 1, sizeof *first_op);
    polytile_status status = POLYTILE_NO_MEMORY;
    row made = {.room = room, .schedule = schedule, .call = call, .first_op = first_op};
    for (int l = 0; l < schedule->n_launches && call != NULL; l++)
        call[l] = schedule->launch[l].call;
    if (call != NULL && first_op != NULL && find_first_ops(schedule, first_op))
        status = tile_all(&made, may_be_tiled, of, why);
    free(call);
    free(first_op);
    return status;
}
