#ifndef POLYTILE_BASE_ERROR_H
#define POLYTILE_BASE_ERROR_H

#include "base/log.h"
#include "base/text.h"
#include <polytile/witness.h>
#include <stdbool.h>

/* Errors of a context: recorded, reworded, and kept during other calls, which may fail or clear
 * them. */

/** An error; all zeros: none. It owns nothing, so it can be copied, and sent to other processes of
 * the same program. */
typedef struct pti_error {
    polytile_status status;
    char text[PTI_ERROR_BYTES];
    char cause[PTI_ERROR_BYTES]; /* the text in front of the arrays that it names as left
                                    incomplete; all of it where it names none */
    polytile_witness witness;    /* of kind NONE: no point shows the error */
} pti_error;

/** Make an error that is not recorded; the text is shown as pti_fail()'s. */
pti_error pti_error_of(polytile_status status, const char *text);

/* Recording. */

/**
 * Record an error with the text that a user reads: the object, the limit, the value and what to do.
 *
 * Returns status, for `return pti_fail(...)`. The printf arguments may include the old text, and
 * texts from anywhere, shown as polytile_text_show() does. If ctx is NULL, the calling thread has
 * the error for every context, until the next error is cleared.
 */
polytile_status pti_fail(polytile_context *ctx, polytile_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/** The size of an allocation by another library, say. */
enum { PTI_UNKNOWN_BYTES = 0 };

/** Record that an allocation of n_bytes for the named thing failed. */
polytile_status pti_fail_memory(polytile_context *ctx, const char *what, double n_bytes);

/** Record that a call of the system for a file failed, as errno says. action: what could not be
 * done, such as "open". Returns IO. */
polytile_status pti_fail_errno(polytile_context *ctx, const char *path, const char *action);

/** Return whether an allocation of moderate size succeeds now: asked after a failure of unknown
 * cause. */
bool pti_memory_is_there(void);

/** Record an error with its witness. Frees the text; if writing it failed, that is the error.
 * Redirected errors have no witness. */
polytile_status pti_fail_with_witness(polytile_context *ctx, polytile_status status, pti_text *text,
                                      const polytile_witness *witness);

/** Forget the last error; every public function calls it first. */
void pti_clear_error(polytile_context *ctx);

/** Begin a public function: return an error with the argument's word if the argument is NULL; else
 * forget the last error of its context. */
#define PTI_ENTER(argument, ctx, word)                                                             \
    do {                                                                                           \
        if ((argument) == NULL)                                                                    \
            return pti_fail(NULL, POLYTILE_INVALID, "%s: the " word " is NULL", __func__);         \
        pti_clear_error(ctx);                                                                      \
    } while (0)

/** Redirect the calling thread's errors, of whatever context, into this memory, so that contexts
 * keep their own: for the library's threads beside the one that uses the context. NULL: no
 * longer. Returns where they went so far, for who puts that back. */
pti_error *pti_redirect_errors(pti_error *error);
/** Return whether the calling thread's errors are redirected. */
bool pti_errors_are_redirected(void);

/* Rewording. The witness stays. */

/** Say in the last error, and in its witness, which of several launches failed, counted from 0.
 * Does nothing for one launch. */
void pti_place_error(polytile_context *ctx, int launch, int n_launches);

/** Put words in front of the last error's text. Returns status. */
polytile_status pti_error_prefix(polytile_context *ctx, polytile_status status, const char *format,
                                 ...) __attribute__((format(printf, 3, 4)));

/** Name arrays as left incomplete, after the last error's text. Frees the names, which commas
 * separate. Does nothing if there are none, or no memory was for them. */
void pti_error_add_incomplete(polytile_context *ctx, polytile_status status, pti_text *names);

/** Name incomplete arrays in place of those that the last error's text names already. */
void pti_error_set_incomplete(polytile_context *ctx, polytile_status status, pti_text *names);

/* Keeping. */

/** Keep the last error of a context, whose status a call returned, unless that is OK or *kept is an
 * error already. Takes no memory, so it cannot fail. Returns the kept status, OK if there is
 * none. */
polytile_status pti_error_keep(pti_error *kept, const polytile_context *ctx,
                               polytile_status status);

/** Make a kept error the last one, with its text and witness. Does nothing if none is kept. It
 * stays kept. Returns its status. */
polytile_status pti_error_restore(polytile_context *ctx, const pti_error *kept);

/** Restore a kept error, with the text of the error that came since after its own. */
polytile_status pti_error_restore_both(polytile_context *ctx, const pti_error *kept);

/** The number of reserved members at the end of public structs. */
enum { PTI_N_RESERVED = 4 };

/** Refuse options whose reserved members are not all zero: they are for a later version of the
 * library. where: the kernel or the call. Errors: INVALID. */
polytile_status pti_check_reserved(polytile_context *ctx, const char *where, const char *options,
                                   const int64_t *reserved);

/** Check the name of what a program registers: letters, digits, '_', '-' and '.', a letter first,
 * and not taken. what: what it names, such as "policy". Errors: INVALID. */
polytile_status pti_check_new_name(polytile_context *ctx, const char *what, const char *name,
                                   bool is_taken);

#endif
