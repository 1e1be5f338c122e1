#include "lines.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

polytile_status lines_open(session *s, const char *path, lines *l) {
    *l = (lines){.s = s, .path = path, .file = fopen(path, "r")};
    if (l->file == NULL)
        return session_fail(s, POLYTILE_IO, "cannot open %s: %s", path, strerror(errno));
    return POLYTILE_OK;
}

void lines_close(lines *l) {
    free(l->line);
    fclose(l->file);
}

polytile_status lines_next(lines *l, char **line) {
    errno = 0;
    *line = NULL;
    if (getline(&l->line, &l->capacity, l->file) >= 0) {
        l->number++;
        *line = l->line;
        return POLYTILE_OK;
    }
    if (feof(l->file) && errno == 0)
        return POLYTILE_OK;
    return session_fail(l->s, errno == ENOMEM ? POLYTILE_NO_MEMORY : POLYTILE_IO,
                        "cannot read %s after line %" PRId64 ": %s", l->path, l->number,
                        strerror(errno));
}

char *lines_next_word(char **at) {
    *at += strspn(*at, " \t\r\n");
    char *word = *at;
    *at += strcspn(*at, " \t\r\n");
    if (**at != '\0')
        *(*at)++ = '\0';
    return word;
}

const char *lines_show(const char *word, char *shown) {
    return *word == '\0' ? "nothing" : polytile_text_show(word, shown, LINES_SHOWN_SIZE);
}

polytile_status lines_read_whole(const lines *l, char **at, const char *what, int64_t least,
                                 int64_t most, int64_t *number) {
    char shown[LINES_SHOWN_SIZE], *end;
    const char *word = lines_next_word(at);
    errno = 0;
    *number = strtoll(word, &end, 10);
    if (end == word || *end != '\0')
        return LINES_REFUSE(l, "%s is %s; it must be a whole number", what,
                            lines_show(word, shown));
    if (errno == ERANGE || *number < least || *number > most)
        return LINES_REFUSE(l, "%s is %s; it must be from %" PRId64 " to %" PRId64, what,
                            lines_show(word, shown), least, most);
    return POLYTILE_OK;
}

polytile_status lines_read_real(const lines *l, char **at, const char *what, double *number) {
    char shown[LINES_SHOWN_SIZE], *end;
    const char *word = lines_next_word(at);
    *number = strtod(word, &end);
    if (end != word && *end == '\0' && isfinite(*number))
        return POLYTILE_OK;
    return LINES_REFUSE(l, "%s is %s; it must be a finite number", what, lines_show(word, shown));
}

polytile_status lines_end_line(const lines *l, char **at) {
    char shown[LINES_SHOWN_SIZE];
    const char *word = lines_next_word(at);
    return *word == '\0' ? POLYTILE_OK
                         : LINES_REFUSE(l, "'%s' is one word too many", lines_show(word, shown));
}
