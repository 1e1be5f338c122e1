#ifndef POLYTILE_BASE_CONTEXT_H
#define POLYTILE_BASE_CONTEXT_H

#include "base/error.h"
#include <polytile/context.h>
#include <stdbool.h>
#include <stdint.h>

/* base: what every other room stands on, and nothing of arrays or devices. Here is the context: its
 * errors, its objects and its settings. Beside it are growing text, sizes, checked arithmetic, the
 * clock, and files that are whole or absent. */

/* A context's objects and settings; base/error.h has its errors, base/log.h the log. */

/**
 * The head of every object that a context owns; it is the object's first member.
 *
 * destroy frees the object and everything in it; it does not unlink. Objects with a thread of their
 * own set the two others after adoption. may_end says whether the calling thread can end the
 * object, and logs an error if not. drain waits until nothing is left to do.
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

/** Let a context own an object. It destroys the newest ones first. */
void pti_object_adopt(polytile_context *ctx, pti_object *object, void (*destroy)(pti_object *));

/** Return the newest object of a context, or NULL; its `next` is the one before. */
pti_object *pti_get_newest(const polytile_context *ctx);

/** Take an object out of its context and destroy it; NULL does nothing. */
void pti_object_release(pti_object *object);

/** Go to the function's `done:` label if an expression is not POLYTILE_OK. */
#define PTI_TRY(expression)                                                                        \
    do {                                                                                           \
        status = (expression);                                                                     \
        if (status != POLYTILE_OK)                                                                 \
            goto done;                                                                             \
    } while (0)

/** The POLYTILE_* variables when the context was created; docs/environment.md has the table. */
typedef struct pti_settings {
    pti_log_level log_level;
    bool check_plan;             /* POLYTILE_CHECK contains "plan", or does by default */
    bool check_attach;           /* POLYTILE_CHECK contains "attach" */
    bool check_access;           /* POLYTILE_CHECK contains "access" */
    bool check_wide;             /* POLYTILE_CHECK contains "wide" */
    bool no_cache;               /* POLYTILE_CACHE is "off" */
    const char *cache_directory; /* POLYTILE_CACHE, the environment's; NULL: the default */
    const char *compiler;        /* POLYTILE_CC, the environment's, or cc; with its options */
    const char *tuning_path;     /* POLYTILE_TUNING, the environment's; NULL: none */
    bool tunes;                  /* POLYTILE_TUNE is 1 */
    bool keeps_speeds;           /* POLYTILE_SPEEDS is 1 */
} pti_settings;

const pti_settings *pti_get_settings(const polytile_context *ctx);

/** Return the context's tuning tables, or NULL; the context destroys them last. They are not in the
 * list of objects, so that threads of one context may find them. */
pti_object *pti_get_tuning(const polytile_context *ctx);
void pti_set_tuning(polytile_context *ctx, pti_object *tuning);

#endif
