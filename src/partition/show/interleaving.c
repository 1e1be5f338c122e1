#include "partition/show/interleaving.h"

#include "base/checked.h"

#include <stdlib.h>

/** The positions of a launch's first and last operation that is a launch. */
typedef struct span {
    int64_t first;
    int64_t last;
} span;

static void find_spans(const pti_schedule *schedule, span *of) {
    for (int l = 0; l < schedule->n_launches; l++)
        of[l] = (span){INT64_MAX, -1};
    for (int64_t k = 0; k < schedule->n_ops; k++) {
        const pti_op *op = &schedule->op[k];
        if (op->kind != PTI_LAUNCH)
            continue;
        of[op->launch].first = pti_min(of[op->launch].first, k);
        of[op->launch].last = k;
    }
}

/** Whether two launches of one superblock each use the same data in the arena. */
static bool share_memory(const pti_schedule *schedule, int one, int other) {
    const pti_schedule_launch *a = &schedule->launch[one], *b = &schedule->launch[other];
    int n = schedule->instance->n_operands;
    if (schedule->in_place || a->n_superblocks != 1 || b->n_superblocks != 1)
        return false;
    for (int o = 0; o < n; o++) {
        int64_t p = schedule->launch_placement[a->first_superblock * n + o];
        if (p >= 0 && p == schedule->launch_placement[b->first_superblock * n + o])
            return true;
    }
    return false;
}

/** Begin a pass at each launch that comes with all behind it after all before it. */
static void find_passes(const pti_schedule *schedule, span *of, pti_interleaving *turns) {
    int n = schedule->n_launches;
    int64_t last = -1;
    for (int l = n - 2; l >= 0; l--)
        of[l].first = pti_min(of[l].first, of[l + 1].first);
    for (int l = 0; l < n; l++) {
        bool begins = l == 0 || (last < of[l].first && !share_memory(schedule, l - 1, l));
        if (begins)
            turns->pass[turns->n_passes++] = (pti_interleaving_pass){.first = l};
        turns->pass[turns->n_passes - 1].end = l + 1;
        turns->pass_of[l] = turns->n_passes - 1;
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

/** The index that changes least often from one superblock to the next, but does; `usual` if none
 * does. */
static int axis_of(const pti_schedule *schedule, const pti_schedule_launch *launch, int usual) {
    int64_t fewest = INT64_MAX;
    int axis = usual < launch->instance->n_indices ? usual : 0;
    for (int d = 0; d < launch->instance->n_indices; d++) {
        int64_t n_changes = count_changes(schedule, launch, d);
        if (n_changes > 0 && n_changes < fewest) {
            fewest = n_changes;
            axis = d;
        }
    }
    return axis;
}

static void find_axes(const pti_schedule *schedule, pti_interleaving *turns) {
    for (int l = 0; l < schedule->n_launches; l++)
        turns->axis[l] = axis_of(schedule, &schedule->launch[l], l == 0 ? 0 : turns->axis[l - 1]);
}

/** Whether a launch's operation begins a slab, behind one of the same pass. */
static bool begins_slab(const pti_schedule *schedule, const pti_interleaving *turns,
                        const pti_op *before, const pti_op *op) {
    return op->launch < before->launch ||
           (op->launch == before->launch &&
            !is_same_range(schedule, before->superblock, op->superblock, turns->axis[op->launch]));
}

static void find_slabs(const pti_schedule *schedule, pti_interleaving *turns) {
    const pti_op *before = NULL;
    for (const pti_op *op = schedule->op; op < schedule->op + schedule->n_ops; op++) {
        if (op->kind != PTI_LAUNCH)
            continue;
        pti_interleaving_pass *pass = &turns->pass[turns->pass_of[op->launch]];
        if (pass->n_slabs == 0 || begins_slab(schedule, turns, before, op))
            pass->n_slabs++;
        turns->slab_of[op->superblock] = pass->n_slabs - 1;
        before = op;
    }
}

bool pti_interleaving_find(const pti_schedule *schedule, pti_interleaving *turns) {
    size_t n = (size_t)schedule->n_launches + 1;
    span *spans = calloc(n, sizeof *spans);
    *turns = (pti_interleaving){
        .pass = calloc(n, sizeof *turns->pass),
        .pass_of = calloc(n, sizeof *turns->pass_of),
        .axis = calloc(n, sizeof *turns->axis),
        .slab_of = calloc((size_t)schedule->n_superblocks + 1, sizeof *turns->slab_of)};
    bool is_made = spans != NULL && turns->pass != NULL && turns->pass_of != NULL &&
                   turns->axis != NULL && turns->slab_of != NULL;
    if (is_made) {
        find_spans(schedule, spans);
        find_passes(schedule, spans, turns);
        find_axes(schedule, turns);
        find_slabs(schedule, turns);
    }
    free(spans);
    return is_made;
}

void pti_interleaving_free(pti_interleaving *turns) {
    free(turns->pass);
    free(turns->pass_of);
    free(turns->axis);
    free(turns->slab_of);
    *turns = (pti_interleaving){0};
}

bool pti_interleaving_threads(const pti_schedule *schedule, const pti_interleaving *turns,
                              int launch, int64_t slab, polytile_domain *threads) {
    const pti_schedule_launch *of = &schedule->launch[launch];
    bool is_found = false;
    for (int64_t k = of->first_superblock; k < of->first_superblock + of->n_superblocks; k++) {
        if (turns->slab_of[k] != slab)
            continue;
        *threads = is_found ? pti_box_coarse_union(threads, &schedule->superblock[k])
                            : schedule->superblock[k];
        is_found = true;
    }
    return is_found;
}
