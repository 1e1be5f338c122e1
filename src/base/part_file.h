#ifndef POLYTILE_BASE_PART_FILE_H
#define POLYTILE_BASE_PART_FILE_H

#include "base/context.h"

/**
 * A file that is written as PATH.part and gets its name when it is whole: whatever ends the writing
 * early, what has the name is the old file or the new one.
 *
 * The file is kept locked, so that of two who write under one name the second is refused; one that
 * nobody has locked was left by a process that ended, and is replaced. Zeros: nothing is written.
 */
typedef struct pti_part_file {
    char *path; /* of the whole file, links followed; owned; NULL: nothing is written */
    char *part; /* its name until then; owned */
    int file;   /* open for reading and writing, and locked */
} pti_part_file;

/** The name of a file until it is whole, which the caller frees. Errors: IO, NO_MEMORY. */
polytile_status pti_part_file_name(polytile_context *ctx, const char *path, char **part);

/**
 * Begin a file, which is empty.
 *
 * Errors  IO (with the system's text; something else than a file has the name; somebody else writes
 *         it), NO_MEMORY; nothing is left behind then.
 */
polytile_status pti_part_file_begin(polytile_context *ctx, const char *path, pti_part_file *of);

/**
 * Give the file its name, replacing an old one, whose permissions it gets, and its owner and group
 * where the process may give them. Nothing is waited for: what has reached the disk is the system's
 * affair.
 *
 * Errors  IO (with the system's text); nothing has changed then.
 */
polytile_status pti_part_file_commit(polytile_context *ctx, pti_part_file *of);

/** Remove the file, and forget it; nothing if nothing is written. */
void pti_part_file_abandon(pti_part_file *of);

/** Forget the file, which stays under the name that it has; nothing if nothing is written. */
void pti_part_file_leave(pti_part_file *of);

#endif
