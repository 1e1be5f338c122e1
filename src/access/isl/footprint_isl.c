#include "access/isl/footprint_isl.h"

#include "access/isl/relations.h"

#include <isl/aff.h>
#include <isl/ilp.h>
#include <isl/local_space.h>
#include <isl/set.h>
#include <isl/space.h>
#include <isl/val.h>

/** Fix the bounds of every dimension of a set of threads, or of elements. */
static __isl_give isl_set *bound_set_by(__isl_take isl_set *set, const polytile_domain *box) {
    for (int d = 0; d < box->n_dims; d++) {
        isl_ctx *isl = isl_set_get_ctx(set);
        set = isl_set_lower_bound_val(set, isl_dim_set, (unsigned)d,
                                      isl_val_int_from_si(isl, box->range[d].lo));
        set = isl_set_upper_bound_val(set, isl_dim_set, (unsigned)d,
                                      isl_val_int_from_si(isl, box->range[d].hi));
    }
    return set;
}

/** Return { array[element] : some thread of the box touches it by this access }. */
static __isl_give isl_set *touched_elements(const polytile_kernel *kernel,
                                            const pti_instance *instance, int access,
                                            const polytile_domain *threads) {
    isl_map *relation = pti_access_relation(kernel, access, instance);
    isl_set *box = isl_set_universe(isl_space_domain(isl_map_get_space(relation)));
    return isl_set_apply(bound_set_by(box, threads), relation);
}

/** Return whether an access counts for a touch, as sections do. */
static bool access_counts(const pti_access *access, pti_touch touch) {
    pti_section section = {.role = access->role, .fresh = access->fresh};
    return pti_section_counts(&section, touch);
}

/**
 * Return a set with fewer basic sets if isl finds them.
 *
 * isl 0.25 coalesces { 2, 4, 6 } with { 3, 4 } and { 2, 3 } to { 2, ..., 7 }, so equality is
 * proved. NULL if isl fails.
 */
static __isl_give isl_set *simplify_set(__isl_take isl_set *set) {
    isl_set *simple = isl_set_coalesce(isl_set_copy(set));
    isl_bool is_same = isl_set_is_equal(simple, set);
    if (set != NULL && pti_isl_lacked_memory_for(isl_set_get_ctx(set), is_same)) {
        isl_set_free(simple);
        return isl_set_free(set);
    }
    isl_set_free(is_same == isl_bool_true ? set : simple);
    return is_same == isl_bool_true ? simple : set;
}

/** Return the union over the operand's accesses that count; NULL if isl fails, or *none is set. */
static __isl_give isl_set *unite_accesses(const polytile_kernel *kernel,
                                          const pti_instance *instance, int operand,
                                          pti_touch touch, const polytile_domain *threads,
                                          bool *none) {
    const polytile_declaration *declaration = kernel->declaration;
    isl_set *all = NULL;
    *none = true;
    for (int a = 0; a < declaration->n_accesses; a++) {
        const pti_access *access = &declaration->access[a];
        if (access->array != operand || !access_counts(access, touch))
            continue;
        isl_set *one = touched_elements(kernel, instance, a, threads);
        all = *none ? one : isl_set_union(all, one);
        *none = false;
    }
    return *none ? NULL : isl_set_make_disjoint(simplify_set(all));
}

/** Boxes that are gathered while sets are cut into boxes. */
typedef struct collector {
    pti_boxes *boxes;
    int max_boxes;
    bool too_many;
} collector;

/** Return one dimension of a set on its own, so that a stride is not relative to the other ones. */
static __isl_give isl_set *project_dimension(__isl_keep isl_set *set, int d) {
    unsigned n_after = (unsigned)((int)isl_set_dim(set, isl_dim_set) - d - 1);
    isl_set *one = isl_set_project_out(isl_set_copy(set), isl_dim_set, (unsigned)d + 1, n_after);
    return isl_set_project_out(one, isl_dim_set, 0, (unsigned)d);
}

/** Find the ends and the step of one dimension of a bounded, non-empty set. */
static bool range_of_set(__isl_keep isl_set *set, int d, polytile_range *range) {
    isl_set *one = project_dimension(set, d);
    isl_val *lo = isl_set_dim_min_val(isl_set_copy(one), 0);
    isl_val *hi = isl_set_dim_max_val(isl_set_copy(one), 0);
    isl_stride_info *info = isl_set_get_stride_info(one, 0);
    isl_val *step = isl_stride_info_get_stride(info);
    bool known = isl_val_is_int(lo) == isl_bool_true && isl_val_is_int(hi) == isl_bool_true &&
                 isl_val_is_pos(step) == isl_bool_true;
    if (known)
        *range =
            pti_range(isl_val_get_num_si(lo), isl_val_get_num_si(hi), isl_val_get_num_si(step));
    isl_set_free(one);
    isl_val_free(lo);
    isl_val_free(hi);
    isl_val_free(step);
    isl_stride_info_free(info);
    return known;
}

static bool box_around(__isl_keep isl_set *set, polytile_domain *box) {
    bool known = true;
    box->n_dims = (int)isl_set_dim(set, isl_dim_set);
    for (int d = 0; known && d < box->n_dims; d++)
        known = range_of_set(set, d, &box->range[d]);
    return known;
}

/** Return whether a set fills the strided box around it. */
static isl_bool fills_box(__isl_keep isl_set *set, const polytile_domain *box) {
    isl_set *whole = isl_set_universe(isl_set_get_space(set));
    whole = bound_set_by(whole, box);
    for (int d = 0; d < box->n_dims; d++) {
        isl_ctx *isl = isl_set_get_ctx(set);
        isl_aff *element = isl_aff_var_on_domain(isl_local_space_from_space(isl_set_get_space(set)),
                                                 isl_dim_set, (unsigned)d);
        isl_aff *offset =
            isl_aff_add_constant_val(element, isl_val_int_from_si(isl, -box->range[d].lo));
        offset = isl_aff_mod_val(offset, isl_val_int_from_si(isl, box->range[d].step));
        whole = isl_set_intersect(whole, isl_set_from_basic_set(isl_aff_zero_basic_set(offset)));
    }
    isl_bool full = isl_set_is_subset(whole, set);
    isl_set_free(whole);
    return full;
}

/** Return the dimension with the fewest indices, at least two; -1: the box is one element. */
static int find_shortest_dimension(const polytile_domain *box) {
    int shortest = -1;
    for (int d = 0; d < box->n_dims; d++) {
        int64_t count = pti_range_count(box->range[d]);
        if (count > 1 && (shortest < 0 || count < pti_range_count(box->range[shortest])))
            shortest = d;
    }
    return shortest;
}

static bool cut_set_into_boxes(collector *to, __isl_take isl_set *set);

/** Slice a set at every value of one dimension of the box around it. */
static bool slice_set(collector *to, __isl_keep isl_set *set, int d, polytile_range range) {
    bool done = true;
    for (int64_t value = range.lo; done && !to->too_many && value <= range.hi;
         value += range.step) {
        isl_val *at = isl_val_int_from_si(isl_set_get_ctx(set), value);
        done = cut_set_into_boxes(to,
                                  isl_set_fix_val(isl_set_copy(set), isl_dim_set, (unsigned)d, at));
    }
    return done;
}

/** Add a set's elements as boxes, disjoint from those before; false if isl fails. */
static bool cut_set_into_boxes(collector *to, __isl_take isl_set *set) {
    polytile_domain box;
    isl_bool empty = isl_set_is_empty(set);
    bool done = empty == isl_bool_true;
    if (empty == isl_bool_false && box_around(set, &box)) {
        isl_bool full = fills_box(set, &box);
        to->too_many = to->too_many || to->boxes->n_boxes == to->max_boxes;
        done = full != isl_bool_error;
        if (full == isl_bool_true && !to->too_many)
            pti_boxes_append(to->boxes, &box);
        else if (full == isl_bool_false && !to->too_many) {
            int d = find_shortest_dimension(&box); /* a box of one element is full */
            done = slice_set(to, set, d, box.range[d]);
        }
    }
    isl_set_free(set);
    return done;
}

static isl_stat take_basic_set(__isl_take isl_basic_set *piece, void *user) {
    return cut_set_into_boxes(user, isl_set_from_basic_set(piece)) ? isl_stat_ok : isl_stat_error;
}

polytile_status pti_footprint_isl(const polytile_kernel *kernel, const pti_instance *instance,
                                  int operand, pti_touch touch, const polytile_domain *threads,
                                  int max_boxes, pti_boxes *boxes, bool *exact) {
    collector to = {.boxes = boxes, .max_boxes = max_boxes};
    bool none;
    pti_boxes_clear(boxes);
    *exact = false;
    if (pti_relations_begin(kernel) != POLYTILE_OK)
        return POLYTILE_NO_MEMORY;
    isl_set *set = unite_accesses(kernel, instance, operand, touch, threads, &none);
    bool done = none || isl_set_foreach_basic_set(set, take_basic_set, &to) == isl_stat_ok;
    isl_set_free(set);
    *exact = done && !to.too_many && !boxes->failed;
    if (!*exact)
        pti_boxes_clear(boxes);
    bool out_of_memory = boxes->failed || (!done && !pti_isl_gave_up(kernel->relations->isl));
    return out_of_memory
               ? pti_fail_memory(kernel->object.context, instance->kernel_name, PTI_UNKNOWN_BYTES)
               : POLYTILE_OK;
}
