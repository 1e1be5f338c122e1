#include "reverse.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/** A part of a text. */
typedef struct span {
    const char *begin, *end;
} span;

/** A text that is written; it is as long as what it is made of, or longer by a blank a comma. */
typedef struct writer {
    char *at;
    const char *declaration; /* names the arrays of a body; NULL: a declaration is reversed */
} writer;

static void reverse_text(writer *to, span text);

static bool is_of_name(char c) {
    return isalnum((unsigned char)c) || c == '_';
}

/** The text has room for it. */
static void add_bytes(writer *to, const char *begin, const char *end) {
    memcpy(to->at, begin, (size_t)(end - begin));
    to->at += end - begin;
}

/** The end of what is not looked into: a comment, a text, a character; begin: nothing of that. */
static const char *skip_quoted(span text, const char *begin) {
    const char *end = begin + 2;
    if (begin + 1 < text.end && begin[0] == '/' && (begin[1] == '/' || begin[1] == '*')) {
        while (end < text.end &&
               (begin[1] == '/' ? *end != '\n' : end[-1] != '*' || *end != '/' || end < begin + 3))
            end++;
        return end < text.end ? end + 1 : text.end;
    }
    if (*begin != '"' && *begin != '\'')
        return begin;
    for (end = begin + 1; end < text.end && *end != *begin; end++)
        end += *end == '\\' && end + 1 < text.end;
    return end < text.end ? end + 1 : text.end;
}

/** The bracket that closes the one at the beginning; NULL: none does. */
static const char *find_closing(span text) {
    int depth = 0;
    for (const char *at = text.begin, *behind; at < text.end; at = behind) {
        behind = skip_quoted(text, at);
        if (behind > at)
            continue;
        behind = at + 1;
        depth += (strchr("([{", *at) != NULL) - (strchr(")]}", *at) != NULL);
        if (depth == 0)
            return at;
    }
    return NULL;
}

/** The beginning of the last part of a list, behind its last comma outside of brackets. */
static const char *find_last_part(span list) {
    const char *last = list.begin;
    int depth = 0;
    for (const char *at = list.begin, *behind; at < list.end; at = behind) {
        behind = skip_quoted(list, at);
        if (behind > at)
            continue;
        behind = at + 1;
        depth += (strchr("([{", *at) != NULL) - (strchr(")]}", *at) != NULL);
        if (*at == ',' && depth == 0)
            last = behind;
    }
    return last;
}

static span trim(span text) {
    while (text.begin < text.end && isspace((unsigned char)*text.begin))
        text.begin++;
    while (text.begin < text.end && isspace((unsigned char)text.end[-1]))
        text.end--;
    return text;
}

/** Write the parts of a list, the last one first. */
static void reverse_list(writer *to, span list) {
    for (;;) {
        const char *begin = find_last_part(list);
        reverse_text(to, trim((span){begin, list.end}));
        if (begin == list.begin)
            return;
        list.end = begin - 1;
        add_bytes(to, ", ", ", " + 2);
    }
}

/** Whether a name has brackets behind it in the declaration, and is not the kernel's, the first. */
static bool is_array(const writer *to, span name) {
    const size_t length = (size_t)(name.end - name.begin);
    const char *first = strchr(to->declaration, ']');
    for (const char *at = first == NULL ? "" : first + 1; *at != '\0'; at++) {
        const char *behind = at;
        if (is_of_name(at[-1]) || strncmp(at, name.begin, length) != 0 || is_of_name(at[length]))
            continue;
        for (behind = at + length; isspace((unsigned char)*behind);)
            behind++;
        if (*behind == '[')
            return true;
    }
    return false;
}

/** Write a name, and, of an array in a body, its subscripts reversed; return what is behind. */
static const char *reverse_name(writer *to, span text) {
    const char *end = text.begin, *open, *close;
    while (end < text.end && is_of_name(*end))
        end++;
    add_bytes(to, text.begin, end);
    for (open = end; open < text.end && isspace((unsigned char)*open);)
        open++;
    if (to->declaration == NULL || open == text.end || *open != '(' ||
        !is_array(to, (span){text.begin, end}))
        return end;
    close = find_closing((span){open, text.end});
    if (close == NULL)
        return end;
    add_bytes(to, end, open + 1);
    reverse_list(to, (span){open + 1, close});
    add_bytes(to, ")", ")" + 1);
    return close + 1;
}

/** Write a list in brackets of a declaration; return what is behind. */
static const char *reverse_brackets(writer *to, span text) {
    const char *close = find_closing(text);
    add_bytes(to, "[", "[" + 1);
    if (close == NULL)
        return text.begin + 1;
    reverse_list(to, (span){text.begin + 1, close});
    add_bytes(to, "]", "]" + 1);
    return close + 1;
}

static void reverse_text(writer *to, span text) {
    for (const char *at = text.begin, *behind; at < text.end; at = behind) {
        behind = skip_quoted(text, at);
        if (behind > at)
            add_bytes(to, at, behind);
        else if (is_of_name(*at))
            behind = reverse_name(to, (span){at, text.end});
        else if (to->declaration == NULL && *at == '[')
            behind = reverse_brackets(to, (span){at, text.end});
        else
            add_bytes(to, at, behind = at + 1);
    }
}

static char *reverse(const char *text, const char *declaration) {
    const size_t length = strlen(text);
    char *made = malloc(2 * length + 1);
    if (made == NULL)
        return NULL;
    writer to = {made, declaration};
    reverse_text(&to, (span){text, text + length});
    *to.at = '\0';
    return made;
}

char *polytile_fortran_reverse_declaration(const char *declaration) {
    return reverse(declaration, NULL);
}

char *polytile_fortran_reverse_body(const char *body, const char *declaration) {
    return reverse(body, declaration);
}
