#include "access/conflict.h"

#include "access/bind/meet.h"
#include "access/declare/access_text.h"
#include "access/footprint/footprint.h"
#include "access/isl/point.h"
#include "access/isl/relations.h"

#include <isl/set.h>
#include <isl/val.h>

#include <string.h>

/** Return whether different threads must not meet through two accesses. */
static bool are_at_odds(const pti_access *a, const pti_access *b) {
    bool one_writes = pti_role_writes(a->role) || pti_role_writes(b->role);
    bool both_combine = pti_role_reduces(a->role) && a->role == b->role && a->fresh == b->fresh;
    return a->array == b->array && one_writes && !both_combine;
}

/** Return whether closed forms leave it open that different threads meet through two accesses. */
static bool may_conflict(const polytile_declaration *declaration, int a, int b) {
    const pti_access *one = &declaration->access[a];
    const pti_access *other = &declaration->access[b];
    return are_at_odds(one, other) && !pti_accesses_never_meet(declaration, one, other);
}

/**
 * Return the pairs of threads where the first touches by a what the second touches by b.
 *
 * Space  { kernel[index] -> kernel[index] }
 */
static __isl_give isl_map *meeting_threads(__isl_take isl_map *a, __isl_take isl_map *b) {
    return isl_map_apply_range(a, isl_map_reverse(b));
}

/** Return those of different threads, in the same space. */
static __isl_give isl_map *conflicting_threads(__isl_take isl_map *a, __isl_take isl_map *b) {
    isl_map *pairs = meeting_threads(a, b);
    isl_map *same = isl_map_identity(isl_map_get_space(pairs));
    return isl_map_subtract(pairs, same);
}

/** Prove by isl that no two threads of any launch meet through two accesses; *never is false too if
 * isl gives up. Errors: NO_MEMORY. */
static polytile_status never_conflict(const polytile_kernel *kernel, int a, int b, bool *never) {
    polytile_status status;
    PTI_TRY(pti_relations_begin(kernel));
    const pti_relations *relations = kernel->relations;
    isl_map *pairs = conflicting_threads(isl_map_copy(relations->access_relation[a]),
                                         isl_map_copy(relations->access_relation[b]));
    isl_bool is_empty = isl_map_is_empty(pairs);
    isl_map_free(pairs);
    *never = is_empty == isl_bool_true;
    if (!*never && pti_isl_lacked_memory_for(relations->isl, is_empty))
        PTI_TRY(
            pti_fail_memory(kernel->object.context, kernel->declaration->name, PTI_UNKNOWN_BYTES));
done:
    return status;
}

polytile_status pti_conflict_classify(const polytile_kernel *kernel,
                                      pti_conflict_class *conflict_class) {
    const polytile_declaration *declaration = kernel->declaration;
    polytile_status status = POLYTILE_OK;
    bool never = true;
    for (int a = 0; a < declaration->n_accesses; a++) {
        for (int b = a; never && b < declaration->n_accesses; b++) {
            if (may_conflict(declaration, a, b))
                PTI_TRY(never_conflict(kernel, a, b, &never));
        }
    }
    *conflict_class = never ? PTI_CONFLICT_NEVER : PTI_CONFLICT_DEPENDS;
done:
    return status;
}

/** Fix the dimensions of a set, from one on, to the coordinates of a point. */
static __isl_give isl_set *fix_point(__isl_take isl_set *set, const int64_t *point, int first) {
    int n_dims = (int)isl_set_dim(set, isl_dim_set);
    for (int d = first; d < n_dims; d++)
        set = isl_set_fix_val(set, isl_dim_set, (unsigned)d,
                              isl_val_int_from_si(isl_set_get_ctx(set), point[d - first]));
    return set;
}

/** Return the elements that one thread touches. */
static __isl_give isl_set *touched_by(__isl_keep isl_map *relation, const int64_t *thread) {
    isl_set *threads = fix_point(isl_map_domain(isl_map_copy(relation)), thread, 0);
    return isl_map_range(isl_map_intersect_domain(isl_map_copy(relation), threads));
}

/** Find a pair of threads and an element that both touch; false when isl fails. */
static bool find_witness(__isl_keep isl_map *pairs, __isl_keep isl_map *a, __isl_keep isl_map *b,
                         polytile_witness *found) {
    if (!pti_first_pair(isl_map_copy(pairs), found->thread, found->other))
        return false;
    isl_set *common = isl_set_intersect(touched_by(a, found->thread), touched_by(b, found->other));
    return pti_first_point(common, found->element);
}

static const char *verb_of_role(const pti_access *access) {
    if (access->role == POLYTILE_SCRATCH)
        return "has";
    return pti_role_writes(access->role) ? "writes" : "reads";
}

static const char *advice_for_pair(const pti_access *a, const pti_access *b) {
    if (a->role == POLYTILE_SCRATCH)
        return "scratch is a thread's own: let its subscripts name the thread's indices, as w[i, "
               "0:n-1]";
    if (a->array != b->array)
        return "give two arrays, or restrict the launch domain";
    return pti_role_writes(a->role) && pti_role_writes(b->role)
               ? "declare a reducing role (sum, prod, min, max), or a section of its own for each "
                 "thread"
               : "write to another array, or restrict the launch domain";
}

static polytile_status report_witness(const polytile_kernel *kernel, const pti_instance *instance,
                                      int a, int b, polytile_witness *found) {
    const polytile_declaration *declaration = kernel->declaration;
    const pti_access *one = &declaration->access[a];
    const pti_access *other = &declaration->access[b];
    polytile_context *ctx = kernel->object.context;
    pti_text text = {0};
    pti_instance_ask_thread(instance, found->thread);
    pti_instance_ask_thread(instance, found->other);
    pti_text_add(&text, "%s: threads ", declaration->name);
    pti_point_write(&text, found->thread, found->n_indices);
    pti_text_add(&text, " and ");
    pti_point_write(&text, found->other, found->n_indices);
    pti_text_add(&text, " conflict on %s", declaration->array_name[one->array]);
    pti_point_write(&text, found->element, found->n_dims);
    if (one->array != other->array)
        pti_text_add(&text, ", whose array is given for %s, too",
                     declaration->array_name[other->array]);
    pti_text_add(&text, ": the first %s it (", verb_of_role(one));
    pti_access_write_exactly(&text, declaration, one);
    pti_text_add(&text, "), the second %s it (", verb_of_role(other));
    pti_access_write_exactly(&text, declaration, other);
    pti_text_add(&text, "); %s", advice_for_pair(one, other));
    return pti_fail_with_witness(ctx, POLYTILE_CONFLICT, &text, found);
}

static polytile_status fail_isl_of_pair(const polytile_kernel *kernel, int a, int b) {
    const polytile_declaration *declaration = kernel->declaration;
    return pti_isl_fail(kernel->object.context, kernel->relations->isl, declaration->name,
                        "whether accesses %d and %d of %s conflict is too involved to prove; "
                        "declare simpler sections",
                        a + 1, b + 1, declaration->array_name[declaration->access[a].array]);
}

/** Return an access's relation without its array's name: two names may be one array. */
static __isl_give isl_map *nameless_relation(const polytile_kernel *kernel, int access,
                                             const pti_instance *instance) {
    return isl_map_reset_tuple_id(pti_access_relation(kernel, access, instance), isl_dim_out);
}

static polytile_status check_accesses(const polytile_kernel *kernel, const pti_instance *instance,
                                      int a, int b) {
    const polytile_declaration *declaration = kernel->declaration;
    polytile_status status = pti_relations_begin(kernel);
    polytile_witness found = {.kind = POLYTILE_WITNESS_CONFLICT,
                              .operand = declaration->access[a].array,
                              .n_indices = declaration->n_indices,
                              .n_dims = declaration->access[a].n_dims};
    if (status != POLYTILE_OK)
        return status;
    const bool is_one_name = declaration->access[a].array == declaration->access[b].array;
    isl_map *one = nameless_relation(kernel, a, instance);
    isl_map *other = nameless_relation(kernel, b, instance);
    isl_map *pairs = (is_one_name ? conflicting_threads : meeting_threads)(isl_map_copy(one),
                                                                           isl_map_copy(other));
    isl_bool empty = isl_map_is_empty(pairs);
    if (empty == isl_bool_error)
        status = fail_isl_of_pair(kernel, a, b);
    else if (empty == isl_bool_false)
        status = find_witness(pairs, one, other, &found)
                     ? report_witness(kernel, instance, a, b, &found)
                     : fail_isl_of_pair(kernel, a, b);
    isl_map_free(one);
    isl_map_free(other);
    isl_map_free(pairs);
    return status;
}

/** Return whether the hulls of two sections of the whole launch meet. */
static bool section_hulls_meet(const pti_instance *instance, const pti_section *one,
                               const pti_section *other) {
    polytile_domain first = pti_section_hull(instance, one, &instance->threads);
    polytile_domain second = pti_section_hull(instance, other, &instance->threads);
    polytile_domain common;
    return pti_box_intersect(&first, &second, &common);
}

/** Return the section after the last one of an access. */
static const pti_section *end_of_access(const pti_section *first, const pti_instance *instance) {
    const pti_section *end = first + 1;
    while (end < instance->section + instance->n_sections && end->access == first->access)
        end++;
    return end;
}

/** Return whether the hulls of two accesses of the whole launch meet. */
static bool hulls_meet(const polytile_declaration *declaration, int a, int b,
                       const pti_instance *instance) {
    const pti_section *first = pti_section_of_access(declaration, a, instance);
    const pti_section *second = pti_section_of_access(declaration, b, instance);
    bool meet = false;
    for (const pti_section *s = first; s < end_of_access(first, instance) && !meet; s++)
        for (const pti_section *t = second; t < end_of_access(second, instance) && !meet; t++)
            meet = section_hulls_meet(instance, s, t);
    return meet;
}

/** Return whether two accesses are by names of one array, of which one writes. */
static bool are_names_at_odds(const pti_instance *instance, const pti_access *a,
                              const pti_access *b) {
    return a->array != b->array &&
           instance->operand[a->array].same_array == instance->operand[b->array].same_array &&
           (pti_role_writes(a->role) || pti_role_writes(b->role));
}

/** Refuse two names of one array if one of them is held as the box around its elements, to be moved
 * or combined, and the other name touches elements in that box. */
static polytile_status check_moved_boxes(const polytile_kernel *kernel,
                                         const pti_instance *instance, int a, int b) {
    const pti_operand *one = &instance->operand[a], *other = &instance->operand[b];
    const pti_operand *moved = one->partial || one->reduces ? one : other;
    polytile_domain first = pti_footprint_hull(instance, a, PTI_TOUCHES, &instance->threads);
    polytile_domain second = pti_footprint_hull(instance, b, PTI_TOUCHES, &instance->threads);
    polytile_domain common;
    if ((!one->writes && !other->writes) || (!moved->partial && !moved->reduces) ||
        !pti_box_intersect(&first, &second, &common))
        return POLYTILE_OK;
    return pti_fail(
        kernel->object.context, POLYTILE_UNSUPPORTED,
        "%s: one array is given for %s and %s, which touch different elements, but %s "
        "is held as the box around its own, where %s has some; %sgive two arrays",
        instance->kernel_name, one->name, other->name, moved->name,
        (moved == one ? other : one)->name,
        one->reduces || other->reduces ? "" : "declare the sections of both under one name, or ");
}

/** Return whether either operand is written by what is looked up, of which the box alone counts. */
static bool are_by_lookup(const pti_instance *instance, int a, int b) {
    return pti_operand_is_written_by_lookup(instance, a) ||
           pti_operand_is_written_by_lookup(instance, b);
}

/** Refuse two names of one array where what one looks up lies around elements of the other: only
 * the box around it is known here. */
static polytile_status refuse_looked_up_name(const polytile_kernel *kernel,
                                             const pti_instance *instance, int a, int b) {
    const polytile_declaration *declaration = kernel->declaration;
    const bool is_first = declaration->access[a].indirect != NULL;
    const pti_access *looked_up = &declaration->access[is_first ? a : b];
    const pti_access *other = &declaration->access[is_first ? b : a];
    return pti_fail(kernel->object.context, POLYTILE_UNSUPPORTED,
                    "%s: one array is given for %s and %s, of which one is written; what is looked "
                    "up of %s counts as the box around it, where %s has elements; give two arrays",
                    instance->kernel_name, declaration->array_name[looked_up->array],
                    declaration->array_name[other->array],
                    declaration->array_name[looked_up->array],
                    declaration->array_name[other->array]);
}

/** Prove that two accesses by names of one array meet nowhere. */
static polytile_status check_accesses_by_names(const polytile_kernel *kernel,
                                               const pti_instance *instance, int a, int b) {
    const pti_access *access = kernel->declaration->access;
    return access[a].indirect != NULL || access[b].indirect != NULL
               ? refuse_looked_up_name(kernel, instance, a, b)
               : check_accesses(kernel, instance, a, b);
}

/** Prove that names of one array of which one is written touch different elements. */
static polytile_status check_names_of_one_array(const polytile_kernel *kernel,
                                                const pti_instance *instance) {
    const polytile_declaration *declaration = kernel->declaration;
    polytile_status status = POLYTILE_OK;
    for (int a = 0; a < declaration->n_accesses; a++)
        for (int b = a + 1; b < declaration->n_accesses; b++)
            if (are_names_at_odds(instance, &declaration->access[a], &declaration->access[b]) &&
                !are_by_lookup(instance, declaration->access[a].array,
                               declaration->access[b].array) &&
                hulls_meet(declaration, a, b, instance))
                PTI_TRY(check_accesses_by_names(kernel, instance, a, b));
    for (int a = 0; a < instance->n_operands; a++)
        for (int b = a + 1; b < instance->n_operands; b++)
            if (instance->operand[a].same_array == instance->operand[b].same_array)
                PTI_TRY(check_moved_boxes(kernel, instance, a, b));
done:
    return status;
}

/** Prove that no two threads meet at an element that one of them looks up and writes, by what index
 * arrays hold. */
static polytile_status check_lookups(const polytile_kernel *kernel, const pti_instance *instance,
                                     int operand) {
    pti_meeting met;
    polytile_status status;
    polytile_witness found = {.kind = POLYTILE_WITNESS_CONFLICT,
                              .operand = operand,
                              .n_indices = instance->n_indices,
                              .n_dims = instance->operand[operand].domain.n_dims};
    PTI_TRY(pti_inspection_find_meeting(kernel->object.context, instance, operand, &met));
    if (!met.is_found)
        return POLYTILE_OK;
    memcpy(found.thread, met.thread[0], sizeof found.thread);
    memcpy(found.other, met.thread[1], sizeof found.other);
    memcpy(found.element, met.element, sizeof found.element);
    status = report_witness(kernel, instance, met.access[0], met.access[1], &found);
done:
    return status;
}

/** Return whether two accesses of an array that is written by what is looked up may conflict. */
static bool may_lookups_conflict(const polytile_declaration *declaration, int operand) {
    bool may = false;
    for (int a = 0; a < declaration->n_accesses; a++)
        for (int b = a; b < declaration->n_accesses && !may; b++)
            may = declaration->access[a].array == operand && may_conflict(declaration, a, b);
    return may;
}

/** Prove that no two threads conflict on an array by one name. */
static polytile_status check_threads_of_operand(const polytile_kernel *kernel,
                                                const pti_instance *instance) {
    const polytile_declaration *declaration = kernel->declaration;
    polytile_status status = POLYTILE_OK;
    for (int o = 0; o < instance->n_operands; o++)
        if (pti_operand_is_written_by_lookup(instance, o) && may_lookups_conflict(declaration, o))
            PTI_TRY(check_lookups(kernel, instance, o));
    for (int a = 0; a < declaration->n_accesses; a++) {
        if (pti_operand_is_written_by_lookup(instance, declaration->access[a].array))
            continue;
        for (int b = a; b < declaration->n_accesses; b++) {
            if (may_conflict(declaration, a, b) && hulls_meet(declaration, a, b, instance))
                PTI_TRY(check_accesses(kernel, instance, a, b));
        }
    }
done:
    return status;
}

polytile_status pti_conflict_check(const polytile_kernel *kernel, const pti_instance *instance) {
    polytile_status status = POLYTILE_OK;
    if (kernel->conflict_class != PTI_CONFLICT_NEVER)
        PTI_TRY(check_threads_of_operand(kernel, instance));
    PTI_TRY(check_names_of_one_array(kernel, instance));
done:
    return status;
}
