#include "scan.h"

#include <ctype.h>
#include <string.h>

bool polytile_fortran_is_of_name(char c) {
    return isalnum((unsigned char)c) || c == '_' || (c & 0x80) != 0;
}

const char *polytile_fortran_skip_name(span text) {
    while (text.begin < text.end && polytile_fortran_is_of_name(*text.begin))
        text.begin++;
    return text.begin;
}

static bool begins_with(span text, const char *word) {
    const size_t length = strlen(word);
    return (size_t)(text.end - text.begin) >= length && strncmp(text.begin, word, length) == 0;
}

/** The end of the comment at the beginning; begin: there is none. */
static const char *skip_comment(span text) {
    const char *at = text.begin;
    const bool is_line = begins_with(text, "//");
    if (!is_line && !begins_with(text, "/*"))
        return at;
    for (at += 2; at < text.end; at++)
        if (is_line ? *at == '\n' : begins_with((span){at, text.end}, "*/"))
            return at + (is_line ? 1 : 2);
    return text.end;
}

const char *polytile_fortran_skip_quoted(span text) {
    const char quote = *text.begin;
    const char *at = text.begin + 1;
    if (quote != '"' && quote != '\'')
        return skip_comment(text);
    for (; at < text.end && *at != quote; at++)
        at += *at == '\\' && at + 1 < text.end;
    return at < text.end ? at + 1 : text.end;
}

const char *polytile_fortran_skip_blanks(span text) {
    for (const char *behind = NULL; behind != text.begin;) {
        behind = text.begin;
        text.begin = skip_comment(text);
        while (text.begin < text.end && isspace((unsigned char)*text.begin))
            text.begin++;
    }
    return text.begin;
}

/** How much deeper in brackets a text is behind its first character. */
static int change_of_depth(span text) {
    static const char *const opening[] = {"(", "[", "{", "<:", "<%", NULL};
    static const char *const closing[] = {")", "]", "}", ":>", "%>", NULL};
    for (int k = 0; opening[k] != NULL; k++)
        if (begins_with(text, opening[k]) || begins_with(text, closing[k]))
            return begins_with(text, opening[k]) ? 1 : -1;
    return 0;
}

const char *polytile_fortran_find_closing(span text) {
    int depth = 0;
    for (const char *behind; text.begin < text.end; text.begin = behind) {
        behind = polytile_fortran_skip_quoted(text);
        if (behind > text.begin)
            continue;
        behind = text.begin + 1;
        depth += change_of_depth(text);
        if (depth == 0)
            return text.begin;
    }
    return NULL;
}

const char *polytile_fortran_find_comma(span list) {
    int depth = 0;
    for (const char *behind; list.begin < list.end; list.begin = behind) {
        behind = polytile_fortran_skip_quoted(list);
        if (behind > list.begin)
            continue;
        behind = list.begin + 1;
        depth += change_of_depth(list);
        if (*list.begin == ',' && depth == 0)
            return list.begin;
    }
    return NULL;
}

span polytile_fortran_trim(span text) {
    while (text.begin < text.end && isspace((unsigned char)*text.begin))
        text.begin++;
    while (text.begin < text.end && isspace((unsigned char)text.end[-1]) && text.end[-1] != '\n')
        text.end--;
    return text;
}
