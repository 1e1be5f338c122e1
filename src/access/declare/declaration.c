#include "access/declare/declaration.h"

#include "access/array/type.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

bool pti_terms_are_equal(const polytile_affine *a, const polytile_affine *b) {
    return memcmp(a->index, b->index, sizeof a->index) == 0 &&
           memcmp(a->parameter, b->parameter, sizeof a->parameter) == 0;
}

bool pti_subscript_is_one_element(const polytile_subscript *subscript) {
    return !subscript->from_first && !subscript->to_last &&
           subscript->lo.constant == subscript->hi.constant &&
           pti_terms_are_equal(&subscript->lo, &subscript->hi);
}

bool pti_is_identifier(const char *text) {
    if (text == NULL || !(isalpha((unsigned char)*text) || *text == '_'))
        return false;
    while (isalnum((unsigned char)*text) || *text == '_')
        text++;
    return *text == '\0';
}

int pti_find_name(const char *name, int n_names, char *const *names) {
    for (int k = 0; k < n_names; k++)
        if (strcmp(name, names[k]) == 0)
            return k;
    return -1;
}

polytile_status pti_out_of_memory(pti_text *why) {
    pti_text_add(why, "out of host memory");
    return POLYTILE_NO_MEMORY;
}

polytile_status pti_declaration_new(polytile_context *ctx, const char *name,
                                    polytile_declaration **declaration, pti_text *why) {
    *declaration = NULL;
    if (!pti_is_identifier(name)) {
        pti_text_add(why, "a kernel's name must be an identifier, not '%s'", name ? name : "");
        return POLYTILE_DECLARATION;
    }
    polytile_declaration *made = calloc(1, sizeof *made);
    if (made == NULL)
        return pti_out_of_memory(why);
    made->object.context = ctx;
    made->name = strdup(name);
    if (made->name == NULL) {
        free(made);
        return pti_out_of_memory(why);
    }
    *declaration = made;
    return POLYTILE_OK;
}

void pti_declaration_free(polytile_declaration *declaration) {
    if (declaration == NULL)
        return;
    for (int k = 0; k < declaration->n_indices; k++)
        free(declaration->index_name[k]);
    for (int k = 0; k < declaration->n_parameters; k++)
        free(declaration->parameter_name[k]);
    for (int k = 0; k < declaration->n_arrays; k++)
        free(declaration->array_name[k]);
    for (int k = 0; k < declaration->n_accesses; k++)
        pti_access_free(&declaration->access[k]);
    free(declaration->array_name);
    free(declaration->array_n_dims);
    free(declaration->is_scratch);
    free(declaration->access);
    free(declaration->name);
    free(declaration);
}

static polytile_status add_name(const polytile_declaration *declaration, const char *kind,
                                const char *name, int most, int *n_names, char **names,
                                pti_text *why) {
    if (!pti_is_identifier(name)) {
        pti_text_add(why, "the name of %s must be an identifier, not '%s'", kind, name ? name : "");
        return POLYTILE_DECLARATION;
    }
    bool is_index = pti_find_name(name, declaration->n_indices, declaration->index_name) >= 0;
    if (is_index ||
        pti_find_name(name, declaration->n_parameters, declaration->parameter_name) >= 0) {
        pti_text_add(why, "the name '%s' is %s already; rename %s", name,
                     is_index ? "an index" : "a parameter", kind);
        return POLYTILE_DECLARATION;
    }
    if (*n_names == most) {
        pti_text_add(why, "'%s' is one more than the %d there may be; leave out %s", name, most,
                     kind);
        return POLYTILE_DECLARATION;
    }
    names[*n_names] = strdup(name);
    if (names[*n_names] == NULL)
        return pti_out_of_memory(why);
    ++*n_names;
    return POLYTILE_OK;
}

polytile_status pti_declaration_add_index(polytile_declaration *declaration, const char *name,
                                          pti_text *why) {
    return add_name(declaration, "an index", name, POLYTILE_MAX_DIMS, &declaration->n_indices,
                    declaration->index_name, why);
}

polytile_status pti_declaration_add_parameter(polytile_declaration *declaration, const char *name,
                                              pti_text *why) {
    const int p = declaration->n_parameters;
    polytile_status status = add_name(declaration, "a parameter", name, POLYTILE_MAX_PARAMETERS,
                                      &declaration->n_parameters, declaration->parameter_name, why);
    if (status == POLYTILE_OK)
        declaration->parameter_type[p] = POLYTILE_I64;
    return status;
}

polytile_status pti_declaration_add_typed_parameter(polytile_declaration *declaration,
                                                    polytile_type type, const char *name,
                                                    pti_text *why) {
    const int p = declaration->n_parameters;
    if (type < 0 || polytile_type_get_bytes(type) == 0) {
        pti_text_add(why, "a parameter is one of %s, not of type %d", PTI_TYPE_NAMES, type);
        return POLYTILE_DECLARATION;
    }
    if (pti_type_part(type) >= 0 || pti_type_indexed(type) >= 0) {
        char text[PTI_TYPE_TEXT_BYTES];
        pti_text_add(why,
                     "a parameter is one number, and %s has two; give them as two parameters, such "
                     "as f32 a_re, f32 a_im",
                     pti_type_format(type, text));
        return POLYTILE_DECLARATION;
    }
    if (name != NULL && pti_find_name(name, declaration->n_arrays, declaration->array_name) >= 0) {
        pti_text_add(why, "the name '%s' is an array already; rename a parameter", name);
        return POLYTILE_DECLARATION;
    }
    polytile_status status = pti_declaration_add_parameter(declaration, name, why);
    if (status == POLYTILE_OK) {
        declaration->parameter_type[p] = type;
        declaration->is_typed[p] = true;
    }
    return status;
}

bool pti_parameter_is_integer(const polytile_declaration *declaration, int parameter) {
    return declaration->parameter_type[parameter] < POLYTILE_F16;
}
