#ifndef POLYTILE_CONTEXT_H
#define POLYTILE_CONTEXT_H

#include <polytile/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * The owner of all objects that are created from it, and of the last error.
 *
 * One host thread at a time uses a context and its objects. Contexts are independent of each other.
 */
typedef struct polytile_context polytile_context;

/**
 * Create a context; reads the POLYTILE_* environment variables and warns about unknown ones.
 *
 * Errors  NO_MEMORY, INVALID (a variable's value is not understood; the text goes to stderr).
 * Owns    The caller destroys *ctx; on error it is NULL.
 */
polytile_status polytile_context_create(polytile_context **ctx);

/** Run what is left in its queues, and destroy a context and all that was created from it. NULL
 * does nothing; so does a call from a launcher of one of its queues, with an error on stderr. */
void polytile_context_destroy(polytile_context *ctx);

/** Return the text of the last error on this context, "" if none. The next call on it ends the
 * text. */
const char *polytile_last_error(const polytile_context *ctx);

/** Return the library's version as text, such as "0.1.0". */
const char *polytile_version(void);

#ifdef __cplusplus
}
#endif

#endif
