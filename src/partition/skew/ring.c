#include "partition/skew/ring.h"

#include "access/footprint/fold.h"
#include "base/checked.h"

#include <stdlib.h>
#include <string.h>

/** The halves of a ring, and the lanes of an array. */
enum { N_HALVES = 2 };

void pti_ring_free(struct pti_ring_chain *ring) {
    if (ring == NULL)
        return;
    if (ring->lanes != NULL)
        pti_boxes_free_list(ring->unwritten, ring->lanes->n_operands);
    pti_instance_free(ring->lanes);
    free(ring->call);
    free(ring->array);
    free(ring->dropped);
    free(ring);
}

/* Which launches. */

static const struct pti_fold *fold_of(const pti_call *call) {
    return call->instance->fold;
}

/** Let an array have the axis of an operand; false if it cannot, beside the launches before. */
static bool join_axis(int found, bool was_written, int *axis) {
    const int wanted = found < 0 ? PTI_AXIS_WHOLE : found;
    if (*axis == PTI_AXIS_NONE && (found >= 0 || !was_written))
        *axis = wanted;
    return *axis == wanted;
}

/** Let arrays have a launch's axes; false if it cannot go along. */
static bool join_axes(const pti_call *call, int *axis) {
    bool joins = true;
    for (int o = 0; o < call->instance->n_operands && joins; o++)
        joins = join_axis(fold_of(call)->axis[o], false, &axis[call->array[o]]);
    return joins;
}

/** Return the longest way round between threads of two launches that conflict; -1: none do. */
static int64_t lag_between(const pti_call *one, const pti_call *other) {
    int64_t lag = -1;
    for (int o = 0; o < one->instance->n_operands; o++)
        for (int p = 0; p < other->instance->n_operands; p++)
            if (one->array[o] == other->array[p] &&
                (one->instance->operand[o].writes || other->instance->operand[p].writes))
                lag = pti_max(lag, fold_of(one)->reach[o] + fold_of(other)->reach[p]);
    return lag;
}

static int64_t most_reach(const pti_call *call) {
    int64_t most = 0;
    for (int o = 0; o < call->instance->n_operands; o++)
        most = pti_max(most, fold_of(call)->reach[o]);
    return most;
}

/** Find the least offset behind the launches before; those far enough behind need no look. */
static int64_t find_offset(const pti_call *calls, int l, const int64_t *offsets, int64_t most) {
    int64_t offset = l == 0 ? 0 : offsets[l - 1];
    for (int k = l - 1; k >= 0 && offsets[k] + 2 * most > offset; k--) {
        const int64_t lag = lag_between(&calls[k], &calls[l]);
        offset = lag < 0 ? offset : pti_max(offset, offsets[k] + lag);
    }
    return offset;
}

/** Count the launches that go round together; find the axes of arrays, and the offsets. */
static int count_calls(int n_arrays, int n_calls, const pti_call *calls, int *axis,
                       int64_t *offsets) {
    int l = 0;
    int64_t most = 0;
    for (int a = 0; a < n_arrays; a++)
        axis[a] = PTI_AXIS_NONE;
    for (; l < n_calls && fold_of(&calls[l]) != NULL; l++) {
        const int64_t n_rows = fold_of(&calls[0])->n_rows;
        if (fold_of(&calls[l])->n_rows != n_rows || !join_axes(&calls[l], axis))
            break;
        most = pti_max(most, most_reach(&calls[l]));
        offsets[l] = find_offset(calls, l, offsets, most);
        if (l > 0 && offsets[l] - offsets[l - 1] >= n_rows / N_HALVES)
            break;
    }
    return l;
}

/* The folded chain. */

static int lane_of(int array, bool is_upper) {
    return N_HALVES * array + is_upper;
}

/** Make the lane of an array, or of its upper half. */
static bool make_lane(const pti_operand *of, int axis, const struct pti_ring_chain *ring,
                      bool is_upper, pti_operand *lane) {
    *lane = *of;
    lane->name = strdup(of->name);
    if (axis >= 0) {
        polytile_range *rows = &lane->domain.range[axis];
        const int64_t middle = rows->lo + ring->half[0].hi + 1;
        *(is_upper ? &rows->lo : &rows->hi) = is_upper ? middle : middle - 1;
    }
    return lane->name != NULL;
}

/** Make the lanes of all arrays, which say nothing of launches. */
static bool make_lanes(const pti_instance *arrays, const int *axis, struct pti_ring_chain *ring) {
    const size_t n_lanes = (size_t)arrays->n_operands * N_HALVES;
    ring->lanes = calloc(1, sizeof *ring->lanes);
    ring->dropped = calloc(n_lanes + 1, sizeof *ring->dropped);
    ring->unwritten = calloc(n_lanes + 1, sizeof *ring->unwritten);
    if (ring->lanes == NULL || ring->dropped == NULL || ring->unwritten == NULL)
        return false;
    ring->lanes->kernel_name = strdup(arrays->kernel_name == NULL ? "" : arrays->kernel_name);
    ring->lanes->operand = calloc(n_lanes + 1, sizeof *ring->lanes->operand);
    bool is_made = ring->lanes->operand != NULL && ring->lanes->kernel_name != NULL;
    for (int k = 0; k < (int)n_lanes && is_made; k++) {
        is_made = make_lane(&arrays->operand[k / N_HALVES], axis[k / N_HALVES], ring,
                            k % N_HALVES == 1, &ring->lanes->operand[k]);
        ring->lanes->operand[k].same_array = k;
        ring->lanes->n_operands++;
    }
    return is_made;
}

/** List the lanes of a folded launch's operands; returns the place behind them. */
static int *list_lanes(const pti_call *call, int *list) {
    const pti_instance *folded = fold_of(call)->instance;
    for (int o = 0; o < folded->n_operands; o++)
        *list++ =
            lane_of(call->array[pti_operand_array(folded, o)], o >= pti_instance_n_arrays(folded));
    return list;
}

static size_t count_operands(const struct pti_ring_chain *ring) {
    size_t n = 0;
    for (int l = 0; l < ring->n_calls; l++)
        n += (size_t)fold_of(&ring->call[l])->instance->n_operands;
    return n;
}

/** Add both halves of each launch. */
static void add_launches(struct pti_ring_chain *ring, const int64_t *offsets, pti_chain *chain) {
    int *list = ring->array;
    for (int l = 0; l < ring->n_calls; l++) {
        const struct pti_fold *fold = fold_of(&ring->call[l]);
        const pti_cut_launch half = {{fold->instance, list}, fold->index, offsets[l]};
        list = list_lanes(&ring->call[l], list);
        chain->launch[chain->n_launches++] = half;
        chain->launch[chain->n_launches++] = half;
    }
}

static void set_axes(const int *axis, int n_arrays, int *of_lane) {
    for (int a = 0; a < n_arrays; a++) {
        of_lane[lane_of(a, false)] = axis[a];
        of_lane[lane_of(a, true)] = axis[a] == PTI_AXIS_WHOLE ? PTI_AXIS_NONE : axis[a];
    }
}

/** Make the chain of launches that were found. */
static bool make_chain(const pti_instance *arrays, const pti_call *calls, int n_calls,
                       const int *axis, const int64_t *offsets, pti_chain *chain) {
    struct pti_ring_chain *ring = chain->ring = calloc(1, sizeof *ring);
    if (ring == NULL)
        return false;
    const int64_t n_rows = fold_of(&calls[0])->n_rows, n_lower = pti_ceil_div(n_rows, N_HALVES);
    *ring = (struct pti_ring_chain){.arrays = arrays, .n_calls = n_calls};
    ring->half[0] = (polytile_range){0, n_lower - 1, 1};
    ring->half[1] = (polytile_range){0, n_rows - n_lower - 1, 1};
    ring->call = calloc((size_t)n_calls, sizeof *ring->call);
    chain->launch = calloc((size_t)n_calls * N_HALVES, sizeof *chain->launch);
    chain->axis = calloc((size_t)arrays->n_operands * N_HALVES + 1, sizeof *chain->axis);
    if (ring->call == NULL || chain->launch == NULL || chain->axis == NULL ||
        !make_lanes(arrays, axis, ring))
        return false;
    memcpy(ring->call, calls, (size_t)n_calls * sizeof *calls);
    ring->array = calloc(count_operands(ring) + 1, sizeof *ring->array);
    if (ring->array == NULL)
        return false;
    chain->arrays = ring->lanes;
    set_axes(axis, arrays->n_operands, chain->axis);
    add_launches(ring, offsets, chain);
    return true;
}

polytile_status pti_ring_find(const pti_instance *arrays, int n_calls, const pti_call *calls,
                              pti_chain *chain) {
    int *axis = calloc((size_t)arrays->n_operands + 1, sizeof *axis);
    int64_t *offsets = calloc((size_t)n_calls + 1, sizeof *offsets);
    bool is_made = axis != NULL && offsets != NULL;
    *chain = (pti_chain){.arrays = arrays};
    const int n = is_made ? count_calls(arrays->n_operands, n_calls, calls, axis, offsets) : 0;
    if (n > 1)
        is_made = make_chain(arrays, calls, n, axis, offsets, chain);
    free(axis);
    free(offsets);
    return is_made ? POLYTILE_OK : POLYTILE_NO_MEMORY;
}

bool pti_ring_set_states(struct pti_ring_chain *ring, const bool *dropped,
                         const pti_boxes *unwritten) {
    bool failed = false;
    for (int k = 0; k < ring->lanes->n_operands; k++) {
        ring->dropped[k] = dropped[k / N_HALVES];
        pti_boxes_clear(&ring->unwritten[k]);
        if (unwritten == NULL)
            continue;
        pti_boxes_copy(&ring->unwritten[k], &unwritten[k / N_HALVES]);
        pti_boxes_clip(&ring->unwritten[k], &ring->lanes->operand[k].domain);
        failed = failed || ring->unwritten[k].failed;
    }
    return !failed;
}

/* Places. */

bool pti_ring_reach(const pti_chain *chain, int launch, int lane, pti_reach *reach) {
    const pti_call *call = &chain->ring->call[launch / N_HALVES];
    int64_t most = -1;
    for (int o = 0; o < call->instance->n_operands && chain->axis[lane] >= 0; o++)
        if (call->array[o] == lane / N_HALVES)
            most = pti_max(most, fold_of(call)->reach[o]);
    *reach = (pti_reach){-most, most};
    return most >= 0;
}

/** Return what is at some places of a half, from its end of all. */
static polytile_range unfold_places(polytile_range all, bool is_upper, polytile_range places) {
    return is_upper ? (polytile_range){all.hi - places.hi, all.hi - places.lo, 1}
                    : (polytile_range){all.lo + places.lo, all.lo + places.hi, 1};
}

polytile_range pti_ring_threads(const pti_chain *chain, int launch, polytile_range places) {
    const pti_cut_launch *cut = &chain->launch[launch];
    return unfold_places(cut->call.instance->threads.range[cut->index], launch % N_HALVES == 1,
                         places);
}

polytile_range pti_ring_rows(const pti_chain *chain, int lane, polytile_range places) {
    if (chain->ring == NULL)
        return places;
    return unfold_places(chain->arrays->operand[lane].domain.range[chain->axis[lane]],
                         lane % N_HALVES == 1, places);
}

/* The program's schedule. */

/** Number the superblocks of both halves in the order in which they run. */
static void number_superblocks(const pti_schedule *schedule, int64_t *next, int64_t *number) {
    for (int l = 0; l < schedule->n_launches; l += N_HALVES)
        next[l / N_HALVES] = schedule->launch[l].first_superblock;
    for (int64_t i = 0; i < schedule->n_ops; i++)
        if (schedule->op[i].kind == PTI_LAUNCH)
            number[schedule->op[i].superblock] = next[schedule->op[i].launch / N_HALVES]++;
}

/** Move the threads of superblocks, and their placements, to their numbers. */
static bool move_superblocks(pti_schedule *schedule, const int64_t *number) {
    const size_t n = (size_t)schedule->n_superblocks;
    const size_t n_placed = (size_t)schedule->n_launch_placements;
    polytile_domain *threads = malloc((n + 1) * sizeof *threads);
    int64_t *placed = malloc((n_placed + 1) * sizeof *placed);
    const bool has_memory = threads != NULL && placed != NULL;
    if (has_memory) {
        memcpy(threads, schedule->superblock, n * sizeof *threads);
        memcpy(placed, schedule->launch_placement, n_placed * sizeof *placed);
    }
    for (int l = 0; l < schedule->n_launches && has_memory; l++) {
        const pti_schedule_launch *half = &schedule->launch[l];
        const pti_schedule_launch *first = &schedule->launch[l - l % N_HALVES];
        const int64_t n_operands = half->call.instance->n_operands;
        for (int64_t k = 0; k < half->n_superblocks; k++) {
            const int64_t from = half->first_superblock + k, to = number[from];
            schedule->superblock[to] = threads[from];
            memcpy(&schedule->launch_placement[first->first_placement +
                                               (to - first->first_superblock) * n_operands],
                   &placed[half->first_placement + k * n_operands],
                   (size_t)n_operands * sizeof *placed);
        }
    }
    free(threads);
    free(placed);
    return has_memory;
}

/** Let two halves be one launch of the program. */
static void join_launches(const struct pti_ring_chain *ring, pti_schedule *schedule) {
    for (int l = 0; l < schedule->n_launches / N_HALVES; l++) {
        pti_schedule_launch *joined = &schedule->launch[l];
        const int64_t n_upper = schedule->launch[N_HALVES * l + 1].n_superblocks;
        *joined = schedule->launch[N_HALVES * l];
        joined->n_superblocks += n_upper;
        int *array = (int *)(uintptr_t)joined->call.array;
        for (int o = 0; o < joined->call.instance->n_operands; o++)
            array[o] /= N_HALVES;
    }
    schedule->n_launches = ring->n_calls;
}

static void rename_operations(pti_schedule *schedule, const int64_t *number) {
    for (int64_t i = 0; i < schedule->n_ops; i++) {
        pti_op *op = &schedule->op[i];
        op->superblock = number[op->superblock];
        op->launch /= N_HALVES;
    }
    for (int64_t p = 0; p < schedule->n_placements; p++)
        schedule->placement[p].operand /= N_HALVES;
}

/** Let the states be those of arrays. */
static void join_states(const struct pti_ring_chain *ring, pti_schedule *schedule) {
    for (int a = 0; a < ring->arrays->n_operands; a++) {
        pti_boxes lower = schedule->unwritten[lane_of(a, false)];
        pti_boxes *upper = &schedule->unwritten[lane_of(a, true)];
        for (int b = 0; b < upper->n_boxes; b++)
            pti_boxes_add_new(&lower, &upper->box[b]);
        lower.failed = lower.failed || upper->failed;
        pti_boxes_free(upper);
        *upper = (pti_boxes){0};
        schedule->unwritten[lane_of(a, false)] = (pti_boxes){0};
        schedule->unwritten[a] = lower;
        schedule->dropped[a] = schedule->dropped[lane_of(a, false)];
    }
    schedule->instance = ring->arrays;
}

bool pti_ring_finish(const pti_chain *chain, pti_schedule *schedule) {
    const size_t n = (size_t)schedule->n_superblocks;
    int64_t *next = calloc((size_t)schedule->n_launches + 1, sizeof *next);
    int64_t *number = calloc(n + 1, sizeof *number);
    bool is_made = next != NULL && number != NULL;
    if (is_made) {
        number_superblocks(schedule, next, number);
        is_made = move_superblocks(schedule, number);
    }
    if (is_made) {
        join_launches(chain->ring, schedule);
        rename_operations(schedule, number);
        join_states(chain->ring, schedule);
    }
    free(next);
    free(number);
    return is_made;
}
