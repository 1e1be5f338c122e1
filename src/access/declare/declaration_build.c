#include "access/declare/lookups.h"

static void destroy_declaration(pti_object *object) {
    pti_declaration_free((polytile_declaration *)object);
}

static polytile_status check_declared_names(polytile_context *ctx, const char *name,
                                            const char *kind, int n_names, int most,
                                            const char *const *names) {
    if (n_names < 0 || n_names > most)
        return pti_fail(ctx, POLYTILE_DECLARATION, "%s: %d %s; there may be at most %d", name,
                        n_names, kind, most);
    if (n_names > 0 && names == NULL)
        return pti_fail(ctx, POLYTILE_INVALID, "%s: the names of the %s are NULL", name, kind);
    return POLYTILE_OK;
}

static polytile_status check_counts(polytile_context *ctx, const char *name, int n_indices,
                                    const char *const *indices, int n_parameters,
                                    const char *const *parameters) {
    polytile_status status =
        check_declared_names(ctx, name, "indices", n_indices, POLYTILE_MAX_DIMS, indices);
    if (status == POLYTILE_OK)
        status = check_declared_names(ctx, name, "parameters", n_parameters,
                                      POLYTILE_MAX_PARAMETERS, parameters);
    if (status == POLYTILE_OK && n_indices == 0)
        status = pti_fail(ctx, POLYTILE_DECLARATION, "%s: a kernel needs at least one index", name);
    return status;
}

static polytile_status add_names(polytile_declaration *declaration, int n_indices,
                                 const char *const *indices, int n_parameters,
                                 const char *const *parameters, pti_text *why) {
    polytile_status status = POLYTILE_OK;
    for (int k = 0; status == POLYTILE_OK && k < n_indices; k++)
        status = pti_declaration_add_index(declaration, indices[k], why);
    for (int k = 0; status == POLYTILE_OK && k < n_parameters; k++)
        status = pti_declaration_add_parameter(declaration, parameters[k], why);
    return status;
}

/** Record the error in `why` for the named kernel. */
static polytile_status fail_with(polytile_context *ctx, const char *name, polytile_status status,
                                 const pti_text *why) {
    return status == POLYTILE_NO_MEMORY || why->data == NULL
               ? pti_fail_memory(ctx, name, sizeof(polytile_declaration))
               : pti_fail(ctx, status, "%s: %s", name, why->data);
}

polytile_status polytile_declaration_create(polytile_context *ctx, const char *name, int n_indices,
                                            const char *const *indices, int n_parameters,
                                            const char *const *parameters,
                                            polytile_declaration **declaration) {
    if (declaration != NULL)
        *declaration = NULL;
    PTI_ENTER(ctx, ctx, "context");
    if (declaration == NULL || name == NULL)
        return pti_fail(ctx, POLYTILE_INVALID, "declaration: the %s is NULL",
                        name == NULL ? "name" : "place for the result");
    polytile_status status = check_counts(ctx, name, n_indices, indices, n_parameters, parameters);
    if (status != POLYTILE_OK)
        return status;
    pti_text why = {0};
    polytile_declaration *made;
    status = pti_declaration_new(ctx, name, &made, &why);
    if (status == POLYTILE_OK)
        status = add_names(made, n_indices, indices, n_parameters, parameters, &why);
    if (status == POLYTILE_OK)
        pti_object_adopt(ctx, &made->object, destroy_declaration);
    else
        pti_declaration_free(made);
    *declaration = status == POLYTILE_OK ? made : NULL;
    if (status != POLYTILE_OK)
        fail_with(ctx, name, status, &why);
    pti_text_free(&why);
    return status;
}

polytile_status polytile_declaration_add_parameter(polytile_declaration *declaration,
                                                   polytile_type type, const char *name) {
    PTI_ENTER(declaration, declaration->object.context, "declaration");
    polytile_context *ctx = declaration->object.context;
    pti_text why = {0};
    polytile_status status = pti_declaration_add_typed_parameter(declaration, type, name, &why);
    if (status != POLYTILE_OK)
        fail_with(ctx, declaration->name, status, &why);
    pti_text_free(&why);
    return status;
}

static polytile_status take_elements(pti_lookups *lookups, const polytile_index_elements *elements,
                                     int depth, int *position, pti_text *why);

/** Find an end of a subscript, with what it looks up. */
static polytile_status take_end(pti_lookups *lookups, const polytile_affine *plus,
                                const polytile_index_elements *elements, int depth,
                                pti_indirect_end *end, pti_text *why) {
    *end = (pti_indirect_end){*plus, -1};
    return elements == NULL ? POLYTILE_OK
                            : take_elements(lookups, elements, depth, &end->access, why);
}

static polytile_status take_subscript(pti_lookups *lookups, const polytile_subscript *subscript,
                                      int depth, int dim, pti_access *access, pti_text *why) {
    pti_indirect_end lo, hi;
    polytile_status status;
    const bool is_gather = subscript->lo_of == subscript->hi_of;
    access->subscript[dim] = *subscript;
    access->subscript[dim].lo_of = access->subscript[dim].hi_of = NULL;
    if (subscript->lo_of == NULL && subscript->hi_of == NULL)
        return POLYTILE_OK;
    PTI_TRY(take_end(lookups, &subscript->lo, subscript->lo_of, depth, &lo, why));
    PTI_TRY(
        take_end(lookups, &subscript->hi, is_gather ? NULL : subscript->hi_of, depth, &hi, why));
    hi.access = is_gather ? lo.access : hi.access;
    PTI_TRY(pti_lookups_set(lookups, access, dim, &lo, &hi, why));
done:
    return status;
}

static polytile_status take_subscripts(pti_lookups *lookups, int n_subscripts,
                                       const polytile_subscript *subscripts, int depth,
                                       pti_access *access, pti_text *why) {
    polytile_status status = POLYTILE_OK;
    access->n_dims = n_subscripts;
    for (int d = 0; d < n_subscripts && n_subscripts <= POLYTILE_MAX_DIMS; d++)
        PTI_TRY(take_subscript(lookups, &subscripts[d], depth, d, access, why));
done:
    return status;
}

/** Add elements of an index array to what a section looks up. */
static polytile_status take_elements(pti_lookups *lookups, const polytile_index_elements *elements,
                                     int depth, int *position, pti_text *why) {
    enum { MAX_DEPTH = 16 };
    polytile_status status;
    pti_access access = {.exact = true};
    if (elements->array == NULL || elements->subscripts == NULL || depth == MAX_DEPTH) {
        pti_text_add(why, depth == MAX_DEPTH ? "elements of index arrays stand in each other more "
                                               "than 16 deep"
                                             : "an index array has no name or no subscripts");
        return POLYTILE_DECLARATION;
    }
    PTI_TRY(pti_lookups_add(lookups, elements->array, 0, position, why));
    status = take_subscripts(lookups, elements->n_subscripts, elements->subscripts, depth + 1,
                             &access, why);
    lookups->lookup[*position].access = access;
done:
    return status;
}

/** Add a section whose subscripts are still to be copied. */
static polytile_status add_section(polytile_declaration *declaration, pti_access access,
                                   const char *array, int n_subscripts,
                                   const polytile_subscript *subscripts) {
    polytile_context *ctx = declaration->object.context;
    if (array == NULL || subscripts == NULL)
        return pti_fail(ctx, POLYTILE_INVALID, "%s: the %s of a section is NULL", declaration->name,
                        array == NULL ? "array's name" : "list of subscripts");
    access.exact = true;
    pti_text why = {0};
    pti_lookups lookups = {0};
    size_t offset = 0;
    polytile_status status = take_subscripts(&lookups, n_subscripts, subscripts, 0, &access, &why);
    if (status == POLYTILE_OK)
        status = pti_lookups_add_access(declaration, array, &access, &lookups, &offset, &why);
    if (status != POLYTILE_OK)
        pti_access_free(&access);
    if (status != POLYTILE_OK)
        fail_with(ctx, declaration->name, status, &why);
    pti_lookups_free(&lookups);
    pti_text_free(&why);
    return status;
}

polytile_status polytile_declaration_add(polytile_declaration *declaration, polytile_role role,
                                         bool fresh, const char *array, int n_subscripts,
                                         const polytile_subscript *subscripts) {
    PTI_ENTER(declaration, declaration->object.context, "declaration");
    if (role == POLYTILE_SCRATCH)
        return pti_fail(declaration->object.context, POLYTILE_DECLARATION,
                        "%s: scratch such as %s needs a type; add it by "
                        "polytile_declaration_add_scratch()",
                        declaration->name, array == NULL ? "w" : array);
    return add_section(declaration, (pti_access){.role = role, .fresh = fresh}, array, n_subscripts,
                       subscripts);
}

polytile_status polytile_declaration_add_scratch(polytile_declaration *declaration,
                                                 polytile_type type, const char *name,
                                                 int n_subscripts,
                                                 const polytile_subscript *subscripts) {
    PTI_ENTER(declaration, declaration->object.context, "declaration");
    return add_section(declaration, (pti_access){.role = POLYTILE_SCRATCH, .type = type}, name,
                       n_subscripts, subscripts);
}

void polytile_declaration_destroy(polytile_declaration *declaration) {
    if (declaration != NULL)
        pti_object_release(&declaration->object);
}
