#ifndef POLYTILE_ACCESS_ISL_ISL_MEMORY_H
#define POLYTILE_ACCESS_ISL_ISL_MEMORY_H

#include <isl/ctx.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * isl reports a failed allocation, but the GMP below it ends the process. From the library's first
 * isl context on, a reserve serves GMP's failed allocations, and the thread's computation ends: its
 * next allocation in isl is refused, as after too many operations.
 *
 * A process has one set of GMP's memory functions; those that the program has set are called first.
 * In a build without GMP's header and library (no_gmp/) all of this does nothing.
 */

/** Return whether lack of memory for isl's numbers is an error; else it ends the process. */
bool pti_isl_memory_is_protected(void);

/** Set GMP's memory functions; from the second call on it does nothing. */
void pti_isl_memory_protect(void);

/** Add a new context; false: no memory for it. */
bool pti_isl_memory_add(isl_ctx *isl);

/** Begin a computation of the calling thread in a context, with nothing taken of the reserve. */
void pti_isl_memory_begin(isl_ctx *isl);

/** Remove a context before it is freed, in any thread; NULL and unknown ones are left alone. */
void pti_isl_memory_end(isl_ctx *isl);

/** Return whether the calling thread has used the reserve since pti_isl_memory_begin(). */
bool pti_isl_memory_ran_out(void);

/** Where GMP's memory comes from unless the program set functions: malloc() and so on. Tests
 * replace them. */
typedef struct pti_isl_source {
    void *(*allocate)(size_t n_bytes);
    void *(*reallocate)(void *memory, size_t n_bytes);
} pti_isl_source;
extern pti_isl_source pti_isl_memory_source;

/** Return the bytes of the reserve in use now, and the most ever in use. */
size_t pti_isl_memory_get_taken_bytes(void);
size_t pti_isl_memory_get_peak_bytes(void);

#endif
