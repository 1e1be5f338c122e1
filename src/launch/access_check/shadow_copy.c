#include "launch/access_check/shadow_copy.h"

#include "access/set/boxes.h"
#include "base/checked.h"
#include "base/list.h"
#include "launch/access_check/element.h"
#include "launch/device/reduction.h"
#include "launch/host/copy/box_copy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/** The most places of one array with poison of their own, and by how many elements rows are longer
 * for that: at least as many as copies reach beyond their ends. */
enum { PLACE_BITS = 44, BEYOND = 1 + 2 * 64 };

/** How far, at most, poison of index arrays is from where its value lies. */
enum { MOST_BORROWED = 7 };

void pti_shadow_copy_find(const pti_shadow_copy *shadow, int64_t place, int64_t *element) {
    pti_box_find_point(&shadow->layout.hull, place, element);
}

/** Make a copy without memory. An array that is not read may never have been written. */
polytile_status pti_shadow_copy_make(const polytile_array *array, const pti_operand *operand,
                                     int number, pti_shadow_copy *shadow) {
    *shadow = (pti_shadow_copy){.array = array, .operand = operand, .number = number};
    return pti_values_collect(array, operand->reads, &shadow->values);
}

static void free_poison(pti_shadow_copy *shadow) {
    for (int k = 0; k < PTI_N_PATTERNS; k++) {
        free(shadow->poison[k]);
        shadow->poison[k] = NULL;
    }
    free(shadow->mark);
    shadow->mark = NULL;
    shadow->poison_elements = 0;
    shadow->n_patterns = 0;
}

/** Allocate memory for patterns and marks. */
static bool make_poison(pti_shadow_copy *shadow, int n_patterns) {
    int64_t n = shadow->n_elements;
    bool has_all = true;
    if (n <= shadow->poison_elements && n_patterns <= shadow->n_patterns)
        return true;
    free_poison(shadow);
    for (int k = 0; k < n_patterns; k++) {
        shadow->poison[k] = malloc((size_t)(n * shadow->operand->element_bytes));
        has_all = has_all && shadow->poison[k] != NULL;
    }
    shadow->mark = calloc((size_t)n, 1);
    shadow->poison_elements = n;
    shadow->n_patterns = n_patterns;
    return has_all && shadow->mark != NULL;
}

/** Copy the array's own values; outside the array there is poison, and of scratch nothing else. */
static void take_own_values(pti_shadow_copy *shadow) {
    const polytile_array *array = shadow->array;
    polytile_domain common;
    if (array->data == NULL || !pti_box_intersect(&shadow->layout.hull, &array->domain, &common))
        return;
    pti_box_copy(&(pti_move){.box = &common,
                             .element_bytes = array->element_bytes,
                             .to = {shadow->poison[PTI_PATTERN_OWN], &shadow->layout},
                             .from = {array->data, &array->layout}},
                 1);
}

/** Return the place on which an element's poison depends: its position in the array, with longer
 * rows, since boxes reach beyond them. It wraps, as does all that is computed from it. */
static int64_t poison_place(const pti_shadow_copy *shadow, const int64_t *element) {
    const polytile_domain *array = &shadow->array->domain;
    uint64_t place = 0;
    for (int d = 0; d < array->n_dims; d++) {
        uint64_t extent = (uint64_t)(array->range[d].hi - array->range[d].lo) + BEYOND;
        place = place * extent + (uint64_t)(element[d] - array->range[d].lo);
    }
    return (int64_t)(place + ((uint64_t)shadow->number << PLACE_BITS));
}

static void draw_values(const pti_shadow_copy *shadow, int64_t place, int64_t n,
                        unsigned char *elements) {
    size_t element_bytes = (size_t)shadow->operand->element_bytes;
    for (int64_t k = 0; k < n; k++)
        memcpy(elements + (size_t)k * element_bytes,
               pti_values_get(&shadow->values, pti_poison_bits(PTI_PATTERN_DRAWN, place + k)),
               element_bytes);
}

/** Fill n elements in a row with what elements of the array hold that are a few places further on,
 * or before them in a pattern of odd number: bodies stay inside arrays, and their ranges short. */
static void borrow_values(const pti_shadow_copy *shadow, pti_pattern pattern, const int64_t *first,
                          int64_t n, unsigned char *elements) {
    const polytile_array *array = shadow->array;
    const int last = array->domain.n_dims - 1;
    const polytile_range along = array->domain.range[last];
    int64_t from[POLYTILE_MAX_DIMS];
    for (int d = 0; d < last; d++)
        from[d] = pti_max(array->domain.range[d].lo, pti_min(array->domain.range[d].hi, first[d]));
    for (int64_t k = 0; k < n; k++) {
        const int64_t at = pti_max(along.lo, pti_min(along.hi, first[last] + k));
        const int64_t far =
            1 + (int64_t)(pti_poison_bits(pattern, first[last] + k) % MOST_BORROWED);
        const int64_t to = pattern % 2 == 0 ? at + far : at - far;
        const bool is_inside = along.lo <= to && to <= along.hi;
        from[last] = is_inside ? to : pti_max(along.lo, pti_min(along.hi, 2 * at - to));
        memcpy(elements + k * array->element_bytes,
               (const char *)array->data + pti_memory_layout_offset(&array->layout, from),
               (size_t)array->element_bytes);
    }
}

/** Fill n elements in a row from a place in the copy. */
static void fill_row(pti_shadow_copy *shadow, int64_t first, int64_t n) {
    int64_t element[POLYTILE_MAX_DIMS];
    pti_shadow_copy_find(shadow, first, element);
    int64_t place = poison_place(shadow, element);
    for (int k = 0; k < shadow->n_patterns; k++) {
        unsigned char *row = shadow->poison[k] + first * shadow->operand->element_bytes;
        if (shadow->holds_indices)
            borrow_values(shadow, (pti_pattern)k, element, n, row);
        else if (k == PTI_PATTERN_DRAWN)
            draw_values(shadow, place, n, row);
        else
            pti_poison_fill((pti_pattern)k, shadow->operand->type, shadow->operand->element_bytes,
                            place, n, row);
    }
}

static void fill_poison(pti_shadow_copy *shadow) {
    const polytile_domain *box = &shadow->layout.hull;
    const polytile_range *last = &box->range[box->n_dims - 1];
    int64_t row = last->hi - last->lo + 1;
    for (int64_t first = 0; first < shadow->n_elements; first += row)
        fill_row(shadow, first, row);
    take_own_values(shadow);
}

/** Return how many bytes away a small number can lead as an index, also to a part of the array that
 * a queue's member lacks; more than can be had if numbers are huge. */
static size_t find_farthest_bytes(const polytile_array *array) {
    const polytile_domain *domain = &array->domain;
    double stride_bytes = (double)array->element_bytes, far_bytes = (double)array->n_bytes;
    for (int d = domain->n_dims - 1; d >= 0; d--) {
        const double lo = (double)domain->range[d].lo, hi = (double)domain->range[d].hi;
        far_bytes += fmax(fabs(lo), fabs(hi)) * stride_bytes;
        stride_bytes *= hi - lo + 1;
    }
    return (size_t)fmin(far_bytes, 0x1p40);
}

static void forget_marks(pti_shadow_copy *shadow) {
    for (int64_t k = 0; k < shadow->n_marked; k++)
        shadow->mark[shadow->marked[k].place] = 0;
    shadow->n_marked = 0;
}

polytile_status pti_shadow_copy_place(polytile_context *ctx, pti_shadow_copy *shadow,
                                      const polytile_domain *box, int n_patterns) {
    forget_marks(shadow);
    if (shadow->n_elements > 0 && pti_box_equals(box, &shadow->layout.hull) &&
        n_patterns <= shadow->n_patterns)
        return POLYTILE_OK;
    shadow->layout = pti_memory_layout_of(box, shadow->operand->element_bytes);
    shadow->n_elements = pti_box_count(box);
    if (shadow->layout.size_bytes == INT64_MAX || !make_poison(shadow, n_patterns)) {
        free_poison(shadow);
        shadow->n_elements = 0;
        return pti_fail_memory(ctx, shadow->operand->name, (double)shadow->layout.size_bytes);
    }
    fill_poison(shadow);
    return pti_guarded_make(ctx, &shadow->memory, (size_t)shadow->layout.size_bytes,
                            find_farthest_bytes(shadow->array));
}

void pti_shadow_copy_free(pti_shadow_copy *shadow) {
    pti_guarded_free(&shadow->memory);
    free_poison(shadow);
    pti_values_free(&shadow->values);
    free(shadow->marked);
    free(shadow->result);
}

static bool has_copy_room(pti_shadow_copy *shadow) {
    const bool has = PTI_GROW(shadow->marked, shadow->n_marked, &shadow->n_marks_had);
    shadow->has_failed = shadow->has_failed || !has;
    return has;
}

static void mark_one(pti_shadow_copy *shadow, const int64_t *element, int marks) {
    int64_t place =
        pti_memory_layout_offset(&shadow->layout, element) / shadow->operand->element_bytes;
    bool is_new = shadow->mark[place] == 0;
    if (is_new && !has_copy_room(shadow))
        return;
    if (is_new)
        shadow->marked[shadow->n_marked++] =
            (pti_marked){place, pti_memory_layout_offset(&shadow->array->layout, element)};
    shadow->mark[place] |= (unsigned char)marks;
}

void pti_shadow_copy_mark(pti_shadow_copy *shadow, const polytile_domain *box, int marks) {
    int64_t element[POLYTILE_MAX_DIMS];
    int d = 0;
    for (int k = 0; k < box->n_dims; k++)
        element[k] = box->range[k].lo;
    while (d >= 0) {
        mark_one(shadow, element, marks);
        for (d = box->n_dims - 1; d >= 0 && element[d] == box->range[d].hi; d--)
            element[d] = box->range[d].lo;
        if (d >= 0)
            element[d] += box->range[d].step;
    }
}

polytile_status pti_shadow_copy_keep_results(polytile_context *ctx, pti_shadow_copy *shadow) {
    if (shadow->n_marked <= shadow->n_results_had)
        return POLYTILE_OK;
    size_t n_bytes = (size_t)(shadow->n_marked * shadow->operand->element_bytes);
    free(shadow->result);
    shadow->result = malloc(n_bytes);
    shadow->n_results_had = shadow->result == NULL ? 0 : shadow->n_marked;
    return shadow->result == NULL ? pti_fail_memory(ctx, shadow->operand->name, (double)n_bytes)
                                  : POLYTILE_OK;
}

static bool begins_from_identity(const pti_operand *operand) {
    return operand->reduces && pti_reduction_is_known(operand->reduction, operand->type);
}

/** Find what an element holds before the kernel runs: its value in the array, or the identity
 * that a reduction starts from. False: poison. */
static bool find_initial_value(const pti_shadow_copy *shadow, const pti_marked *element,
                               unsigned char *value) {
    const pti_operand *operand = shadow->operand;
    int marks = shadow->mark[element->place];
    if (marks & PTI_MARK_WRITTEN && begins_from_identity(operand)) {
        pti_reduction_identity(operand->reduction, operand->type, value);
        return true;
    }
    if (marks & PTI_MARK_READ)
        pti_element_copy(value, (const char *)shadow->array->data + element->source_bytes,
                         operand->element_bytes);
    return (marks & PTI_MARK_READ) != 0;
}

void pti_shadow_copy_begin(pti_shadow_copy *shadow, int first_pattern, int64_t n_first,
                           int then_pattern) {
    size_t element_bytes = (size_t)shadow->operand->element_bytes;
    int64_t n = pti_max(0, pti_min(n_first, shadow->n_elements));
    memcpy(shadow->memory.bytes, shadow->poison[first_pattern], (size_t)n * element_bytes);
    memcpy(pti_shadow_copy_at(shadow, n), pti_shadow_copy_poison(shadow, then_pattern, n),
           (size_t)(shadow->n_elements - n) * element_bytes);
    for (int64_t k = 0; k < shadow->n_marked; k++)
        find_initial_value(shadow, &shadow->marked[k],
                           pti_shadow_copy_at(shadow, shadow->marked[k].place));
}

void pti_shadow_copy_keep_begin(pti_shadow_copy *shadow) {
    memcpy(shadow->poison[0], shadow->memory.bytes,
           (size_t)(shadow->n_elements * shadow->operand->element_bytes));
    shadow->array = NULL;
}

void pti_shadow_copy_begin_again(pti_shadow_copy *shadow) {
    memcpy(shadow->memory.bytes, shadow->poison[0],
           (size_t)(shadow->n_elements * shadow->operand->element_bytes));
}

void pti_shadow_copy_poison_marked(pti_shadow_copy *shadow, int pattern) {
    for (int64_t k = 0; k < shadow->n_marked; k++) {
        const int64_t place = shadow->marked[k].place;
        pti_element_copy(pti_shadow_copy_at(shadow, place),
                         pti_shadow_copy_poison(shadow, pattern, place),
                         shadow->operand->element_bytes);
    }
}
