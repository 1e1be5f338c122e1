#ifndef POLYTILE_DISTRIBUTE_FILE_ARRAY_FILE_H
#define POLYTILE_DISTRIBUTE_FILE_ARRAY_FILE_H

#include "access/array/array.h"
#include "base/part_file.h"

/* distribute/file: arrays in files, whoever holds their elements: headers and sizes here, the
 * elements in the order of the file in store.h and rounds.h. No MPI. */

/*
 * Files with all elements of an array in C order, after NumPy's header if their name ends in .npy:
 * what happens before and after their elements move.
 *
 * A file is written under another name until it is whole, see base/part_file.h.
 */

/** Return whether a file of this name has NumPy's header. */
bool pti_array_file_is_npy(const char *path);

/** Return where the elements begin in a file to be written, in bytes. */
int64_t pti_array_file_offset(const polytile_array *array, const char *path);

/**
 * Begin to write a file under its other name, with its header and, where the file system can
 * reserve it, the space for all elements.
 *
 * Errors  IO (with the system's text; nothing is left behind), UNSUPPORTED (a type that NumPy has
 *         not), OVERFLOW, NO_MEMORY.
 */
polytile_status pti_array_file_begin(polytile_context *ctx, const char *path,
                                     const polytile_array *array, pti_part_file *part);

/** Give the file, which has all elements, its name; it replaces an old one. Errors: IO, NO_MEMORY;
 * then the file is removed. */
polytile_status pti_array_file_commit(polytile_context *ctx, pti_part_file *part);

/** Check that this process can read the file, or write it. Errors: IO, with the system's text. */
polytile_status pti_array_file_probe(polytile_context *ctx, const char *path, bool writable);

/**
 * Check that a file has an array's elements, and find where they begin.
 *
 * Errors  IO (cannot be read, is no such file or truncated), UNSUPPORTED (an order or type that
 *         arrays do not have), INVALID (another type, shape or size than the array's).
 */
polytile_status pti_array_file_inspect(polytile_context *ctx, const char *path,
                                       const polytile_array *array, int64_t *offset_bytes);

#endif
