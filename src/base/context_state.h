#ifndef POLYTILE_BASE_CONTEXT_STATE_H
#define POLYTILE_BASE_CONTEXT_STATE_H

#include "base/parallel.h"

/* The members of a context, for context.c, environment.c, error.c and log.c. */

struct polytile_context {
    pti_object *newest;
    int64_t n_adopted;  /* so far */
    pti_object *tuning; /* NULL: none yet; owned */
    pti_settings settings;
    pti_error error;                 /* the last one */
    pti_parallel_function *parallel; /* NULL: none was set */
};

/**
 * Read every POLYTILE_* variable into settings; warn on stderr about unknown names.
 *
 * Returns false if a variable has no valid value; stderr then says which, and what it may be.
 */
bool pti_environment_read(pti_settings *settings);

#endif
