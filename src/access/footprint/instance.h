#ifndef POLYTILE_ACCESS_FOOTPRINT_INSTANCE_H
#define POLYTILE_ACCESS_FOOTPRINT_INSTANCE_H

#include "access/declare/kernel.h"
#include <polytile/array.h>
#include <polytile/plan.h>

/* A kernel with its launch domain, arrays and parameter values filled in: all that planning
 * needs. */

/** constant + sum of index[k] * (thread index k). */
typedef struct pti_affine {
    int64_t constant;
    int64_t index[POLYTILE_MAX_DIMS];
} pti_affine;

/** Elements lo, lo + step, ... up to hi of one dimension; whole dimensions are constants. */
typedef struct pti_subscript {
    pti_affine lo;
    pti_affine hi;
    int64_t step;
} pti_subscript;

typedef struct pti_section {
    int operand;
    polytile_role role;
    bool fresh;
    bool exact;        /* false: touches some of the section's elements, not necessarily all */
    bool may_be_empty; /* for some thread of the launch, the array's ends aside */
    /* The footprint of any box of threads is its hull: each dimension is an interval of fixed
     * length that follows one index (POLYTILE_MAX_DIMS: none) without gaps. */
    bool is_box;
    int followed[POLYTILE_MAX_DIMS];
    int n_dims;
    pti_subscript subscript[POLYTILE_MAX_DIMS];
} pti_section;

/** One array of the launch, or a piece of one, with what the kernel does to it. */
typedef struct pti_operand {
    char *name;
    int array; /* a further piece (split.h): whose; see pti_operand_array() */
    polytile_type type;
    int64_t element_bytes;
    polytile_domain domain;
    polytile_domain
        whole;    /* of the program's array, of which a member may hold a part as its own */
    bool reads;   /* some elements must be on the device before (in, inout, reductions that are not
                     fresh) */
    bool writes;  /* some elements change */
    bool reduces; /* written by a reducing role */
    bool fresh;   /* reduces, starting from the identity */
    bool partial; /* writes: only the hull is known, so it is uploaded first and downloaded whole */
    polytile_role reduction; /* meaningful if reduces */
    int first_section;
    int n_sections; /* the operand's sections are consecutive */
} pti_operand;

typedef struct pti_instance {
    char *kernel_name;
    uint64_t declaration_hash; /* of the kernel's declaration */
    int n_indices;
    char *index_name[POLYTILE_MAX_DIMS];
    polytile_domain threads;
    int n_operands;
    int n_further; /* of them, the last ones, which are further pieces of arrays: split.h */
    pti_operand *operand;
    int n_sections;
    pti_section *section; /* an operand's are in the declaration's order of its accesses */
    int64_t parameter[POLYTILE_MAX_PARAMETERS]; /* values of those in subscripts, in the
                                                   declaration's order; all others are 0 */
    int64_t piece_alignment_bytes; /* pieces on a device take multiples of it; 0: what they hold */
} pti_instance;

/** Return how many arrays an instance has, to which its first operands belong, one each. */
static inline int pti_instance_n_arrays(const pti_instance *instance) {
    return instance->n_operands - instance->n_further;
}

/** Return the array of an operand. */
static inline int pti_operand_array(const pti_instance *instance, int operand) {
    return operand < pti_instance_n_arrays(instance) ? operand : instance->operand[operand].array;
}

/** A bound call: an instance, and for each operand the number of its array in a list that several
 * calls share. Both are borrowed. */
typedef struct pti_call {
    const pti_instance *instance;
    const int *array;
} pti_call;

/**
 * Fill in a kernel's declaration and check what can be checked in closed form.
 *
 * Errors  INVALID (null array, one array for two names of which one is written, empty domain, domain step other than 1, wrong number of dimensions,
 *         an unknown or repeated parameter, a reduction over raw bytes with fresh), DECLARATION
 *         (wrong number of subscripts for an array; a parameter without a value; roles of one array
 *         that cannot be combined; a thread whose section is not empty but lies outside the array
 *         with no overlap at all, with the thread and the element as witness), OVERFLOW (an index,
 *         a step or the number of threads is too large), UNSUPPORTED (a fresh reduction of which
 *         only the hull is known).
 * Owns    The caller frees *instance with pti_instance_free(); on error it is NULL.
 */
polytile_status pti_instance_create(const polytile_kernel *kernel, const polytile_domain *threads,
                                    polytile_array *const *arrays, int n_parameters,
                                    const polytile_parameter *parameters, pti_instance **instance);

/** Refuse one array for two operands of which one is written: operands of one array share a
 * placement. Errors: INVALID. */
polytile_status pti_instance_check_given_once(polytile_context *ctx, const pti_instance *instance,
                                              polytile_array *const *arrays);

void pti_instance_free(pti_instance *instance);

#endif
