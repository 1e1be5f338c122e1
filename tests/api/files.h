#ifndef POLYTILE_TESTS_API_FILES_H
#define POLYTILE_TESTS_API_FILES_H

#include <stdbool.h>
#include <stddef.h>

/** A path in a directory of this process, which is removed when it ends; lives until the next but
 * seven calls. */
const char *file_named(const char *name);

/** Make a file of some bytes. */
void file_write(const char *path, const void *bytes, size_t n_bytes);

/** The first bytes of a file as a text in the buffer, which is returned; "" if there is none. */
const char *file_read(const char *path, char *buffer, size_t n_bytes);

bool file_is_there(const char *path);

#endif
