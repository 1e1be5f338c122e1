#include "access/bind/meet.h"

#include "access/footprint/affine.h"
#include "access/footprint/looked_up.h"
#include "access/set/boxes.h"
#include "base/checked.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/parallel.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/** The bits of a word, and the values of an index that one thread takes at a time. */
enum { WORD_BITS = 64, PART_VALUES = 1 << 18 };

static const pti_section *sections_of(const pti_instance *instance, int operand) {
    return &instance->section[instance->operand[operand].first_section];
}

static bool is_section_written(const pti_section *section) {
    return section->role != POLYTILE_IN && section->role != POLYTILE_SCRATCH;
}

bool pti_operand_is_written_by_lookup(const pti_instance *instance, int operand) {
    const pti_operand *of = &instance->operand[operand];
    bool is = false;
    for (int s = 0; s < of->n_sections && !of->reduces; s++) {
        const pti_section *section = &sections_of(instance, operand)[s];
        is = is || (section->indirection != NULL && is_section_written(section));
    }
    return is;
}

/** Set a bit, beside other threads; returns whether it was set. */
static bool meet_bit(uint64_t *bits, int64_t number) {
    const uint64_t bit = UINT64_C(1) << (number % WORD_BITS);
    return (__atomic_fetch_or(&bits[number / WORD_BITS], bit, __ATOMIC_RELAXED) & bit) != 0;
}

/* What is looked up tells threads apart. */

/** Return the only index that an expression names; -1: none; POLYTILE_MAX_DIMS: several. */
static int index_named(const pti_affine *affine, const polytile_domain *threads) {
    int named = -1;
    for (int k = 0; k < threads->n_dims; k++)
        if (affine->index[k] != 0 && pti_range_count(threads->range[k]) > 1)
            named = named < 0 ? k : POLYTILE_MAX_DIMS;
    return named;
}

/** Return whether an end of a dimension looks up one element of a vector, by one index alone. */
static bool looks_up_one(const pti_looked_up *end, const polytile_domain *threads, int index) {
    return end->array != NULL && end->array->domain.n_dims == 1 &&
           end->section.indirection == NULL && end->section.subscript[0].step == 1 &&
           pti_subscript_is_single(&end->section.subscript[0]) &&
           index_named(&end->section.subscript[0].lo, threads) == index;
}

/** What is gathered for values of one index: element + k * element_step of an index array, and
 * plus + k * plus_step on what it holds. */
typedef struct gathered {
    const pti_index_array *array;
    polytile_range indices; /* of the array in which it is looked up */
    int64_t n_values, element, element_step, plus, plus_step;
    uint64_t *bits; /* of each of the indices */
    int64_t n_twice;
} gathered;

static void gather_part(int64_t part, void *user) {
    gathered *of = user;
    const int64_t end = pti_min(of->n_values, (part + 1) * PART_VALUES);
    int64_t n_twice = 0;
    for (int64_t k = part * PART_VALUES; k < end; k++) {
        const int64_t element = of->element + k * of->element_step;
        if (!pti_range_has(of->array->domain.range[0], element))
            continue;
        const int64_t index =
            of->plus + k * of->plus_step + pti_index_array_get(of->array, &element);
        n_twice += index >= of->indices.lo && index <= of->indices.hi &&
                   meet_bit(of->bits, index - of->indices.lo);
    }
    __atomic_fetch_add(&of->n_twice, n_twice, __ATOMIC_RELAXED);
}

/** Return whether what a dimension gathers differs from one value of an index to all others. bits:
 * one for each of the dimension's indices. */
static bool gathers_apart(const polytile_context *ctx, const pti_instance *instance,
                          const pti_section *section, int d, int index, uint64_t *bits) {
    const pti_looked_up *end = &section->indirection->lo[d];
    const pti_affine *element = &end->section.subscript[0].lo;
    polytile_domain first = instance->threads;
    for (int k = 0; k < first.n_dims; k++)
        first.range[k].hi = first.range[k].lo;
    gathered of = {.array = end->array,
                   .indices = instance->operand[section->operand].domain.range[d],
                   .n_values = pti_range_count(instance->threads.range[index]),
                   .element = pti_affine_min(element, &first),
                   .element_step = element->index[index],
                   .plus = pti_affine_min(&end->plus, &first),
                   .plus_step = end->plus.index[index],
                   .bits = bits};
    memset(bits, 0, ((size_t)pti_range_count(of.indices) / WORD_BITS + 1) * sizeof *bits);
    pti_run_parts(ctx, pti_ceil_div(of.n_values, PART_VALUES), gather_part, &of);
    return of.n_twice == 0;
}

/** Return whether ranges follow one another as an index rises: rows of a matrix. */
static bool follow_one_another(const pti_section *section, const polytile_domain *threads, int d,
                               int index) {
    const pti_looked_up *lo = &section->indirection->lo[d], *hi = &section->indirection->hi[d];
    if (!looks_up_one(hi, threads, index) || lo->array != hi->array || !lo->array->ascends)
        return false;
    const pti_affine *from = &lo->section.subscript[0].lo, *to = &hi->section.subscript[0].lo;
    return pti_affine_is_parallel(from, to) && from->index[index] > 0 &&
           to->constant - from->constant <= from->index[index] &&
           pti_affine_is_parallel(&lo->plus, &hi->plus) && index_named(&lo->plus, threads) < 0 &&
           hi->plus.constant < lo->plus.constant;
}

/** Return whether a dimension tells threads with different values of an index apart, whatever
 * their other indices are. */
static bool tells_apart(const polytile_context *ctx, const pti_instance *instance,
                        const pti_section *section, int d, int index, uint64_t *bits) {
    const polytile_domain *threads = &instance->threads;
    const pti_subscript *subscript = &section->subscript[d];
    if (!pti_section_is_indirect(section, d))
        return (section->edges >> d & 1) == 0 && pti_subscript_is_single(subscript) &&
               index_named(&subscript->lo, threads) == index;
    const pti_looked_up *lo = &section->indirection->lo[d];
    const int plus = index_named(&lo->plus, threads);
    if ((plus >= 0 && plus != index) || !looks_up_one(lo, threads, index))
        return false;
    return section->indirection->gathers[d] ? gathers_apart(ctx, instance, section, d, index, bits)
                                            : follow_one_another(section, threads, d, index);
}

/** Return whether an operand's one section has a dimension for each index that tells threads
 * apart. bits: as many as the array has elements. */
static bool are_told_apart(const polytile_context *ctx, const pti_instance *instance, int operand,
                           uint64_t *bits) {
    const pti_section *section = sections_of(instance, operand);
    bool are = instance->operand[operand].n_sections == 1;
    for (int k = 0; k < instance->n_indices && are; k++) {
        bool is_told = pti_range_count(instance->threads.range[k]) == 1;
        for (int d = 0; d < section->n_dims && !is_told; d++)
            is_told = tells_apart(ctx, instance, section, d, k, bits);
        are = is_told;
    }
    return are;
}

/* All elements of all threads. */

/** The search for a meeting, at one thread. */
typedef struct meeting_search {
    const pti_instance *instance;
    int operand;
    uint64_t *bits;             /* of each element of the array: some thread writes it */
    polytile_domain thread;     /* a box of one */
    const pti_section *section; /* of it, that is visited */
    int64_t n_written;          /* boxes that the thread writes, so far */
    pti_meeting *found;
} meeting_search;

/** Whether a thread has an element in the first boxes that it writes. */
typedef struct ownership {
    meeting_search at;
    const int64_t *element;
    int64_t n_most, n_boxes;
    int access; /* by which it has; -1: it has not */
} ownership;

/** Visit what the thread writes, or reads alone. */
static void visit_boxes(meeting_search *of, bool is_written, pti_box_function *visit, void *user) {
    const pti_operand *operand = &of->instance->operand[of->operand];
    for (int s = 0; s < operand->n_sections; s++) {
        of->section = &sections_of(of->instance, of->operand)[s];
        if (is_section_written(of->section) == is_written)
            pti_section_each_of_thread(of->instance, of->section, &of->thread, visit, user);
    }
}

static void look_for_element(const polytile_domain *box, void *user) {
    ownership *of = user;
    bool has = of->n_boxes++ < of->n_most && of->access < 0;
    for (int d = 0; d < box->n_dims && has; d++)
        has = pti_range_has(box->range[d], of->element[d]);
    if (has)
        of->access = of->at.section->access;
}

/** Return by which access a thread writes an element, in its first boxes; -1: it does not. */
static int find_own_access(const meeting_search *of, const polytile_domain *thread,
                           const int64_t *element, int64_t n_most) {
    ownership own = {.at = *of, .element = element, .n_most = n_most, .access = -1};
    own.at.thread = *thread;
    visit_boxes(&own.at, true, look_for_element, &own);
    return own.access;
}

static polytile_domain thread_at(const pti_instance *instance, const int64_t *point) {
    return polytile_domain_from_bounds(instance->n_indices, point, point);
}

/** Note that the thread meets another one, which is looked for, at an element. */
static void note_meeting(const meeting_search *of, const int64_t *element) {
    pti_meeting *found = of->found;
    int64_t *writer = found->thread[0];
    found->access[1] = of->section->access;
    memcpy(found->element, element, sizeof found->element);
    pti_box_first_point(&of->thread, found->thread[1]);
    pti_box_first_point(&of->instance->threads, writer);
    do {
        const polytile_domain other = thread_at(of->instance, writer);
        if (pti_box_equals(&other, &of->thread))
            continue;
        found->access[0] = find_own_access(of, &other, element, INT64_MAX);
        found->is_found = found->access[0] >= 0;
    } while (!found->is_found && pti_box_next_point(&of->instance->threads, writer));
}

/** The number of an element in its array. */
static int64_t number_of(const meeting_search *of, const int64_t *element) {
    const polytile_domain *array = &of->instance->operand[of->operand].domain;
    int64_t number = 0;
    for (int d = 0; d < array->n_dims; d++)
        number = number * (array->range[d].hi - array->range[d].lo + 1) + element[d] -
                 array->range[d].lo;
    return number;
}

static void meet_written(const polytile_domain *box, void *user) {
    meeting_search *of = user;
    const int64_t n_before = of->n_written++;
    int64_t element[POLYTILE_MAX_DIMS] = {0};
    pti_box_first_point(box, element);
    do {
        if (!of->found->is_found && meet_bit(of->bits, number_of(of, element)) &&
            find_own_access(of, &of->thread, element, n_before) < 0)
            note_meeting(of, element);
    } while (!of->found->is_found && pti_box_next_point(box, element));
}

static void meet_read(const polytile_domain *box, void *user) {
    meeting_search *of = user;
    int64_t element[POLYTILE_MAX_DIMS] = {0};
    pti_box_first_point(box, element);
    do {
        const int64_t number = number_of(of, element);
        if (!of->found->is_found && (of->bits[number / WORD_BITS] >> number % WORD_BITS & 1) != 0 &&
            find_own_access(of, &of->thread, element, INT64_MAX) < 0)
            note_meeting(of, element);
    } while (!of->found->is_found && pti_box_next_point(box, element));
}

static void go_through(meeting_search *of, bool is_written) {
    int64_t point[POLYTILE_MAX_DIMS];
    pti_box_first_point(&of->instance->threads, point);
    do {
        of->thread = thread_at(of->instance, point);
        of->n_written = 0;
        visit_boxes(of, is_written, is_written ? meet_written : meet_read, of);
    } while (!of->found->is_found && pti_box_next_point(&of->instance->threads, point));
}

polytile_status pti_inspection_find_meeting(polytile_context *ctx, const pti_instance *instance,
                                            int operand, pti_meeting *meeting) {
    const double start_s = pti_now_s();
    const polytile_domain *array = &instance->operand[operand].domain;
    const size_t n_words = (size_t)pti_box_count(array) / WORD_BITS + 1;
    uint64_t *bits = calloc(n_words, sizeof *bits);
    *meeting = (pti_meeting){.is_found = false};
    if (bits == NULL)
        return pti_fail_memory(ctx, instance->kernel_name, (double)n_words * sizeof *bits);
    meeting->are_told_apart = are_told_apart(ctx, instance, operand, bits);
    if (!meeting->are_told_apart) {
        meeting_search of = {
            .instance = instance, .operand = operand, .bits = bits, .found = meeting};
        memset(bits, 0, n_words * sizeof *bits);
        go_through(&of, true);
        if (!meeting->is_found)
            go_through(&of, false);
    }
    free(bits);
    if (!meeting->is_found)
        pti_log(ctx, PTI_LOG_INFO,
                "%s: no two threads meet at an element of %s, which took %.1f ms to see, %s",
                instance->kernel_name, instance->operand[operand].name,
                1e3 * (pti_now_s() - start_s),
                meeting->are_told_apart ? "by what they look up alone" : "element by element");
    return POLYTILE_OK;
}
