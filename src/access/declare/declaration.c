#include "access/declare/declaration.h"

#include "access/declare/type.h"

#include "base/plural.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const char *const role_words[] = {
#define ROLE_WORD(name, text) text,
    POLYTILE_ROLES(ROLE_WORD)
#undef ROLE_WORD
};

enum { N_ROLES = sizeof role_words / sizeof *role_words };

const char *pti_role_word(polytile_role role) {
    return (int)role >= 0 && (int)role < N_ROLES ? role_words[role] : "?";
}

bool pti_role_reduces(polytile_role role) {
    return role >= POLYTILE_SUM;
}

bool pti_role_writes(polytile_role role) {
    return role != POLYTILE_IN;
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

static polytile_status out_of_memory(pti_text *why) {
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
        return out_of_memory(why);
    made->object.context = ctx;
    made->name = strdup(name);
    if (made->name == NULL) {
        free(made);
        return out_of_memory(why);
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
        pti_relation_free(declaration->access[k].relation);
    free(declaration->array_name);
    free(declaration->array_n_dims);
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
        return out_of_memory(why);
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

static bool names_only(const polytile_declaration *declaration, const polytile_affine *affine) {
    for (int k = declaration->n_indices; k < POLYTILE_MAX_DIMS; k++)
        if (affine->index[k] != 0)
            return false;
    for (int k = declaration->n_parameters; k < POLYTILE_MAX_PARAMETERS; k++)
        if (affine->parameter[k] != 0)
            return false;
    return true;
}

static bool check_subscripts(const polytile_declaration *declaration, const char *array,
                             const pti_access *access, pti_text *why) {
    for (int d = 0; d < access->n_dims; d++) {
        const polytile_subscript *subscript = &access->subscript[d];
        if (subscript->step < 1) {
            pti_text_add(why, "the step of subscript %d of %s is %lld; it must be at least 1",
                         d + 1, array, (long long)subscript->step);
            return false;
        }
        if ((!subscript->from_first && !names_only(declaration, &subscript->lo)) ||
            (!subscript->to_last && !names_only(declaration, &subscript->hi))) {
            pti_text_add(why,
                         "subscript %d of %s has a coefficient for an index or a parameter that "
                         "the kernel, with %d %s and %d %s, does not have",
                         d + 1, array, declaration->n_indices,
                         pti_plural(declaration->n_indices, "index", "indices"),
                         declaration->n_parameters,
                         pti_plural(declaration->n_parameters, "parameter", "parameters"));
            return false;
        }
    }
    return true;
}

static bool check_role(const char *array, const pti_access *access, pti_text *why) {
    if ((int)access->role < 0 || (int)access->role >= N_ROLES) {
        pti_text_add(why, "the role %d of %s is unknown", (int)access->role, array);
        return false;
    }
    if (access->fresh && !pti_role_reduces(access->role)) {
        pti_text_add(why,
                     "%s cannot start from an identity in the role '%s'; only sum, prod, min and "
                     "max can",
                     array, pti_role_word(access->role));
        return false;
    }
    return true;
}

static bool agrees_with(const polytile_declaration *declaration, int array,
                        const pti_access *access, pti_text *why) {
    const char *name = declaration->array_name[array];
    if (declaration->array_n_dims[array] != access->n_dims) {
        pti_text_add(why, "%s has %d %s here and %d before", name, access->n_dims,
                     pti_plural(access->n_dims, "subscript", "subscripts"),
                     declaration->array_n_dims[array]);
        return false;
    }
    for (int k = 0; k < declaration->n_accesses; k++) {
        const pti_access *other = &declaration->access[k];
        if (other->array == array && other->role == access->role && other->fresh != access->fresh) {
            pti_text_add(why,
                         "%s is combined both onto what it holds ('%s') and from the identity "
                         "('out %s'); use two arrays",
                         name, pti_role_word(access->role), pti_role_word(access->role));
            return false;
        }
    }
    return true;
}

static polytile_status add_array(polytile_declaration *declaration, const char *array, int n_dims,
                                 pti_text *why) {
    size_t n_arrays = (size_t)declaration->n_arrays + 1;
    char **names = realloc(declaration->array_name, n_arrays * sizeof *names);
    if (names == NULL)
        return out_of_memory(why);
    declaration->array_name = names;
    int *counts = realloc(declaration->array_n_dims, n_arrays * sizeof *counts);
    if (counts == NULL)
        return out_of_memory(why);
    declaration->array_n_dims = counts;
    names[declaration->n_arrays] = strdup(array);
    if (names[declaration->n_arrays] == NULL)
        return out_of_memory(why);
    counts[declaration->n_arrays++] = n_dims;
    return POLYTILE_OK;
}

/** Zero what a whole dimension does not use, so that equal sections are equal as data. */
static void normalise_access(pti_access *access) {
    for (int d = 0; d < access->n_dims; d++) {
        if (access->subscript[d].from_first)
            memset(&access->subscript[d].lo, 0, sizeof access->subscript[d].lo);
        if (access->subscript[d].to_last)
            memset(&access->subscript[d].hi, 0, sizeof access->subscript[d].hi);
    }
    memset(&access->subscript[access->n_dims], 0,
           (size_t)(POLYTILE_MAX_DIMS - access->n_dims) * sizeof access->subscript[0]);
}

static int count_constraints(const pti_access *access) {
    return access->relation == NULL ? 0 : access->relation->n_constraints;
}

static bool has_room_for_access(const polytile_declaration *declaration, const char *array,
                                const pti_access *access, pti_text *why) {
    int n_left = PTI_MAX_CONSTRAINTS - declaration->n_constraints;
    if (declaration->n_accesses == PTI_MAX_ACCESSES)
        pti_text_add(why,
                     "this section of %s is one more than the %d there may be; declare wider ones",
                     array, PTI_MAX_ACCESSES);
    else if (count_constraints(access) > n_left)
        pti_text_add(why,
                     "with this access of %s all relations have %d comparisons in their pieces; "
                     "there may be %d; leave out some, or use the short form",
                     array, declaration->n_constraints + count_constraints(access),
                     PTI_MAX_CONSTRAINTS);
    else
        return true;
    return false;
}

/** Mark the parameters whose values a section needs. */
static void mark_parameters(const pti_access *access, bool *is_used) {
    const pti_relation *relation = access->relation;
    for (int p = 0; p < POLYTILE_MAX_PARAMETERS; p++) {
        for (int d = 0; d < access->n_dims; d++) {
            const polytile_subscript *subscript = &access->subscript[d];
            is_used[p] |= (!subscript->from_first && subscript->lo.parameter[p] != 0) ||
                          (!subscript->to_last && subscript->hi.parameter[p] != 0);
        }
        for (int c = 0; relation != NULL && c < relation->n_constraints; c++)
            is_used[p] |= relation->constraint[c].parameter[p] != 0;
    }
}

static bool uses_integers(const polytile_declaration *declaration, const char *array,
                          const pti_access *access, pti_text *why) {
    bool is_used[POLYTILE_MAX_PARAMETERS] = {false};
    char type[PTI_TYPE_TEXT_BYTES];
    mark_parameters(access, is_used);
    for (int p = 0; p < declaration->n_parameters; p++) {
        if (!is_used[p] || pti_parameter_is_integer(declaration, p))
            continue;
        pti_text_add(why, "%s is %s: subscripts take integers, also those of %s",
                     declaration->parameter_name[p],
                     pti_type_format(declaration->parameter_type[p], type), array);
        return false;
    }
    return true;
}

/** Refuse an array with the name of a parameter that has a type: bodies have both names. */
static bool has_own_name(const polytile_declaration *declaration, const char *array,
                         pti_text *why) {
    int p = pti_find_name(array, declaration->n_parameters, declaration->parameter_name);
    if (p < 0 || !declaration->is_typed[p])
        return true;
    pti_text_add(why, "the name '%s' is a parameter already; rename an array", array);
    return false;
}

polytile_status pti_declaration_add_access(polytile_declaration *declaration, const char *array,
                                           const pti_access *access, pti_text *why) {
    if (!pti_is_identifier(array)) {
        pti_text_add(why, "an array's name must be an identifier, not '%s'", array ? array : "");
        return POLYTILE_DECLARATION;
    }
    if (access->n_dims < 1 || access->n_dims > POLYTILE_MAX_DIMS) {
        pti_text_add(why, "%s has %d subscripts; there may be 1 to %d", array, access->n_dims,
                     POLYTILE_MAX_DIMS);
        return POLYTILE_DECLARATION;
    }
    int position = pti_find_name(array, declaration->n_arrays, declaration->array_name);
    if (!has_room_for_access(declaration, array, access, why) || !check_role(array, access, why) ||
        !check_subscripts(declaration, array, access, why) ||
        !uses_integers(declaration, array, access, why) || !has_own_name(declaration, array, why) ||
        (position >= 0 && !agrees_with(declaration, position, access, why)))
        return POLYTILE_DECLARATION;

    size_t n_bytes = ((size_t)declaration->n_accesses + 1) * sizeof *access;
    pti_access *grown = realloc(declaration->access, n_bytes);
    if (grown == NULL)
        return out_of_memory(why);
    declaration->access = grown;
    if (position < 0) {
        position = declaration->n_arrays;
        polytile_status status = add_array(declaration, array, access->n_dims, why);
        if (status != POLYTILE_OK)
            return status;
    }
    grown[declaration->n_accesses] = *access;
    grown[declaration->n_accesses].array = position;
    normalise_access(&grown[declaration->n_accesses]);
    mark_parameters(&grown[declaration->n_accesses], declaration->is_in_subscripts);
    declaration->n_accesses++;
    declaration->n_constraints += count_constraints(access);
    return POLYTILE_OK;
}

static polytile_status copy_access(const polytile_declaration *from, int k,
                                   polytile_declaration *copy, pti_text *why) {
    pti_access access = from->access[k];
    if (access.relation != NULL) {
        access.relation = pti_relation_copy(access.relation);
        if (access.relation == NULL)
            return out_of_memory(why);
    }
    polytile_status status =
        pti_declaration_add_access(copy, from->array_name[access.array], &access, why);
    if (status != POLYTILE_OK)
        pti_relation_free(access.relation);
    return status;
}

polytile_status pti_declaration_copy(const polytile_declaration *declaration,
                                     polytile_declaration **copy) {
    pti_text why = {0};
    polytile_declaration *made;
    polytile_status status;
    PTI_TRY(pti_declaration_new(declaration->object.context, declaration->name, &made, &why));
    for (int k = 0; k < declaration->n_indices; k++)
        PTI_TRY(pti_declaration_add_index(made, declaration->index_name[k], &why));
    for (int k = 0; k < declaration->n_parameters; k++)
        PTI_TRY(pti_declaration_add_parameter(made, declaration->parameter_name[k], &why));
    memcpy(made->parameter_type, declaration->parameter_type, sizeof made->parameter_type);
    memcpy(made->is_typed, declaration->is_typed, sizeof made->is_typed);
    memcpy(made->is_in_subscripts, declaration->is_in_subscripts, sizeof made->is_in_subscripts);
    for (int k = 0; k < declaration->n_accesses; k++)
        PTI_TRY(copy_access(declaration, k, made, &why));
done:
    if (status != POLYTILE_OK) {
        pti_declaration_free(made);
        made = NULL;
        pti_fail_memory(declaration->object.context, declaration->name, sizeof *made);
        status = POLYTILE_NO_MEMORY;
    }
    pti_text_free(&why);
    *copy = made;
    return status;
}
