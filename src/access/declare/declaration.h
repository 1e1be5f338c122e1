#ifndef POLYTILE_ACCESS_DECLARE_DECLARATION_H
#define POLYTILE_ACCESS_DECLARE_DECLARATION_H

#include "base/context.h"
#include "base/text.h"
#include <polytile/declaration.h>

/* access/declare: what programs declare. Text or calls become a declaration, with accesses, edges
 * and parameters. Here is the declaration as data; parse.h reads its text. */

/* A declaration as data. The parser and the builder make it; instances and isl relations are made
 * from it. */

/** One linear constraint over a relation's variables; equality or >= 0. */
typedef struct pti_constraint {
    bool is_equality;
    int64_t constant;
    int64_t index[POLYTILE_MAX_DIMS];
    int64_t element[POLYTILE_MAX_DIMS];
    int64_t parameter[POLYTILE_MAX_PARAMETERS];
    int64_t exists[POLYTILE_MAX_DIMS];
    int64_t lookup; /* of what an index array holds: in subscripts alone, never in relations */
} pti_constraint;

/** A basic relation { [index] -> array[element] : constraints }, the form of isl for what sections
 * cannot say. */
typedef struct pti_relation {
    int n_exists;
    int n_constraints;
    pti_constraint *constraint; /* owned */
} pti_relation;

/** An end of an indirect subscript: an affine expression, and on it what an element holds of an
 * index array. */
typedef struct pti_indirect_end {
    polytile_affine plus;
    int access; /* of the declaration, whose elements of the thread hold it; -1: nothing is added */
} pti_indirect_end;

/** What the subscripts of an access look up. Where both ends of one are equal, it has an element
 * for each element of the access that they name; else that access has one element a thread. */
typedef struct pti_indirect {
    bool is_indirect[POLYTILE_MAX_DIMS]; /* of a subscript */
    pti_indirect_end lo[POLYTILE_MAX_DIMS];
    pti_indirect_end hi[POLYTILE_MAX_DIMS];
} pti_indirect;

/**
 * The elements of one array that a thread touches in one way.
 *
 * Space   The section is { [index] -> array[element] : for each d, element d in subscript d }, to
 *         be clipped to the array. Where relation is not NULL, it is what was declared and the
 *         section contains it; exact says that they are equal. Where indirect is not NULL, its
 *         subscripts are whole dimensions here, so that whoever knows nothing of it is right.
 */
typedef struct pti_access {
    int array; /* position among the declaration's arrays */
    polytile_role role;
    polytile_type type; /* of scratch: of its elements; else 0 */
    bool fresh;         /* of a reducing role: starts from the identity */
    bool exact;
    int n_dims;
    polytile_subscript subscript[POLYTILE_MAX_DIMS];
    pti_relation *relation; /* owned; NULL unless given in braces or as an isl map */
    pti_indirect *indirect; /* owned; NULL unless subscripts hold elements of index arrays */
} pti_access;

/** Return whether any subscript of an access has an edge. */
static inline bool pti_access_has_edges(const pti_access *access) {
    bool has = false;
    for (int d = 0; d < access->n_dims; d++)
        has = has || access->subscript[d].edge != POLYTILE_EDGE_CLIP;
    return has;
}

/** Free what an access owns. */
void pti_access_free(pti_access *access);

/** A declaration as data. */
struct polytile_declaration {
    pti_object object;
    char *name;
    int n_indices;
    char *index_name[POLYTILE_MAX_DIMS];
    int n_parameters;
    char *parameter_name[POLYTILE_MAX_PARAMETERS]; /* in order of first appearance */
    polytile_type parameter_type[POLYTILE_MAX_PARAMETERS];
    bool is_typed[POLYTILE_MAX_PARAMETERS]; /* declared with its type, not by a subscript's use */
    bool is_in_subscripts[POLYTILE_MAX_PARAMETERS]; /* whether a section needs a parameter's value:
                                                       planning then does, too */
    int n_arrays;                                   /* with scratch, which launches are not given */
    int n_scratch;                                  /* of them */
    char **array_name;                              /* in order of first appearance */
    int *array_n_dims;
    bool *is_scratch; /* of each array */
    int n_accesses;
    pti_access *access;
    int n_constraints; /* of all accesses' relations */
};

/** Make a declaration that no context owns; the caller frees it with pti_declaration_free(). Errors
 * go to *why, without the kernel's name. */
polytile_status pti_declaration_new(polytile_context *ctx, const char *name,
                                    polytile_declaration **declaration, pti_text *why);
/** Make a deep copy that no context owns. Errors: NO_MEMORY. */
polytile_status pti_declaration_copy(const polytile_declaration *declaration,
                                     polytile_declaration **copy);
void pti_declaration_free(polytile_declaration *declaration);

/** Return a hash that is equal for declarations of one kernel that differ only in names of indices
 * and arrays. */
uint64_t pti_declaration_hash(const polytile_declaration *declaration);

/** Add one name; a parameter is i64. Errors: DECLARATION (no identifier, taken already, or one too
 * many). */
polytile_status pti_declaration_add_index(polytile_declaration *declaration, const char *name,
                                          pti_text *why);
polytile_status pti_declaration_add_parameter(polytile_declaration *declaration, const char *name,
                                              pti_text *why);
/** Add one parameter with its type; no array may have its name. Errors: DECLARATION (as above; no
 * type of POLYTILE_TYPES; an array's name). */
polytile_status pti_declaration_add_typed_parameter(polytile_declaration *declaration,
                                                    polytile_type type, const char *name,
                                                    pti_text *why);

/** The most sections of a declaration, with one for each basic relation, and the most constraints
 * of its relations: isl takes a millisecond for a few of them. */
enum { PTI_MAX_ACCESSES = 1024, PTI_MAX_CONSTRAINTS = 4096 };

/**
 * Add an access of the named array; access->array is filled in.
 *
 * Errors  DECLARATION: *why says what is wrong. Takes access->relation and access->indirect on
 *         success only.
 */
polytile_status pti_declaration_add_access(polytile_declaration *declaration, const char *array,
                                           const pti_access *access, pti_text *why);

/** Return whether a parameter has an integer type, which subscripts take. */
bool pti_parameter_is_integer(const polytile_declaration *declaration, int parameter);

/** Say that memory ran out. Returns NO_MEMORY. */
polytile_status pti_out_of_memory(pti_text *why);
/** Return the position of a name among n names, or -1. */
int pti_find_name(const char *name, int n_names, char *const *names);
/** Return whether a text is a letter or underscore followed by letters, digits and underscores. */
bool pti_is_identifier(const char *text);
/** Return whether two expressions are equal but for their constants. */
bool pti_terms_are_equal(const polytile_affine *a, const polytile_affine *b);
/** Return whether a subscript names one element whatever the array's extents are. */
bool pti_subscript_is_one_element(const polytile_subscript *subscript);
/** Return the word of an edge around a subscript; NULL: it has none, or is unknown. */
const char *pti_edge_word(polytile_edge edge);
bool pti_role_is_known(polytile_role role);
/** Return the word of a role in a declaration. */
const char *pti_role_word(polytile_role role);
/** Return what the elements of a type lack for a reducing role, and what to do; NULL: nothing. */
const char *pti_role_lacks(polytile_role role, polytile_type type);

/** Return whether threads combine into the element (from sum to argmax). */
bool pti_role_reduces(polytile_role role);
/** Return whether a thread stores into the elements: what it has as scratch is its own, too. */
bool pti_role_writes(polytile_role role);

/** Return whether elements of an array stand in some subscript. */
bool pti_is_index_array(const polytile_declaration *declaration, int array);
bool pti_indirect_ends_are_equal(const pti_indirect_end *a, const pti_indirect_end *b);
/** Return whether both ends of an indirect subscript are one: an element for each that is looked
 * up. */
bool pti_indirect_is_gather(const pti_indirect *indirect, int dim);
/** Return whether some access has indirect subscripts. */
bool pti_declaration_is_indirect(const polytile_declaration *declaration);

/** Relations as data. pti_relation_add() returns false when memory runs out. */
pti_relation *pti_relation_new(void);
pti_relation *pti_relation_copy(const pti_relation *relation);
bool pti_relation_add(pti_relation *relation, const pti_constraint *constraint);
void pti_relation_free(pti_relation *relation);

#endif
