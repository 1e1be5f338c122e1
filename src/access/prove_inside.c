#include "access/proof.h"

#include "access/footprint/section.h"
#include "access/isl/point.h"
#include "access/isl/relations.h"

/**
 * Return what threads touch that have no element inside the array.
 *
 * Space  { kernel[index] -> array[element] }
 */
static __isl_give isl_map *accesses_outside(const polytile_kernel *kernel,
                                            const pti_instance *instance, int access) {
    isl_map *inside = pti_access_relation(kernel, access, instance);
    isl_map *touched =
        pti_access_relation_unclipped(kernel->relations->isl, kernel, access, instance);
    return isl_map_subtract_domain(touched, isl_map_domain(inside));
}

/** Return whether threads bound what they touch, rather than leave that to the array. */
static isl_bool is_map_bounded(__isl_keep isl_map *map) {
    isl_set *elements = isl_map_range(isl_map_copy(map));
    isl_bool bounded = isl_set_is_bounded(elements);
    isl_set_free(elements);
    return bounded;
}

static polytile_status fail_inside_proof(const polytile_kernel *kernel, int access) {
    const polytile_declaration *declaration = kernel->declaration;
    return pti_isl_fail(kernel->object.context, kernel->relations->isl, declaration->name,
                        "whether access %d, of %s, stays in its array is too involved to prove; "
                        "declare simpler sections",
                        access + 1, declaration->array_name[declaration->access[access].array]);
}

static polytile_status prove_access_inside(const polytile_kernel *kernel,
                                           const pti_instance *instance, int access) {
    int64_t thread[POLYTILE_MAX_DIMS], element[POLYTILE_MAX_DIMS];
    polytile_status status = pti_relations_begin(kernel);
    if (status != POLYTILE_OK)
        return status;
    isl_map *outside = accesses_outside(kernel, instance, access);
    isl_bool empty = isl_map_is_empty(outside);
    isl_bool bounded = empty == isl_bool_false ? is_map_bounded(outside) : isl_bool_true;
    if (empty == isl_bool_error || bounded == isl_bool_error)
        status = fail_inside_proof(kernel, access);
    else if (empty == isl_bool_false && bounded == isl_bool_true)
        status =
            pti_first_pair(isl_map_copy(outside), thread, element)
                ? pti_outside_accuse(kernel->object.context, instance,
                                     kernel->declaration->access[access].array, thread, element)
                : fail_inside_proof(kernel, access);
    isl_map_free(outside);
    return status;
}

/* What is looked up was proved to be inside by looking at it. */
polytile_status pti_prove_inside(const polytile_kernel *kernel, const pti_instance *instance) {
    const pti_instance *given = pti_instance_as_given(instance);
    polytile_status status = POLYTILE_OK;
    for (int a = 0; a < kernel->declaration->n_accesses; a++)
        if (kernel->declaration->access[a].indirect == NULL)
            PTI_TRY(prove_access_inside(kernel, given, a));
done:
    return status;
}
