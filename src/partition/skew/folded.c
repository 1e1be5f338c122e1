#include "partition/skew/folded.h"

#include "access/footprint/fold.h"
#include "base/checked.h"

#include <stdlib.h>
#include <string.h>

/** The halves of a periodic launch, and of an array. */
enum { N_HALVES = 2 };

void pti_folded_free(struct pti_folded_chain *folded) {
    if (folded == NULL)
        return;
    if (folded->half_arrays != NULL)
        pti_boxes_free_list(folded->unwritten, folded->half_arrays->n_operands);
    pti_instance_free(folded->half_arrays);
    free(folded->call);
    free(folded->array);
    free(folded->dropped);
    free(folded);
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

/** Find the least offset after the launches before; those far enough behind need no look. */
static int64_t find_folded_offset(const pti_call *calls, int l, const int64_t *offsets,
                                  int64_t most) {
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
        offsets[l] = find_folded_offset(calls, l, offsets, most);
        if (l > 0 && offsets[l] - offsets[l - 1] >= n_rows / N_HALVES)
            break;
    }
    return l;
}

/* The folded chain. */

static int half_array_of(int array, bool is_upper) {
    return N_HALVES * array + is_upper;
}

/** Make the half of an array: the lower or the upper one. */
static bool make_half_array(const pti_operand *operand, int axis,
                            const struct pti_folded_chain *folded, bool is_upper,
                            pti_operand *half_array) {
    *half_array = *operand;
    half_array->name = strdup(operand->name);
    if (axis >= 0) {
        polytile_range *rows = &half_array->domain.range[axis];
        const int64_t middle = rows->lo + folded->half[0].hi + 1;
        *(is_upper ? &rows->lo : &rows->hi) = is_upper ? middle : middle - 1;
    }
    return half_array->name != NULL;
}

/** Make the halves of all arrays, which say nothing of launches. */
static bool make_half_arrays(const pti_instance *arrays, const int *axis,
                             struct pti_folded_chain *folded) {
    const size_t n_half_arrays = (size_t)arrays->n_operands * N_HALVES;
    folded->half_arrays = calloc(1, sizeof *folded->half_arrays);
    folded->dropped = calloc(n_half_arrays + 1, sizeof *folded->dropped);
    folded->unwritten = calloc(n_half_arrays + 1, sizeof *folded->unwritten);
    if (folded->half_arrays == NULL || folded->dropped == NULL || folded->unwritten == NULL)
        return false;
    folded->half_arrays->kernel_name =
        strdup(arrays->kernel_name == NULL ? "" : arrays->kernel_name);
    folded->half_arrays->operand = calloc(n_half_arrays + 1, sizeof *folded->half_arrays->operand);
    bool is_made = folded->half_arrays->operand != NULL && folded->half_arrays->kernel_name != NULL;
    for (int k = 0; k < (int)n_half_arrays && is_made; k++) {
        is_made = make_half_array(&arrays->operand[k / N_HALVES], axis[k / N_HALVES], folded,
                                  k % N_HALVES == 1, &folded->half_arrays->operand[k]);
        folded->half_arrays->operand[k].same_array = k;
        folded->half_arrays->n_operands++;
    }
    return is_made;
}

/** List the halves of arrays of a folded launch's operands; returns the place after them. */
static int *list_half_arrays(const pti_call *call, int *list) {
    const pti_instance *folded = fold_of(call)->instance;
    for (int o = 0; o < folded->n_operands; o++)
        *list++ = half_array_of(call->array[pti_operand_array(folded, o)],
                                o >= pti_instance_n_arrays(folded));
    return list;
}

static size_t count_operands(const struct pti_folded_chain *folded) {
    size_t n = 0;
    for (int l = 0; l < folded->n_calls; l++)
        n += (size_t)fold_of(&folded->call[l])->instance->n_operands;
    return n;
}

/** Add both halves of each launch. */
static void add_launches(struct pti_folded_chain *folded, const int64_t *offsets,
                         pti_chain *chain) {
    int *list = folded->array;
    for (int l = 0; l < folded->n_calls; l++) {
        const struct pti_fold *fold = fold_of(&folded->call[l]);
        const pti_cut_launch half = {{fold->instance, list}, fold->index, offsets[l]};
        list = list_half_arrays(&folded->call[l], list);
        chain->launch[chain->n_launches++] = half;
        chain->launch[chain->n_launches++] = half;
    }
}

static void set_axes(const int *axis, int n_arrays, int *of_half) {
    for (int a = 0; a < n_arrays; a++) {
        of_half[half_array_of(a, false)] = axis[a];
        of_half[half_array_of(a, true)] = axis[a] == PTI_AXIS_WHOLE ? PTI_AXIS_NONE : axis[a];
    }
}

/** Make the chain of launches that were found. */
static bool make_chain(const pti_instance *arrays, const pti_call *calls, int n_calls,
                       const int *axis, const int64_t *offsets, pti_chain *chain) {
    struct pti_folded_chain *folded = chain->folded = calloc(1, sizeof *folded);
    if (folded == NULL)
        return false;
    const int64_t n_rows = fold_of(&calls[0])->n_rows, n_lower = pti_ceil_div(n_rows, N_HALVES);
    *folded = (struct pti_folded_chain){.arrays = arrays, .n_calls = n_calls};
    folded->half[0] = (polytile_range){0, n_lower - 1, 1};
    folded->half[1] = (polytile_range){0, n_rows - n_lower - 1, 1};
    folded->call = calloc((size_t)n_calls, sizeof *folded->call);
    chain->launch = calloc((size_t)n_calls * N_HALVES, sizeof *chain->launch);
    chain->axis = calloc((size_t)arrays->n_operands * N_HALVES + 1, sizeof *chain->axis);
    if (folded->call == NULL || chain->launch == NULL || chain->axis == NULL ||
        !make_half_arrays(arrays, axis, folded))
        return false;
    memcpy(folded->call, calls, (size_t)n_calls * sizeof *calls);
    folded->array = calloc(count_operands(folded) + 1, sizeof *folded->array);
    if (folded->array == NULL)
        return false;
    chain->arrays = folded->half_arrays;
    set_axes(axis, arrays->n_operands, chain->axis);
    add_launches(folded, offsets, chain);
    return true;
}

polytile_status pti_folded_find(const pti_instance *arrays, int n_calls, const pti_call *calls,
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

bool pti_folded_set_states(struct pti_folded_chain *folded, const bool *dropped,
                           const pti_boxes *unwritten) {
    bool failed = false;
    for (int k = 0; k < folded->half_arrays->n_operands; k++) {
        folded->dropped[k] = dropped[k / N_HALVES];
        pti_boxes_clear(&folded->unwritten[k]);
        if (unwritten == NULL)
            continue;
        pti_boxes_copy(&folded->unwritten[k], &unwritten[k / N_HALVES]);
        pti_boxes_clip(&folded->unwritten[k], &folded->half_arrays->operand[k].domain);
        failed = failed || folded->unwritten[k].failed;
    }
    return !failed;
}

/* Places. */

bool pti_folded_reach(const pti_chain *chain, int launch, int half_array, pti_reach *reach) {
    const pti_call *call = &chain->folded->call[launch / N_HALVES];
    int64_t most = -1;
    for (int o = 0; o < call->instance->n_operands && chain->axis[half_array] >= 0; o++)
        if (call->array[o] == half_array / N_HALVES)
            most = pti_max(most, fold_of(call)->reach[o]);
    *reach = (pti_reach){-most, most};
    return most >= 0;
}

/** Return what is at some places of a half, from its end of all. */
static polytile_range unfold_places(polytile_range all, bool is_upper, polytile_range places) {
    return is_upper ? (polytile_range){all.hi - places.hi, all.hi - places.lo, 1}
                    : (polytile_range){all.lo + places.lo, all.lo + places.hi, 1};
}

polytile_range pti_folded_threads(const pti_chain *chain, int launch, polytile_range places) {
    const pti_cut_launch *cut = &chain->launch[launch];
    return unfold_places(cut->call.instance->threads.range[cut->index], launch % N_HALVES == 1,
                         places);
}

polytile_range pti_folded_rows(const pti_chain *chain, int half_array, polytile_range places) {
    if (chain->folded == NULL)
        return places;
    return unfold_places(chain->arrays->operand[half_array].domain.range[chain->axis[half_array]],
                         half_array % N_HALVES == 1, places);
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

/** Put the threads and placements of each superblock at its new number, number[old]. False when
 * memory runs out. */
static bool renumber_superblocks(pti_schedule *schedule, const int64_t *number) {
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
static void join_halves(const struct pti_folded_chain *folded, pti_schedule *schedule) {
    for (int l = 0; l < schedule->n_launches / N_HALVES; l++) {
        pti_schedule_launch *joined = &schedule->launch[l];
        const int64_t n_upper = schedule->launch[N_HALVES * l + 1].n_superblocks;
        *joined = schedule->launch[N_HALVES * l];
        joined->n_superblocks += n_upper;
        int *array = (int *)(uintptr_t)joined->call.array;
        for (int o = 0; o < joined->call.instance->n_operands; o++)
            array[o] /= N_HALVES;
    }
    schedule->n_launches = folded->n_calls;
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
static void join_states(const struct pti_folded_chain *folded, pti_schedule *schedule) {
    for (int a = 0; a < folded->arrays->n_operands; a++) {
        pti_boxes lower = schedule->unwritten[half_array_of(a, false)];
        pti_boxes *upper = &schedule->unwritten[half_array_of(a, true)];
        for (int b = 0; b < upper->n_boxes; b++)
            pti_boxes_add_new(&lower, &upper->box[b]);
        lower.failed = lower.failed || upper->failed;
        pti_boxes_free(upper);
        *upper = (pti_boxes){0};
        schedule->unwritten[half_array_of(a, false)] = (pti_boxes){0};
        schedule->unwritten[a] = lower;
        schedule->dropped[a] = schedule->dropped[half_array_of(a, false)];
    }
    schedule->instance = folded->arrays;
}

bool pti_folded_finish(const pti_chain *chain, pti_schedule *schedule) {
    const size_t n = (size_t)schedule->n_superblocks;
    int64_t *next = calloc((size_t)schedule->n_launches + 1, sizeof *next);
    int64_t *number = calloc(n + 1, sizeof *number);
    bool is_made = next != NULL && number != NULL;
    if (is_made) {
        number_superblocks(schedule, next, number);
        is_made = renumber_superblocks(schedule, number);
    }
    if (is_made) {
        join_halves(chain->folded, schedule);
        rename_operations(schedule, number);
        join_states(chain->folded, schedule);
    }
    free(next);
    free(number);
    return is_made;
}
