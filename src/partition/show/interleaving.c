#include "partition/show/picture_chain.h"

#include "access/footprint/footprint.h"
#include "base/checked.h"

#include <stdlib.h>

/** The positions of a launch's first and last operation that is a launch. */
typedef struct slab_span {
    int64_t first;
    int64_t last;
} slab_span;

static void find_spans(const pti_schedule *schedule, slab_span *of) {
    for (int l = 0; l < schedule->n_launches; l++)
        of[l] = (slab_span){INT64_MAX, -1};
    for (int64_t k = 0; k < schedule->n_ops; k++) {
        const pti_op *op = &schedule->op[k];
        if (op->kind != PTI_LAUNCH)
            continue;
        of[op->launch].first = pti_min(of[op->launch].first, k);
        of[op->launch].last = k;
    }
}

/** Return whether the first superblock of a launch uses a placement. */
static bool uses_placement(const pti_schedule *schedule, int launch, int64_t placement) {
    const pti_schedule_launch *schedule_launch = &schedule->launch[launch];
    const int64_t *used =
        pti_schedule_placements(schedule, launch, schedule_launch->first_superblock);
    bool is_used = false;
    for (int o = 0; o < schedule_launch->call.instance->n_operands; o++)
        is_used |= used[o] == placement;
    return is_used;
}

/** Return whether two launches of one superblock each use the same data in the arena. */
static bool share_data(const pti_schedule *schedule, int one, int other) {
    const pti_schedule_launch *a = &schedule->launch[one], *b = &schedule->launch[other];
    const int64_t *used = pti_schedule_placements(schedule, one, a->first_superblock);
    if (schedule->in_place || a->n_superblocks != 1 || b->n_superblocks != 1)
        return false;
    for (int o = 0; o < a->call.instance->n_operands; o++)
        if (used[o] >= 0 && uses_placement(schedule, other, used[o]))
            return true;
    return false;
}

/** Begin a pass at each launch that comes with all after it after all before it. */
static void find_passes(const pti_schedule *schedule, slab_span *of,
                        pti_interleaving *interleaving) {
    int n = schedule->n_launches;
    int64_t last = -1;
    for (int l = n - 2; l >= 0; l--)
        of[l].first = pti_min(of[l].first, of[l + 1].first);
    for (int l = 0; l < n; l++) {
        bool begins = l == 0 || (last < of[l].first && !share_data(schedule, l - 1, l));
        if (begins)
            interleaving->pass[interleaving->n_passes++] = (pti_interleaving_pass){.first = l};
        interleaving->pass[interleaving->n_passes - 1].end = l + 1;
        interleaving->pass_of[l] = interleaving->n_passes - 1;
        last = pti_max(last, of[l].last);
    }
}

static bool is_same_range(const pti_schedule *schedule, int64_t one, int64_t other, int index) {
    const polytile_range *a = &schedule->superblock[one].range[index];
    const polytile_range *b = &schedule->superblock[other].range[index];
    return a->lo == b->lo && a->hi == b->hi;
}

static int64_t count_changes(const pti_schedule *schedule, const pti_schedule_launch *launch,
                             int index) {
    int64_t n_changes = 0, end = launch->first_superblock + launch->n_superblocks;
    for (int64_t k = launch->first_superblock + 1; k < end; k++)
        n_changes += !is_same_range(schedule, k - 1, k, index);
    return n_changes;
}

/** Return the index that changes least often from one superblock to the next, but does; `usual` if
 * none does. */
static int axis_of(const pti_schedule *schedule, const pti_schedule_launch *launch, int usual) {
    int64_t fewest = INT64_MAX;
    int axis = usual < launch->call.instance->n_indices ? usual : 0;
    for (int d = 0; d < launch->call.instance->n_indices; d++) {
        int64_t n_changes = count_changes(schedule, launch, d);
        if (n_changes > 0 && n_changes < fewest) {
            fewest = n_changes;
            axis = d;
        }
    }
    return axis;
}

static void find_axes(const pti_schedule *schedule, pti_interleaving *interleaving) {
    for (int l = 0; l < schedule->n_launches; l++)
        interleaving->axis[l] =
            axis_of(schedule, &schedule->launch[l], l == 0 ? 0 : interleaving->axis[l - 1]);
}

/** Return whether a launch's operation begins a slab, after one of the same pass. */
static bool begins_slab(const pti_schedule *schedule, const pti_interleaving *interleaving,
                        const pti_op *before, const pti_op *op) {
    return op->launch < before->launch ||
           (op->launch == before->launch &&
            !is_same_range(schedule, before->superblock, op->superblock,
                           interleaving->axis[op->launch]));
}

static void find_slabs(const pti_schedule *schedule, pti_interleaving *interleaving) {
    const pti_op *before = NULL;
    for (const pti_op *op = schedule->op; op < schedule->op + schedule->n_ops; op++) {
        if (op->kind != PTI_LAUNCH)
            continue;
        pti_interleaving_pass *pass = &interleaving->pass[interleaving->pass_of[op->launch]];
        if (pass->n_slabs == 0 || begins_slab(schedule, interleaving, before, op))
            pass->n_slabs++;
        interleaving->slab_of[op->superblock] = pass->n_slabs - 1;
        before = op;
    }
}

bool pti_interleaving_find(const pti_schedule *schedule, pti_interleaving *interleaving) {
    size_t n = (size_t)schedule->n_launches + 1;
    slab_span *spans = calloc(n, sizeof *spans);
    *interleaving = (pti_interleaving){
        .pass = calloc(n, sizeof *interleaving->pass),
        .pass_of = calloc(n, sizeof *interleaving->pass_of),
        .axis = calloc(n, sizeof *interleaving->axis),
        .slab_of = calloc((size_t)schedule->n_superblocks + 1, sizeof *interleaving->slab_of)};
    bool is_made = spans != NULL && interleaving->pass != NULL && interleaving->pass_of != NULL &&
                   interleaving->axis != NULL && interleaving->slab_of != NULL;
    if (is_made) {
        find_spans(schedule, spans);
        find_passes(schedule, spans, interleaving);
        find_axes(schedule, interleaving);
        find_slabs(schedule, interleaving);
    }
    free(spans);
    return is_made;
}

void pti_interleaving_free(pti_interleaving *interleaving) {
    free(interleaving->pass);
    free(interleaving->pass_of);
    free(interleaving->axis);
    free(interleaving->slab_of);
    *interleaving = (pti_interleaving){0};
}

bool pti_interleaving_threads(const pti_schedule *schedule, const pti_interleaving *interleaving,
                              int launch, int64_t slab, polytile_domain *threads) {
    const pti_schedule_launch *schedule_launch = &schedule->launch[launch];
    bool is_found = false;
    for (int64_t k = schedule_launch->first_superblock;
         k < schedule_launch->first_superblock + schedule_launch->n_superblocks; k++) {
        if (interleaving->slab_of[k] != slab)
            continue;
        *threads = is_found ? pti_box_coarse_union(threads, &schedule->superblock[k])
                            : schedule->superblock[k];
        is_found = true;
    }
    return is_found;
}

bool pti_interleaving_touched(const pti_schedule *schedule, int launch, int64_t superblock,
                              int array, polytile_domain *hull) {
    const pti_schedule_launch *schedule_launch = &schedule->launch[launch];
    bool is_found = false;
    for (int o = 0; o < schedule_launch->call.instance->n_operands; o++) {
        polytile_domain touched;
        if (schedule_launch->call.array[o] != array ||
            !pti_footprint_find_hull(schedule_launch->call.instance, o, PTI_TOUCHES,
                                     &schedule->superblock[superblock], &touched))
            continue;
        *hull = is_found ? pti_box_coarse_union(hull, &touched) : touched;
        is_found = true;
    }
    return is_found;
}

static int differs_in(const polytile_domain *a, const polytile_domain *b) {
    for (int d = 0; d < a->n_dims; d++) {
        if (a->range[d].lo != b->range[d].lo || a->range[d].hi != b->range[d].hi)
            return d;
    }
    return -1;
}

int pti_interleaving_array_axis(const pti_schedule *schedule, const pti_interleaving *interleaving,
                                int launch, int array) {
    const pti_schedule_launch *schedule_launch = &schedule->launch[launch];
    int64_t first = schedule_launch->first_superblock, end = first + schedule_launch->n_superblocks;
    int64_t next = first;
    polytile_domain a, b;
    while (next < end && interleaving->slab_of[next] == interleaving->slab_of[first])
        next++;
    if (next == end || !pti_interleaving_touched(schedule, launch, first, array, &a) ||
        !pti_interleaving_touched(schedule, launch, next, array, &b))
        return -1;
    return differs_in(&a, &b);
}
