#ifndef POLYTILE_BASE_PARALLEL_H
#define POLYTILE_BASE_PARALLEL_H

#include "base/context.h"

/* Work in parts, for rooms that know nothing of threads. */

/** Do one part. */
typedef void pti_part_function(int64_t part, void *user);

/** Do parts 0 to n_parts-1, each once, in any order and perhaps at the same time. */
typedef void pti_parallel_function(int64_t n_parts, pti_part_function *run, void *user);

/** Let the work of a context be done by a function from now on; a device that is opened does so. */
void pti_set_parallel(polytile_context *ctx, pti_parallel_function *parallel);

/** Do work in parts, and return when all is done: one part after the other where no function was
 * set, or ctx is NULL. */
void pti_run_parts(const polytile_context *ctx, int64_t n_parts, pti_part_function *run,
                   void *user);

#endif
