#ifndef POLYTILE_ACCESS_ISL_RELATIONS_H
#define POLYTILE_ACCESS_ISL_RELATIONS_H

#include "access/footprint/instance.h"

#include <isl/ctx.h>
#include <isl/map.h>

/* access/isl: the questions that closed forms leave open, asked of isl: exactly, slowly, with a
 * bound on operations. isl_memory.h lets isl survive where memory runs out. */

/* Accesses as isl relations, made with isl's constructors only: its text reader can fail without
 * saying so when memory runs out. */

/**
 * The relations of a declaration, one an access, made with the first question about its kernel that
 * closed forms leave open.
 *
 * Space  [parameters] -> { kernel[index] -> array[element] }, over all integers: neither a launch
 *        domain nor an array bounds them, so a whole dimension is unconstrained.
 */
typedef struct pti_relations {
    isl_ctx *isl;
    int n_accesses;
    isl_map **access_relation; /* owned */
} pti_relations;

/** One access as declared, in the space of pti_relations; NULL if isl fails. */
__isl_give isl_map *pti_declared_relation(isl_ctx *isl, const polytile_declaration *declaration,
                                          const pti_access *access);

/**
 * Begin a question about a kernel as pti_isl_begin() does, in the isl context of its relations,
 * which are made now if there are none yet.
 *
 * By the thread that uses the context.
 * Errors  NO_MEMORY, UNSUPPORTED (a relation that is too much for isl).
 */
polytile_status pti_relations_begin(const polytile_kernel *kernel);

/** NULL does nothing. */
void pti_relations_free(pti_relations *relations);

/**
 * One access of a kernel in an instance: what was declared in braces is taken as it was declared,
 * not as the section around it. After pti_relations_begin(); NULL if isl fails.
 *
 * Space  { kernel[index] -> array[element] } with the launch domain and the array as bounds.
 */
__isl_give isl_map *pti_access_relation(const polytile_kernel *kernel, int access,
                                        const pti_instance *instance);

/** The same in an isl context of the caller's, in which launches of several kernels meet. */
__isl_give isl_map *pti_access_relation_in(isl_ctx *isl, const polytile_kernel *kernel, int access,
                                           const pti_instance *instance);

/** The same without the array as bound: what a thread touches before it is clipped. */
__isl_give isl_map *pti_access_relation_unclipped(isl_ctx *isl, const polytile_kernel *kernel,
                                                  int access, const pti_instance *instance);

/**
 * A section, all of it whether exact or not, in an isl context of the caller's; NULL if isl fails.
 *
 * Space  { kernel[index] -> array[element] } with the launch domain and the array as bounds.
 */
__isl_give isl_map *pti_section_relation(isl_ctx *isl, const pti_instance *instance,
                                         const pti_section *section);

/** The section of an access: an operand's are in the order in which its accesses were declared. */
const pti_section *pti_section_of_access(const polytile_declaration *declaration, int access,
                                         const pti_instance *instance);

/**
 * Replace every access given in braces by the smallest section around it that unit coefficients can
 * say, and note whether the two are equal.
 *
 * Errors  NO_MEMORY.
 */
polytile_status pti_relations_find_sections(polytile_context *ctx,
                                            polytile_declaration *declaration);

/** An isl context that reports errors by NULL results, and gives up after a number of operations.
 */
isl_ctx *pti_isl_open(void);
/** Free it; NULL does nothing. */
void pti_isl_close(isl_ctx *isl);

/** Let the next computations take as many operations as one proof may. */
void pti_isl_begin(isl_ctx *isl);

/** Whether a NULL result since pti_isl_begin() was for too many operations, not for memory. */
bool pti_isl_gave_up(isl_ctx *isl);

/** Whether memory ran out since pti_isl_begin(): what follows from it may be less than it would
 * be. */
bool pti_isl_lacked_memory(isl_ctx *isl);

/** Whether isl has no answer for want of memory, of which it does not always give the reason. */
bool pti_isl_lacked_memory_for(isl_ctx *isl, isl_bool answer);

#endif
