#include "base/text.h"

#include <string.h>

/* Where in a text something is wrong. */

/** How much of a long line is shown before and after the caret, in columns. */
enum { SHOWN_BEFORE = 100, SHOWN_AFTER = 60 };

static size_t count_columns(const char *from, const char *to) {
    size_t n_columns = 0;
    while (from < to) {
        pti_shown_character shown = pti_text_show_next(from);
        n_columns += shown.n_columns;
        from += shown.n_bytes;
    }
    return n_columns;
}

/** Return where a text begins so that at most n_columns are shown. */
static const char *skip_columns(const char *from, const char *to, size_t n_columns) {
    while (from < to && n_columns > 0) {
        pti_shown_character shown = pti_text_show_next(from);
        n_columns -= n_columns < shown.n_columns ? n_columns : shown.n_columns;
        from += shown.n_bytes;
    }
    return from < to ? from : to;
}

/** Append a caret under its column, also after tabs and what is shown as \x1b. */
static void add_caret(pti_text *text, const char *line, const char *place) {
    while (line < place) {
        pti_shown_character shown = pti_text_show_next(line);
        pti_text_add(text, "%*s", (int)shown.n_columns, *line == '\t' ? "\t" : " ");
        line += shown.n_bytes;
    }
    pti_text_add(text, "^");
}

static void add_line(pti_text *text, const char *line, const char *place, const char *end) {
    static const char dots[] = "...";
    size_t n_before = count_columns(line, place);
    const char *from =
        n_before > SHOWN_BEFORE ? skip_columns(line, place, n_before - SHOWN_BEFORE) : line;
    const char *to = skip_columns(place, end, SHOWN_AFTER);
    const char *left_out = from == line ? "" : dots;
    pti_text_add(text, "\n  %s", left_out);
    pti_text_add_shown(text, from, (size_t)(to - from));
    pti_text_add(text, "%s\n  %*s", to == end ? "" : dots, (int)strlen(left_out), "");
    add_caret(text, from, place);
}

void pti_text_add_place(pti_text *text, const char *source, size_t offset) {
    size_t begin = offset, number = 1;
    while (begin > 0 && source[begin - 1] != '\n')
        begin--;
    for (size_t k = 0; k < begin; k++)
        number += source[k] == '\n';
    const char *line = source + begin, *place = source + offset;
    size_t column = count_columns(line, place) + 1;
    if (number > 1 || strchr(source, '\n') != NULL)
        pti_text_add(text, " (line %zu, column %zu)", number, column);
    else
        pti_text_add(text, " (column %zu)", column);
    size_t length = strcspn(line, "\n");
    bool ends_in_return = line + length > place && line[length - 1] == '\r';
    add_line(text, line, place, line + length - ends_in_return);
}
