#include "access/declare/declaration.h"

#include <string.h>

static void destroy_declaration(pti_object *object) {
    pti_declaration_free((polytile_declaration *)object);
}

static polytile_status check_names(polytile_context *ctx, const char *name, const char *kind,
                                   int n_names, int most, const char *const *names) {
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
        check_names(ctx, name, "indices", n_indices, POLYTILE_MAX_DIMS, indices);
    if (status == POLYTILE_OK)
        status =
            check_names(ctx, name, "parameters", n_parameters, POLYTILE_MAX_PARAMETERS, parameters);
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

/** Add a section whose subscripts are still to be copied. */
static polytile_status add_section(polytile_declaration *declaration, pti_access access,
                                   const char *array, int n_subscripts,
                                   const polytile_subscript *subscripts) {
    polytile_context *ctx = declaration->object.context;
    if (array == NULL || subscripts == NULL)
        return pti_fail(ctx, POLYTILE_INVALID, "%s: the %s of a section is NULL", declaration->name,
                        array == NULL ? "array's name" : "list of subscripts");
    access.exact = true;
    access.n_dims = n_subscripts;
    if (n_subscripts > 0 && n_subscripts <= POLYTILE_MAX_DIMS)
        memcpy(access.subscript, subscripts, (size_t)n_subscripts * sizeof *subscripts);
    pti_text why = {0};
    polytile_status status = pti_declaration_add_access(declaration, array, &access, &why);
    if (status != POLYTILE_OK)
        fail_with(ctx, declaration->name, status, &why);
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
