#ifndef POLYTILE_ACCESS_ISL_ISL_MEMORY_H
#define POLYTILE_ACCESS_ISL_ISL_MEMORY_H

#include <isl/ctx.h>
#include <stdbool.h>
#include <stddef.h>

/* isl reports an allocation that failed, but the GMP below it ends the process. From the first isl
 * context of the library on, GMP's allocations that fail are served from a reserve instead, and
 * what the thread computes is ended: its next allocation in isl is refused, as too many operations
 * are.
 *
 * GMP has one set of memory functions a process: those that a program has set before are called
 * first. In a build that did not find GMP's header and library (no_gmp/) all of this does
 * nothing, whatever isl's numbers are made of.
 */

/** Whether a lack of memory for isl's numbers is an error; else it ends the process. */
bool pti_isl_memory_is_protected(void);

/** Set GMP's memory functions; from the second call on it does nothing. */
void pti_isl_memory_protect(void);

/** Called for a new context; false: no memory for it. */
bool pti_isl_memory_add(isl_ctx *isl);

/** Forget what the calling thread's computations took; what comes next is done in this context. */
void pti_isl_memory_begin(isl_ctx *isl);

/** Called before a context is freed, by whatever thread; NULL and unknown ones are left alone. */
void pti_isl_memory_end(isl_ctx *isl);

/** Whether the calling thread took of the reserve since pti_isl_memory_begin(). */
bool pti_isl_memory_ran_out(void);

/** Where GMP's memory comes from if no other functions were set: malloc() and so on. Tests replace
 * them. */
typedef struct pti_isl_source {
    void *(*allocate)(size_t n_bytes);
    void *(*reallocate)(void *memory, size_t n_bytes);
} pti_isl_source;
extern pti_isl_source pti_isl_memory_source;

/** What of the reserve is in use now, and what of it was in use at most, in bytes. */
size_t pti_isl_memory_get_taken_bytes(void);
size_t pti_isl_memory_get_peak_bytes(void);

#endif
