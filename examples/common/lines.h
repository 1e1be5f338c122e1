#ifndef EXAMPLES_LINES_H
#define EXAMPLES_LINES_H

#include "session.h"

#include <inttypes.h>
#include <stdio.h>

/* Text files line by line. Errors name the file, the line and the value. */

enum { LINES_SHOWN_SIZE = 64 };

/** A file as far as it is read. */
typedef struct lines {
    session *s;
    const char *path;
    FILE *file;
    char *line; /* owned */
    size_t capacity;
    int64_t number; /* of the line, from 1 */
} lines;

/** Errors: IO. */
polytile_status lines_open(session *s, const char *path, lines *l);
void lines_close(lines *l);

/** Read the next line; *line is NULL after the last. Errors: IO, NO_MEMORY. */
polytile_status lines_next(lines *l, char **line);

/** Return the next word of a line, which ends it there; "" after the last. */
char *lines_next_word(char **at);

/** Return a word as an error shows it. shown: of LINES_SHOWN_SIZE bytes. */
const char *lines_show(const char *word, char *shown);

/** Read a whole number between two ends. Errors: INVALID. */
polytile_status lines_read_whole(const lines *l, char **at, const char *what, int64_t least,
                                 int64_t most, int64_t *number);

/** Read a finite number. Errors: INVALID. */
polytile_status lines_read_real(const lines *l, char **at, const char *what, double *number);

/** Refuse further words. Errors: INVALID. */
polytile_status lines_end_line(const lines *l, char **at);

/** Refuse a line; format needs at least one argument. */
#define LINES_REFUSE(l, format, ...)                                                               \
    session_fail((l)->s, POLYTILE_INVALID, "%s: line %" PRId64 ": " format, (l)->path,             \
                 (l)->number, __VA_ARGS__)

#endif
