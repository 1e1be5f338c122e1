#ifndef POLYTILE_BASE_PART_FILE_H
#define POLYTILE_BASE_PART_FILE_H

#include "base/context.h"

/**
 * A file that is written as PATH.part and gets its name when it is whole. So the name always has a
 * whole file, the old one or the new one.
 *
 * The file is locked, so a second writer of one name is refused. An unlocked file was left by a
 * process that ended, and is replaced. Zeros: nothing is written.
 */
typedef struct pti_part_file {
    char *path; /* of the whole file, links followed; owned; NULL: nothing is written */
    char *part; /* its name until then; owned */
    int file;   /* open for reading and writing, and locked */
} pti_part_file;

/** Make the name of a file until it is whole; the caller frees it. Errors: IO, NO_MEMORY. */
polytile_status pti_part_file_name(polytile_context *ctx, const char *path, char **part);

/**
 * Begin a file, which is empty.
 *
 * Errors  IO (with the system's text; the name is no file's; another process writes it), NO_MEMORY;
 *         nothing is left behind.
 */
polytile_status pti_part_file_begin(polytile_context *ctx, const char *path,
                                    pti_part_file *part_file);

/**
 * Reserve space on the disk for a file, and set its length.
 *
 * A mapped file must have all its space: writing a page without it ends the process. Other files do
 * without where the file system cannot reserve any.
 * Errors  IO (with the system's text).
 */
polytile_status pti_part_file_reserve(polytile_context *ctx, const pti_part_file *part_file,
                                      int64_t n_bytes, bool is_mapped);

/**
 * Give the file its name. It replaces an old file, and gets its permissions, and its owner and
 * group where the process may give them. Does not wait for the disk.
 *
 * Errors  IO (with the system's text); then nothing has changed.
 */
polytile_status pti_part_file_commit(polytile_context *ctx, pti_part_file *part_file);

/** Remove the file, and forget it; does nothing if nothing is written. */
void pti_part_file_abandon(pti_part_file *part_file);

/** Forget the file, which keeps the name that it has; does nothing if nothing is written. */
void pti_part_file_keep(pti_part_file *part_file);

#endif
