#include "partition/skew/stream.h"

#include "access/footprint/footprint.h"
#include "base/checked.h"
#include "partition/skew/concurrent.h"

#include <stdlib.h>
#include <string.h>

int pti_skew_n_arrays(const pti_skew_stream *of) {
    return of->chain->arrays->n_operands;
}

pti_skew_lane pti_skew_lane_at(int64_t offset_bytes, int64_t placement) {
    return (pti_skew_lane){.offset_bytes = offset_bytes,
                           .placement = placement,
                           .users = pti_last_none(),
                           .before = pti_last_none(),
                           .newest = -1};
}

bool pti_skew_stream_pass(const pti_skew_stream *of, int number, pti_pass *pass) {
    int64_t n_per_pass = of->shape->n_per_pass, first = number * n_per_pass;
    return pti_pass_begin(of->chain, (int)first,
                          (int)pti_min(of->chain->n_launches, first + n_per_pass), pass);
}

/* The launches. */

/** Number the superblocks, launch by launch; most_slabs: of a pass. How many there are, -1 when
 * memory runs out. */
static int64_t number_superblocks(pti_skew_stream *of, pti_schedule_launch *launch,
                                  int64_t *most_slabs) {
    int64_t n_superblocks = 0;
    *most_slabs = 0;
    for (int p = 0; p < of->shape->n_passes; p++) {
        pti_pass pass;
        bool has_begun = pti_skew_stream_pass(of, p, &pass);
        for (int l = pass.first; has_begun && l < pass.end; l++) {
            int64_t first, last;
            pti_pass_slabs_of(&pass, l, of->shape->slab, &first, &last);
            launch[l].first_superblock = n_superblocks;
            launch[l].n_superblocks = last - first + 1;
            n_superblocks += launch[l].n_superblocks;
        }
        *most_slabs =
            has_begun ? pti_max(*most_slabs, pti_pass_n_slabs(&pass, of->shape->slab)) : -1;
        pti_pass_end(&pass);
        if (!has_begun)
            return -1;
    }
    return n_superblocks;
}

/** Copy which arrays a launch's operands are: the schedule owns its own. */
static bool copy_arrays(const pti_cut_launch *cut, pti_schedule_launch *launch) {
    size_t n = (size_t)cut->instance->n_operands;
    int *array = calloc(n + 1, sizeof *array);
    if (array != NULL)
        memcpy(array, cut->array, n * sizeof *array);
    launch->instance = cut->instance;
    launch->array = array;
    return array != NULL;
}

static pti_schedule_launch *make_launches(pti_skew_stream *of, int64_t *n_superblocks,
                                          int64_t *most_slabs) {
    int n_launches = of->chain->n_launches;
    pti_schedule_launch *launch = calloc((size_t)n_launches + 1, sizeof *launch);
    bool is_made = launch != NULL;
    for (int l = 0; l < n_launches && is_made; l++)
        is_made = copy_arrays(&of->chain->launch[l].cut, &launch[l]);
    if (is_made)
        *n_superblocks = number_superblocks(of, launch, most_slabs);
    return launch;
}

static void free_launches(pti_schedule_launch *launch, int n_launches) {
    for (int l = 0; launch != NULL && l < n_launches; l++)
        free((void *)launch[l].array);
    free(launch);
}

bool pti_skew_stream_begin(pti_skew_stream *of, int64_t *most_slabs) {
    int64_t n_superblocks = -1;
    int n_arrays = pti_skew_n_arrays(of);
    pti_schedule_launch *launch = make_launches(of, &n_superblocks, most_slabs);
    pti_builder_begin(&of->builder, of->chain->arrays, pti_max(n_superblocks, 0));
    pti_schedule *schedule = of->schedule = of->builder.schedule;
    if (schedule == NULL) {
        free_launches(launch, of->chain->n_launches);
        return false;
    }
    schedule->n_launches = launch == NULL ? 0 : of->chain->n_launches;
    schedule->launch = launch;
    for (int64_t k = 0; k < n_superblocks * n_arrays; k++)
        schedule->launch_placement[k] = -1;
    for (int s = 0; s < PTI_N_STREAMS; s++)
        of->waited[s] = pti_last_none();
    of->computed = of->brought = of->ready = of->ahead = pti_last_none();
    return launch != NULL && n_superblocks >= 0 && !of->builder.failed;
}

void pti_skew_stream_end(pti_skew_stream *of) {
    for (int a = 0; of->lane != NULL && a < pti_skew_n_arrays(of); a++) {
        free(of->lane[a].download);
        free(of->lane[a].former);
    }
    free(of->lane);
    pti_skew_concurrent_end(of);
    pti_skew_sets_free(&of->sets);
    pti_boxes_free(&of->scratch);
}

/* Operations. */

int64_t pti_skew_superblock_at(const pti_skew_stream *of, int launch, int64_t k) {
    int64_t first, last;
    pti_pass_slabs_of(&of->pass, launch, of->shape->slab, &first, &last);
    return of->schedule->launch[launch].first_superblock +
           pti_min(pti_max(k - first, 0), last - first);
}

int64_t pti_skew_stream_add(pti_skew_stream *of, const pti_op *op, const pti_last *waits) {
    pti_stream on = pti_op_stream(op);
    pti_last left = pti_last_none();
    for (int s = 0; s < PTI_N_STREAMS; s++) {
        if (waits->op[s] > of->waited[on].op[s])
            left.op[s] = of->waited[on].op[s] = waits->op[s];
    }
    int64_t added = pti_builder_add(&of->builder, op, &left);
    if (op->kind == PTI_LAUNCH || op->kind == PTI_FILL)
        pti_last_note_on(&of->computed, on, added);
    if (op->kind != PTI_LAUNCH && op->kind != PTI_DOWNLOAD)
        pti_last_note_on(&of->brought, on, added);
    return added;
}

/** Whether an array has an image that launches of the pass may use. */
static bool is_here(const pti_skew_stream *of, int array) {
    return of->chain->axis[array] == PTI_AXIS_WHOLE || of->pass.band[array].passes;
}

int64_t pti_skew_stream_launch(pti_skew_stream *of, int launch, int64_t k) {
    const pti_cut_launch *cut = &of->chain->launch[launch].cut;
    pti_op op = {.kind = PTI_LAUNCH,
                 .abreast = pti_skew_is_abreast(of, k),
                 .launch = launch,
                 .placement = -1,
                 .source_placement = -1};
    if (!pti_pass_threads(&of->pass, launch, of->shape->slab, k, k, &op.box))
        return -1;
    pti_last all = of->ready;
    pti_last_join(&all, &of->ahead);
    op.superblock = pti_skew_superblock_at(of, launch, k);
    int64_t *placement = &of->schedule->launch_placement[op.superblock * pti_skew_n_arrays(of)];
    of->schedule->superblock[op.superblock] = op.box;
    for (int o = 0; o < cut->instance->n_operands; o++) {
        int array = cut->array[o];
        polytile_domain hull;
        if (!is_here(of, array) ||
            !pti_footprint_find_hull(cut->instance, o, PTI_TOUCHES, &op.box, &hull))
            continue;
        placement[array] = of->lane[array].placement;
        pti_last_join(&all, &of->lane[array].before);
    }
    int64_t added = pti_skew_stream_add(of, &op, &all);
    for (int o = 0; o < cut->instance->n_operands; o++) {
        pti_skew_lane *along = &of->lane[cut->array[o]];
        if (placement[cut->array[o]] < 0)
            continue;
        pti_last_note_on(&along->users, pti_op_stream(&op), added);
        along->is_filled = along->is_filled || cut->instance->operand[o].writes;
    }
    return added;
}
