#include "access/footprint/slabs.h"

#include "access/array/index_block.h"
#include "access/footprint/affine.h"
#include "access/footprint/footprint.h"
#include "access/footprint/indirection.h"
#include "access/footprint/section.h"
#include "access/footprint/section_boxes.h"
#include "base/checked.h"

/** Return whether a subscript is an interval that moves with an index, and with no other. */
static bool is_window_of(const pti_subscript *subscript, int index) {
    bool is = subscript->step == 1;
    for (int k = 0; k < POLYTILE_MAX_DIMS; k++)
        is = is && subscript->lo.index[k] == (k == index) && subscript->hi.index[k] == (k == index);
    return is;
}

/** Return whether a slab along an index is as many boxes of a section as all threads are. */
static bool moves_alone(const pti_section *section, int index) {
    int n_named = 0, n_windows = 0;
    for (int d = 0; d < section->n_dims; d++) {
        n_named += pti_subscript_names(&section->subscript[d], index);
        n_windows += is_window_of(&section->subscript[d], index);
    }
    return n_named == 1 && n_windows == 1;
}

/** Return the indices that move alone in each section of an operand, as bits. */
static unsigned indices_of(const pti_instance *instance, const pti_operand *operand) {
    unsigned indices = 0;
    for (int k = 0; k < instance->n_indices; k++) {
        bool moves = true;
        for (int s = 0; s < operand->n_sections; s++)
            moves = moves && moves_alone(&instance->section[operand->first_section + s], k);
        indices |= (unsigned)moves << k;
    }
    return indices;
}

/** Return whether all that all threads write is known in few boxes. */
static bool are_writes_known(const pti_instance *instance, const pti_operand *operand) {
    pti_boxes boxes = {0};
    bool is = true;
    for (int s = 0; s < operand->n_sections && is; s++) {
        const pti_section *section = &instance->section[operand->first_section + s];
        is = section->exact && (section->role == POLYTILE_IN ||
                                pti_section_add_exact(instance, section, &instance->threads,
                                                      PTI_MAX_WRITE_BOXES, &boxes));
    }
    is = is && boxes.n_boxes <= PTI_MAX_WRITE_BOXES && !boxes.failed;
    pti_boxes_free(&boxes);
    return is;
}

/** Find the indices along which all partial operands are known, as bits. */
static unsigned find_indices(const pti_instance *instance) {
    unsigned indices = ~0u;
    bool has_partial = false;
    for (int o = 0; o < instance->n_operands && indices != 0; o++) {
        const pti_operand *operand = &instance->operand[o];
        if (!operand->partial)
            continue;
        has_partial = true;
        indices &= indices_of(instance, operand);
        if (indices != 0 && !are_writes_known(instance, operand))
            indices = 0;
    }
    return has_partial ? indices : 0;
}

polytile_status pti_instance_add_slabs(polytile_context *ctx, pti_instance *instance) {
    polytile_status status = POLYTILE_OK;
    unsigned indices = find_indices(instance);
    if (indices == 0)
        return POLYTILE_OK;
    PTI_TRY(pti_instance_copy(ctx, instance, &instance->slabs));
    instance->slab_indices = indices;
    for (int o = 0; o < instance->n_operands; o++)
        pti_operand_set_known(instance->slabs, &instance->slabs->operand[o]);
done:
    return status;
}

/* Bands. */

/** A band is at most so small a part of the threads; and in how many parts they are looked at, at
 * first, at most, and how many times finer than a band, if it takes no more. */
enum { PART_OF_THREADS = 8, FIRST_PARTS = 256, MOST_PARTS = 4096, PARTS_OF_BAND = 8 };

/** One dimension of what is looked up, along an index. */
typedef struct band_search {
    const pti_instance *instance;
    const pti_section *section;
    int dim;
    int index;
} band_search;

static int64_t count_along(const band_search *of) {
    return pti_range_count(of->instance->threads.range[of->index]);
}

/** Return the threads of a part as whole blocks of index arrays, if they are as many: of these it
 * is known what they hold. */
static int64_t round_up_to_blocks(int64_t n_together) {
    return n_together < PTI_INDEX_BLOCK
               ? n_together
               : pti_ceil_div(n_together, PTI_INDEX_BLOCK) * PTI_INDEX_BLOCK;
}

/** Return an interval that has what each thread touches, less its index, by the hulls of n_together
 * threads at a time, from multiples of that on; empty: they touch nothing. */
static polytile_range find_band_by(const band_search *of, int64_t n_together) {
    const polytile_range all = of->instance->threads.range[of->index];
    polytile_domain threads = of->instance->threads;
    polytile_range *part = &threads.range[of->index];
    polytile_range band = {INT64_MAX, INT64_MIN, 1};
    for (part->lo = all.lo; part->lo <= all.hi; part->lo = part->hi + 1) {
        part->hi = pti_min((pti_floor_div(part->lo, n_together) + 1) * n_together - 1, all.hi);
        const polytile_domain hull = pti_section_hull(of->instance, of->section, &threads);
        if (pti_box_is_empty(&hull))
            continue;
        band.lo = pti_min(band.lo, hull.range[of->dim].lo - part->hi);
        band.hi = pti_max(band.hi, hull.range[of->dim].hi - part->lo);
    }
    return band;
}

/** Return how long a band is at least, that of n_together threads at a time being as long. */
static int64_t least_length(polytile_range band, int64_t n_together) {
    return band.hi - band.lo + 1 - 2 * (n_together - 1);
}

/** Find a band of n_together threads at a time, whose hull is longer than theirs by one less at
 * each end; false: there is none that is narrow. */
static bool find_rough_band(const band_search *of, int64_t n_together, polytile_range *band) {
    *band = find_band_by(of, n_together);
    return band->lo <= band->hi &&
           least_length(*band, n_together) <= count_along(of) / PART_OF_THREADS;
}

static int64_t first_part(const band_search *of) {
    return round_up_to_blocks(pti_ceil_div(count_along(of), FIRST_PARTS));
}

/** Find the band; false: there is none that is narrow. */
static bool find_band(const band_search *of, polytile_range *band) {
    const int64_t n = count_along(of);
    int64_t n_together = first_part(of);
    while (find_rough_band(of, n_together, band)) {
        const int64_t finer =
            round_up_to_blocks(pti_max(1, pti_max(least_length(*band, n_together) / PARTS_OF_BAND,
                                                  pti_ceil_div(n, MOST_PARTS))));
        if (n_together <= finer)
            return band->hi - band->lo + 1 <= n / PART_OF_THREADS;
        n_together = finer;
    }
    return false;
}

/** Return the dimension of a section that has a band along an index, by rough ones; -1: none. */
static int find_banded_dim(const pti_instance *instance, const pti_section *section, int index) {
    band_search of = {.instance = instance, .section = section, .index = index};
    polytile_range band;
    if (section->role != POLYTILE_IN || instance->operand[section->operand].writes)
        return -1;
    for (; of.dim < section->n_dims; of.dim++)
        if (pti_section_is_indirect(section, of.dim) &&
            find_rough_band(&of, first_part(&of), &band))
            return of.dim;
    return -1;
}

/** Return whether all that is looked up along an index may have a band: else some arrays would have
 * to stay whole, which is seldom worth looking at the others. */
static bool may_have_bands(const pti_instance *instance, int index) {
    bool may = true, has_any = false;
    for (int s = 0; s < instance->n_sections && may; s++) {
        if (!pti_section_looks_up_by(&instance->section[s], index))
            continue;
        has_any = true;
        may = find_banded_dim(instance, &instance->section[s], index) >= 0;
    }
    return may && has_any;
}

/** Let a section that looks up have its band along an index; it has none then that is looked up.
 * *has: whether it has one. */
static polytile_status set_band(polytile_context *ctx, const pti_instance *instance, int index,
                                pti_section *section, bool *has) {
    band_search of = {.instance = instance,
                      .section = section,
                      .dim = find_banded_dim(instance, section, index),
                      .index = index};
    polytile_range band;
    *has = of.dim >= 0 && find_band(&of, &band);
    if (!*has)
        return POLYTILE_OK;
    pti_subscript *along = &section->subscript[of.dim];
    *along = (pti_subscript){{.constant = band.lo}, {.constant = band.hi}, 1};
    along->lo.index[index] = along->hi.index[index] = 1;
    section->exact = false;
    section->indirection = NULL;
    return pti_section_settle(ctx, instance, section);
}

static void drop_slabs(pti_instance *instance) {
    if (instance->slabs != NULL)
        instance->slabs->given = NULL;
    pti_instance_free(instance->slabs);
    instance->slabs = NULL;
    instance->slab_indices = 0;
}

static polytile_status add_bands_along(polytile_context *ctx, pti_instance *instance, int index) {
    polytile_status status;
    bool has_all = true;
    PTI_TRY(pti_instance_copy(ctx, instance, &instance->slabs));
    instance->slab_indices = 1u << index;
    for (int s = 0; s < instance->n_sections && has_all; s++)
        if (pti_section_looks_up_by(&instance->section[s], index))
            PTI_TRY(set_band(ctx, instance, index, &instance->slabs->section[s], &has_all));
    if (!has_all)
        drop_slabs(instance);
done:
    return status;
}

polytile_status pti_instance_add_bands(polytile_context *ctx, pti_instance *instance) {
    polytile_status status = POLYTILE_OK;
    for (int k = 0; k < instance->n_indices && instance->slabs == NULL; k++)
        if (instance->inspection != NULL && may_have_bands(instance, k))
            PTI_TRY(add_bands_along(ctx, instance, k));
done:
    return status;
}

const pti_instance *pti_instance_for_slabs(const pti_instance *instance, int index) {
    bool holds = instance->slabs != NULL && (instance->slab_indices >> index & 1) != 0;
    return holds ? instance->slabs : instance;
}
