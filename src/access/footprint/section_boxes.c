#include "access/footprint/section_boxes.h"

#include "access/footprint/affine.h"
#include "access/footprint/footprint.h"
#include "access/footprint/gathered.h"
#include "access/set/generators.h"
#include "base/checked.h"

enum { MANY_BOXES = 16 };

static unsigned bit_of_dimension(int k) {
    return 1u << k;
}

static unsigned varying_indices(const polytile_domain *threads) {
    unsigned varying = 0;
    for (int k = 0; k < threads->n_dims; k++)
        if (threads->range[k].hi > threads->range[k].lo)
            varying |= bit_of_dimension(k);
    return varying;
}

static unsigned named_indices(const pti_subscript *subscript) {
    unsigned named = 0;
    for (int k = 0; k < POLYTILE_MAX_DIMS; k++)
        if (pti_subscript_names(subscript, k))
            named |= bit_of_dimension(k);
    return named;
}

/* Return the indices with which a subscript's length changes, as bits. */
static unsigned stretching_indices(const pti_subscript *subscript) {
    unsigned stretching = 0;
    for (int k = 0; k < POLYTILE_MAX_DIMS; k++)
        if (subscript->lo.index[k] != subscript->hi.index[k])
            stretching |= bit_of_dimension(k);
    return stretching;
}

static unsigned shared_indices(const pti_section *section) {
    unsigned seen = 0, shared = 0;
    for (int d = 0; d < section->n_dims; d++) {
        unsigned named = named_indices(&section->subscript[d]);
        shared |= seen & named;
        seen |= named;
    }
    return shared;
}

/* Return whether both ends stay on one lattice of the step while free indices change. */
static bool is_on_lattice(const pti_subscript *subscript, unsigned free_indices) {
    pti_affine width = pti_subscript_width(subscript);
    if (subscript->step == 1)
        return true;
    bool holds = width.constant % subscript->step == 0;
    for (int k = 0; k < POLYTILE_MAX_DIMS; k++) {
        holds = holds && width.index[k] % subscript->step == 0;
        if (free_indices & bit_of_dimension(k))
            holds = holds && subscript->lo.index[k] % subscript->step == 0;
    }
    return holds;
}

/**
 * Return whether the ranges of neighbouring threads overlap or touch, so that the union over the
 * free indices is one range from the smallest lo to the largest hi.
 *
 * A range that is just empty (hi = lo - step) counts as the point between its ends: touching ranges
 * leave no gap there either.
 */
static bool neighbours_touch(const pti_subscript *subscript, const polytile_domain *threads,
                             unsigned free_indices) {
    pti_affine width = pti_subscript_width(subscript);
    int64_t least = pti_affine_min(&width, threads) + subscript->step;
    bool touch = least >= 0 && is_on_lattice(subscript, free_indices);
    for (int k = 0; touch && k < threads->n_dims; k++) {
        if (!(free_indices & bit_of_dimension(k)))
            continue;
        int64_t with_neighbour = least + pti_max(0, -width.index[k]);
        touch =
            with_neighbour >= subscript->lo.index[k] && with_neighbour >= -subscript->hi.index[k];
    }
    return touch;
}

/** Return whether all threads' ranges begin at one element, or end at one and lie on one lattice:
 * then one of them contains the others. */
static bool share_an_end(const pti_subscript *subscript, unsigned free_indices) {
    bool begin = true, end = true;
    for (int k = 0; k < POLYTILE_MAX_DIMS; k++)
        if (free_indices & bit_of_dimension(k)) {
            begin = begin && subscript->lo.index[k] == 0;
            end =
                end && subscript->hi.index[k] == 0 && subscript->lo.index[k] % subscript->step == 0;
        }
    return begin || end;
}

/* Return the product of the sliced indices' extents. */
static int64_t count_slices(const pti_slicing *slicing) {
    int64_t n_slices = 1;
    for (int k = 0; k < slicing->threads.n_dims; k++)
        if ((slicing->sliced & bit_of_dimension(k)) &&
            pti_mul_overflows(n_slices, pti_range_count(slicing->threads.range[k]), &n_slices))
            return INT64_MAX;
    return n_slices;
}

pti_slicing pti_section_slice(const pti_instance *instance, const pti_section *section,
                              const polytile_domain *threads) {
    pti_slicing slicing = {
        .section = section, .array = pti_section_domain(instance, section), .threads = *threads};
    if (section->may_be_empty && !pti_section_narrow(section, &slicing.threads))
        return slicing;
    unsigned varying = varying_indices(&slicing.threads);
    slicing.sliced = varying & shared_indices(section);
    for (int d = 0; d < section->n_dims; d++) {
        const pti_subscript *subscript = &section->subscript[d];
        unsigned free_indices = varying & ~slicing.sliced & named_indices(subscript);
        unsigned stretching = stretching_indices(subscript) & free_indices;
        if (stretching != 0 && !share_an_end(subscript, free_indices) &&
            !neighbours_touch(subscript, &slicing.threads, free_indices))
            slicing.sliced |= stretching;
    }
    slicing.n_slices = count_slices(&slicing);
    return slicing;
}

/* Return the threads of the k-th slice. */
static polytile_domain get_slice(const pti_slicing *slicing, int64_t k) {
    polytile_domain slice = slicing->threads;
    for (int j = 0; j < slice.n_dims; j++) {
        if (!(slicing->sliced & bit_of_dimension(j)))
            continue;
        int64_t count = pti_range_count(slice.range[j]);
        slice.range[j].lo += k % count;
        slice.range[j].hi = slice.range[j].lo;
        k /= count;
    }
    return slice;
}

static void add_free_indices(pti_generators *generators, const pti_subscript *subscript,
                             const polytile_domain *threads, unsigned sliced) {
    for (int k = 0; k < threads->n_dims; k++)
        if (!(sliced & bit_of_dimension(k)))
            pti_generators_add(generators, subscript->lo.index[k],
                               pti_range_count(threads->range[k]));
}

/* One dimension of a slice, as a sum of ranges from base; no elements if n is 0. */
typedef struct dimension {
    int64_t base;
    pti_generators generators;
    int64_t n_ranges;
} dimension;

/** Describe what a slice touches along a dimension, as a sum of ranges. */
static dimension make_dimension(const pti_slicing *slicing, int d, const polytile_domain *slice) {
    const pti_subscript *subscript = &slicing->section->subscript[d];
    dimension made = {.base = pti_affine_min(&subscript->lo, slice)};
    unsigned stretching = stretching_indices(subscript) & varying_indices(slice) & ~slicing->sliced;
    pti_affine width = pti_subscript_width(subscript);
    int64_t extent = stretching != 0 ? pti_affine_max(&subscript->hi, slice) - made.base
                                     : pti_affine_min(&width, slice);
    if (extent < 0)
        return made;
    made.generators = pti_generators_of_interval(subscript->step, extent / subscript->step + 1);
    if (stretching == 0) {
        add_free_indices(&made.generators, subscript, slice, slicing->sliced);
        pti_generators_absorb(&made.generators, extent - extent % subscript->step, true);
        pti_generators_join_equal(&made.generators);
        pti_generators_join_nested(&made.generators);
    }
    made.n_ranges = pti_generators_count_ranges(&made.generators);
    return made;
}

/* Find the dimensions of a slice. Returns its number of boxes, INT64_MAX if more. */
static int64_t make_dimensions(const pti_slicing *slicing, const polytile_domain *slice,
                               dimension *dimensions) {
    int64_t n_boxes = 1;
    for (int d = 0; d < slicing->section->n_dims && n_boxes > 0; d++) {
        dimensions[d] = make_dimension(slicing, d, slice);
        if (pti_mul_overflows(n_boxes, dimensions[d].n_ranges, &n_boxes))
            return INT64_MAX;
    }
    return n_boxes;
}

static void add_slice(const pti_slicing *slicing, const polytile_domain *slice, pti_boxes *boxes) {
    dimension dimensions[POLYTILE_MAX_DIMS];
    int64_t n_boxes = make_dimensions(slicing, slice, dimensions);
    for (int64_t b = 0; b < n_boxes; b++) {
        polytile_domain box = {.n_dims = slicing->section->n_dims};
        int64_t rest = b;
        for (int d = 0; d < box.n_dims; d++) {
            box.range[d] = pti_generators_get_range(
                &dimensions[d].generators, rest % dimensions[d].n_ranges, dimensions[d].base);
            rest /= dimensions[d].n_ranges;
        }
        if (pti_box_intersect(&box, slicing->array, &box))
            pti_boxes_add(boxes, &box);
    }
}

static bool fits_boxes(const pti_slicing *slicing, int64_t max_boxes) {
    dimension dimensions[POLYTILE_MAX_DIMS];
    int64_t n_boxes = 0;
    if (slicing->n_slices > max_boxes)
        return false;
    for (int64_t k = 0; k < slicing->n_slices && n_boxes <= max_boxes; k++) {
        polytile_domain slice = get_slice(slicing, k);
        if (pti_add_overflows(n_boxes, make_dimensions(slicing, &slice, dimensions), &n_boxes))
            return false;
    }
    return n_boxes <= max_boxes;
}

/* Return whether a section may be told in more than its hull. What is written is known only as
 * that. */
static bool is_gathered(const pti_section *section) {
    return section->indirection != NULL && section->role == POLYTILE_IN;
}

/* Overlapping slices cut each other into many boxes, which are merged whenever they have
 * doubled. */
bool pti_section_add_exact(const pti_instance *instance, const pti_section *section,
                           const polytile_domain *threads, int64_t max_boxes, pti_boxes *boxes) {
    if ((section->is_box || section->indirection != NULL) && max_boxes > 0) {
        polytile_domain hull = pti_section_hull(instance, section, threads);
        if (!is_gathered(section) || pti_box_is_empty(&hull) ||
            !pti_section_add_gathered(instance, section, threads, &hull, max_boxes, boxes))
            pti_boxes_add(boxes, &hull);
        return true;
    }
    pti_slicing slicing = pti_section_slice(instance, section, threads);
    if (!fits_boxes(&slicing, max_boxes))
        return false;
    int untidy = 2 * boxes->n_boxes + MANY_BOXES;
    for (int64_t k = 0; k < slicing.n_slices; k++) {
        polytile_domain slice = get_slice(&slicing, k);
        add_slice(&slicing, &slice, boxes);
        if (boxes->n_boxes > untidy) {
            pti_boxes_merge(boxes);
            untidy = 2 * boxes->n_boxes + MANY_BOXES;
        }
    }
    return true;
}

/* Choose into how many parts, each with a hull, to cut each sliced index: one a value, then the
 * most halved until their product is within the limit. Returns the product. */
static int64_t choose_n_hulls(const pti_slicing *slicing, int max_hulls, int64_t *n_hulls) {
    int64_t product = 1;
    for (int k = 0; k < slicing->threads.n_dims; k++) {
        bool cut = (slicing->sliced & bit_of_dimension(k)) != 0;
        n_hulls[k] = cut ? pti_min(max_hulls, pti_range_count(slicing->threads.range[k])) : 1;
    }
    do {
        int most = 0;
        product = 1;
        for (int k = 0; k < slicing->threads.n_dims; k++) {
            most = n_hulls[k] > n_hulls[most] ? k : most;
            if (pti_mul_overflows(product, n_hulls[k], &product))
                product = INT64_MAX;
        }
        if (product > max_hulls)
            n_hulls[most] = pti_ceil_div(n_hulls[most], 2);
    } while (product > max_hulls);
    return product;
}

static polytile_domain get_threads_of_hull(const pti_slicing *slicing, const int64_t *n_hulls,
                                           int64_t h) {
    polytile_domain part = slicing->threads;
    for (int k = 0; k < part.n_dims; k++) {
        int64_t size = pti_ceil_div(pti_range_count(part.range[k]), n_hulls[k]);
        int64_t lo = part.range[k].lo + h % n_hulls[k] * size;
        part.range[k] = pti_range(lo, pti_min(lo + size - 1, part.range[k].hi), 1);
        h /= n_hulls[k];
    }
    return part;
}

void pti_section_add_hulls(const pti_instance *instance, const pti_section *section,
                           const polytile_domain *threads, int max_hulls, pti_boxes *boxes) {
    int64_t n_hulls[POLYTILE_MAX_DIMS];
    pti_slicing slicing = pti_section_slice(instance, section, threads);
    if (slicing.n_slices == 0)
        return;
    int64_t product = choose_n_hulls(&slicing, max_hulls < 1 ? 1 : max_hulls, n_hulls);
    for (int64_t h = 0; h < product; h++) {
        polytile_domain part = get_threads_of_hull(&slicing, n_hulls, h);
        if (pti_box_is_empty(&part))
            continue;
        polytile_domain hull = pti_section_hull(instance, section, &part);
        pti_boxes_add(boxes, &hull);
    }
}

/* Return the most ranges of one dimension. Only joins that hold for any extents count, since a box
 * of threads may be small. */
static int64_t most_ranges(const pti_slicing *slicing, int d) {
    const pti_subscript *subscript = &slicing->section->subscript[d];
    const polytile_domain *threads = &slicing->threads;
    pti_affine width = pti_subscript_width(subscript);
    int64_t longest = pti_affine_max(&width, threads);
    int64_t sure = pti_max(0, pti_affine_min(&width, threads));
    if (longest < 0)
        return 0;
    if (stretching_indices(subscript) & varying_indices(threads) & ~slicing->sliced)
        return 1;
    pti_generators generators =
        pti_generators_of_interval(subscript->step, longest / subscript->step + 1);
    add_free_indices(&generators, subscript, threads, slicing->sliced);
    pti_generators_absorb(&generators, sure - sure % subscript->step, false);
    pti_generators_join_equal(&generators);
    return pti_generators_count_ranges(&generators);
}

int64_t pti_section_most_boxes(const pti_instance *instance, const pti_section *section,
                               const polytile_domain *threads) {
    pti_slicing slicing = pti_section_slice(instance, section, threads);
    int64_t n_boxes = slicing.n_slices;
    for (int d = 0; d < section->n_dims; d++)
        if (pti_mul_overflows(n_boxes, most_ranges(&slicing, d), &n_boxes))
            return INT64_MAX;
    return n_boxes;
}
