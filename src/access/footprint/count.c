#include "access/footprint/footprint.h"

#include "access/footprint/affine.h"
#include "access/footprint/section_boxes.h"
#include "base/checked.h"

/* Lower bounds on the number of distinct elements: exact if the footprint is a few boxes, else a
 * sum over slices of one index that cannot meet, else the largest part known. Slices cannot meet if
 * a dimension moves with the index. */

enum { COUNTED_BOXES = 64, MAX_SLICES = 1 << 17, N_GROUPS = 4096 };

/** Count the distinct elements that a launch touches of an operand. */
typedef struct counter {
    const pti_instance *instance;
    const pti_operand *operand;
    pti_touch touch;
    int64_t n_slices_left;
    pti_boxes boxes; /* scratch */
} counter;

/* Return whether a section counts: one that is not exact adds nothing certain. */
static bool is_counted(const counter *counting, const pti_section *section) {
    return section->exact && pti_section_counts(section, counting->touch);
}

/* Count a footprint exactly; false if it is more than a few boxes. */
static bool count_elements_of_boxes(counter *counting, const polytile_domain *threads,
                                    int64_t *count) {
    const pti_operand *operand = counting->operand;
    pti_boxes_clear(&counting->boxes);
    for (int s = 0; s < operand->n_sections; s++) {
        const pti_section *section = &counting->instance->section[operand->first_section + s];
        if (is_counted(counting, section) &&
            !pti_section_add_exact(counting->instance, section, threads, COUNTED_BOXES,
                                   &counting->boxes))
            return false;
    }
    *count = pti_boxes_count(&counting->boxes);
    return true;
}

/* Return whether an expression varies with index k alone over a box of threads. */
static bool follows_alone(const pti_affine *affine, const polytile_domain *threads, int k) {
    for (int other = 0; other < threads->n_dims; other++)
        if (other != k && affine->index[other] != 0 &&
            threads->range[other].lo != threads->range[other].hi)
            return false;
    return true;
}

/** Return whether dimension d separates threads that differ in index k: all sections move there
 * with k alone, equally fast, and further in one step than they reach. */
static bool tells_apart(const counter *counting, const polytile_domain *threads, int k, int d) {
    const pti_operand *operand = counting->operand;
    int64_t lowest = INT64_MAX, highest = INT64_MIN, speed = 0;
    polytile_domain first = *threads;
    for (int j = 0; j < first.n_dims; j++)
        first.range[j].hi = first.range[j].lo;
    for (int s = 0; s < operand->n_sections; s++) {
        const pti_section *section = &counting->instance->section[operand->first_section + s];
        const pti_subscript *subscript = &section->subscript[d];
        if (!is_counted(counting, section))
            continue;
        speed = lowest == INT64_MAX ? subscript->lo.index[k] : speed;
        if (subscript->lo.index[k] != speed || subscript->hi.index[k] != speed ||
            !follows_alone(&subscript->lo, threads, k) ||
            !follows_alone(&subscript->hi, threads, k))
            return false;
        lowest = pti_min(lowest, pti_affine_min(&subscript->lo, &first));
        highest = pti_max(highest, pti_affine_max(&subscript->hi, &first));
    }
    return lowest != INT64_MAX && highest - lowest < pti_abs(speed);
}

/* Return an index of several values whose slices cannot meet; -1: none. */
static int find_slicing_index(const counter *counting, const polytile_domain *threads) {
    for (int k = 0; k < threads->n_dims; k++)
        for (int d = 0; d < counting->operand->domain.n_dims; d++)
            if (pti_range_count(threads->range[k]) > 1 && tells_apart(counting, threads, k, d))
                return k;
    return -1;
}

/* Return the count of a section's middle slice. */
static int64_t count_middle_slice(counter *counting, const pti_section *section,
                                  const polytile_domain *threads) {
    pti_slicing slicing = pti_section_slice(counting->instance, section, threads);
    polytile_domain slice = slicing.threads;
    if (slicing.n_slices == 0)
        return 0;
    for (int k = 0; k < slice.n_dims; k++)
        if (slicing.sliced & (1u << k)) {
            slice.range[k].lo += (slice.range[k].hi - slice.range[k].lo) / 2;
            slice.range[k].hi = slice.range[k].lo;
        }
    pti_boxes_clear(&counting->boxes);
    pti_section_add_exact(counting->instance, section, &slice, COUNTED_BOXES, &counting->boxes);
    return pti_boxes_count(&counting->boxes);
}

static int64_t count_largest_part(counter *counting, const polytile_domain *threads) {
    int64_t largest = 0;
    for (int s = 0; s < counting->operand->n_sections; s++) {
        const pti_section *section =
            &counting->instance->section[counting->operand->first_section + s];
        if (is_counted(counting, section))
            largest = pti_max(largest, count_middle_slice(counting, section, threads));
    }
    return largest;
}

/* Return whether a section's slices by index k, where they are one box, are runs of neighbours in
 * every dimension: then each of their ends moves linearly with k. */
static bool has_runs(const pti_section *section, const polytile_domain *threads, int k) {
    for (int d = 0; d < section->n_dims; d++) {
        const pti_subscript *subscript = &section->subscript[d];
        bool unit = subscript->step == 1;
        for (int j = 0; j < threads->n_dims; j++)
            unit = unit && (j == k || (pti_abs(subscript->lo.index[j]) <= 1 &&
                                       pti_abs(subscript->hi.index[j]) <= 1));
        if (!unit)
            return false;
    }
    return true;
}

/* Return the box that a section touches where index k is i; empty if there are several. */
static polytile_domain get_slice_box(counter *counting, const pti_section *section,
                                     const polytile_domain *threads, int k, int64_t i) {
    polytile_domain slice = *threads;
    slice.range[k] = pti_range(i, i, 1);
    pti_boxes_clear(&counting->boxes);
    pti_section_add_exact(counting->instance, section, &slice, 1, &counting->boxes);
    return counting->boxes.n_boxes == 1 ? counting->boxes.box[0] : pti_box_empty(section->n_dims);
}

/**
 * Return a lower bound if there are too many slices. In a group of neighbouring slices each extent
 * is at least the smaller one at the group's ends: it is concave, the clipped distance of two ends
 * that move linearly.
 */
static int64_t count_groups(counter *counting, const pti_section *section,
                            const polytile_domain *threads, int k) {
    int64_t total = 0, size = pti_ceil_div(pti_range_count(threads->range[k]), N_GROUPS);
    for (int64_t i = threads->range[k].lo; i <= threads->range[k].hi; i += size) {
        int64_t last = pti_min(i + size - 1, threads->range[k].hi), count = last - i + 1;
        polytile_domain a = get_slice_box(counting, section, threads, k, i);
        polytile_domain b = get_slice_box(counting, section, threads, k, last);
        for (int d = 0; d < section->n_dims; d++)
            count *= pti_min(pti_range_count(a.range[d]), pti_range_count(b.range[d]));
        total += count;
    }
    return total;
}

static int64_t count_largest_groups(counter *counting, const polytile_domain *threads, int k) {
    int64_t largest = 0;
    for (int s = 0; s < counting->operand->n_sections; s++) {
        const pti_section *section =
            &counting->instance->section[counting->operand->first_section + s];
        if (is_counted(counting, section) && has_runs(section, threads, k))
            largest = pti_max(largest, count_groups(counting, section, threads, k));
    }
    return largest;
}

/** One dimension of a section's slices by an index, where they are boxes: an interval whose ends,
 * and whether any thread has one, move evenly from slice to slice. */
typedef struct slice_side {
    int64_t lo, lo_speed;
    int64_t hi, hi_speed;
    int64_t width, width_speed; /* of a thread's interval; below 0: it has none */
    polytile_range array;
} slice_side;

/** Return whether all threads of a slice by index k move an interval by steps of one at most, which
 * then make one interval. */
static bool slides_in_slice(const pti_subscript *subscript, const polytile_domain *threads, int k) {
    bool slides = subscript->step == 1;
    for (int j = 0; j < threads->n_dims; j++)
        slides = slides && (j == k || threads->range[j].lo == threads->range[j].hi ||
                            (subscript->lo.index[j] == subscript->hi.index[j] &&
                             pti_abs(subscript->lo.index[j]) <= 1));
    return slides;
}

/** Return the indices of several values, but k, that a subscript names, as bits. */
static unsigned other_indices_named(const pti_subscript *subscript, const polytile_domain *threads,
                                    int k) {
    unsigned named = 0;
    for (int j = 0; j < threads->n_dims; j++)
        if (j != k && threads->range[j].lo != threads->range[j].hi &&
            (subscript->lo.index[j] != 0 || subscript->hi.index[j] != 0))
            named |= 1u << j;
    return named;
}

/** Find the sides of the slices by index k, from the first on; false if they are not known to be
 * boxes: these follow the other indices in one dimension each. */
static bool find_slice_sides(const counter *counting, const pti_section *section,
                             const polytile_domain *threads, int k, slice_side *sides) {
    unsigned named = 0;
    polytile_domain first = *threads;
    first.range[k].hi = first.range[k].lo;
    for (int d = 0; d < section->n_dims; d++) {
        const pti_subscript *subscript = &section->subscript[d];
        const pti_affine width = pti_subscript_width(subscript);
        const unsigned now = other_indices_named(subscript, threads, k);
        const polytile_range array = counting->operand->domain.range[d];
        if (!slides_in_slice(subscript, threads, k) || (named & now) != 0 || array.step != 1)
            return false;
        named |= now;
        sides[d] = (slice_side){.lo = pti_affine_min(&subscript->lo, &first),
                                .lo_speed = subscript->lo.index[k],
                                .hi = pti_affine_max(&subscript->hi, &first),
                                .hi_speed = subscript->hi.index[k],
                                .width = pti_affine_min(&width, &first),
                                .width_speed = width.index[k],
                                .array = array};
    }
    return true;
}

static int64_t count_slice(int n_dims, const slice_side *sides, int64_t slice) {
    int64_t count = 1;
    for (int d = 0; d < n_dims; d++) {
        const slice_side *side = &sides[d];
        const int64_t lo = pti_max(side->lo + side->lo_speed * slice, side->array.lo);
        const int64_t hi = pti_min(side->hi + side->hi_speed * slice, side->array.hi);
        if (hi < lo || side->width + side->width_speed * slice < 0)
            return 0;
        count *= hi - lo + 1;
    }
    return count;
}

/** Return the only section that counts; NULL: there are several, or none. */
static const pti_section *find_only_section(const counter *counting) {
    const pti_section *only = NULL;
    for (int s = 0; s < counting->operand->n_sections; s++) {
        const pti_section *section =
            &counting->instance->section[counting->operand->first_section + s];
        if (is_counted(counting, section) && only != NULL)
            return NULL;
        only = is_counted(counting, section) ? section : only;
    }
    return only;
}

/** Count slices by index k that cannot meet, if they are boxes of one section. */
static bool count_box_slices(const counter *counting, const polytile_domain *threads, int k,
                             int64_t *count) {
    slice_side sides[POLYTILE_MAX_DIMS];
    const pti_section *section = find_only_section(counting);
    if (section == NULL || !find_slice_sides(counting, section, threads, k, sides))
        return false;
    *count = 0;
    for (int64_t i = 0; i < pti_range_count(threads->range[k]); i++)
        *count += count_slice(section->n_dims, sides, i);
    return true;
}

static int64_t count_threads(counter *counting, const polytile_domain *threads) {
    int64_t count;
    if (count_elements_of_boxes(counting, threads, &count))
        return count;
    int k = find_slicing_index(counting, threads);
    if (k < 0)
        return count_largest_part(counting, threads);
    if (pti_range_count(threads->range[k]) > counting->n_slices_left)
        return pti_max(count_largest_part(counting, threads),
                       count_largest_groups(counting, threads, k));
    polytile_domain slice = *threads;
    counting->n_slices_left -= pti_range_count(threads->range[k]);
    if (count_box_slices(counting, threads, k, &count))
        return count;
    count = 0;
    for (int64_t i = threads->range[k].lo; i <= threads->range[k].hi; i++) {
        slice.range[k] = pti_range(i, i, 1);
        count += count_threads(counting, &slice);
    }
    return count;
}

/* A failed allocation loses boxes and never adds any, so the bound holds. */
int64_t pti_operand_least_count(const pti_instance *instance, int operand, pti_touch touch,
                                bool *failed) {
    counter counting = {.instance = instance,
                        .operand = &instance->operand[operand],
                        .touch = touch,
                        .n_slices_left = MAX_SLICES};
    int64_t count = count_threads(&counting, &instance->threads);
    *failed = *failed || counting.boxes.failed;
    pti_boxes_free(&counting.boxes);
    return count;
}
