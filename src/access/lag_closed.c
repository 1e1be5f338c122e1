#include "access/lag.h"

#include "access/footprint/affine.h"
#include "access/footprint/footprint.h"
#include "base/checked.h"

/* Each dimension of a box follows one index at most, and no two the same. So dimensions are
 * independent: two boxes meet where the whole launches' elements meet in every dimension, and for a
 * common element one thread's index says nothing about the other's. */

/** The dimension of a section that follows the index along which its launch is cut: lo + speed *
 * index : hi + speed * index. Dimension -1, speed 0: none. */
typedef struct follower {
    int dimension;
    int64_t lo;
    int64_t hi;
    int64_t speed;
    polytile_range threads; /* of the index */
} follower;

static follower follower_of(const pti_cut_section *cut) {
    const pti_section *section = cut->section;
    follower found = {.dimension = section->n_dims - 1,
                      .threads = cut->instance->threads.range[cut->index]};
    while (found.dimension >= 0 && section->followed[found.dimension] != cut->index)
        found.dimension--;
    if (found.dimension >= 0) {
        const pti_subscript *subscript = &section->subscript[found.dimension];
        found.lo = subscript->lo.constant;
        found.hi = subscript->hi.constant;
        found.speed = subscript->lo.index[cut->index];
    }
    return found;
}

/* Return the last thread that touches an element; some thread does. */
static int64_t last_at(const follower *by, int64_t element) {
    if (by->speed == 0)
        return by->threads.hi;
    int64_t last = by->speed > 0 ? pti_floor_div(element - by->lo, by->speed)
                                 : pti_floor_div(by->hi - element, -by->speed);
    return pti_min(last, by->threads.hi);
}

/* Return the first thread that touches an element; some thread does. */
static int64_t first_at(const follower *by, int64_t element) {
    if (by->speed == 0)
        return by->threads.lo;
    int64_t first = by->speed > 0 ? -pti_floor_div(by->hi - element, by->speed)
                                  : -pti_floor_div(element - by->lo, -by->speed);
    return pti_max(first, by->threads.lo);
}

/* Return the last thread that touches any of the elements that are common in each dimension. */
static int64_t last_in(const follower *by, const polytile_domain *common) {
    if (by->dimension < 0)
        return by->threads.hi;
    polytile_range elements = common->range[by->dimension];
    return last_at(by, by->speed > 0 ? elements.hi : elements.lo);
}

static int64_t first_in(const follower *by, const polytile_domain *common) {
    if (by->dimension < 0)
        return by->threads.lo;
    polytile_range elements = common->range[by->dimension];
    return first_at(by, by->speed > 0 ? elements.lo : elements.hi);
}

/* Return the element from which on, as threads rise, the last thread is the launch's last. */
static int64_t turn_of_last(const follower *by) {
    return (by->speed > 0 ? by->lo : by->hi) + by->speed * by->threads.hi;
}

/* Return the element up to which the first thread is the launch's first. */
static int64_t turn_of_first(const follower *by) {
    return (by->speed > 0 ? by->hi : by->lo) + by->speed * by->threads.lo;
}

/* Return after how many elements both followers have moved by whole threads, or all of them. */
static int64_t period_of(const follower *a, const follower *b, polytile_range elements) {
    int64_t count = pti_range_count(elements), period = elements.step;
    for (int k = 0; k < 2; k++) {
        int64_t speed = pti_abs(k == 0 ? a->speed : b->speed);
        if (pti_mul_overflows(period, speed / pti_gcd(period, speed), &period))
            return count;
    }
    return pti_min(period / elements.step, count);
}

static int64_t gap_at(const follower *earlier, const follower *later, int64_t element) {
    return last_at(earlier, element) - first_at(later, element);
}

/* Return the widest gap within n elements of a place. */
static int64_t widest_near(const follower *earlier, const follower *later, polytile_range elements,
                           int64_t place, int64_t n) {
    int64_t inside = pti_max(elements.lo, pti_min(place, elements.hi));
    int64_t nearest = inside - (inside - elements.lo) % elements.step;
    int64_t from = pti_max(elements.lo, nearest - n * elements.step);
    int64_t to = pti_min(elements.hi, nearest + n * elements.step);
    int64_t widest = gap_at(earlier, later, from);
    for (int64_t element = from + elements.step; element <= to; element += elements.step)
        widest = pti_max(widest, gap_at(earlier, later, element));
    return widest;
}

/**
 * Return the widest gap over all elements of a dimension in which both launches are followed.
 *
 * Between the ends and the two turns the gap changes by the same amount every period, so the widest
 * one is within a period of one of them.
 */
static int64_t widest_gap(const follower *earlier, const follower *later, polytile_range elements,
                          int64_t period) {
    const int64_t places[] = {elements.lo, elements.hi, turn_of_last(earlier),
                              turn_of_first(later)};
    int64_t widest = INT64_MIN;
    for (int k = 0; k < 4; k++)
        widest = pti_max(widest, widest_near(earlier, later, elements, places[k], period));
    return widest;
}

static bool section_hulls_meet_in(const pti_cut_section *a, const pti_cut_section *b,
                                  polytile_domain *common) {
    polytile_domain one = pti_section_hull(a->instance, a->section, &a->instance->threads);
    polytile_domain other = pti_section_hull(b->instance, b->section, &b->instance->threads);
    return pti_box_intersect(&one, &other, common);
}

bool pti_lag_closed(const pti_cut_section *earlier, const pti_cut_section *later, pti_lag *lag) {
    polytile_domain common;
    lag->conflicts = section_hulls_meet_in(earlier, later, &common);
    if (!lag->conflicts)
        return true;
    if (!earlier->section->is_box || !later->section->is_box)
        return false;
    follower ahead = follower_of(earlier), behind = follower_of(later);
    if (ahead.dimension < 0 || ahead.dimension != behind.dimension) {
        lag->threads = last_in(&ahead, &common) - first_in(&behind, &common);
        return true;
    }
    polytile_range elements = common.range[ahead.dimension];
    int64_t period = period_of(&ahead, &behind, elements);
    if (period > PTI_MAX_LAG_PERIOD)
        return false;
    lag->threads = widest_gap(&ahead, &behind, elements, period);
    return true;
}

/** Find how a dimension follows the index along which a launch is cut, whatever the other indices
 * are; false if it does not, or its ends do not together. */
static bool find_follower(const pti_cut_section *cut, int dimension, follower *found) {
    const pti_subscript *subscript = &cut->section->subscript[dimension];
    const polytile_domain *threads = &cut->instance->threads;
    pti_affine lo = subscript->lo, hi = subscript->hi;
    const int64_t speed = lo.index[cut->index];
    if (speed == 0 || hi.index[cut->index] != speed)
        return false;
    lo.index[cut->index] = hi.index[cut->index] = 0;
    *found = (follower){.dimension = dimension,
                        .lo = pti_affine_min(&lo, threads),
                        .hi = pti_affine_max(&hi, threads),
                        .speed = speed,
                        .threads = threads->range[cut->index]};
    return true;
}

int64_t pti_lag_most(const pti_cut_section *earlier, const pti_cut_section *later) {
    int64_t most = earlier->instance->threads.range[earlier->index].hi -
                   later->instance->threads.range[later->index].lo;
    polytile_domain common;
    section_hulls_meet_in(earlier, later, &common);
    for (int d = 0; d < earlier->section->n_dims; d++) {
        follower ahead, behind;
        if (!find_follower(earlier, d, &ahead) || !find_follower(later, d, &behind))
            continue;
        int64_t period = period_of(&ahead, &behind, common.range[d]);
        if (period <= PTI_MAX_LAG_PERIOD)
            most = pti_min(most, widest_gap(&ahead, &behind, common.range[d], period));
    }
    return most;
}
