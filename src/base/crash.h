#ifndef POLYTILE_BASE_CRASH_H
#define POLYTILE_BASE_CRASH_H

#include <setjmp.h>

/* A line on standard error about a crash while a thread runs what is known for it: a kernel's body,
 * which may touch what it does not declare, or a call of isl that needs memory. Nothing else
 * changes: the process ends by the same signal, at the same place. Only what a thread runs on values
 * that the program never had can be left, and the process goes on. */

/** What a thread runs. */
typedef struct pti_crash_note {
    const char *name;   /* of whom the line is about */
    const char *advice; /* what may be wrong */
} pti_crash_note;

/**
 * From the first call on SIGSEGV, SIGBUS, SIGFPE and SIGILL have a handler, each unless the
 * program, or a sanitizer, has one for it then or ignores it. One that the program sets later
 * stands.
 */
void pti_crash_watch(void);

/** The same at every call: for tests. */
void pti_crash_install(void);

/** The calling thread runs this until it is told otherwise; NULL: nothing known. Returns what it
 * ran before. */
const pti_crash_note *pti_crash_enter(const pti_crash_note *note);

/**
 * From here until it is let go as often, crashes of threads that have an escape lead there, and no
 * line is written. The program's own handlers get all else.
 *
 * Crashes are the signals above, SIGTRAP, SIGABRT as of assert(), and SIGXCPU of a timer, which ends
 * what does not end by itself.
 */
void pti_crash_catch(void);
void pti_crash_let_go(void);

/** The calling thread's escape from now on, a place of sigsetjmp(); NULL: none. */
void pti_crash_set_escape(sigjmp_buf *escape);

#endif
