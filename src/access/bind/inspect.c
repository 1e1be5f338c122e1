#include "access/bind/inspect.h"

#include "access/array/array.h"
#include "access/array/type.h"
#include "access/footprint/section.h"

#include <stdlib.h>

static polytile_status fail_inspection(polytile_context *ctx, const pti_instance *instance) {
    return pti_fail_memory(ctx, instance->kernel_name, sizeof(pti_indirection));
}

static polytile_status create_inspection(polytile_context *ctx, int n_accesses,
                                         pti_instance *instance) {
    pti_inspection *made = instance->inspection = calloc(1, sizeof *made);
    if (made == NULL)
        return fail_inspection(ctx, instance);
    made->n_holders = 1;
    made->n_operands = instance->n_operands;
    made->n_accesses = n_accesses;
    made->array = calloc((size_t)instance->n_operands + 1, sizeof(pti_index_array *));
    made->indirection = calloc((size_t)n_accesses + 1, sizeof(pti_indirection *));
    return made->array == NULL || made->indirection == NULL ? fail_inspection(ctx, instance)
                                                            : POLYTILE_OK;
}

static polytile_status refuse_index_array(polytile_context *ctx, const pti_instance *instance,
                                          const pti_operand *operand, const polytile_array *array) {
    char type[PTI_TYPE_TEXT_BYTES];
    if (array->type != POLYTILE_I32 && array->type != POLYTILE_I64)
        return pti_fail(ctx, POLYTILE_DECLARATION,
                        "%s: %s is looked up in subscripts, so its elements are i32 or i64, not %s",
                        instance->kernel_name, operand->name, pti_type_format(array->type, type));
    if (array->is_internal)
        return pti_fail(
            ctx, POLYTILE_INVALID,
            "%s: what %s holds says which elements threads touch, but %s is the queue's "
            "own, whose elements lie on its devices or ranks; attach an array that has "
            "all of them, over ranks the same one on each",
            instance->kernel_name, operand->name, array->name);
    return pti_fail(
        ctx, POLYTILE_INVALID,
        "%s: what %s holds says which elements threads touch, but it has no elements in "
        "the host's memory; give an array that has some",
        instance->kernel_name, operand->name);
}

static polytile_status refuse_steps(polytile_context *ctx, const pti_instance *instance, int o) {
    return pti_fail(
        ctx, POLYTILE_UNSUPPORTED,
        "%s: %s is a view with steps, and index arrays and what they look up have none; "
        "give an array without steps",
        instance->kernel_name, instance->operand[o].name);
}

/** Share what was read of an array since a queue has it, or read it. NULL: no memory. */
static pti_index_array *find_or_read(const polytile_context *ctx, polytile_array *array) {
    if (array->queue != NULL && array->indices != NULL)
        return pti_index_array_hold(array->indices);
    pti_index_array *read =
        pti_index_array_read(ctx, &(pti_index_array){.data = array->data,
                                                     .is_wide = array->type == POLYTILE_I64,
                                                     .domain = array->domain,
                                                     .layout = array->layout});
    if (array->queue != NULL)
        array->indices = pti_index_array_hold(read);
    return read;
}

/** Read an index array, unless it was. */
static polytile_status read_array(polytile_context *ctx, polytile_array *array, int o,
                                  pti_instance *instance) {
    pti_index_array **read = &instance->inspection->array[o];
    if (*read != NULL)
        return POLYTILE_OK;
    if ((array->type != POLYTILE_I32 && array->type != POLYTILE_I64) || array->data == NULL ||
        array->is_internal)
        return refuse_index_array(ctx, instance, &instance->operand[o], array);
    if (pti_box_has_gaps(&array->domain))
        return refuse_steps(ctx, instance, o);
    *read = find_or_read(ctx, array);
    return *read != NULL ? POLYTILE_OK : fail_inspection(ctx, instance);
}

/** The section of an access that has one, since index arrays have no edges. */
static pti_section *section_of_access(pti_instance *instance, int access) {
    int s = 0;
    while (instance->section[s].access != access)
        s++;
    return &instance->section[s];
}

/** What one access narrows. */
typedef struct narrowed {
    const polytile_declaration *declaration;
    polytile_array *const *arrays;
    pti_instance *instance;
    int access;
} narrowed;

static polytile_status indirect_access(polytile_context *ctx, const narrowed *of);

/** Fill in an indirect end, and read the index array that it looks up. */
static polytile_status fill_end(polytile_context *ctx, const narrowed *of, int d,
                                const pti_indirect_end *declared, pti_looked_up *end) {
    pti_instance *instance = of->instance;
    narrowed inner = *of;
    polytile_status status;
    inner.access = declared->access;
    PTI_TRY(pti_section_fill_affine(ctx, instance, section_of_access(instance, of->access), d,
                                    &declared->plus, &end->plus));
    if (declared->access < 0)
        return POLYTILE_OK;
    const int o = of->declaration->access[declared->access].array;
    PTI_TRY(indirect_access(ctx, &inner));
    PTI_TRY(read_array(ctx, of->arrays[o], o, instance));
    end->section = *section_of_access(instance, declared->access);
    end->array = instance->inspection->array[o];
done:
    return status;
}

/** Let the section of an access have its indirection, after those that it looks up, and check
 * it. */
static polytile_status indirect_access(polytile_context *ctx, const narrowed *of) {
    pti_instance *instance = of->instance;
    const pti_indirect *declared = of->declaration->access[of->access].indirect;
    pti_section *section = section_of_access(instance, of->access);
    polytile_status status = POLYTILE_OK;
    if (declared == NULL || section->indirection != NULL)
        return POLYTILE_OK;
    pti_indirection *made = calloc(1, sizeof *made);
    if (made == NULL)
        return fail_inspection(ctx, instance);
    instance->inspection->indirection[of->access] = made;
    if (pti_box_has_gaps(&instance->operand[section->operand].domain))
        return refuse_steps(ctx, instance, section->operand);
    for (int d = 0; d < section->n_dims; d++) {
        if (!declared->is_indirect[d])
            continue;
        made->gathers[d] = pti_indirect_is_gather(declared, d);
        PTI_TRY(fill_end(ctx, of, d, &declared->lo[d], &made->lo[d]));
        PTI_TRY(fill_end(ctx, of, d, &declared->hi[d], &made->hi[d]));
        made->is_indirect[d] = true;
    }
    section->indirection = made;
    section->is_box = false;
    PTI_TRY(pti_inspection_check(ctx, instance, section));
done:
    return status;
}

polytile_status pti_instance_inspect(polytile_context *ctx, const polytile_declaration *declaration,
                                     polytile_array *const *arrays, pti_instance *instance) {
    polytile_status status = POLYTILE_OK;
    if (!pti_declaration_is_indirect(declaration))
        return POLYTILE_OK;
    PTI_TRY(create_inspection(ctx, declaration->n_accesses, instance));
    for (int a = 0; a < declaration->n_accesses; a++)
        PTI_TRY(indirect_access(ctx, &(narrowed){declaration, arrays, instance, a}));
done:
    return status;
}

/** Return whether an array has the type and domain of an index array, and elements. */
static bool is_like(const pti_index_array *read, const polytile_array *array) {
    const polytile_type type = read->is_wide ? POLYTILE_I64 : POLYTILE_I32;
    return array != NULL && array->type == type && array->data != NULL &&
           pti_box_equals(&array->domain, &read->domain);
}

static polytile_status compare_array(polytile_context *ctx, const pti_instance *instance, int o,
                                     const polytile_array *array) {
    const pti_index_array *read = instance->inspection->array[o];
    uint64_t hash;
    if (read == NULL || !is_like(read, array))
        return POLYTILE_OK;
    if (!pti_index_array_hash(ctx, read, array->data, &array->layout, &hash))
        return fail_inspection(ctx, instance);
    if (hash != read->hash)
        return pti_fail(ctx, POLYTILE_INVALID,
                        "%s: the plan was made for what %s held then, and %s holds something "
                        "else; make another plan, since subscripts look it up",
                        instance->kernel_name, instance->operand[o].name, array->name);
    return POLYTILE_OK;
}

polytile_status pti_inspection_compare(polytile_context *ctx, const pti_instance *instance,
                                       polytile_array *const *arrays) {
    polytile_status status = POLYTILE_OK;
    for (int o = 0; instance->inspection != NULL && o < instance->inspection->n_operands; o++)
        PTI_TRY(compare_array(ctx, instance, o, arrays[o]));
done:
    return status;
}
