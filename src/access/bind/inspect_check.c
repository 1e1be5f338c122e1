#include "access/bind/inspect.h"

#include "access/declare/access_text.h"
#include "access/footprint/affine.h"
#include "access/footprint/footprint.h"
#include "access/footprint/looked_up.h"
#include "access/footprint/section.h"
#include "base/text.h"

#include <inttypes.h>
#include <string.h>

/* Whether what index arrays hold are indices of the arrays in which threads look them up, and
 * ranges have their ends in order. Mostly hulls say so at once; else every thread is looked at. */

/** One dimension of a section, for one thread. */
typedef struct lookup {
    const pti_instance *instance;
    const pti_section *section;
    const polytile_domain *thread; /* a box of one */
    int dim;
} lookup;

/** The indices of the array in that dimension. */
static polytile_range array_indices(const lookup *of) {
    return of->instance->operand[of->section->operand].domain.range[of->dim];
}

/** The elements that a thread looks up for an end: a box. False: none. */
static bool find_elements(const lookup *of, const pti_looked_up *end, polytile_domain *elements) {
    *elements = pti_section_hull(of->instance, &end->section, of->thread);
    return !pti_box_is_empty(elements);
}

/** What an end is for a thread that has one element of it, which element has; false: it has none,
 * since its own section is empty. */
static bool find_end_for_element(const lookup *of, const pti_looked_up *end, int64_t *element,
                                 int64_t *value) {
    polytile_domain elements;
    *value = pti_affine_min(&end->plus, of->thread);
    if (end->array == NULL)
        return true;
    if (!find_elements(of, end, &elements))
        return false;
    pti_box_first_point(&elements, element);
    *value += pti_index_array_get(end->array, element);
    return true;
}

static void write_element(pti_text *text, const lookup *of, const pti_looked_up *end,
                          const int64_t *element) {
    pti_text_add(text, "%s", of->instance->operand[end->section.operand].name);
    pti_point_write(text, element, end->section.n_dims);
    pti_text_add(text, " holds %" PRId64, pti_index_array_get(end->array, element));
}

static polytile_status fail_with_text(polytile_context *ctx, pti_text *text) {
    const polytile_status status = text->data == NULL || text->failed
                                       ? pti_fail_memory(ctx, "inspector", 256)
                                       : pti_fail(ctx, POLYTILE_DECLARATION, "%s", text->data);
    pti_text_free(text);
    return status;
}

static void write_thread(pti_text *text, const lookup *of) {
    int64_t thread[POLYTILE_MAX_DIMS];
    pti_box_first_point(of->thread, thread);
    pti_instance_ask_thread(of->instance, thread);
    pti_text_add(text, "%s: thread ", of->instance->kernel_name);
    pti_point_write(text, thread, of->instance->n_indices);
}

/** Refuse an index outside its array, for which a thread looks up an element. */
static polytile_status refuse_outside(polytile_context *ctx, const lookup *of,
                                      const pti_looked_up *end, const int64_t *element,
                                      int64_t index) {
    pti_text text = {0};
    const pti_operand *operand = &of->instance->operand[of->section->operand];
    const polytile_range range = array_indices(of);
    write_thread(&text, of);
    pti_text_add(&text,
                 " touches %s at %" PRId64 " in subscript %d, where %s has %" PRId64 ":%" PRId64,
                 operand->name, index, of->dim + 1, operand->name, range.lo, range.hi);
    if (end->array != NULL) {
        pti_text_add(&text, "; ");
        write_element(&text, of, end, element);
    }
    return fail_with_text(ctx, &text);
}

static polytile_status refuse_order(polytile_context *ctx, const lookup *of, int64_t lo, int64_t hi,
                                    const int64_t *lo_element, const int64_t *hi_element) {
    pti_text text = {0};
    const pti_indirection *by = of->section->indirection;
    write_thread(&text, of);
    pti_text_add(&text, " has the range %" PRId64 ":%" PRId64 " of %s, whose ends are out of order",
                 lo, hi, of->instance->operand[of->section->operand].name);
    if (by->lo[of->dim].array != NULL) {
        pti_text_add(&text, "; ");
        write_element(&text, of, &by->lo[of->dim], lo_element);
    }
    if (by->hi[of->dim].array != NULL) {
        pti_text_add(&text, by->lo[of->dim].array != NULL ? ", and " : "; ");
        write_element(&text, of, &by->hi[of->dim], hi_element);
    }
    return fail_with_text(ctx, &text);
}

/** Whether all that is gathered in a dimension is inside the array. */
typedef struct gather_check {
    polytile_context *ctx;
    const lookup *of;
    polytile_status status;
} gather_check;

static void check_elements(const polytile_domain *elements, void *user) {
    gather_check *check = user;
    const lookup *of = check->of;
    const pti_looked_up *end = &of->section->indirection->lo[of->dim];
    const polytile_range range = array_indices(of);
    const int64_t plus = pti_affine_min(&end->plus, of->thread);
    int64_t element[POLYTILE_MAX_DIMS];
    pti_box_first_point(elements, element);
    do {
        const int64_t index = plus + pti_index_array_get(end->array, element);
        if (check->status == POLYTILE_OK && (index < range.lo || index > range.hi))
            check->status = refuse_outside(check->ctx, of, end, element, index);
    } while (check->status == POLYTILE_OK && pti_box_next_point(elements, element));
}

static polytile_status check_gathered(polytile_context *ctx, const lookup *of) {
    gather_check check = {ctx, of, POLYTILE_OK};
    pti_section_each_of_thread(of->instance, &of->section->indirection->lo[of->dim].section,
                               of->thread, check_elements, &check);
    return check.status;
}

/** The ends of a range that is looked up, and which elements have them. */
typedef struct ends {
    int64_t lo, hi;
    int64_t lo_element[POLYTILE_MAX_DIMS];
    int64_t hi_element[POLYTILE_MAX_DIMS];
} ends;

/** False: a thread has no element for one of them. */
static bool find_looked_up_ends(const lookup *of, ends *found) {
    const pti_indirection *by = of->section->indirection;
    return find_end_for_element(of, &by->lo[of->dim], found->lo_element, &found->lo) &&
           find_end_for_element(of, &by->hi[of->dim], found->hi_element, &found->hi);
}

static polytile_status check_order(polytile_context *ctx, const lookup *of) {
    ends found;
    return find_looked_up_ends(of, &found) && found.hi < found.lo - 1
               ? refuse_order(ctx, of, found.lo, found.hi, found.lo_element, found.hi_element)
               : POLYTILE_OK;
}

static polytile_status check_ends(polytile_context *ctx, const lookup *of) {
    const pti_indirection *by = of->section->indirection;
    const polytile_range range = array_indices(of);
    ends found;
    if (!find_looked_up_ends(of, &found))
        return POLYTILE_OK;
    if (found.lo < range.lo)
        return refuse_outside(ctx, of, &by->lo[of->dim], found.lo_element, found.lo);
    if (found.hi > range.hi)
        return refuse_outside(ctx, of, &by->hi[of->dim], found.hi_element, found.hi);
    return POLYTILE_OK;
}

static bool looks_up_range(const lookup *of) {
    return of->section->indirection->gathers[of->dim];
}

/** Return whether a thread has nothing in a dimension, the array's ends aside. */
static bool is_empty(const lookup *of) {
    const pti_subscript *subscript = &of->section->subscript[of->dim];
    polytile_domain elements;
    ends found;
    if (!pti_section_is_indirect(of->section, of->dim))
        return pti_affine_min(&subscript->hi, of->thread) <
               pti_affine_min(&subscript->lo, of->thread);
    if (looks_up_range(of))
        return !find_elements(of, &of->section->indirection->lo[of->dim], &elements);
    return !find_looked_up_ends(of, &found) || found.hi < found.lo;
}

/** The index of a thread's section that is nearest to the array; of a looked-up dimension the
 * first. */
static int64_t nearest_index(const lookup *of) {
    const pti_subscript *subscript = &of->section->subscript[of->dim];
    const int64_t lo = pti_affine_min(&subscript->lo, of->thread),
                  hi = pti_affine_min(&subscript->hi, of->thread);
    int64_t element[POLYTILE_MAX_DIMS], index = 0;
    if (!pti_section_is_indirect(of->section, of->dim))
        return hi < array_indices(of).lo ? hi : lo;
    find_end_for_element(of, &of->section->indirection->lo[of->dim], element, &index);
    return index;
}

/** Return whether what a thread has in a dimension that looks nothing up meets the array. */
static bool meets_array(const lookup *of) {
    const pti_subscript *subscript = &of->section->subscript[of->dim];
    const polytile_range range = array_indices(of);
    return (of->section->edges >> of->dim & 1) != 0 ||
           (pti_affine_min(&subscript->hi, of->thread) >= range.lo &&
            pti_affine_max(&subscript->lo, of->thread) <= range.hi);
}

static polytile_status accuse_lookup(polytile_context *ctx, const lookup *of) {
    int64_t thread[POLYTILE_MAX_DIMS], element[POLYTILE_MAX_DIMS];
    lookup at = *of;
    pti_box_first_point(of->thread, thread);
    for (at.dim = 0; at.dim < of->section->n_dims; at.dim++)
        element[at.dim] = nearest_index(&at);
    return pti_outside_accuse(ctx, of->instance, of->section->operand, thread, element);
}

static polytile_status check_dimension(polytile_context *ctx, const lookup *of) {
    if (!pti_section_is_indirect(of->section, of->dim))
        return meets_array(of) ? POLYTILE_OK : accuse_lookup(ctx, of);
    return looks_up_range(of) ? check_gathered(ctx, of) : check_ends(ctx, of);
}

static polytile_status check_thread(polytile_context *ctx, lookup of) {
    const int n_dims = of.section->n_dims;
    polytile_status status = POLYTILE_OK;
    bool has_any = true;
    for (of.dim = 0; of.dim < n_dims; of.dim++) {
        if (pti_section_is_indirect(of.section, of.dim) && !looks_up_range(&of))
            PTI_TRY(check_order(ctx, &of));
        has_any = has_any && !is_empty(&of);
    }
    for (of.dim = 0; has_any && of.dim < n_dims; of.dim++)
        PTI_TRY(check_dimension(ctx, &of));
done:
    return status;
}

/** Return whether what a section has may change with an index. */
static bool may_change_with(const pti_section *section, int index) {
    bool does = pti_section_looks_up_by(section, index);
    for (int d = 0; d < section->n_dims; d++)
        does = does || pti_subscript_names(&section->subscript[d], index);
    return does;
}

/** Threads of which each has what it alone has, or the first ones of those that have the same. */
static polytile_domain find_different(const pti_instance *instance, const pti_section *section) {
    polytile_domain threads = instance->threads;
    for (int k = 0; k < threads.n_dims; k++)
        if (!may_change_with(section, k))
            threads.range[k].hi = threads.range[k].lo;
    return threads;
}

static polytile_status check_each_thread(polytile_context *ctx, const pti_instance *instance,
                                         const pti_section *section) {
    const polytile_domain threads = find_different(instance, section);
    int64_t point[POLYTILE_MAX_DIMS];
    polytile_status status = POLYTILE_OK;
    pti_box_first_point(&threads, point);
    do {
        const polytile_domain thread =
            polytile_domain_from_bounds(instance->n_indices, point, point);
        PTI_TRY(check_thread(
            ctx, (lookup){.instance = instance, .section = section, .thread = &thread}));
    } while (pti_box_next_point(&threads, point));
done:
    return status;
}

/** Return whether two ends look up the same element of an array, by indices alone. */
static bool are_one_element(const pti_looked_up *lo, const pti_looked_up *hi) {
    bool are = lo->array != NULL && lo->array == hi->array && lo->section.indirection == NULL &&
               hi->section.indirection == NULL;
    for (int d = 0; are && d < lo->section.n_dims; d++)
        are = pti_affine_equals(&lo->section.subscript[d].lo, &hi->section.subscript[d].lo);
    return are;
}

/** Return whether b is never less than a + least. */
static bool is_at_least(const pti_affine *b, const pti_affine *a, int64_t least) {
    return pti_affine_is_parallel(a, b) && b->constant >= a->constant + least;
}

/** Return whether the element of a vector that a thread has in a section never lies behind the one
 * that it has in a second section: by indices, or by one element that says where both lie. */
static bool are_in_order(const pti_section *first, const pti_section *second) {
    if (first->indirection == NULL || second->indirection == NULL)
        return first->indirection == second->indirection &&
               is_at_least(&second->subscript[0].lo, &first->subscript[0].lo, 0);
    const pti_looked_up *one = &first->indirection->lo[0], *other = &second->indirection->lo[0];
    return are_one_element(one, other) && is_at_least(&other->plus, &one->plus, 0);
}

/** Return whether a range between two ends never has them out of order: they look up the same
 * element, or neighbours of one array whose elements ascend. */
static bool are_ends_in_order(const pti_looked_up *lo, const pti_looked_up *hi) {
    return is_at_least(&hi->plus, &lo->plus, -1) &&
           (are_one_element(lo, hi) ||
            (lo->array != NULL && lo->array == hi->array && lo->array->ascends &&
             are_in_order(&lo->section, &hi->section)));
}

/** Return between which values the elements lie that some threads look up for an end; false:
 * none. */
static bool find_values(const pti_instance *instance, const pti_looked_up *end,
                        pti_value_range *values) {
    const polytile_domain elements = pti_section_hull(instance, &end->section, &instance->threads);
    if (pti_box_is_empty(&elements))
        return false;
    *values = pti_index_array_find_values(end->array, elements.range[0]);
    return true;
}

/** Return whether all indices that may be met are inside the array. */
static bool are_inside(const pti_instance *instance, const pti_section *section, int dim) {
    const pti_indirection *by = section->indirection;
    const polytile_range range = instance->operand[section->operand].domain.range[dim];
    pti_value_range lo = {0, 0}, hi = {0, 0};
    if ((by->lo[dim].array != NULL && !find_values(instance, &by->lo[dim], &lo)) ||
        (by->hi[dim].array != NULL && !find_values(instance, &by->hi[dim], &hi)))
        return true;
    return pti_affine_min(&by->lo[dim].plus, &instance->threads) + lo.least >= range.lo &&
           pti_affine_max(&by->hi[dim].plus, &instance->threads) + hi.most <= range.hi;
}

/** Return whether no thread can be wrong in a dimension, at a glance. */
static bool is_sound(const pti_instance *instance, const pti_section *section, int d) {
    const pti_indirection *by = section->indirection;
    if (!by->is_indirect[d])
        return meets_array(&(lookup){instance, section, &instance->threads, d});
    return are_inside(instance, section, d) &&
           (by->gathers[d] || are_ends_in_order(&by->lo[d], &by->hi[d]));
}

polytile_status pti_inspection_check(polytile_context *ctx, const pti_instance *instance,
                                     const pti_section *section) {
    bool are_sound = true;
    for (int d = 0; d < section->n_dims; d++)
        are_sound = are_sound && is_sound(instance, section, d);
    return are_sound ? POLYTILE_OK : check_each_thread(ctx, instance, section);
}
