#ifndef POLYTILE_BASE_ERROR_H
#define POLYTILE_BASE_ERROR_H

#include "base/text.h"
#include <polytile/context.h>
#include <polytile/witness.h>
#include <stdarg.h>
#include <stdbool.h>

/* The last error of a context: how it is recorded, reworded, and kept while other calls, which may
 * fail or forget it, come between. */

/** The longest text of an error, with its end. */
enum { PTI_ERROR_BYTES = 2048 };

/** An error; all zeros: none. It owns nothing, so that it can be copied, and sent to other processes
 * of the same program. */
typedef struct pti_error {
    polytile_status status;
    char text[PTI_ERROR_BYTES];
    char cause[PTI_ERROR_BYTES]; /* the text in front of the arrays that it names as left
                                    incomplete; all of it where it names none */
    polytile_witness witness;    /* of kind NONE: no point shows the error */
} pti_error;

/** Write a message as it may be printed; where there is no memory for a long one, without its end.
 * The arguments may include the old text. */
void pti_show_message(const char *format, va_list arguments, char text[PTI_ERROR_BYTES]);

/** An error that is not recorded; the text is shown as pti_fail()'s is. */
pti_error pti_error_of(polytile_status status, const char *text);

/* Recording. */

/**
 * Record an error: the text a user reads, naming the object, the limit and the value, and what to
 * do.
 *
 * Returns status, for `return pti_fail(...)`. The printf arguments may include the old text, and
 * texts from anywhere, which are shown as polytile_text_show() does. With
 * NULL for a context the calling thread has it for every context, until the next error is cleared.
 */
polytile_status pti_fail(polytile_context *ctx, polytile_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/** Of an allocation by another library, say. */
enum { PTI_UNKNOWN_BYTES = 0 };

/** The text for a failed allocation of n_bytes for the named thing. */
polytile_status pti_fail_memory(polytile_context *ctx, const char *what, double n_bytes);

/** Whether an allocation of moderate size succeeds now: after a failure of which it is not known
 * whether it was for memory. */
bool pti_memory_is_there(void);

/** Record an error that a point shows; the text is freed, and if writing it failed, that is the
 * error. Redirected errors have no witness. */
polytile_status pti_fail_with_witness(polytile_context *ctx, polytile_status status, pti_text *text,
                                      const polytile_witness *witness);

/** Forget the last error; every public function calls it first. */
void pti_clear_error(polytile_context *ctx);

/**
 * From here on the calling thread's errors, of whatever context, are in this memory, and the
 * contexts' own stay as they are: for threads of the library's that work beside the one that uses
 * the context. NULL: as usual again.
 */
void pti_redirect_errors(pti_error *error);
/** Whether the calling thread is such a thread. */
bool pti_errors_are_redirected(void);

/* Rewording. The point that shows the error still does. */

/** Say of the last error, and of its witness, which of several launches it is of, counted from 0;
 * nothing if there is one. */
void pti_place_error(polytile_context *ctx, int launch, int n_launches);

/** Put words in front of the last error's text. Returns status. */
polytile_status pti_error_prefix(polytile_context *ctx, polytile_status status, const char *format,
                                 ...) __attribute__((format(printf, 3, 4)));

/** Name arrays as left incomplete, behind the last error's text. The names, with commas in between,
 * are freed; nothing is done where there are none, or no memory was for them. */
void pti_error_add_incomplete(polytile_context *ctx, polytile_status status, pti_text *names);

/** The same, behind its cause: in place of those that the text names already. */
void pti_error_set_incomplete(polytile_context *ctx, polytile_status status, pti_text *names);

/* Keeping. */

/**
 * Keep the last error of a context, whose status a call returned, unless that is OK or *kept is an
 * error already: of several the first stays. Takes no memory, so that it cannot fail. Returns the
 * status kept, OK if there is no error.
 */
polytile_status pti_error_keep(pti_error *kept, const polytile_context *ctx,
                               polytile_status status);

/** Make a kept error the last one, whatever came since: its text, its witness. Does nothing where
 * none is kept. It stays kept. Returns its status. */
polytile_status pti_error_restore(polytile_context *ctx, const pti_error *kept);

/** The same, with the text of the error that came since behind its own. */
polytile_status pti_error_restore_both(polytile_context *ctx, const pti_error *kept);

#endif
