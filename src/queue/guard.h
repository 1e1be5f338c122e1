#ifndef POLYTILE_QUEUE_GUARD_H
#define POLYTILE_QUEUE_GUARD_H

#include "base/context.h"

#include <stddef.h>

/**
 * Takes the host memory of an array out of the program's reach for a while, so that touching it by
 * mistake is a segmentation fault at that very access; a debugger or core file shows where.
 *
 * Protected are the whole pages inside the array: they hold nothing else, so any alignment will do,
 * and what lies before and after the array stays usable. An array without a whole page is left
 * alone. The library installs no signal handler.
 *
 * Found      What any thread of the program reads or writes of these pages while they are closed.
 *            A system call that is given them, such as read(), fails with EFAULT instead.
 * Not found  Touches of the array's first and last bytes, on pages that it shares with others;
 *            touches while the guard is open for a transfer of the library; touches by other
 *            processes that share the memory, and by devices that had it pinned before. A driver
 *            can pin the memory only while it is open.
 *
 * A plain value without memory of its own. Open it before letting go of it: closed pages stay
 * closed, and free() may write to them. It is used by one thread at a time.
 */
typedef struct pti_guard {
    const char *name; /* the array's, for errors; the caller's */
    void *pages;      /* the first whole page */
    size_t n_bytes;   /* of the whole pages; 0: none */
    bool is_read_only;
    bool is_closed;
} pti_guard;

/**
 * A guard, still open, of the n_bytes at data.
 *
 * is_read_only: the memory cannot be written, as a mapping of a file that is only read; opening
 * makes any other memory readable and writable.
 */
pti_guard pti_guard_of(const char *name, void *data, size_t n_bytes, bool is_read_only);

/**
 * Protect the memory; a closed guard stays as it is.
 *
 * Errors  INVALID (the system does not protect this memory, or could not open it again). The memory
 *         can then be used as before.
 */
polytile_status pti_guard_close(polytile_context *ctx, pti_guard *guard);

/** Give the memory back as it was; a guard that was never closed stays as it is. Errors: INVALID
 * (the system refuses; the guard is still closed). */
polytile_status pti_guard_open(polytile_context *ctx, pti_guard *guard);

#endif
