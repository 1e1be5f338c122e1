#ifndef POLYTILE_CONTEXT_H
#define POLYTILE_CONTEXT_H

#include <polytile/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * What everything else is created from: it holds the last error and owns what is made from it.
 *
 * A context and the objects of it are used by one host thread at a time; different contexts are
 * independent.
 */
typedef struct polytile_context polytile_context;

/**
 * Create a context; reads the POLYTILE_* environment variables and warns about unknown ones.
 *
 * Errors  NO_MEMORY, INVALID (a variable's value is not understood; the text goes to stderr).
 * Owns    The caller destroys *ctx; on error it is NULL.
 */
polytile_status polytile_context_create(polytile_context **ctx);

/** Run what its queues still have to, and destroy a context and everything created from it; NULL
 * does nothing. Called by a launcher that one of its queues runs it does nothing either, with an
 * error on stderr. */
void polytile_context_destroy(polytile_context *ctx);

/** The text of the last error on this context, "" if there was none; valid until the next call on
 * it. */
const char *polytile_last_error(const polytile_context *ctx);

/** The library's version as text, such as "0.1.0". */
const char *polytile_version(void);

#ifdef __cplusplus
}
#endif

#endif
