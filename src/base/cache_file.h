#ifndef POLYTILE_BASE_CACHE_FILE_H
#define POLYTILE_BASE_CACHE_FILE_H

#include "base/context.h"
#include "base/text.h"

#include <jansson.h>
#include <sys/types.h>

/* Files that processes keep for later ones. */

/** Add the directory that POLYTILE_CACHE names, else $XDG_CACHE_HOME/polytile, else
 * ~/.cache/polytile; false when nothing is to be kept. */
bool pti_cache_locate(const polytile_context *ctx, pti_text *path);

/** A whole file into text, which has room for max_bytes + 1; its bytes, or -1 with errno (EFBIG for
 * too large a file) and why, which stays empty where there is no file. Nothing blocks, should the
 * path be a pipe. */
ssize_t pti_file_read(const char *path, char *text, ssize_t max_bytes, pti_text *why);

/** Write JSON into a file in one step, replacing what was there, in directories that are made if
 * need be; false with the reason in errno. */
bool pti_file_replace(const char *path, const json_t *root);

#endif
