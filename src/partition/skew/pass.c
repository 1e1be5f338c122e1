#include "partition/skew/pass.h"

#include "access/footprint/footprint.h"
#include "access/set/memory_layout.h"
#include "base/checked.h"
#include "partition/skew/folded.h"

#include <stdlib.h>

/** Return by how much a launch's coordinate exceeds its index. */
static int64_t shift_of(const pti_pass *pass, int launch) {
    return pass->shift[launch - pass->first];
}

/** Cut the launches into units, and find their coordinates. */
static void find_shifts(pti_pass *pass) {
    const pti_cut_launch *launch = pass->chain->launch;
    pass->n_units = pti_tiled_cut(pass->chain, pass->first, pass->end, pass->unit);
    for (int u = 0; u < pass->n_units; u++) {
        const pti_tiled_unit *unit = &pass->unit[u];
        for (int l = unit->first; l < unit->first + unit->n_launches; l++)
            pass->shift[l - pass->first] =
                launch[l].offset - launch[pass->first].offset + unit->delay;
    }
}

/** Return the indices of a launch's threads, or their places on a fold. */
static const polytile_range *domain_of(const pti_pass *pass, int launch) {
    const pti_cut_launch *cut = &pass->chain->launch[launch];
    if (pass->chain->folded != NULL)
        return &pass->chain->folded->half[launch % 2];
    return &cut->call.instance->threads.range[cut->index];
}

static void find_ends_of_pass(pti_pass *pass) {
    pass->begin = INT64_MAX;
    pass->last = INT64_MIN;
    for (int l = pass->first; l < pass->end; l++) {
        const polytile_range *domain = domain_of(pass, l);
        pass->begin = pti_min(pass->begin, domain->lo + shift_of(pass, l));
        pass->last = pti_max(pass->last, domain->hi + shift_of(pass, l));
    }
}

/** Widen a band by what a launch touches. */
static void extend_band(pti_band *band, const pti_reach *reach, int64_t shift) {
    int64_t lo = reach->lo - shift, hi = reach->hi - shift;
    band->lo = band->passes ? pti_min(band->lo, lo) : lo;
    band->hi = band->passes ? pti_max(band->hi, hi) : hi;
    band->passes = true;
}

/** Return whether tiles load an array, or half of one, which a launch has: those that it reads, or
 * all where several are alive, which have as many rows as each other. */
static bool is_loaded(const pti_tiled_unit *unit, const pti_call *call, int array) {
    const pti_instance *instance = call->instance;
    bool is = false;
    for (int o = 0; o < instance->n_operands; o++)
        is = is ||
             (call->array[o] == array && (unit->sequence->change.n_alive > 1 ||
                                          instance->operand[pti_operand_array(instance, o)].reads));
    return is;
}

/** Widen an array's band by what a unit that runs as one loads of it: as much as its launches would
 * if each had as many threads as those after it need. */
static void extend_band_by_unit(const pti_pass *pass, const pti_tiled_unit *unit, int array,
                                pti_band *band) {
    const int last = unit->first + unit->n_launches - 1;
    for (int l = unit->first; unit->n_launches > 1 && l <= last; l++) {
        const pti_cut_launch *cut = &pass->chain->launch[l];
        const pti_margin *per_launch = &unit->sequence->ping_pong.margin_per_launch;
        const int n_left = (last - l) / unit->sequence->n_halves + 1;
        const int64_t round = pti_tiled_reach(unit->sequence);
        const pti_reach reach = unit->sequence->n_halves == 1
                                    ? (pti_reach){-n_left * per_launch->before[cut->index],
                                                  n_left * per_launch->after[cut->index]}
                                    : (pti_reach){-n_left * round, n_left * round};
        if (is_loaded(unit, &cut->call, array))
            extend_band(band, &reach, shift_of(pass, last));
    }
}

/** Widen the hull by what a launch touches of an array. */
static void widen_hull(const pti_cut_launch *cut, int array, polytile_domain *hull) {
    for (int o = 0; o < cut->call.instance->n_operands; o++) {
        polytile_domain touched;
        if (cut->call.array[o] == array &&
            pti_footprint_find_hull(cut->call.instance, o, PTI_TOUCHES,
                                    &cut->call.instance->threads, &touched))
            *hull = pti_box_coarse_union(hull, &touched);
    }
}

/** Launches before one that are compared with it. */
enum { N_LOOKED_AT = 4 };

/** Return the one of the last launches of the pass that is the same, or -1: this one touches what
 * that does. */
static int find_same_before(const pti_pass *pass, int launch) {
    for (int l = launch - 1; l >= pass->first && l >= launch - N_LOOKED_AT; l--)
        if (pti_chain_is_same_launch(&pass->chain->launch[l], &pass->chain->launch[launch]))
            return l;
    return -1;
}

/** How a launch touches an array, if it does. */
typedef struct touch {
    bool touches;
    pti_reach reach;
} touch;

/** Return the bytes of one row, in an image of dense rows. */
static int64_t row_bytes_of(const polytile_domain *hull, int axis, int64_t element_bytes) {
    polytile_domain row = *hull;
    row.range[axis] = (polytile_range){0, 0, 1};
    return pti_memory_layout_of(&row, element_bytes).size_bytes;
}

/** Find an array's band. Images hold every element between the ends, so rows are equally far apart
 * in all of them. */
static void find_band(pti_pass *pass, int array) {
    const pti_chain *chain = pass->chain;
    const pti_operand *operand = &chain->arrays->operand[array];
    pti_band *band = &pass->band[array];
    touch last[N_LOOKED_AT];
    *band = (pti_band){.hull = pti_box_empty(operand->domain.n_dims)};
    for (int l = pass->first; l < pass->end; l++) {
        const int same = find_same_before(pass, l);
        touch *here = &last[l % N_LOOKED_AT];
        if (same >= 0)
            *here = last[same % N_LOOKED_AT];
        else
            here->touches = pti_chain_reach(chain, l, array, &here->reach);
        if (!here->touches)
            continue;
        extend_band(band, &here->reach, shift_of(pass, l));
        if (same < 0)
            widen_hull(&chain->launch[l], array, &band->hull);
    }
    for (int u = 0; u < pass->n_units; u++)
        extend_band_by_unit(pass, &pass->unit[u], array, band);
    band->passes = band->passes && !pti_box_is_empty(&band->hull);
    band->hull = pti_box_without_steps(&band->hull);
    if (band->passes && chain->folded != NULL)
        band->hull.range[chain->axis[array]] = chain->folded->half[array % 2];
    if (band->passes)
        band->row_bytes = row_bytes_of(&band->hull, chain->axis[array], operand->element_bytes);
}

bool pti_pass_begin(const pti_chain *chain, int first, int end, pti_pass *pass) {
    *pass = (pti_pass){.chain = chain, .first = first, .end = end};
    pass->band = calloc((size_t)chain->arrays->n_operands + 1, sizeof *pass->band);
    pass->unit = calloc((size_t)(end - first) + 1, sizeof *pass->unit);
    pass->shift = calloc((size_t)(end - first) + 1, sizeof *pass->shift);
    if (pass->band == NULL || pass->unit == NULL || pass->shift == NULL) {
        pti_pass_end(pass);
        return false;
    }
    find_shifts(pass);
    find_ends_of_pass(pass);
    for (int a = 0; a < chain->arrays->n_operands; a++)
        find_band(pass, a);
    return true;
}

void pti_pass_end(pti_pass *pass) {
    free(pass->band);
    free(pass->unit);
    free(pass->shift);
    *pass = (pti_pass){0};
}

int64_t pti_pass_n_slabs(const pti_pass *pass, int64_t slab) {
    return pti_ceil_div(pass->last - pass->begin + 1, slab);
}

bool pti_pass_threads(const pti_pass *pass, int launch, int64_t slab, int64_t k, int64_t to,
                      polytile_domain *threads) {
    const pti_cut_launch *cut = &pass->chain->launch[launch];
    const polytile_range *domain = domain_of(pass, launch);
    int64_t begin = pass->begin - shift_of(pass, launch);
    int64_t lo = pti_max(domain->lo, begin + k * slab);
    int64_t hi = pti_min(domain->hi, begin + (to + 1) * slab - 1);
    *threads = cut->call.instance->threads;
    threads->range[cut->index] = (polytile_range){lo, hi, 1};
    if (pass->chain->folded != NULL)
        threads->range[cut->index] =
            pti_folded_threads(pass->chain, launch, threads->range[cut->index]);
    return lo <= hi;
}

void pti_pass_slabs_of(const pti_pass *pass, int launch, int64_t slab, int64_t *first,
                       int64_t *last) {
    const polytile_range *domain = domain_of(pass, launch);
    int64_t begin = pass->begin - shift_of(pass, launch);
    *first = (domain->lo - begin) / slab;
    *last = (domain->hi - begin) / slab;
}

polytile_range pti_pass_rows(const pti_pass *pass, int array, int64_t slab, int64_t k, int64_t to) {
    const pti_band *band = &pass->band[array];
    const polytile_range *all = &band->hull.range[pass->chain->axis[array]];
    int64_t lo = pti_max(all->lo, pass->begin + k * slab + band->lo);
    int64_t hi = pti_min(all->hi, pass->begin + (to + 1) * slab - 1 + band->hi);
    return (polytile_range){lo, hi, 1};
}
