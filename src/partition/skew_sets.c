#include "partition/skew_sets.h"

#include "access/footprint.h"
#include "base/checked.h"

#include <stdlib.h>

/** Boxes a section for what is read: a few that contain a little too much, rather than many. */
enum { MAX_READ_BOXES = 16 };

/** The most by which a box may grow to make longer runs: a run that begins anew costs more than a few
 * elements. */
static const double most_growth = 1.05;

/** Sets of one array while the chain is gone through from its end. */
typedef struct walker {
    const pti_skew_request *request;
    int array;
    pti_boxes live;    /* what is needed behind the launch at hand, of launches behind the pass */
    pti_boxes exposed; /* the same, of launches in the pass */
    pti_boxes written; /* by launches of the pass from the one at hand on */
    pti_boxes scratch;
} walker;

static void unite(pti_boxes *set, const pti_boxes *added) {
    for (int k = 0; k < added->n_boxes; k++) {
        if (!pti_boxes_cover(set, &added->box[k]))
            pti_boxes_add(set, &added->box[k]);
    }
    pti_boxes_merge(set);
    set->failed |= added->failed;
}

static void intersect(pti_boxes *set, const pti_boxes *other, pti_boxes *scratch) {
    pti_boxes_copy(scratch, set);
    pti_boxes_subtract_all(scratch, other);
    pti_boxes_subtract_all(set, scratch);
    pti_boxes_merge(set);
}

static void note_writes(walker *of, const pti_cut_launch *cut) {
    for (int o = 0; o < cut->instance->n_operands; o++) {
        if (cut->array[o] != of->array || !cut->instance->operand[o].writes)
            continue;
        pti_footprint_boxes(cut->instance, o, PTI_WRITES, &cut->instance->threads,
                            PTI_MAX_WRITE_BOXES, &of->scratch);
        pti_boxes_subtract_all(&of->exposed, &of->scratch);
        unite(&of->written, &of->scratch);
    }
}

static void note_reads(walker *of, const pti_cut_launch *cut) {
    for (int o = 0; o < cut->instance->n_operands; o++) {
        if (cut->array[o] != of->array || !cut->instance->operand[o].reads)
            continue;
        pti_footprint_boxes(cut->instance, o, PTI_READS, &cut->instance->threads, MAX_READ_BOXES,
                            &of->scratch);
        unite(&of->exposed, &of->scratch);
    }
}

/** Go through a pass from its end, and find what it takes and brings; fills are settled later. */
static void walk_pass(walker *of, int first, int end, pti_pass_sets *sets) {
    const pti_chain *chain = of->request->chain;
    pti_boxes_clear(&of->exposed);
    pti_boxes_clear(&of->written);
    for (int l = end - 1; l >= first; l--) {
        note_writes(of, &chain->launch[l].cut);
        note_reads(of, &chain->launch[l].cut);
    }
    pti_boxes_merge(&of->exposed);
    pti_boxes_copy(&sets->brought, &of->exposed);
    pti_boxes_copy(&sets->taken, &of->live);
    pti_boxes_copy(&sets->filled, &of->written);
    pti_boxes_subtract_all(&of->live, &of->written);
    unite(&of->live, &of->exposed);
}

/** Whether a box may become a wider one: with little more, all of it on the device, and none of it
 * in other boxes of the set. */
static bool may_widen(const pti_boxes *set, int k, const polytile_domain *wide,
                      const pti_boxes *known) {
    if ((double)pti_box_count(wide) > most_growth * (double)pti_box_count(&set->box[k]) ||
        !pti_boxes_cover(known, wide))
        return false;
    for (int other = 0; other < set->n_boxes; other++) {
        polytile_domain common;
        if (other != k && pti_box_intersect(&set->box[other], wide, &common))
            return false;
    }
    return true;
}

/** Let boxes go from one end of the array to the other, from the last dimension on, as long as that
 * may be. */
static void widen(pti_boxes *set, const polytile_domain *domain, const pti_boxes *known) {
    for (int k = 0; k < set->n_boxes; k++) {
        bool goes_on = true;
        for (int d = domain->n_dims - 1; d > 0 && goes_on; d--) {
            polytile_domain wide = set->box[k];
            wide.range[d] = domain->range[d];
            goes_on = may_widen(set, k, &wide, known);
            if (goes_on)
                set->box[k] = wide;
        }
    }
}

/** With what is needed behind a pass in `taken` and what it writes in `filled`, from the first pass
 * on: part what nobody wrote from what is brought, and keep of what is needed what is new. */
static void settle_pass(pti_boxes *unwritten, const polytile_domain *domain, pti_pass_sets *sets,
                        pti_boxes *scratch) {
    pti_boxes fresh = {0};
    pti_boxes_copy(&fresh, &sets->brought);
    intersect(&fresh, unwritten, scratch);
    pti_boxes_subtract_all(&sets->brought, &fresh);
    pti_boxes_merge(&sets->brought);
    unite(&sets->filled, &fresh);
    intersect(&sets->taken, &sets->filled, scratch);
    pti_boxes_subtract_all(unwritten, &sets->filled);
    unite(&sets->filled, &sets->brought);
    widen(&sets->taken, domain, &sets->filled);
    pti_boxes_copy(&sets->filled, &fresh);
    pti_boxes_free(&fresh);
}

static pti_pass_sets *sets_of(const pti_skew_sets *sets, int pass, int array) {
    return &sets->of[(size_t)pass * (size_t)sets->n_arrays + (size_t)array];
}

static void begin_walk(walker *of) {
    const pti_skew_request *request = of->request;
    if (!request->dropped[of->array])
        pti_boxes_append(&of->live, &request->chain->arrays->operand[of->array].domain);
}

static void find_array(const pti_skew_request *request, int array, int n_per_pass,
                       pti_skew_sets *sets) {
    int n_launches = request->chain->n_launches;
    walker of = {.request = request, .array = array};
    pti_boxes unwritten = {0};
    begin_walk(&of);
    for (int p = sets->n_passes - 1; p >= 0; p--)
        walk_pass(&of, p * n_per_pass, (int)pti_min(n_launches, (int64_t)(p + 1) * n_per_pass),
                  sets_of(sets, p, array));
    if (request->unwritten != NULL)
        pti_boxes_copy(&unwritten, &request->unwritten[array]);
    for (int p = 0; p < sets->n_passes; p++)
        settle_pass(&unwritten, &request->chain->arrays->operand[array].domain,
                    sets_of(sets, p, array), &of.scratch);
    sets_of(sets, 0, array)->brought.failed |= of.live.failed || of.exposed.failed ||
                                               of.written.failed || of.scratch.failed ||
                                               unwritten.failed;
    pti_boxes_free(&of.live);
    pti_boxes_free(&of.exposed);
    pti_boxes_free(&of.written);
    pti_boxes_free(&of.scratch);
    pti_boxes_free(&unwritten);
}

static bool has_failed(const pti_skew_sets *sets) {
    for (int k = 0; k < sets->n_passes * sets->n_arrays; k++) {
        if (sets->of[k].brought.failed || sets->of[k].filled.failed || sets->of[k].taken.failed)
            return true;
    }
    return false;
}

bool pti_skew_sets_find(const pti_skew_request *request, int n_per_pass, pti_skew_sets *sets) {
    const pti_chain *chain = request->chain;
    *sets = (pti_skew_sets){.n_passes = (int)pti_ceil_div(chain->n_launches, n_per_pass),
                            .n_arrays = chain->arrays->n_operands};
    sets->of = calloc((size_t)sets->n_passes * (size_t)sets->n_arrays + 1, sizeof *sets->of);
    if (sets->of == NULL)
        return false;
    for (int a = 0; a < sets->n_arrays; a++) {
        if (chain->axis[a] != PTI_AXIS_NONE)
            find_array(request, a, n_per_pass, sets);
    }
    return !has_failed(sets);
}

void pti_skew_sets_free(pti_skew_sets *sets) {
    for (int k = 0; sets->of != NULL && k < sets->n_passes * sets->n_arrays; k++) {
        pti_boxes_free(&sets->of[k].brought);
        pti_boxes_free(&sets->of[k].filled);
        pti_boxes_free(&sets->of[k].taken);
    }
    free(sets->of);
    *sets = (pti_skew_sets){0};
}

void pti_skew_sets_find_whole(const pti_skew_sets *sets, int array, pti_boxes *boxes) {
    pti_boxes_clear(boxes);
    for (int p = 0; p < sets->n_passes; p++)
        unite(boxes, &sets_of(sets, p, array)->brought);
    for (int p = 0; p < sets->n_passes; p++)
        pti_boxes_subtract_all(boxes, &sets_of(sets, p, array)->filled);
}

const pti_pass_sets *pti_skew_sets_of(const pti_skew_sets *sets, int pass, int array) {
    return sets_of(sets, pass, array);
}
