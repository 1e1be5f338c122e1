#ifndef POLYTILE_ACCESS_ISL_RELATIONS_H
#define POLYTILE_ACCESS_ISL_RELATIONS_H

#include "access/footprint/instance.h"

#include <isl/ctx.h>
#include <isl/map.h>

/* access/isl: isl answers what closed forms leave open: exactly, slowly, within a bound on
 * operations. isl_memory.h lets isl survive when memory runs out. */

/* Accesses as isl relations, made with isl's constructors only: its text reader can fail silently
 * when memory runs out. */

/**
 * The relations of a declaration, one an access, made at the first question that closed forms leave
 * open.
 *
 * Space  [parameters] -> { kernel[index] -> array[element] }, over all integers: neither a launch
 *        domain nor an array bounds them, and a whole dimension is unconstrained, as one with an
 *        edge is.
 */
typedef struct pti_relations {
    isl_ctx *isl;
    int n_accesses;
    isl_map **access_relation; /* owned */
} pti_relations;

/** Return one access as declared, in the space of pti_relations; NULL if isl fails. */
__isl_give isl_map *pti_declared_relation(isl_ctx *isl, const polytile_declaration *declaration,
                                          const pti_access *access);

/**
 * Begin a question about a kernel as pti_isl_begin() does. Makes the relations, and their isl
 * context, if there are none.
 *
 * For the thread that uses the context.
 * Errors  NO_MEMORY, UNSUPPORTED (a relation that is too much for isl).
 */
polytile_status pti_relations_begin(const polytile_kernel *kernel);

/** Free relations; NULL does nothing. */
void pti_relations_free(pti_relations *relations);

/**
 * Return one access of a kernel in an instance, braces as declared, not as the section around them.
 * After pti_relations_begin(); NULL if isl fails.
 *
 * Space  { kernel[index] -> array[element] } with the launch domain and the array as bounds.
 */
__isl_give isl_map *pti_access_relation(const polytile_kernel *kernel, int access,
                                        const pti_instance *instance);

/** Return what pti_access_relation() does in the caller's isl context, where launches of several
 * kernels meet. */
__isl_give isl_map *pti_access_relation_in(isl_ctx *isl, const polytile_kernel *kernel, int access,
                                           const pti_instance *instance);

/** Return what pti_access_relation() does, before the array clips it. */
__isl_give isl_map *pti_access_relation_unclipped(isl_ctx *isl, const polytile_kernel *kernel,
                                                  int access, const pti_instance *instance);

/**
 * Return a section, whether exact or not, in the caller's isl context; NULL if isl fails.
 *
 * Space  { kernel[index] -> array[element] } with the launch domain and the array as bounds.
 */
__isl_give isl_map *pti_section_relation(isl_ctx *isl, const pti_instance *instance,
                                         const pti_section *section);

/** Return the section of an access, the first one where it has edges. */
const pti_section *pti_section_of_access(const polytile_declaration *declaration, int access,
                                         const pti_instance *instance);

/**
 * Set each access in braces' section to the smallest one around it with unit coefficients, and
 * record whether the two are equal.
 *
 * Errors  NO_MEMORY.
 */
polytile_status pti_relations_find_sections(polytile_context *ctx,
                                            polytile_declaration *declaration);

/** Open an isl context that reports errors by NULL, and gives up after a number of operations. */
isl_ctx *pti_isl_open(void);
/** Free an isl context; NULL does nothing. */
void pti_isl_close(isl_ctx *isl);

/** Allow the next computations the operations of one proof. */
void pti_isl_begin(isl_ctx *isl);

/** Return whether isl gave up since pti_isl_begin() for too many operations, not for memory. */
bool pti_isl_gave_up(isl_ctx *isl);

/**
 * Record that isl found no answer since pti_isl_begin(). isl may be NULL: it could not be opened.
 *
 * Errors  UNSUPPORTED, with the kernel and the text, if it gave up; else NO_MEMORY. Returns that.
 */
polytile_status pti_isl_fail(polytile_context *ctx, isl_ctx *isl, const char *kernel,
                             const char *format, ...) __attribute__((format(printf, 4, 5)));

/** Return whether memory ran out since pti_isl_begin(): results may then be incomplete. */
bool pti_isl_lacked_memory(isl_ctx *isl);

/** Return whether isl has no answer for lack of memory, which it does not always report. */
bool pti_isl_lacked_memory_for(isl_ctx *isl, isl_bool answer);

#endif
