#include "partition/choose/grain.h"

#include "base/checked.h"
#include "partition/arena/build.h"
#include "partition/choose/choose_pieces.h"
#include "partition/cut/candidate_time.h"
#include "partition/memory/residency.h"
#include "partition/schedule/builder.h"

#include <math.h>
#include <string.h>

/** Small pieces are a 64th of the arena, or the first larger part that is good enough: an eighth at
 * most, since three of them are in use at once and the rest is to hold what stays. */
enum { SMALLEST_PART = 64, LARGEST_PART = 8 };

/** Superblocks that have memory while one of them runs: it, and those that come next. */
enum { N_IN_USE = 1 + PTI_RESIDENT_AHEAD };

/** What small pieces may move against the planner's own; and how much longer the transfers of a
 * piece take at least than their latency, and than the host is busy with its superblock: a window
 * is planned before anything of it moves, and the more images there are, the longer that takes. */
static const double most_traffic = 1.05, latencies_per_piece = 8, host_times_per_piece = 20;

/** What lies in the arena before or after a launch does not count if the launch goes through at
 * least this many times the arena. */
static const double times_the_arena = 4;

/** How many times as many superblocks as in proportion small pieces may make. Where a superblock of
 * two blocks touches elements far apart, and one of a single block does not, only the latter are
 * small: thousands of them in place of one. */
enum { MOST_GROWTH = 8 };

/** A launch of a queue that is to be cut. */
typedef struct grain {
    polytile_context *ctx;
    const pti_instance *instance;
    const pti_strategy *strategy;
    const polytile_plan_options *options;
    int64_t arena_bytes;
} grain;

/** A way to cut, and what it moves. */
typedef struct cut {
    pti_partition partition; /* owned */
    int64_t moved_bytes;
} cut;

/** Return the arena that the largest superblock takes. */
static int64_t largest_superblock(const pti_instance *instance, const pti_partition *partition) {
    int64_t operand_bytes[PTI_MAX_OPERANDS];
    int64_t largest = 0;
    for (int64_t k = 0; k < partition->n_superblocks; k++)
        largest =
            pti_max(largest, pti_piece_bytes(instance, &partition->superblock[k], operand_bytes));
    return largest;
}

static bool leaves_room(const grain *of, const pti_partition *partition) {
    return largest_superblock(of->instance, partition) <= of->arena_bytes / N_IN_USE;
}

static int64_t moved_bytes(const pti_schedule *schedule) {
    pti_traffic traffic = pti_schedule_traffic(schedule);
    return traffic.h2d_bytes + traffic.d2h_bytes;
}

/** Take the superblocks out of a choice's schedule, which ends. */
static cut take_superblocks(const pti_choice *choice) {
    pti_schedule *schedule = choice->schedule;
    cut made = {.partition = choice->partition, .moved_bytes = moved_bytes(schedule)};
    made.partition.n_superblocks = made.partition.n_allocated = schedule->n_superblocks;
    made.partition.superblock = schedule->superblock;
    schedule->superblock = NULL;
    pti_schedule_free(schedule);
    return made;
}

/** Cut as the planner cuts a single launch under a limit. */
static polytile_status cut_for(const grain *of, const pti_strategy *strategy, int n_buffers,
                               int64_t limit_bytes, cut *made) {
    polytile_plan_options options = *of->options;
    pti_choice choice;
    options.limit_bytes = limit_bytes;
    options.n_buffers = n_buffers;
    *made = (cut){0};
    polytile_status status = pti_choose(of->ctx, of->instance, strategy, &options, &choice);
    if (status == POLYTILE_OK)
        *made = take_superblocks(&choice);
    return status;
}

/** Replace a cut by a better one, which it takes over. */
static void replace_cut(cut *best, const cut *better) {
    pti_partition_free(&best->partition);
    *best = *better;
}

/** Clip a former launch's superblocks to the launch, in their order; none where they do not cover
 * it. */
static polytile_status clip_former(const grain *of, const pti_partition *former,
                                   pti_partition *clipped) {
    int64_t n_threads = 0;
    *clipped = (pti_partition){.n_buffers = former->n_buffers};
    memcpy(clipped->shape, former->shape, sizeof clipped->shape);
    for (int64_t k = 0; k < former->n_superblocks; k++) {
        polytile_domain common;
        if (former->superblock[k].n_dims != of->instance->n_indices)
            break;
        if (!pti_box_intersect(&former->superblock[k], &of->instance->threads, &common))
            continue;
        n_threads += pti_box_count(&common);
        if (!pti_partition_add(clipped, &common))
            return pti_fail_memory(of->ctx, of->instance->kernel_name,
                                   (double)(clipped->n_superblocks + 1) * sizeof common);
    }
    if (n_threads != pti_box_count(&of->instance->threads))
        pti_partition_free(clipped);
    return POLYTILE_OK;
}

/** Measure what superblocks move one after the other, on a device that holds nothing else. */
static polytile_status measure_traffic(const grain *of, cut *made) {
    pti_schedule *schedule;
    int64_t need_bytes;
    polytile_status status = pti_schedule_build(of->instance, &made->partition, NULL,
                                                of->arena_bytes, &need_bytes, &schedule);
    if (status == POLYTILE_NO_MEMORY)
        return pti_fail_memory(of->ctx, of->instance->kernel_name,
                               (double)made->partition.n_superblocks *
                                   pti_builder_superblock_bytes(of->instance));
    made->moved_bytes = status == POLYTILE_OK ? moved_bytes(schedule) : INT64_MAX;
    pti_schedule_free(schedule);
    return POLYTILE_OK;
}

/** What another cut of a launch may cost, by what the planner's own does. */
typedef struct allowance {
    double moved_bytes;
    int64_t superblocks; /* of pieces of the whole arena; of a part of it more in proportion */
    int64_t filling;     /* superblocks that fill the device, or as many as it has itself */
} allowance;

/** Return into how many superblocks a launch can be cut that fill the device, on average. */
static int64_t count_filling(const grain *of) {
    return of->options->fill_threads > 0
               ? pti_box_count(&of->instance->threads) / of->options->fill_threads
               : INT64_MAX;
}

static allowance allowance_of(const grain *of, const cut *own) {
    const int64_t n_own = own->partition.n_superblocks;
    return (allowance){.moved_bytes = most_traffic * (double)own->moved_bytes,
                       .superblocks = MOST_GROWTH * n_own,
                       .filling = pti_max(n_own, count_filling(of))};
}

/** Return how many superblocks a cut may have whose pieces are so small a part of the arena. */
static int64_t most_superblocks_in_parts(const allowance *most, int64_t n_parts) {
    return pti_min(n_parts, SMALLEST_PART) * most->superblocks;
}

/** Try the cuts of a former launch: they are taken if they leave room to look ahead, are not many
 * and move little. */
static polytile_status try_former(const grain *of, const pti_partition *former, cut *best,
                                  bool *found) {
    allowance most = allowance_of(of, best);
    cut made = {0};
    polytile_status status;
    PTI_TRY(clip_former(of, former, &made.partition));
    made.partition.n_buffers = 1;
    if (made.partition.n_superblocks == 0 ||
        made.partition.n_superblocks > most_superblocks_in_parts(&most, SMALLEST_PART) ||
        !leaves_room(of, &made.partition))
        goto done;
    PTI_TRY(measure_traffic(of, &made));
    *found = (double)made.moved_bytes <= most.moved_bytes;
    if (*found) {
        replace_cut(best, &made);
        return POLYTILE_OK;
    }
done:
    pti_partition_free(&made.partition);
    return status;
}

/** Return the least bytes of a piece whose transfers are neither mostly latency nor planning. */
static int64_t least_piece_bytes(const polytile_link *link) {
    const double least_s = fmax(latencies_per_piece * link->transfer_latency_s,
                                host_times_per_piece * pti_superblock_host_s);
    double bytes = least_s * link->duplex_bytes_per_s;
    return bytes < (double)(INT64_MAX / 2) ? (int64_t)bytes : INT64_MAX / 2;
}

/** Equal pieces under a limit replace the best cut if they leave room to look ahead, and cost no
 * more than they may. */
static polytile_status cut_within_limit(const grain *of, int64_t limit_bytes, const allowance *most,
                                        cut *best, bool *found) {
    pti_strategy strategy = *of->strategy;
    strategy.is_trial = true;
    strategy.objective.for_time = false;
    strategy.max_superblocks = pti_min(
        most->filling, most_superblocks_in_parts(most, of->arena_bytes / pti_max(limit_bytes, 1)));
    cut made;
    polytile_status status = cut_for(of, &strategy, 1, limit_bytes, &made);
    *found = status == POLYTILE_OK && made.partition.n_superblocks <= strategy.max_superblocks &&
             leaves_room(of, &made.partition) && (double)made.moved_bytes <= most->moved_bytes;
    if (*found)
        replace_cut(best, &made);
    else
        pti_partition_free(&made.partition);
    return status == POLYTILE_NO_MEMORY ? status : POLYTILE_OK;
}

/** Try the smallest pieces that move little and are not many. Where not even the largest do,
 * smaller ones need not be planned. */
static polytile_status try_small(const grain *of, cut *best) {
    const polytile_link *link =
        of->options->link == NULL ? &polytile_link_default : of->options->link;
    allowance most = allowance_of(of, best);
    int64_t largest_bytes = of->arena_bytes / LARGEST_PART;
    int64_t limit_bytes = pti_max(of->arena_bytes / SMALLEST_PART, least_piece_bytes(link));
    bool any;
    bool found = false;
    polytile_status status;
    PTI_TRY(cut_within_limit(of, largest_bytes, &most, best, &any));
    for (; any && !found && limit_bytes < largest_bytes; limit_bytes *= 2)
        PTI_TRY(cut_within_limit(of, limit_bytes, &most, best, &found));
done:
    return status;
}

static polytile_status fail_superblocks(const grain *of, pti_partition *partition) {
    const double n = (double)partition->n_superblocks + 1;
    pti_partition_free(partition);
    return pti_fail_memory(of->ctx, of->instance->kernel_name, n * sizeof(polytile_domain));
}

/** Take the launch as one superblock, or dealt to lanes. */
static polytile_status keep_whole(const grain *of, pti_partition *partition) {
    const int n_lanes = pti_strategy_lanes(of->strategy, of->instance, of->options->n_streams);
    const int64_t *block = of->options->block;
    if (n_lanes > 1 &&
        pti_partition_for_lanes(of->instance, block == NULL ? 1 : block[0], n_lanes, partition))
        return POLYTILE_OK;
    if (n_lanes > 1)
        return fail_superblocks(of, partition);
    *partition = (pti_partition){.n_buffers = 1};
    for (int d = 0; d < of->instance->n_indices; d++)
        partition->shape[d] = 1;
    if (pti_partition_add(partition, &of->instance->threads))
        return POLYTILE_OK;
    return fail_superblocks(of, partition);
}

/** Cut as the planner cuts a single launch for the whole arena, in the best of its ways. */
static polytile_status cut_for_arena(grain *of, pti_ways *ways, cut *made, int *way) {
    polytile_plan_options options = *of->options;
    pti_choice choice;
    options.limit_bytes = of->arena_bytes;
    polytile_status status = pti_choose_pieces(of->ctx, ways, of->strategy, &options, &choice, way);
    of->instance = ways->call[*way].instance;
    if (status == POLYTILE_OK)
        *made = take_superblocks(&choice);
    return status;
}

/** Let a launch with tiles that stay, strip by strip, be one of which the arena keeps nothing,
 * where that is little beside what it moves. */
static void decide_strips(const grain *of, pti_partition *partition) {
    if (pti_launch_bytes(of->instance) < times_the_arena * (double)of->arena_bytes)
        partition->n_strips = 0;
}

static polytile_status cut_launch(grain *of, const pti_grain_request *request, cut *best,
                                  int *way) {
    bool found = false;
    polytile_status status;
    PTI_TRY(cut_for_arena(of, request->ways, best, way));
    if (of->strategy->objective.fewest_kernels || of->instance->is_team ||
        best->partition.n_lanes > 1)
        return POLYTILE_OK;
    if (request->former != NULL)
        PTI_TRY(try_former(of, request->former, best, &found));
    if (!found && !pti_instance_has_scratch(of->instance))
        PTI_TRY(try_small(of, best));
done:
    if (status != POLYTILE_OK)
        pti_partition_free(&best->partition);
    return status;
}

polytile_status pti_grain_choose(polytile_context *ctx, const pti_grain_request *request,
                                 pti_partition *partition, int *way) {
    grain of = {.ctx = ctx,
                .instance = request->ways->call[0].instance,
                .strategy = pti_strategy_find(request->options->strategy),
                .options = request->options,
                .arena_bytes = request->arena_bytes};
    *way = 0;
    if (request->all_fit)
        return keep_whole(&of, partition);
    cut best = {0};
    polytile_status status = cut_launch(&of, request, &best, way);
    decide_strips(&of, &best.partition);
    *partition = best.partition;
    return status;
}
