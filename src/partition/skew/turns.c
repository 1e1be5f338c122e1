#include "partition/skew/turns.h"

#include "access/footprint/call.h"
#include "access/footprint/moved.h"
#include "base/checked.h"
#include "partition/skew/memory.h"

/** Fewer turns than these are not worth a period. */
enum { FEWEST_TURNS = 4 };

pti_shift pti_skew_turn_of_array(const pti_pass *pass, int array, int64_t n_rows) {
    pti_shift shift = {{0}};
    if (pass->band[array].passes)
        shift.by[pass->chain->axis[array]] = n_rows;
    return shift;
}

pti_shift pti_skew_turn_of_launch(const pti_pass *pass, int launch, int64_t n_rows) {
    pti_shift shift = {{0}};
    shift.by[pass->chain->launch[launch].index] = n_rows;
    return shift;
}

/** What is asked of the slabs of turns. */
typedef struct search {
    const pti_skew_shape *shape;
    const pti_pass *pass;
    const pti_skew_sets *sets;
    int64_t first, last; /* slabs in which nothing is clipped */
} search;

static int count_arrays(const search *of) {
    return of->pass->chain->arrays->n_operands;
}

/** Keep to slabs of which some coordinates lie between two ends: in slab k those from begin + k *
 * slab + lo to begin + (k + 1) * slab - 1 + hi. */
static void keep_between(search *of, int64_t lo, int64_t hi, const polytile_range *ends) {
    const int64_t slab = of->shape->slab, begin = of->pass->begin;
    of->first = pti_max(of->first, pti_ceil_div(pti_max(0, ends->lo - begin - lo), slab));
    of->last = pti_min(of->last, (ends->hi - begin - hi + 1) / slab - 1);
}

/** Keep to slabs that touch no rows of an array where launches begin: from there on every row has
 * seen the same. */
static void keep_behind_first_rows(search *of, int array) {
    const pti_pass *pass = of->pass;
    for (int l = pass->first; l < pass->end; l++) {
        const pti_cut_launch *cut = &pass->chain->launch[l];
        const int64_t lo = cut->call.instance->threads.range[cut->index].lo;
        pti_reach reach;
        if (!pti_chain_reach(pass->chain, l, array, &reach))
            continue;
        const int64_t before = lo + reach.hi - pass->begin - pass->band[array].lo;
        of->first = pti_max(of->first, pti_ceil_div(pti_max(0, before), of->shape->slab));
    }
}

/** Keep to slabs in which neither launches nor rows of arrays end. */
static void keep_whole_slabs(search *of) {
    const pti_pass *pass = of->pass;
    for (int l = pass->first; l < pass->end; l++) {
        const pti_cut_launch *cut = &pass->chain->launch[l];
        const int64_t shift = pass->shift[l - pass->first];
        keep_between(of, -shift, -shift, &cut->call.instance->threads.range[cut->index]);
    }
    for (int a = 0; a < count_arrays(of); a++) {
        const pti_band *band = &pass->band[a];
        if (!band->passes)
            continue;
        keep_between(of, band->lo, band->hi, &band->hull.range[pass->chain->axis[a]]);
        keep_behind_first_rows(of, a);
    }
}

/** The first slab of the lap of a slab, in whose image it finds its rows when it begins: when a lap
 * begins, images still are those of the lap before. */
static int64_t lap_before(const search *of, int64_t k) {
    return (k - 1) / of->shape->n_per_lap * of->shape->n_per_lap;
}

/** The rows of an array's image in the lap that begins with a slab, if the array has no ends. */
static polytile_range image_of_lap(const search *of, int array, int64_t lap) {
    const pti_band *band = &of->pass->band[array];
    const int64_t lo = of->pass->begin + (lap - 1) * of->shape->slab + band->lo;
    const int64_t n_rows =
        pti_skew_image_rows(of->shape->slab, of->shape->n_per_lap, band->hi - band->lo,
                            pti_skew_n_beside(false, false));
    return (polytile_range){lo, pti_add_saturated(lo, n_rows - 1), 1};
}

/** Return whether images of the lap that begins with a slab lie inside of what the pass touches,
 * and are shorter. */
static bool do_images_slide(const search *of, int64_t lap) {
    bool do_slide = lap > 0;
    for (int a = 0; a < count_arrays(of) && do_slide; a++) {
        const pti_band *band = &of->pass->band[a];
        if (!band->passes)
            continue;
        const polytile_range *all = &band->hull.range[of->pass->chain->axis[a]];
        const polytile_range image = image_of_lap(of, a, lap);
        do_slide =
            image.hi - image.lo < all->hi - all->lo && image.lo >= all->lo && image.hi <= all->hi;
    }
    return do_slide;
}

/** Return whether boxes that have some of the rows have all of them. */
static bool is_even(const pti_boxes *set, int axis, const polytile_range *rows) {
    bool is = true;
    for (int k = 0; k < set->n_boxes && is; k++) {
        const polytile_range *range = &set->box[k].range[axis];
        is = range->hi < rows->lo || range->lo > rows->hi ||
             (range->lo <= rows->lo && range->hi >= rows->hi && range->step == 1);
    }
    return is;
}

/** Return whether what moves of an array is the same in all rows of turns, and so is what nobody
 * wrote. */
static bool are_sets_even(const search *of, const pti_skew_request *request, int array,
                          const pti_slab_turns *turns) {
    const pti_pass_sets *sets = pti_skew_sets_of(of->sets, 0, array);
    const pti_band *band = &of->pass->band[array];
    const int axis = of->pass->chain->axis[array];
    const int64_t end = turns->first + turns->times * turns->n, slab = of->shape->slab;
    if (!band->passes)
        return sets->filled.n_boxes == 0 && sets->live.n_boxes == 0;
    const polytile_range rows = {of->pass->begin + (turns->first - 1) * slab + band->lo,
                                 of->pass->begin + (end + 1) * slab - 1 + band->hi, 1};
    return is_even(&sets->exposed, axis, &rows) && is_even(&sets->filled, axis, &rows) &&
           is_even(&sets->live, axis, &rows) &&
           (request->unwritten == NULL || is_even(&request->unwritten[array], axis, &rows));
}

/** Return whether what a launch touches in turns moves with its arrays. */
static bool does_launch_move(const search *of, const pti_slab_turns *turns, int launch) {
    const pti_cut_launch *cut = &of->pass->chain->launch[launch];
    const int64_t n_rows = turns->n * of->shape->slab, slab = of->shape->slab;
    const pti_shift shift = pti_skew_turn_of_launch(of->pass, launch, n_rows);
    pti_shift moved[PTI_MAX_OPERANDS];
    polytile_domain threads;
    pti_pass_threads(of->pass, launch, slab, turns->first,
                     turns->first + turns->times * turns->n - 1, &threads);
    bool does = pti_instance_find_shifts(cut->call.instance, &threads, &shift, moved);
    for (int o = 0; o < cut->call.instance->n_operands && does; o++) {
        const int array = cut->call.array[o];
        const pti_shift as_array = pti_skew_turn_of_array(of->pass, array, n_rows);
        for (int d = 0; d < cut->call.instance->operand[o].domain.n_dims; d++)
            does = does && moved[o].by[d] == as_array.by[d];
    }
    return does;
}

/** Return whether launches of a turn do: of those that repeat themselves, the first two. */
static bool do_launches_move(const search *of, const pti_slab_turns *turns) {
    const pti_pass *pass = of->pass;
    bool do_move = true;
    for (int l = pass->first; l < pass->end && do_move; l++)
        do_move = (l >= pass->first + 2 && pti_chain_is_same_launch(&pass->chain->launch[l],
                                                                    &pass->chain->launch[l - 2])) ||
                  does_launch_move(of, turns, l);
    return do_move;
}

/** Return whether rows alone tell that a turn's threads may follow those of later launches in the
 * turn before: what one of the two writes of an array is behind what the other touches. */
static bool are_rows_apart(const search *of, int array) {
    const pti_pass *pass = of->pass;
    int64_t touched = INT64_MIN, written = INT64_MIN;
    bool are_apart = true;
    for (int l = pass->end - 1; l >= pass->first && are_apart; l--) {
        const bool writes = pti_call_writes(&pass->chain->launch[l].call, array);
        const int64_t shift = pass->shift[l - pass->first];
        pti_reach reach;
        if (!pti_chain_reach(pass->chain, l, array, &reach))
            continue;
        are_apart = reach.lo - shift >= (writes ? touched : written);
        touched = pti_max(touched, reach.hi - shift);
        written = writes ? pti_max(written, reach.hi - shift) : written;
    }
    return are_apart;
}

/** The slabs of a turn that has enough sub-kernels, and enough of them. */
static int64_t count_slabs_of_turn(const search *of, const pti_skew_request *request) {
    const pti_skew_shape *shape = of->shape;
    const bool is_odd = shape->concurrent && shape->n_per_lap % 2 == 1;
    const int64_t lap = shape->n_per_lap * (is_odd ? 2 : 1);
    const int64_t n_kernels = lap * (of->pass->end - of->pass->first);
    return lap * pti_max(pti_ceil_div(pti_max(1, request->turn_kernels), n_kernels),
                         pti_ceil_div(pti_max(1, request->turn_slabs), lap));
}

pti_slab_turns pti_skew_turns_find(const pti_skew_request *request, const pti_skew_shape *shape,
                                   const pti_pass *pass, const pti_skew_sets *sets) {
    static const pti_slab_turns none;
    search of = {shape, pass, sets, 0, pti_pass_n_slabs(pass, shape->slab) - 1};
    if (request->turn_kernels == 0 || shape->n_passes > 1 || pass->chain->folded != NULL ||
        pass->chain->tiled != NULL)
        return none;
    keep_whole_slabs(&of);
    pti_slab_turns found = {.first = of.first + 1, .n = count_slabs_of_turn(&of, request)};
    while (found.first < of.last && !do_images_slide(&of, lap_before(&of, found.first)))
        found.first++;
    found.times = (of.last - found.first) / found.n;
    while (found.times >= FEWEST_TURNS &&
           !do_images_slide(&of, lap_before(&of, found.first + found.times * found.n)))
        found.times--;
    bool are_even = found.times >= FEWEST_TURNS && do_launches_move(&of, &found);
    for (int a = 0; a < count_arrays(&of) && are_even; a++)
        are_even = pass->chain->axis[a] == PTI_AXIS_NONE ||
                   (are_sets_even(&of, request, a, &found) && are_rows_apart(&of, a));
    return are_even ? found : none;
}
