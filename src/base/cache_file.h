#ifndef POLYTILE_BASE_CACHE_FILE_H
#define POLYTILE_BASE_CACHE_FILE_H

#include "base/context.h"
#include "base/text.h"

#include <jansson.h>
#include <sys/types.h>

/* Files that processes keep for later ones. */

/** Add the directory that POLYTILE_CACHE names, else $XDG_CACHE_HOME/polytile, else
 * ~/.cache/polytile. Returns false if nothing is to be kept. */
bool pti_cache_locate(const polytile_context *ctx, pti_text *path);

/** Read a whole file into text, which has room for max_bytes + 1. Returns its bytes, or -1 with
 * errno (EFBIG for too large a file) and why, which stays empty if there is no file. Does not block
 * on a pipe. */
ssize_t pti_file_read(const char *path, char *text, ssize_t max_bytes, pti_text *why);

/** Find the size of an open file. Errors: IO: it cannot be found, or is no regular file's. */
polytile_status pti_file_find_size(polytile_context *ctx, const char *path, int file,
                                   int64_t *n_bytes);

/** Write all bytes into an open file. False: errno has the reason. */
bool pti_file_write(int file, const char *bytes, size_t n_bytes);

/** Write JSON into a file, and make its directories. An old file is replaced in one step. Returns
 * false with the reason in errno. */
bool pti_file_replace(const char *path, const json_t *root);

/** Write a text, which may be bytes, into a file in the same way. */
bool pti_file_replace_text(const char *path, const pti_text *text);

#endif
