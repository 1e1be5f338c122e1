#include "launch/access_check/scratch.h"

#include "access/set/boxes.h"
#include "base/checked.h"
#include "launch/access_check/element.h"
#include "launch/device/reduction.h"
#include "launch/host/box_copy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/** Places of one array, at most, that have poison of their own, and elements by which a row is
 * longer for that, at least as many as copies reach beyond both of its ends. */
enum { PLACE_BITS = 44, BEYOND = 1 + 2 * 64 };

void pti_scratch_find(const pti_scratch *scratch, int64_t place, int64_t *element) {
    const polytile_domain *box = &scratch->layout.hull;
    for (int d = box->n_dims - 1; d >= 0; d--) {
        int64_t extent = box->range[d].hi - box->range[d].lo + 1;
        element[d] = box->range[d].lo + place % extent;
        place /= extent;
    }
}

/** Memory of which nothing is read may never have been written. */
polytile_status pti_scratch_make(const polytile_array *array, const pti_operand *operand,
                                 int number, pti_scratch *scratch) {
    *scratch = (pti_scratch){.array = array, .operand = operand, .number = number};
    return pti_values_collect(array, operand->reads, &scratch->values);
}

static void free_poison(pti_scratch *scratch) {
    for (int k = 0; k < PTI_N_PATTERNS; k++) {
        free(scratch->poison[k]);
        scratch->poison[k] = NULL;
    }
    free(scratch->mark);
    scratch->mark = NULL;
    scratch->poison_elements = 0;
    scratch->n_patterns = 0;
}

/** Memory for patterns and marks. */
static bool make_poison(pti_scratch *scratch, int n_patterns) {
    int64_t n = scratch->n_elements;
    bool has_all = true;
    if (n <= scratch->poison_elements && n_patterns <= scratch->n_patterns)
        return true;
    free_poison(scratch);
    for (int k = 0; k < n_patterns; k++) {
        scratch->poison[k] = malloc((size_t)(n * scratch->operand->element_bytes));
        has_all = has_all && scratch->poison[k] != NULL;
    }
    scratch->mark = calloc((size_t)n, 1);
    scratch->poison_elements = n;
    scratch->n_patterns = n_patterns;
    return has_all && scratch->mark != NULL;
}

/** Outside the array there is poison in any case. */
static void take_own_values(pti_scratch *scratch) {
    const polytile_array *array = scratch->array;
    pti_layout source = pti_layout_of(&array->domain, array->element_bytes);
    polytile_domain common;
    if (!pti_box_intersect(&scratch->layout.hull, &array->domain, &common))
        return;
    pti_box_copy(&(pti_move){.box = &common,
                             .element_bytes = array->element_bytes,
                             .to = {scratch->poison[PTI_PATTERN_OWN], &scratch->layout},
                             .from = {array->data, &source}},
                 1);
}

/** What an element's poison depends on: where it lies in the array, whose rows are taken to be
 * longer, for boxes reach beyond them. It wraps, as all that is made of it. */
static int64_t poison_place(const pti_scratch *scratch, const int64_t *element) {
    const polytile_domain *array = &scratch->array->domain;
    uint64_t place = 0;
    for (int d = 0; d < array->n_dims; d++) {
        uint64_t extent = (uint64_t)(array->range[d].hi - array->range[d].lo) + BEYOND;
        place = place * extent + (uint64_t)(element[d] - array->range[d].lo);
    }
    return (int64_t)(place + ((uint64_t)scratch->number << PLACE_BITS));
}

static void draw_values(const pti_scratch *scratch, int64_t place, int64_t n,
                        unsigned char *elements) {
    size_t element_bytes = (size_t)scratch->operand->element_bytes;
    for (int64_t k = 0; k < n; k++)
        memcpy(elements + (size_t)k * element_bytes,
               pti_values_get(&scratch->values, pti_poison_bits(PTI_PATTERN_DRAWN, place + k)),
               element_bytes);
}

/** n elements in a row, of which the first has a place in the copy. */
static void fill_row(pti_scratch *scratch, int64_t first, int64_t n) {
    int64_t element[POLYTILE_MAX_DIMS];
    pti_scratch_find(scratch, first, element);
    int64_t place = poison_place(scratch, element);
    for (int k = 0; k < scratch->n_patterns; k++) {
        unsigned char *row = scratch->poison[k] + first * scratch->operand->element_bytes;
        if (k == PTI_PATTERN_DRAWN)
            draw_values(scratch, place, n, row);
        else
            pti_poison_fill((pti_pattern)k, scratch->operand->type, scratch->operand->element_bytes,
                            place, n, row);
    }
}

static void fill_poison(pti_scratch *scratch) {
    const polytile_domain *box = &scratch->layout.hull;
    const polytile_range *last = &box->range[box->n_dims - 1];
    int64_t row = last->hi - last->lo + 1;
    for (int64_t first = 0; first < scratch->n_elements; first += row)
        fill_row(scratch, first, row);
    take_own_values(scratch);
}

/** As far as a small number leads that is taken for an index, also to a part of the array that a
 * queue's member does not have; more than can be had if numbers are huge. */
static size_t reach_of(const polytile_array *array) {
    const polytile_domain *domain = &array->domain;
    double stride_bytes = (double)array->element_bytes, reach_bytes = (double)array->n_bytes;
    for (int d = domain->n_dims - 1; d >= 0; d--) {
        const double lo = (double)domain->range[d].lo, hi = (double)domain->range[d].hi;
        reach_bytes += fmax(fabs(lo), fabs(hi)) * stride_bytes;
        stride_bytes *= hi - lo + 1;
    }
    return (size_t)fmin(reach_bytes, 0x1p40);
}

polytile_status pti_scratch_place(polytile_context *ctx, pti_scratch *scratch,
                                  const polytile_domain *box, int n_patterns) {
    pti_scratch_forget_marks(scratch);
    if (scratch->n_elements > 0 && pti_box_equals(box, &scratch->layout.hull) &&
        n_patterns <= scratch->n_patterns)
        return POLYTILE_OK;
    scratch->layout = pti_layout_of(box, scratch->operand->element_bytes);
    scratch->n_elements = pti_box_count(box);
    if (scratch->layout.size_bytes == INT64_MAX || !make_poison(scratch, n_patterns)) {
        free_poison(scratch);
        scratch->n_elements = 0;
        return pti_fail_memory(ctx, scratch->operand->name, (double)scratch->layout.size_bytes);
    }
    fill_poison(scratch);
    return pti_guarded_make(ctx, &scratch->memory, (size_t)scratch->layout.size_bytes,
                            reach_of(scratch->array));
}

void pti_scratch_free(pti_scratch *scratch) {
    pti_guarded_free(&scratch->memory);
    free_poison(scratch);
    pti_values_free(&scratch->values);
    free(scratch->marked);
    free(scratch->result);
}

static bool has_room(pti_scratch *scratch) {
    if (scratch->n_marked < scratch->n_marks_had)
        return true;
    int64_t n = 2 * scratch->n_marks_had + 64;
    pti_marked *longer = realloc(scratch->marked, (size_t)n * sizeof *longer);
    scratch->has_failed = scratch->has_failed || longer == NULL;
    if (longer == NULL)
        return false;
    scratch->marked = longer;
    scratch->n_marks_had = n;
    return true;
}

static void mark_one(pti_scratch *scratch, const pti_layout *source, const int64_t *element,
                     int marks) {
    int64_t place = pti_layout_offset(&scratch->layout, element) / scratch->operand->element_bytes;
    bool is_new = scratch->mark[place] == 0;
    if (is_new && !has_room(scratch))
        return;
    if (is_new)
        scratch->marked[scratch->n_marked++] =
            (pti_marked){place, pti_layout_offset(source, element)};
    scratch->mark[place] |= (unsigned char)marks;
}

void pti_scratch_mark(pti_scratch *scratch, const polytile_domain *box, int marks) {
    pti_layout source = pti_layout_of(&scratch->array->domain, scratch->operand->element_bytes);
    int64_t element[POLYTILE_MAX_DIMS];
    int d = 0;
    for (int k = 0; k < box->n_dims; k++)
        element[k] = box->range[k].lo;
    while (d >= 0) {
        mark_one(scratch, &source, element, marks);
        for (d = box->n_dims - 1; d >= 0 && element[d] == box->range[d].hi; d--)
            element[d] = box->range[d].lo;
        if (d >= 0)
            element[d] += box->range[d].step;
    }
}

void pti_scratch_forget_marks(pti_scratch *scratch) {
    for (int64_t k = 0; k < scratch->n_marked; k++)
        scratch->mark[scratch->marked[k].place] = 0;
    scratch->n_marked = 0;
}

polytile_status pti_scratch_keep_results(polytile_context *ctx, pti_scratch *scratch) {
    if (scratch->n_marked <= scratch->n_results_had)
        return POLYTILE_OK;
    size_t n_bytes = (size_t)(scratch->n_marked * scratch->operand->element_bytes);
    free(scratch->result);
    scratch->result = malloc(n_bytes);
    scratch->n_results_had = scratch->result == NULL ? 0 : scratch->n_marked;
    return scratch->result == NULL ? pti_fail_memory(ctx, scratch->operand->name, (double)n_bytes)
                                   : POLYTILE_OK;
}

static bool begins_from_identity(const pti_operand *operand) {
    return operand->reduces && pti_reduction_is_known(operand->reduction, operand->type);
}

bool pti_scratch_begin_of(const pti_scratch *scratch, const pti_marked *element,
                          unsigned char *value) {
    const pti_operand *operand = scratch->operand;
    int marks = scratch->mark[element->place];
    if (marks & PTI_MARK_WRITTEN && begins_from_identity(operand)) {
        pti_reduction_identity(operand->reduction, operand->type, value);
        return true;
    }
    if (marks & PTI_MARK_READ)
        pti_element_copy(value, (const char *)scratch->array->data + element->source_bytes,
                         operand->element_bytes);
    return (marks & PTI_MARK_READ) != 0;
}

void pti_scratch_begin(pti_scratch *scratch, int first_pattern, int64_t n_first, int then_pattern) {
    size_t element_bytes = (size_t)scratch->operand->element_bytes;
    int64_t n = pti_max(0, pti_min(n_first, scratch->n_elements));
    memcpy(scratch->memory.bytes, scratch->poison[first_pattern], (size_t)n * element_bytes);
    memcpy(pti_scratch_at(scratch, n), pti_scratch_poison(scratch, then_pattern, n),
           (size_t)(scratch->n_elements - n) * element_bytes);
    for (int64_t k = 0; k < scratch->n_marked; k++)
        pti_scratch_begin_of(scratch, &scratch->marked[k],
                             pti_scratch_at(scratch, scratch->marked[k].place));
}

void pti_scratch_poison_marked(pti_scratch *scratch, int pattern) {
    for (int64_t k = 0; k < scratch->n_marked; k++) {
        const int64_t place = scratch->marked[k].place;
        pti_element_copy(pti_scratch_at(scratch, place),
                         pti_scratch_poison(scratch, pattern, place),
                         scratch->operand->element_bytes);
    }
}
