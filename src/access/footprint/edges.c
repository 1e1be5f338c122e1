#include "access/footprint/edges.h"

#include "access/footprint/affine.h"
#include "access/footprint/footprint.h"
#include "access/footprint/section.h"
#include "access/set/box.h"
#include "access/set/range.h"
#include "base/checked.h"
#include "base/list.h"

/** The most images of one subscript, and the most sections of one access. */
enum { MAX_IMAGES = 9, MAX_SECTIONS = 81 };

/** The subscripts that together have the elements of one with an edge. */
typedef struct images {
    int n;
    bool exact; /* each thread has all elements of these */
    pti_subscript image[MAX_IMAGES];
    bool is_moved[MAX_IMAGES]; /* it has what lies beyond the ends */
} images;

/** A subscript with an edge. */
typedef struct edged {
    const pti_subscript *subscript;
    polytile_range array;
    const polytile_domain *threads;
} edged;

static images one_image(const pti_subscript *subscript) {
    return (images){.n = 1, .exact = true, .image = {*subscript}};
}

static images whole_dimension(const edged *of, bool exact) {
    const pti_subscript whole = {
        .lo = {.constant = of->array.lo}, .hi = {.constant = of->array.hi}, .step = 1};
    images made = one_image(&whole);
    made.exact = exact;
    made.is_moved[0] = true;
    return made;
}

/** Return whether the subscript of each thread has as many neighbours as the array has elements. */
static bool goes_round(const edged *of) {
    const pti_affine width = pti_subscript_width(of->subscript);
    return of->subscript->step == 1 &&
           pti_affine_min(&width, of->threads) >= of->array.hi - of->array.lo;
}

/** Return whether the subscript has nothing for any thread, as declared. */
static bool is_empty_for_all(const edged *of) {
    const pti_affine width = pti_subscript_width(of->subscript);
    return pti_affine_max(&width, of->threads) < 0;
}

static pti_subscript moved_by(const pti_subscript *subscript, int64_t distance) {
    pti_subscript moved = *subscript;
    moved.lo.constant += distance;
    moved.hi.constant += distance;
    return moved;
}

/** The images with elements in the array, the subscript itself first if it has any. */
static images images_of_wrap(const edged *of) {
    const int64_t extent = of->array.hi - of->array.lo + 1;
    const int64_t lowest = pti_affine_min(&of->subscript->lo, of->threads);
    const int64_t highest = pti_affine_max(&of->subscript->hi, of->threads);
    const int64_t first = -pti_floor_div(highest - of->array.lo, extent);
    const int64_t last = pti_floor_div(of->array.hi - lowest, extent);
    images made = {.exact = true};
    if (last < first)
        return one_image(of->subscript);
    if (goes_round(of) || last - first >= MAX_IMAGES)
        return whole_dimension(of, goes_round(of));
    if (first <= 0 && last >= 0)
        made.image[made.n++] = *of->subscript;
    for (int64_t k = first; k <= last; k++)
        if (k != 0) {
            made.is_moved[made.n] = true;
            made.image[made.n++] = moved_by(of->subscript, k * extent);
        }
    return made;
}

/** Add what is left of a subscript beyond one end, unless it always has the outermost element
 * itself. */
static void add_end(const edged *of, bool is_low, images *made) {
    const pti_subscript *own = of->subscript;
    const pti_affine outermost = {.constant = is_low ? of->array.lo : of->array.hi};
    const pti_affine width = pti_subscript_width(own);
    const int64_t far_lo = pti_affine_min(&own->lo, of->threads);
    const int64_t far_hi = pti_affine_max(&own->hi, of->threads);
    const bool goes_beyond = is_low ? far_lo < of->array.lo : far_hi > of->array.hi;
    const bool comes_back = is_low ? pti_affine_min(&own->hi, of->threads) >= of->array.lo
                                   : pti_affine_max(&own->lo, of->threads) <= of->array.hi;
    if (!goes_beyond || (comes_back && own->step == 1))
        return;
    made->is_moved[made->n] = true;
    made->image[made->n++] = (pti_subscript){
        .lo = is_low ? own->lo : outermost, .hi = is_low ? outermost : own->hi, .step = 1};
    made->exact = made->exact && pti_affine_min(&width, of->threads) >= 0 &&
                  (own->step == 1 || pti_affine_is_parallel(&own->lo, &own->hi));
}

static images images_of_clamp(const edged *of) {
    images made = one_image(of->subscript);
    add_end(of, true, &made);
    add_end(of, false, &made);
    return made;
}

/** All images of an access, dimension by dimension. */
typedef struct unfolded {
    images dim[POLYTILE_MAX_DIMS];
    unsigned edges;
} unfolded;

static int count_sections(const unfolded *of, int n_dims) {
    int n = 1;
    for (int d = 0; d < n_dims && n <= MAX_SECTIONS; d++)
        n *= of->dim[d].n;
    return n;
}

/** Let the dimension with the most images be whole. */
static void coarsen_dimension(const pti_instance *instance, const pti_section *plain,
                              unfolded *of) {
    const polytile_domain *array = &instance->operand[plain->operand].whole;
    int most = 0;
    for (int d = 1; d < plain->n_dims; d++)
        most = of->dim[d].n > of->dim[most].n ? d : most;
    const edged whole = {&plain->subscript[most], array->range[most], &instance->threads};
    of->dim[most] = whole_dimension(&whole, false);
}

static void unfold_edges(const pti_instance *instance, const pti_access *access,
                         const pti_section *plain, unfolded *of) {
    const polytile_domain *array = &instance->operand[plain->operand].whole;
    of->edges = 0;
    for (int d = 0; d < plain->n_dims; d++) {
        const edged subscript = {&plain->subscript[d], array->range[d], &instance->threads};
        const polytile_edge edge =
            is_empty_for_all(&subscript) ? POLYTILE_EDGE_CLIP : access->subscript[d].edge;
        of->dim[d] = edge == POLYTILE_EDGE_WRAP    ? images_of_wrap(&subscript)
                     : edge == POLYTILE_EDGE_CLAMP ? images_of_clamp(&subscript)
                                                   : one_image(&plain->subscript[d]);
        of->edges |= edge != POLYTILE_EDGE_CLIP ? 1u << d : 0;
    }
    while (count_sections(of, plain->n_dims) > MAX_SECTIONS)
        coarsen_dimension(instance, plain, of);
}

/** The k-th section, counted with the first dimension fastest. */
static pti_section section_of_unfolded(const unfolded *of, const pti_section *plain, int k) {
    pti_section made = *plain;
    made.edges = of->edges;
    for (int d = 0; d < plain->n_dims; d++) {
        made.subscript[d] = of->dim[d].image[k % of->dim[d].n];
        made.exact = made.exact && of->dim[d].exact;
        made.is_moved = made.is_moved || of->dim[d].is_moved[k % of->dim[d].n];
        k /= of->dim[d].n;
    }
    return made;
}

static polytile_status check_edged_array(polytile_context *ctx, const pti_instance *instance,
                                         const pti_access *access, const pti_section *plain) {
    const pti_operand *operand = &instance->operand[plain->operand];
    for (int d = 0; d < plain->n_dims; d++)
        if (access->subscript[d].edge != POLYTILE_EDGE_CLIP &&
            pti_range_has_gaps(operand->domain.range[d]))
            return pti_fail(ctx, POLYTILE_UNSUPPORTED,
                            "%s: subscript %d of %s has an edge, %s(...), and its array is a view "
                            "with a step of %lld there; give an array without steps",
                            instance->kernel_name, d, operand->name,
                            pti_edge_word(access->subscript[d].edge),
                            (long long)operand->domain.range[d].step);
    return POLYTILE_OK;
}

polytile_status pti_edges_add_sections(polytile_context *ctx, pti_instance *instance,
                                       const pti_access *access, const pti_section *plain) {
    unfolded of;
    polytile_status status;
    PTI_TRY(check_edged_array(ctx, instance, access, plain));
    unfold_edges(instance, access, plain, &of);
    const int n = count_sections(&of, plain->n_dims);
    if (!PTI_RESIZE(instance->section, instance->n_sections + n + 1))
        PTI_TRY(pti_fail_memory(ctx, instance->kernel_name, n * (double)sizeof *plain));
    for (int k = 0; k < n; k++) {
        pti_section *section = &instance->section[instance->n_sections];
        *section = section_of_unfolded(&of, plain, k);
        PTI_TRY(pti_section_settle(ctx, instance, section));
        instance->n_sections++;
    }
done:
    return status;
}

/** Return whether a section that stays where it is has threads beyond an end. */
static bool reaches_beyond(const pti_instance *instance, const pti_section *section,
                           const polytile_domain *threads) {
    const polytile_domain *array = &instance->operand[section->operand].whole;
    bool does = false;
    for (int d = 0; d < section->n_dims; d++)
        does = does || ((section->edges >> d & 1) != 0 &&
                        (pti_affine_min(&section->subscript[d].lo, threads) < array->range[d].lo ||
                         pti_affine_max(&section->subscript[d].hi, threads) > array->range[d].hi));
    return does;
}

bool pti_instance_reaches_edges(const pti_instance *instance, const polytile_domain *threads) {
    bool does = false;
    for (int s = 0; s < instance->n_sections && !does; s++) {
        const pti_section *section = &instance->section[s];
        if (section->edges == 0)
            continue;
        const polytile_domain hull = pti_section_hull(instance, section, threads);
        does = section->is_moved ? !pti_box_is_empty(&hull)
                                 : reaches_beyond(instance, section, threads);
    }
    return does;
}

/** Narrow a box to threads for which an expression is not negative, if it varies along one index at
 * most; else leave it. Returns false if there are none. */
static bool narrow_along_one(const pti_affine *affine, polytile_domain *threads) {
    int along = -1, n_along = 0;
    for (int k = 0; k < threads->n_dims; k++)
        if (affine->index[k] != 0 && pti_range_count(threads->range[k]) > 1) {
            along = k;
            n_along++;
        }
    if (n_along != 1)
        return n_along > 0 || pti_affine_min(affine, threads) >= 0;
    polytile_range *range = &threads->range[along];
    const int64_t slope = affine->index[along];
    const int64_t rest =
        pti_affine_min(affine, threads) - slope * (slope < 0 ? range->hi : range->lo);
    if (slope > 0)
        range->lo = pti_max(range->lo, -pti_floor_div(rest, slope));
    else
        range->hi = pti_min(range->hi, pti_floor_div(rest, -slope));
    return range->lo <= range->hi;
}

/** Narrow a box to threads whose section does not go beyond the ends of its array. */
static bool narrow_within(const pti_instance *instance, const pti_section *section,
                          polytile_domain *threads) {
    const polytile_domain *array = &instance->operand[section->operand].whole;
    bool has_any = true;
    for (int d = 0; d < section->n_dims && has_any; d++) {
        pti_affine above = section->subscript[d].lo,
                   below = pti_affine_difference(&(pti_affine){.constant = array->range[d].hi},
                                                 &section->subscript[d].hi);
        above.constant -= array->range[d].lo;
        has_any = (section->edges >> d & 1) == 0 ||
                  (narrow_along_one(&above, threads) && narrow_along_one(&below, threads));
    }
    return has_any;
}

/** Return whether some section has the indices of an access as they are declared. */
static bool has_unmoved(const pti_instance *instance, int access) {
    bool has = false;
    for (int s = 0; s < instance->n_sections && !has; s++)
        has = instance->section[s].access == access && !instance->section[s].is_moved;
    return has;
}

polytile_domain pti_instance_within_edges(const pti_instance *instance,
                                          const polytile_domain *threads) {
    polytile_domain within = *threads;
    bool are = !pti_box_is_empty(threads);
    for (int s = 0; s < instance->n_sections && are; s++) {
        const pti_section *section = &instance->section[s];
        if (section->edges != 0)
            are = section->is_moved ? has_unmoved(instance, section->access)
                                    : narrow_within(instance, section, &within);
    }
    for (int s = 0; s < instance->n_sections && are; s++)
        are = instance->section[s].is_moved ||
              !reaches_beyond(instance, &instance->section[s], &within);
    return are ? within : pti_box_empty(threads->n_dims);
}
