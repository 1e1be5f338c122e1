#ifndef POLYTILE_BASE_CONTEXT_H
#define POLYTILE_BASE_CONTEXT_H

#include "base/error.h"
#include <polytile/context.h>
#include <stdbool.h>
#include <stdint.h>

/* base: what every other room stands on, and nothing of arrays or devices. Here is the context:
 * its errors, the objects that it owns and its settings. Beside it are text that grows, sizes,
 * checked arithmetic, the clock, and files that are whole or not there. */

/* What the library's modules share of a context: owned objects, settings, the log; base/error.h
 * has its errors. */

/**
 * The head of every object that a context owns; it is the object's first member.
 *
 * destroy frees the object itself and everything in it; it does not unlink. Objects with a thread
 * of their own set the two others after they are adopted: may_end tells, with an error in the log
 * if not, whether the calling thread can end the object; drain waits until nothing is left to do.
 */
typedef struct pti_object {
    polytile_context *context;
    int64_t serial; /* no other object of the context ever has the same */
    struct pti_object *previous;
    struct pti_object *next;
    void (*destroy)(struct pti_object *object);
    bool (*may_end)(const struct pti_object *object); /* NULL: always */
    void (*drain)(struct pti_object *object);         /* NULL: there never is anything */
} pti_object;

/** Hand an object to a context, which destroys it last made first. */
void pti_object_adopt(polytile_context *ctx, pti_object *object, void (*destroy)(pti_object *));

/** The object of a context that was made last, whose `next` is the one before; NULL: none. */
pti_object *pti_get_newest(const polytile_context *ctx);

/** Take an object out of its context and destroy it; NULL does nothing. */
void pti_object_release(pti_object *object);

/** The context's own last error, see base/error.h. */
pti_error *pti_get_error(polytile_context *ctx);

/** Leave the current function through its `done:` label when an expression is not POLYTILE_OK. */
#define PTI_TRY(expression)                                                                        \
    do {                                                                                           \
        status = (expression);                                                                     \
        if (status != POLYTILE_OK)                                                                 \
            goto done;                                                                             \
    } while (0)

typedef enum pti_log_level {
    PTI_LOG_ERROR,
    PTI_LOG_WARN,
    PTI_LOG_INFO,
    PTI_LOG_DEBUG
} pti_log_level;

/** What the POLYTILE_* variables said when the context was created; docs/environment.md has the
 * table. */
typedef struct pti_settings {
    pti_log_level log_level;
    bool check_plan;             /* POLYTILE_CHECK contains "plan", or does by default */
    bool check_attach;           /* POLYTILE_CHECK contains "attach" */
    bool check_access;           /* POLYTILE_CHECK contains "access" */
    bool check_wide;             /* POLYTILE_CHECK contains "wide" */
    bool no_cache;               /* POLYTILE_CACHE is "off" */
    const char *cache_directory; /* POLYTILE_CACHE, the environment's; NULL: the default */
    const char *tuning_path;     /* POLYTILE_TUNING, the environment's; NULL: none */
    bool tunes;                  /* POLYTILE_TUNE is 1 */
} pti_settings;

const pti_settings *pti_get_settings(const polytile_context *ctx);

/** The context's tuning tables, which it destroys after everything else; NULL until they are set.
 * They are no object of the list, so that threads of one context may find them. */
pti_object *pti_get_tuning(const polytile_context *ctx);
void pti_set_tuning(polytile_context *ctx, pti_object *tuning);

/** Write one line to stderr if POLYTILE_LOG asks for this level. */
void pti_log(const polytile_context *ctx, pti_log_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
