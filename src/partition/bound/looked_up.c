#include "partition/bound/looked_up.h"

#include "access/footprint/affine.h"
#include "access/footprint/looked_up.h"
#include "base/checked.h"

#include <stdlib.h>

/** Threads and elements that are looked at, and elements of an array that are told apart; and how
 * many elements of a vector are loaded at a time. */
enum { MOST_THREADS = 1 << 16, MOST_ELEMENTS = 1 << 18, MOST_BITS = 1 << 28, CHUNK = 256 };

/** Which elements of an array were met. */
typedef struct meeting {
    const polytile_domain *array;
    uint64_t *bits; /* of each element in C order */
    int64_t n_met;
    int64_t n_left; /* elements that are still looked at */
} meeting;

/** Set a bit. Returns whether it was not set. */
static bool set_bit(uint64_t *bits, int64_t place) {
    const uint64_t bit = UINT64_C(1) << (place & 63), before = bits[place >> 6];
    bits[place >> 6] = before | bit;
    return (before & bit) == 0;
}

static void meet_element(meeting *of, const int64_t *element) {
    int64_t place = 0;
    for (int d = 0; d < of->array->n_dims; d++)
        place = place * pti_range_count(of->array->range[d]) + element[d] - of->array->range[d].lo;
    of->n_met += set_bit(of->bits, place);
}

static void meet_box(const polytile_domain *box, void *user) {
    meeting *of = user;
    int64_t element[POLYTILE_MAX_DIMS];
    pti_box_first_point(box, element);
    do
        meet_element(of, element);
    while (--of->n_left > 0 && pti_box_next_point(box, element));
}

static void meet_threads(const pti_instance *instance, const pti_section *section, meeting *of) {
    int64_t point[POLYTILE_MAX_DIMS];
    pti_box_first_point(&instance->threads, point);
    for (int k = 0; k < MOST_THREADS && of->n_left > 0; k++) {
        const polytile_domain thread =
            polytile_domain_from_bounds(instance->n_indices, point, point);
        pti_section_each_of_thread(instance, section, &thread, meet_box, of);
        if (!pti_box_next_point(&instance->threads, point))
            return;
    }
}

static bool names_an_index(const pti_affine *affine) {
    bool does = false;
    for (int k = 0; k < POLYTILE_MAX_DIMS; k++)
        does = does || affine->index[k] != 0;
    return does;
}

/** Return whether a thread's range begins where that of the one before ends, so that all are one
 * range: of P[i]:P[i+1]-1. */
static bool are_joined(const pti_section *section) {
    const pti_looked_up *lo = &section->indirection->lo[0], *hi = &section->indirection->hi[0];
    if (section->n_dims != 1 || section->indirection->gathers[0] || lo->array == NULL ||
        lo->array != hi->array || !lo->array->ascends || lo->section.indirection != NULL ||
        hi->section.indirection != NULL || names_an_index(&lo->plus) || names_an_index(&hi->plus) ||
        hi->plus.constant != lo->plus.constant - 1)
        return false;
    const pti_affine *from = &lo->section.subscript[0].lo, *to = &hi->section.subscript[0].lo;
    int64_t speed = 0, n_named = 0;
    for (int k = 0; k < POLYTILE_MAX_DIMS; k++) {
        speed = from->index[k] != 0 ? from->index[k] : speed;
        n_named += from->index[k] != 0;
    }
    return n_named == 1 && pti_affine_is_parallel(from, to) &&
           to->constant == from->constant + pti_abs(speed);
}

/** Return the dimension in which a section gathers, if it looks up nothing in others; -1: none. */
static int find_only_gathered(const pti_section *section) {
    int found = -1;
    for (int d = 0; d < section->n_dims; d++) {
        if (!section->indirection->is_indirect[d])
            continue;
        if (found >= 0 || !section->indirection->gathers[d])
            return -1;
        found = d;
    }
    return found;
}

/** Return whether a subscript is an interval of fixed length that moves by one element with one of
 * some indices, if with any, and take that from them. */
static bool takes_own_index(const pti_subscript *subscript, const polytile_domain *threads,
                            unsigned *indices) {
    unsigned named = 0;
    bool is = subscript->step == 1 && pti_affine_is_parallel(&subscript->lo, &subscript->hi);
    for (int k = 0; k < POLYTILE_MAX_DIMS; k++) {
        const int64_t factor = subscript->lo.index[k];
        named |= (unsigned)(factor != 0) << k;
        is =
            is && (factor == 0 || (pti_abs(factor) == 1 && !pti_range_has_gaps(threads->range[k])));
    }
    is = is && (named & ~*indices) == 0 && (named & (named - 1)) == 0;
    *indices &= ~named;
    return is;
}

/** Return whether threads have, of each other dimension, all of its hull with each element that
 * they look up: no two dimensions follow one index. */
static bool is_product(const pti_instance *instance, const pti_section *section, int dim) {
    unsigned indices = 0;
    bool is = section->edges == 0;
    for (int k = 0; k < instance->n_indices; k++)
        indices |= (unsigned)!pti_section_looks_up_by(section, k) << k;
    for (int d = 0; d < section->n_dims; d++)
        is = is &&
             (d == dim || takes_own_index(&section->subscript[d], &instance->threads, &indices));
    return is;
}

/** Elements of a vector, which is an index array or a part of one, and what to add to each. */
typedef struct looked_up_elements {
    pti_index_array vector;
    polytile_range range;
    pti_looked_up end;     /* of that vector */
    polytile_range target; /* the dimension in which they are looked up */
    int64_t n_others;      /* elements that each of them stands for, in other dimensions */
} looked_up_elements;

/** Find the elements that threads look up, if they are all those of a range of a vector, each with
 * the same elements of other dimensions. False: they are not, or there are none. */
static bool find_elements(const pti_instance *instance, const pti_section *section,
                          looked_up_elements *found) {
    const int dim = find_only_gathered(section);
    const pti_looked_up *end = &section->indirection->lo[pti_max(0, dim)];
    if (dim < 0 || names_an_index(&end->plus) || !is_product(instance, section, dim))
        return false;
    if (end->section.indirection == NULL ? !end->section.is_box : !are_joined(&end->section))
        return false;
    const polytile_domain elements = pti_section_hull(instance, &end->section, &instance->threads),
                          hull = pti_section_hull(instance, section, &instance->threads);
    if (pti_box_is_empty(&elements) || pti_box_is_empty(&hull))
        return false;
    found->end = *end;
    found->range = elements.range[0];
    found->target = instance->operand[section->operand].domain.range[dim];
    found->n_others = pti_box_count(&hull) / pti_range_count(hull.range[dim]);
    if (elements.n_dims == 1)
        return true;
    found->range = (polytile_range){0, pti_box_count(&elements) - 1, 1};
    return pti_looked_up_flatten(&elements, &found->vector, &found->end);
}

/** Set the bits of n indices of a range, of which some may lie beside it. Returns how many were not
 * set. */
static int64_t set_bits(polytile_range range, const int64_t *index, int n, uint64_t *bits) {
    const uint64_t n_indices = (uint64_t)pti_range_count(range);
    int64_t n_met = 0;
    for (int k = 0; k < n; k++)
        if ((uint64_t)(index[k] - range.lo) < n_indices)
            n_met += set_bit(bits, index[k] - range.lo);
    return n_met;
}

static uint64_t *create_bits(int64_t n_bits) {
    return calloc((size_t)(n_bits / 64 + 1), sizeof(uint64_t));
}

static int64_t count_distinct(const looked_up_elements *of, bool *failed) {
    const int64_t n_elements = pti_min(pti_range_count(of->range), MOST_ELEMENTS),
                  n_bits = pti_range_count(of->target);
    uint64_t *bits = n_bits > MOST_BITS ? NULL : create_bits(n_bits);
    int64_t index[CHUNK], n_met = 0;
    *failed = *failed || (bits == NULL && n_bits <= MOST_BITS);
    for (int64_t first = 0; bits != NULL && first < n_elements; first += CHUNK) {
        const int n = (int)pti_min(CHUNK, n_elements - first);
        pti_looked_up_load(&of->end, of->range.lo + first * of->range.step, of->range.step, n,
                           index);
        n_met += set_bits(of->target, index, n, bits);
    }
    free(bits);
    return pti_mul_saturated(n_met, of->n_others);
}

static int64_t count_met(const pti_instance *instance, const pti_section *section, bool *failed) {
    meeting of = {.array = &instance->operand[section->operand].domain, .n_left = MOST_ELEMENTS};
    const int64_t n_elements = pti_box_count(of.array);
    if (n_elements > MOST_BITS)
        return 0;
    of.bits = create_bits(n_elements);
    if (of.bits != NULL)
        meet_threads(instance, section, &of);
    *failed = *failed || of.bits == NULL;
    free(of.bits);
    return of.n_met;
}

static int64_t count_section(const pti_instance *instance, const pti_section *section,
                             bool *failed) {
    looked_up_elements elements;
    if (are_joined(section)) {
        const polytile_domain hull = pti_section_hull(instance, section, &instance->threads);
        return pti_box_count(&hull);
    }
    return find_elements(instance, section, &elements) ? count_distinct(&elements, failed)
                                                       : count_met(instance, section, failed);
}

int64_t pti_looked_up_least_count(const pti_instance *instance, int operand, pti_touch touch,
                                  bool *failed) {
    const pti_operand *of = &instance->operand[operand];
    int64_t most = 0;
    for (int s = of->first_section; s < of->first_section + of->n_sections; s++) {
        const pti_section *section = &instance->section[s];
        if (section->indirection != NULL && pti_section_counts(section, touch))
            most = pti_max(most, count_section(instance, section, failed));
    }
    return most;
}
