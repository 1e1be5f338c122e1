#ifndef POLYTILE_COMPILE_PROCESS_H
#define POLYTILE_COMPILE_PROCESS_H

#include <stdbool.h>
#include <stddef.h>

/* Running a program, without a shell. */

/** Find a program as a shell would: in PATH, unless its name has a slash. Returns 0 and sets *path,
 * for free(); else an errno, ENOENT or ENOTDIR if there is none. */
int pti_program_find(const char *name, char **path);

/**
 * Run a program in the locale C and wait for its end, with what it says written to a file.
 *
 * The thread's blocked signals are not its.
 * Returns false if it cannot be run, with errno; *exit_code is 0 for success, -1 if a signal ended
 *         it.
 */
bool pti_program_run(const char *path, char *const *arguments, const char *said_path,
                     int *exit_code);

#endif
