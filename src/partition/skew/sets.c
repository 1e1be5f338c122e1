#include "partition/skew/sets.h"

#include "access/footprint/footprint.h"
#include "base/checked.h"

#include <math.h>
#include <stdlib.h>

/** Boxes a section for what is read: a few that hold a little too much, rather than many. */
enum { MAX_READ_BOXES = 16 };

/** The most by which a box may grow to make longer runs: a run that begins anew costs more than a
 * few elements. */
static const double most_growth = 1.05;

/** Sets of one array during a walk from the chain's end. */
typedef struct walker {
    const pti_skew_request *request;
    int array;
    int most_boxes;
    bool is_scattered;
    pti_boxes live;    /* what is needed after the current launch, of launches after the pass */
    pti_boxes exposed; /* the same, of launches in the pass */
    pti_boxes written; /* by launches of the pass from the current one on */
    pti_boxes reused;
} walker;

/** Add another set, and join what is adjacent. */
static void unite_sets(pti_boxes *set, const pti_boxes *added) {
    pti_boxes_unite(set, added, pti_boxes_add_new);
    pti_boxes_merge(set);
}

/** Keep what is in another set, and join what is adjacent. */
static void intersect_sets(pti_boxes *set, const pti_boxes *other) {
    pti_boxes_clip_all(set, other);
    pti_boxes_merge(set);
}

static void note_writes(walker *of, const pti_cut_launch *cut) {
    for (int o = 0; o < cut->call.instance->n_operands; o++) {
        if (cut->call.array[o] != of->array || !cut->call.instance->operand[o].writes)
            continue;
        pti_footprint_boxes(cut->call.instance, o, PTI_WRITES, &cut->call.instance->threads,
                            PTI_MAX_WRITE_BOXES, &of->reused);
        pti_boxes_subtract_all(&of->exposed, &of->reused);
        unite_sets(&of->written, &of->reused);
    }
}

static void note_reads(walker *of, const pti_cut_launch *cut) {
    for (int o = 0; o < cut->call.instance->n_operands; o++) {
        if (cut->call.array[o] != of->array || !cut->call.instance->operand[o].reads)
            continue;
        pti_footprint_boxes(cut->call.instance, o, PTI_READS, &cut->call.instance->threads,
                            MAX_READ_BOXES, &of->reused);
        unite_sets(&of->exposed, &of->reused);
    }
}

static void walk_launch(walker *of, const pti_cut_launch *cut) {
    note_writes(of, cut);
    note_reads(of, cut);
    of->is_scattered = of->exposed.n_boxes > of->most_boxes || of->written.n_boxes > of->most_boxes;
}

/** Return after how many launches those of a pass repeat themselves; all that it has where they do
 * not, or only after many. */
static int count_until_repeat(const pti_chain *chain, int first, int end) {
    const int unit = pti_chain_unit(chain), most = 8 * unit;
    for (int turn = unit; turn <= most && turn < end - first; turn += unit) {
        int l = end - 1;
        while (l - turn >= first &&
               pti_chain_is_same_launch(&chain->launch[l], &chain->launch[l - turn]))
            l--;
        if (l - turn < first)
            return turn;
    }
    return (int)pti_max(1, end - first);
}

/** Walk from the end of a pass to a launch; of turns of launches that repeat themselves, only to
 * where a turn changes nothing. All turns before it change nothing either, as they begin with the
 * same sets. Returns the first launch after those that are not walked. */
static int walk_turns(walker *of, int first, int end) {
    const pti_chain *chain = of->request->chain;
    const int turn = count_until_repeat(chain, first, end);
    pti_boxes exposed = {0}, written = {0};
    bool changes = true;
    for (; changes && end - turn >= first && !of->is_scattered; end -= turn) {
        pti_boxes_copy(&exposed, &of->exposed);
        pti_boxes_copy(&written, &of->written);
        for (int l = end - 1; l >= end - turn && !of->is_scattered; l -= pti_chain_unit(chain))
            walk_launch(of, &chain->launch[l]);
        changes = exposed.failed || written.failed ||
                  !pti_boxes_are_alike(&exposed, &of->exposed) ||
                  !pti_boxes_are_alike(&written, &of->written);
    }
    pti_boxes_free(&exposed);
    pti_boxes_free(&written);
    return changes ? end : end - (end - first) / turn * turn;
}

/** Walk through a pass from its end, and find what it exposes and what is live after it.
 * go_through_pass() finds the fills in it. */
static void walk_pass(walker *of, int first, int end, pti_pass_sets *sets) {
    const pti_chain *chain = of->request->chain;
    pti_boxes_clear(&of->exposed);
    pti_boxes_clear(&of->written);
    const int left = walk_turns(of, first, end);
    for (int l = left - 1; l >= first && !of->is_scattered; l -= pti_chain_unit(chain))
        walk_launch(of, &chain->launch[l]);
    pti_boxes_merge(&of->exposed);
    pti_boxes_copy(&sets->exposed, &of->exposed);
    pti_boxes_copy(&sets->live, &of->live);
    pti_boxes_copy(&sets->filled, &of->written);
    pti_boxes_subtract_all(&of->live, &of->written);
    unite_sets(&of->live, &of->exposed);
    of->is_scattered = of->is_scattered || of->live.n_boxes > of->most_boxes;
}

/* Wider boxes. */

/** How far boxes of a set may widen for longer and fewer runs. */
typedef struct widening {
    polytile_domain hull;       /* they stay in it */
    int axis;                   /* they do not grow along it, as they are cut there, nor outside */
    const pti_boxes *known;     /* and in this set, if it is not NULL; */
    const pti_boxes *forbidden; /* they keep apart from this one, if it is not NULL */
    double most_growth;         /* of what the set has in a box to what the box has */
} widening;

static bool may_become(const widening *by, const pti_boxes *set, const polytile_domain *wide) {
    return (double)pti_box_count(wide) <= by->most_growth * (double)pti_boxes_count_in(set, wide) &&
           (by->known == NULL || pti_boxes_cover(by->known, wide)) &&
           (by->forbidden == NULL || !pti_boxes_meet(by->forbidden, wide));
}

/** Find the widest box that one may become, from the last dimension on; false if it is as wide
 * now. */
static bool find_wider(const widening *by, const pti_boxes *set, const polytile_domain *box,
                       polytile_domain *widest) {
    polytile_domain wide = *widest = *box;
    for (int d = box->n_dims - 1; d > by->axis; d--) {
        wide.range[d] = by->hull.range[d];
        if (!may_become(by, set, &wide))
            break;
        *widest = wide;
    }
    return !pti_box_equals(widest, box);
}

/** Widen boxes, and merge those that meet. The hull has no dimensions if memory ran out for what a
 * pass touches. */
static void merge_neighbouring_boxes(const widening *by, pti_boxes *set) {
    int n_left = by->hull.n_dims == 0 ? 0 : set->n_boxes;
    for (int k = 0; k < set->n_boxes && n_left > 0 && !set->failed; k++) {
        polytile_domain wide;
        if (!find_wider(by, set, &set->box[k], &wide))
            continue;
        pti_boxes_subtract(set, &wide);
        pti_boxes_append(set, &wide);
        n_left--;
        k = -1;
    }
}

/* Passes from the first on. */

/** What became of an array before a pass. */
typedef struct past {
    bool is_dropped;     /* in the end */
    bool stays;          /* whole, so that what one pass fills lies there in all others */
    int axis;            /* or 0 */
    pti_boxes unwritten; /* elements that are zero and nowhere */
    pti_boxes stale;     /* elements of which the host has no newest version, nor needs it */
    pti_boxes reused;
} past;

/** Return all that a pass touches of an array. */
static polytile_domain hull_of_pass(const pti_pass_sets *sets, const pti_boxes *written) {
    polytile_domain hull = {0};
    const pti_boxes *const all[] = {&sets->exposed, written};
    for (int s = 0; s < 2; s++) {
        for (int k = 0; k < all[s]->n_boxes; k++)
            hull = hull.n_dims == 0 ? all[s]->box[k] : pti_box_coarse_union(&hull, &all[s]->box[k]);
    }
    return hull;
}

/** Separate what nobody wrote from what is exposed. Fills may overwrite what is not exposed. */
static void find_fills(past *of, const polytile_domain *hull, pti_pass_sets *sets) {
    pti_boxes_copy(&sets->filled, &sets->exposed);
    intersect_sets(&sets->filled, &of->unwritten);
    pti_boxes_subtract_all(&sets->exposed, &sets->filled);
    pti_boxes_merge(&sets->exposed);
    merge_neighbouring_boxes(
        &(widening){*hull, of->axis, of->stays ? &of->unwritten : NULL, &sets->exposed, INFINITY},
        &sets->filled);
}

/** Widen uploads by what is newest on the host. */
static void widen_uploads(past *of, const polytile_domain *hull, pti_pass_sets *sets) {
    pti_boxes_copy(&of->reused, &of->unwritten);
    unite_sets(&of->reused, &of->stale);
    unite_sets(&of->reused, &sets->filled);
    merge_neighbouring_boxes(&(widening){*hull, of->axis, NULL, &of->reused, most_growth},
                             &sets->exposed);
}

/** Add elements whose newest version is a fill. Others that it covers are on the host, and must not
 * be overwritten. */
static void add_zeros(past *of, const pti_boxes *filled, pti_boxes *here) {
    pti_boxes zeros = {0};
    pti_boxes_copy(&zeros, filled);
    intersect_sets(&zeros, &of->unwritten);
    unite_sets(here, &zeros);
    pti_boxes_free(&zeros);
}

/** Keep the new part of what is needed; what stays zero is filled again if it is dropped in the
 * end. */
static void find_downloads(past *of, const polytile_domain *hull, const pti_boxes *written,
                           pti_pass_sets *sets) {
    pti_boxes here = {0};
    pti_boxes_copy(&here, written);
    pti_boxes_subtract_all(&of->unwritten, written);
    if (!of->is_dropped) {
        add_zeros(of, &sets->filled, &here);
        pti_boxes_subtract_all(&of->unwritten, &sets->filled);
    }
    intersect_sets(&sets->live, &here);
    unite_sets(&of->stale, &here);
    unite_sets(&here, &sets->exposed);
    merge_neighbouring_boxes(&(widening){*hull, of->axis, &here, NULL, most_growth}, &sets->live);
    pti_boxes_subtract_all(&of->stale, &sets->live);
    sets->live.failed |= here.failed;
    pti_boxes_free(&here);
}

/** Go through a pass. `live` has what is needed after it, `filled` what it writes. */
static void go_through_pass(past *of, pti_pass_sets *sets) {
    pti_boxes written = {0};
    pti_boxes_copy(&written, &sets->filled);
    polytile_domain hull = hull_of_pass(sets, &written);
    find_fills(of, &hull, sets);
    widen_uploads(of, &hull, sets);
    find_downloads(of, &hull, &written, sets);
    sets->live.failed |= written.failed;
    pti_boxes_free(&written);
}

static pti_pass_sets *sets_of(const pti_skew_sets *sets, int pass, int array) {
    return &sets->of[(size_t)pass * (size_t)sets->n_arrays + (size_t)array];
}

static void begin_walk(walker *of) {
    const pti_skew_request *request = of->request;
    if (!request->dropped[of->array])
        pti_boxes_append(&of->live, &request->chain->arrays->operand[of->array].domain);
}

/** Go through all passes from the first; false when memory runs out. */
static bool go_through_passes(const pti_skew_request *request, int array, int most_boxes,
                              pti_skew_sets *sets) {
    int axis = request->chain->axis[array];
    past of = {.is_dropped = request->dropped[array],
               .stays = axis == PTI_AXIS_WHOLE,
               .axis = axis > 0 ? axis : 0};
    if (request->unwritten != NULL)
        pti_boxes_copy(&of.unwritten, &request->unwritten[array]);
    for (int p = 0; p < sets->n_passes && !sets->is_scattered; p++) {
        go_through_pass(&of, sets_of(sets, p, array));
        sets->is_scattered = of.unwritten.n_boxes > most_boxes || of.stale.n_boxes > most_boxes;
    }
    bool failed = of.unwritten.failed || of.stale.failed || of.reused.failed;
    pti_boxes_free(&of.unwritten);
    pti_boxes_free(&of.stale);
    pti_boxes_free(&of.reused);
    return !failed;
}

static void find_sets_of_array(const pti_skew_request *request, int array, int n_per_pass,
                               int most_boxes, pti_skew_sets *sets) {
    int n_launches = request->chain->n_launches;
    walker of = {.request = request, .array = array, .most_boxes = most_boxes};
    begin_walk(&of);
    for (int p = sets->n_passes - 1; p >= 0 && !of.is_scattered; p--)
        walk_pass(&of, p * n_per_pass, (int)pti_min(n_launches, (int64_t)(p + 1) * n_per_pass),
                  sets_of(sets, p, array));
    sets->is_scattered = of.is_scattered;
    bool is_found = go_through_passes(request, array, most_boxes, sets);
    sets_of(sets, 0, array)->exposed.failed |=
        !is_found || of.live.failed || of.exposed.failed || of.written.failed || of.reused.failed;
    pti_boxes_free(&of.live);
    pti_boxes_free(&of.exposed);
    pti_boxes_free(&of.written);
    pti_boxes_free(&of.reused);
}

static bool have_sets_failed(const pti_skew_sets *sets) {
    for (int k = 0; k < sets->n_passes * sets->n_arrays; k++) {
        if (sets->of[k].exposed.failed || sets->of[k].filled.failed || sets->of[k].live.failed)
            return true;
    }
    return false;
}

bool pti_skew_sets_find(const pti_skew_request *request, int n_per_pass, int most_boxes,
                        pti_skew_sets *sets) {
    const pti_chain *chain = request->chain;
    *sets = (pti_skew_sets){.n_passes = (int)pti_ceil_div(chain->n_launches, n_per_pass),
                            .n_arrays = chain->arrays->n_operands};
    sets->of = calloc((size_t)sets->n_passes * (size_t)sets->n_arrays + 1, sizeof *sets->of);
    if (sets->of == NULL)
        return false;
    for (int a = 0; a < sets->n_arrays && !sets->is_scattered; a++) {
        if (chain->axis[a] != PTI_AXIS_NONE)
            find_sets_of_array(request, a, n_per_pass, most_boxes, sets);
    }
    return !have_sets_failed(sets);
}

void pti_skew_sets_free(pti_skew_sets *sets) {
    for (int k = 0; sets->of != NULL && k < sets->n_passes * sets->n_arrays; k++) {
        pti_boxes_free(&sets->of[k].exposed);
        pti_boxes_free(&sets->of[k].filled);
        pti_boxes_free(&sets->of[k].live);
    }
    free(sets->of);
    *sets = (pti_skew_sets){0};
}

void pti_skew_sets_find_whole(const pti_skew_sets *sets, int array, pti_boxes *boxes) {
    pti_boxes_clear(boxes);
    for (int p = 0; p < sets->n_passes; p++)
        unite_sets(boxes, &sets_of(sets, p, array)->exposed);
    for (int p = 0; p < sets->n_passes; p++)
        pti_boxes_subtract_all(boxes, &sets_of(sets, p, array)->filled);
}

const pti_pass_sets *pti_skew_sets_of(const pti_skew_sets *sets, int pass, int array) {
    return sets_of(sets, pass, array);
}
