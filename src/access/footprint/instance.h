#ifndef POLYTILE_ACCESS_FOOTPRINT_INSTANCE_H
#define POLYTILE_ACCESS_FOOTPRINT_INSTANCE_H

#include "access/declare/kernel.h"
#include "access/set/index_map.h"
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

/** What one thread touches of an operand by an access, or by a part of one (edges.h). */
typedef struct pti_section {
    int operand;
    int access;     /* of the declaration, whose elements it has, or some of them */
    unsigned edges; /* bit d: dimension d had an edge, so that threads may touch nothing of this
                          section, but of another one of its access (edges.h) */
    bool is_moved;  /* has what lies beyond the array's ends, moved into the array */
    polytile_role role;
    bool fresh;
    bool exact;        /* false: touches some of the section's elements, not necessarily all */
    bool may_be_empty; /* for some thread of the launch, the array's ends aside */
    /* The footprint of any box of threads is its hull: each dimension is an interval of fixed
     * length that follows one index (POLYTILE_MAX_DIMS: none) without gaps. */
    bool is_box;
    int followed[POLYTILE_MAX_DIMS];
    int n_dims;
    pti_subscript subscript[POLYTILE_MAX_DIMS]; /* the whole dimension where it is indirect */
    polytile_domain within; /* what clips it; without dimensions: the operand's domain */
    /** What narrows those (indirection.h), of the instance's inspection; NULL: none is. */
    const struct pti_indirection *indirection;
} pti_section;

/** How a dimension's index is counted: less a slope times the index of another one, which is its
 * own; slope 0: as it is (pieces/shear.h). */
typedef struct pti_shear {
    int along;
    int64_t slope;
} pti_shear;

/** The most arrays of one kernel, and the most pieces of them all. */
enum { PTI_MAX_OPERANDS = 64 };

/** One array of the launch, a piece of one, or scratch, with what the kernel does to it. */
typedef struct pti_operand {
    char *name;
    int array;      /* a further piece (pieces/split.h): whose; see pti_operand_array() */
    int same_array; /* the first operand with the same array, itself included */
    polytile_type type;
    int64_t element_bytes;
    polytile_domain domain;
    pti_shear shear[POLYTILE_MAX_DIMS]; /* of the indices of domain */
    /** Of the program's array, of which a member, or a part of an actor, may hold a piece. Edges
     * and bodies know its ends. */
    polytile_domain whole;
    /** Memory of each superblock's own: no array, neither read nor written. Its domain is what all
     * threads have. */
    bool is_scratch;
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

/** A launch as the program gave it, which bodies see. Planners see another instance, where arrays
 * are views, or sections are united: over the arrays that have the elements. */
typedef struct pti_given {
    struct pti_instance *instance; /* owned */
    pti_index_map *map; /* of each operand: its indices to those that planners know; owned */
    bool is_united;     /* only sections differ, of which some are one: bind/unite.h */
} pti_given;

/** A launch as planners see it. */
typedef struct pti_instance {
    char *kernel_name;
    uint64_t declaration_hash; /* of the kernel's declaration */
    int n_indices;
    char *index_name[POLYTILE_MAX_DIMS];
    polytile_domain threads; /* steps 1 */
    polytile_domain
        asked; /* as the program gave them: where its step along an index is not 1, thread
                                k is the k-th of these, from 0; see pti_instance_asked_box() */
    int n_operands;
    int n_further; /* of them, the last ones, which are further pieces of arrays: pieces/split.h */
    pti_operand *operand;
    int n_sections;
    pti_section
        *section; /* an operand's are in the declaration's order of its accesses, which have one
                             each, or several where they have edges */
    int64_t parameter[POLYTILE_MAX_PARAMETERS]; /* values of those in subscripts, in the
                                                   declaration's order; all others are 0 */
    bool is_team;     /* threads are slots of a team kernel: the launch is one superblock, and runs
                    once */
    pti_given *given; /* NULL: no array is a view; owned */
    /* The instance where less is partial, for boxes of threads that are whole along all indices but
     * one of slab_indices, bits; NULL: none. Owned. */
    struct pti_instance *slabs;
    unsigned slab_indices;
    struct pti_fold *fold; /* of a periodic launch, for chains (fold.h); NULL: none. Owned. */
    struct pti_inspection *inspection; /* of index arrays; NULL: it has none. Copies hold it, too */
    int64_t piece_alignment_bytes; /* pieces on a device take multiples of it; 0: what they hold */
} pti_instance;

/** Return the box to which a section is clipped. */
static inline const polytile_domain *pti_section_domain(const pti_instance *instance,
                                                        const pti_section *section) {
    return section->within.n_dims > 0 ? &section->within
                                      : &instance->operand[section->operand].domain;
}

/** Return how many arrays an instance has, to which its first operands belong, one each. */
static inline int pti_instance_n_arrays(const pti_instance *instance) {
    return instance->n_operands - instance->n_further;
}

/** Return whether threads store into an operand's memory on the device. */
static inline bool pti_operand_stores(const pti_operand *operand) {
    return operand->writes || operand->is_scratch;
}

/** Return the array of an operand. */
static inline int pti_operand_array(const pti_instance *instance, int operand) {
    return operand < pti_instance_n_arrays(instance) ? operand : instance->operand[operand].array;
}

/** Return the operand that stands for all pieces of an array into which threads combine, since
 * different superblocks do so through different ones; else the operand itself. */
static inline int pti_operand_combined(const pti_instance *instance, int operand) {
    return instance->operand[operand].reduces ? pti_operand_array(instance, operand) : operand;
}

/** Return the first operand that has an operand's array, which is not scratch.
 * Shapes  arrays: one an operand. */
int pti_first_with_array(polytile_array *const *arrays, int operand);

/** Return whether a launch has scratch. */
static inline bool pti_instance_has_scratch(const pti_instance *instance) {
    bool has = false;
    for (int o = 0; o < instance->n_operands; o++)
        has |= instance->operand[o].is_scratch;
    return has;
}

/** Return the program's index, along a dimension, of a thread of an instance. */
static inline int64_t pti_instance_asked_index(const pti_instance *instance, int dim,
                                               int64_t thread) {
    const polytile_range *range = &instance->asked.range[dim];
    return range->step <= 1 ? thread : range->lo + thread * range->step;
}

/** Return a box of an instance's threads as the program's threads. */
static inline polytile_domain pti_instance_asked_box(const pti_instance *instance,
                                                     const polytile_domain *threads) {
    polytile_domain asked = *threads;
    for (int d = 0; d < threads->n_dims; d++) {
        asked.range[d].lo = pti_instance_asked_index(instance, d, threads->range[d].lo);
        asked.range[d].hi = pti_instance_asked_index(instance, d, threads->range[d].hi);
        asked.range[d].step = instance->asked.range[d].step > 1 ? instance->asked.range[d].step : 1;
    }
    return asked;
}

/** Turn a thread of an instance into the program's thread. */
static inline void pti_instance_ask_thread(const pti_instance *instance, int64_t *thread) {
    for (int d = 0; d < instance->n_indices; d++)
        thread[d] = pti_instance_asked_index(instance, d, thread[d]);
}

/** Return whether the launch domain has a step above 1. */
static inline bool pti_instance_has_steps(const pti_instance *instance) {
    bool has = false;
    for (int d = 0; d < instance->n_indices; d++)
        has = has || instance->asked.range[d].step > 1;
    return has;
}

/** Return the instance over the arrays that the program gave. */
static inline const pti_instance *pti_instance_as_given(const pti_instance *instance) {
    return instance->given == NULL ? instance : instance->given->instance;
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
 * Shapes  arrays: one an operand; NULL for scratch, whose extents are those that its section has
 *         for all threads.
 * Errors  INVALID (null array, scratch without elements, empty domain, a step below 1, wrong number
 *         of dimensions, an unknown or repeated parameter, a reduction over raw bytes with fresh),
 *         DECLARATION (wrong number of subscripts for an array; a parameter without a value; roles
 *         of one array that cannot be combined; a thread whose section is not empty but lies
 *         outside the array with no overlap at all, with the thread and the element as witness),
 *         OVERFLOW (an index, a step or the number of threads is too large), UNSUPPORTED (a fresh
 *         reduction of which only the hull is known).
 * Owns    The caller frees *instance with pti_instance_free(); on error it is NULL.
 */
polytile_status pti_instance_create(const polytile_kernel *kernel, const polytile_domain *threads,
                                    polytile_array *const *arrays, int n_parameters,
                                    const polytile_parameter *parameters, pti_instance **instance);

/** Return whether another operand of the same array writes elements of it, which differ then from
 * all that this one touches. */
bool pti_operand_has_writer_beside(const pti_instance *instance, int operand);

/**
 * Copy what an instance has beside its operands and sections, for which it makes room, and for
 * n_more operands.
 *
 * Errors  NO_MEMORY.
 * Owns    The caller frees *copy with pti_instance_free(), also after an error.
 */
polytile_status pti_instance_copy_frame(polytile_context *ctx, const pti_instance *instance,
                                        int n_more, pti_instance **copy);

/**
 * Copy an instance, whose given it borrows; without slabs.
 *
 * Errors  NO_MEMORY.
 * Owns    The caller frees *copy with pti_instance_free() before the instance ends, also after an
 *         error.
 */
polytile_status pti_instance_copy(polytile_context *ctx, const pti_instance *instance,
                                  pti_instance **copy);

/**
 * Copy an instance to rewrite it for planners; with maps that change nothing, and without what is
 * given.
 *
 * Errors  NO_MEMORY.
 * Owns    As pti_instance_copy_frame().
 */
polytile_status pti_instance_copy_given(polytile_context *ctx, const pti_instance *instance,
                                        pti_instance **copy);

/** Replace an instance by its rewritten copy. As what the program gave, the copy then owns the
 * instance, or what that had as such. */
void pti_instance_own_given(pti_instance *copy, pti_instance **instance);

void pti_instance_free(pti_instance *instance);

#endif
