#ifndef POLYTILE_ACCESS_DECLARATION_H
#define POLYTILE_ACCESS_DECLARATION_H

#include "base/context.h"
#include <polytile/declaration.h>

/* A declaration as data: what the parser and the builder make, and what instances and isl relations
 * are made from. */

/** One linear constraint over a relation's variables; equality or >= 0. */
typedef struct pti_constraint {
    bool is_equality;
    int64_t constant;
    int64_t index[POLYTILE_MAX_DIMS];
    int64_t element[POLYTILE_MAX_DIMS];
    int64_t parameter[POLYTILE_MAX_DIMS];
    int64_t exists[POLYTILE_MAX_DIMS];
} pti_constraint;

/** A basic relation { [index] -> array[element] : constraints }, the form of isl for what sections
 * cannot say. */
typedef struct pti_relation {
    int n_exists;
    int n_constraints;
    pti_constraint *constraint; /* owned */
} pti_relation;

/**
 * The elements of one array that a thread touches in one way.
 *
 * Space   The section is { [index] -> array[element] : for each d, element d in subscript d }, to
 *         be clipped to the array. Where relation is not NULL, it is what was declared and the
 *         section contains it; exact says that they are equal.
 */
typedef struct pti_access {
    int array; /* position among the declaration's arrays */
    polytile_role role;
    bool fresh; /* of a reducing role: starts from the identity */
    bool exact;
    int n_dims;
    polytile_subscript subscript[POLYTILE_MAX_DIMS];
    pti_relation *relation; /* owned; NULL unless given in braces or as an isl map */
} pti_access;

struct polytile_declaration {
    pti_object object;
    char *name;
    int n_indices;
    char *index_name[POLYTILE_MAX_DIMS];
    int n_parameters;
    char *parameter_name[POLYTILE_MAX_DIMS];
    int n_arrays;
    char **array_name; /* in order of first appearance */
    int *array_n_dims;
    int n_accesses;
    pti_access *access;
};

#endif
