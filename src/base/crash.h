#ifndef POLYTILE_BASE_CRASH_H
#define POLYTILE_BASE_CRASH_H

#include <setjmp.h>

/* Crashes of what a thread is known to run: a kernel's body, which may touch what it does not
 * declare, or a call of isl that needs memory. They get a line on stderr, and the process ends by
 * the same signal at the same place. Only code that runs on
 * made-up values can be left, so that the process goes on. */

/** What a thread runs. */
typedef struct pti_crash_note {
    const char *name;   /* of whom the line is about */
    const char *advice; /* what may be wrong */
} pti_crash_note;

/** Handle SIGSEGV, SIGBUS, SIGFPE and SIGILL from the first call on, except those that the program,
 * or a sanitizer, handles or ignores. A handler that the program sets later stands. */
void pti_crash_watch(void);

/** Set the handlers at every call: for tests. */
void pti_crash_install(void);

/** Set what the calling thread runs; NULL: nothing known. Returns what it ran before. */
const pti_crash_note *pti_crash_enter(const pti_crash_note *note);

/**
 * Let crashes of threads that have an escape lead there, without a line, until as many calls of
 * pti_crash_let_go(). The program's own handlers get all else.
 *
 * Crashes are the signals above, SIGTRAP, SIGABRT as of assert(), and SIGXCPU of a timer, which
 * ends what would not end.
 */
void pti_crash_catch(void);
void pti_crash_let_go(void);

/** Set the calling thread's escape, a place of sigsetjmp(); NULL: none. */
void pti_crash_set_escape(sigjmp_buf *escape);

#endif
