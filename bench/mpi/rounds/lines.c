#include "lines.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static FILE *open_source(const char *path) {
    char whole[4096];
    snprintf(whole, sizeof whole, "%s/%s", ROUNDS_SOURCES, path);
    FILE *file = fopen(whole, "r");
    if (file == NULL) {
        perror(whole);
        exit(EXIT_FAILURE);
    }
    return file;
}

/** Where in a source a character is. */
typedef enum place { CODE, TEXT, LINE_COMMENT, COMMENT } place;

/** Return the place after two characters; text ends with the quote that it began with. */
static place advance(place at, int before, int now, int *quote) {
    switch (at) {
    case CODE:
        *quote = now;
        if (before == '/' && (now == '/' || now == '*'))
            return now == '/' ? LINE_COMMENT : COMMENT;
        return now == '"' || now == '\'' ? TEXT : CODE;
    case TEXT:
        return now == *quote && before != '\\' ? CODE : TEXT;
    case LINE_COMMENT:
        return now == '\n' ? CODE : LINE_COMMENT;
    default:
        return before == '*' && now == '/' ? CODE : COMMENT;
    }
}

int rounds_count_lines(const char *path) {
    FILE *file = open_source(path);
    int n_lines = 0, quote = 0, before = '\n';
    place at = CODE;
    bool has_code = false;
    for (int now = getc(file); now != EOF; now = getc(file)) {
        const place next = advance(at, before, now, &quote);
        has_code |= at <= TEXT && next <= TEXT && now != '/' && !isspace(now);
        n_lines += now == '\n' && has_code;
        has_code &= now != '\n';
        before = at != next || (before == '\\' && now == '\\') ? ' ' : now;
        at = next;
    }
    fclose(file);
    return n_lines;
}
