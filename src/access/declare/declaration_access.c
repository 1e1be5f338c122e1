#include "access/array/type.h"
#include "access/declare/declaration.h"

#include "base/list.h"
#include "base/plural.h"

#include <stdlib.h>
#include <string.h>

/* What a section of a declaration may be. */

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
        if (access->indirect != NULL && access->indirect->is_indirect[d] &&
            (!names_only(declaration, &access->indirect->lo[d].plus) ||
             !names_only(declaration, &access->indirect->hi[d].plus))) {
            pti_text_add(why,
                         "subscript %d of %s adds to an element of an index array what the kernel "
                         "has no index or parameter for",
                         d + 1, array);
            return false;
        }
    }
    return true;
}

/** What lies beyond an array's end has one element of it for several threads, which clamps have
 * them share; only reading is meant by that. */
static bool check_edges(const char *array, const pti_access *access, pti_text *why) {
    for (int d = 0; d < access->n_dims; d++) {
        const polytile_edge edge = access->subscript[d].edge;
        if (edge == POLYTILE_EDGE_CLIP)
            continue;
        if (pti_edge_word(edge) == NULL)
            pti_text_add(why, "the edge %d of subscript %d of %s is unknown", (int)edge, d + 1,
                         array);
        else if (access->role == POLYTILE_SCRATCH)
            pti_text_add(why, "subscript %d of %s has an edge, but scratch ends nowhere", d + 1,
                         array);
        else if (edge == POLYTILE_EDGE_CLAMP && access->role != POLYTILE_IN)
            pti_text_add(why,
                         "subscript %d of %s clamps, which only the role in may; use wrap, or "
                         "leave out what lies beyond the ends",
                         d + 1, array);
        else
            continue;
        return false;
    }
    return true;
}

static bool check_role(const char *array, const pti_access *access, pti_text *why) {
    if (!pti_role_is_known(access->role)) {
        pti_text_add(why, "the role %d of %s is unknown", (int)access->role, array);
        return false;
    }
    if (access->fresh && !pti_role_reduces(access->role)) {
        pti_text_add(why,
                     "%s cannot start from an identity in the role '%s'; only sum, prod, min, "
                     "max, argmin and argmax can",
                     array, pti_role_word(access->role));
        return false;
    }
    return true;
}

/** What is scratch has its type and all its extents in one section. */
static bool check_scratch(const char *name, const pti_access *access, pti_text *why) {
    if (access->role != POLYTILE_SCRATCH)
        return true;
    if (access->relation != NULL) {
        pti_text_add(why, "%s is scratch, which takes subscripts, not a relation", name);
        return false;
    }
    if (polytile_type_get_bytes(access->type) == 0) {
        pti_text_add(why,
                     "%s is scratch, and %d is no element type; use POLYTILE_F32 and so on, or "
                     "POLYTILE_BYTES(n)",
                     name, access->type);
        return false;
    }
    for (int d = 0; d < access->n_dims; d++) {
        if (!access->subscript[d].from_first && !access->subscript[d].to_last)
            continue;
        pti_text_add(why,
                     "subscript %d of %s leaves an end open, but no array has extents for scratch; "
                     "give both, such as 0:n-1",
                     d + 1, name);
        return false;
    }
    return true;
}

/** Check an access against those of the same array that were declared before. */
static bool agrees_with(const polytile_declaration *declaration, int array,
                        const pti_access *access, pti_text *why) {
    const char *name = declaration->array_name[array];
    if (declaration->is_scratch[array] || access->role == POLYTILE_SCRATCH) {
        pti_text_add(why, "%s is %s already; scratch has one section and a name of its own", name,
                     declaration->is_scratch[array] ? "scratch" : "an array");
        return false;
    }
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

/** Scratch is a thread's own, whatever index arrays hold; these stay as the host knows them. Two
 * threads that write one element are found when it is known what these hold. */
static bool check_indirect(const polytile_declaration *declaration, const char *array, int position,
                           const pti_access *access, pti_text *why) {
    if (access->indirect != NULL && access->role == POLYTILE_SCRATCH) {
        pti_text_add(why,
                     "%s has elements that an index array holds, where two threads may meet; that "
                     "is not for '%s'",
                     array, pti_role_word(access->role));
        return false;
    }
    if (position >= 0 && access->role != POLYTILE_IN && pti_is_index_array(declaration, position)) {
        pti_text_add(
            why,
            "%s stands inside a subscript, so its elements are known before the launch; it "
            "can only be read, not '%s'",
            array, pti_role_word(access->role));
        return false;
    }
    return true;
}

static polytile_status add_array(polytile_declaration *declaration, const char *array,
                                 const pti_access *access, pti_text *why) {
    const int number = declaration->n_arrays;
    if (!PTI_RESIZE(declaration->array_name, number + 1) ||
        !PTI_RESIZE(declaration->array_n_dims, number + 1) ||
        !PTI_RESIZE(declaration->is_scratch, number + 1))
        return pti_out_of_memory(why);
    declaration->array_name[number] = strdup(array);
    if (declaration->array_name[number] == NULL)
        return pti_out_of_memory(why);
    declaration->is_scratch[number] = access->role == POLYTILE_SCRATCH;
    declaration->n_scratch += access->role == POLYTILE_SCRATCH;
    declaration->array_n_dims[declaration->n_arrays++] = access->n_dims;
    return POLYTILE_OK;
}

/** Zero what a whole dimension does not use, so that equal sections are equal as data. */
static void normalise_access(pti_access *access) {
    for (int d = 0; d < access->n_dims; d++) {
        if (access->subscript[d].from_first)
            memset(&access->subscript[d].lo, 0, sizeof access->subscript[d].lo);
        if (access->subscript[d].to_last)
            memset(&access->subscript[d].hi, 0, sizeof access->subscript[d].hi);
        access->subscript[d].lo_of = access->subscript[d].hi_of = NULL;
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
        for (int d = 0; access->indirect != NULL && d < access->n_dims; d++)
            is_used[p] |= access->indirect->is_indirect[d] &&
                          (access->indirect->lo[d].plus.parameter[p] != 0 ||
                           access->indirect->hi[d].plus.parameter[p] != 0);
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
static bool check_name_is_free(const polytile_declaration *declaration, const char *array,
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
        !check_scratch(array, access, why) || !check_edges(array, access, why) ||
        !check_subscripts(declaration, array, access, why) ||
        !uses_integers(declaration, array, access, why) ||
        !check_name_is_free(declaration, array, why) ||
        (position >= 0 && !agrees_with(declaration, position, access, why)) ||
        !check_indirect(declaration, array, position, access, why))
        return POLYTILE_DECLARATION;

    if (!PTI_RESIZE(declaration->access, declaration->n_accesses + 1))
        return pti_out_of_memory(why);
    if (position < 0) {
        position = declaration->n_arrays;
        polytile_status status = add_array(declaration, array, access, why);
        if (status != POLYTILE_OK)
            return status;
    }
    pti_access *added = &declaration->access[declaration->n_accesses++];
    *added = *access;
    added->array = position;
    normalise_access(added);
    mark_parameters(added, declaration->is_in_subscripts);
    declaration->n_constraints += count_constraints(access);
    return POLYTILE_OK;
}
