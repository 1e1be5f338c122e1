#include "reverse.h"

#include "scan.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** A text that is written; it is as long as what it is made of, or longer by a blank a comma. */
typedef struct writer {
    char *at;
    const char *declaration; /* names the arrays of a body; NULL: a declaration is reversed */
    const char *body;
    size_t why_bytes;
    char *why; /* what is wrong with the body; "" so far */
} writer;

static void reverse_text(writer *to, span text);

/** The text has room for it. */
static void add_bytes(writer *to, const char *begin, const char *end) {
    memcpy(to->at, begin, (size_t)(end - begin));
    to->at += end - begin;
}

static void add_text(writer *to, const char *text) {
    add_bytes(to, text, text + strlen(text));
}

/** Note what is wrong at a place of the body, unless something is already. */
static void refuse(writer *to, const char *place, const char *format, ...) {
    const char *name = to->declaration + strspn(to->declaration, " \t\n");
    int line = 1, length;
    va_list arguments;
    if (*to->why != '\0')
        return;
    for (const char *at = to->body; at < place; at++)
        line += *at == '\n';
    length = snprintf(to->why, to->why_bytes, "%.*s: in line %d of the body, ",
                      (int)strcspn(name, " ["), name, line);
    if (length < 0 || (size_t)length >= to->why_bytes)
        return;
    va_start(arguments, format);
    vsnprintf(to->why + length, to->why_bytes - (size_t)length, format, arguments);
    va_end(arguments);
}

/** The beginning of the last part of a list. */
static const char *find_last_part(span list) {
    for (const char *comma; (comma = polytile_fortran_find_comma(list)) != NULL;)
        list.begin = comma + 1;
    return list.begin;
}

/** Write the parts of a list, the last one first. */
static void reverse_list(writer *to, span list) {
    for (;;) {
        const char *begin = find_last_part(list);
        reverse_text(to, polytile_fortran_trim((span){begin, list.end}));
        if (begin == list.begin)
            return;
        list.end = begin - 1;
        add_text(to, ", ");
    }
}

/** How many parts a list in brackets has; open: its bracket. */
static int count_parts(span open) {
    span list = {open.begin + 1, polytile_fortran_find_closing(open)};
    int n = 1;
    if (list.end == NULL)
        list.end = open.end;
    for (const char *comma; (comma = polytile_fortran_find_comma(list)) != NULL; n++)
        list.begin = comma + 1;
    return n;
}

/** The number of subscripts of an array, which has brackets behind its name in the declaration and
 * is not the kernel, the first; 0: it is none. */
static int count_subscripts(const writer *to, span name) {
    const size_t length = (size_t)(name.end - name.begin);
    const char *end = to->declaration + strlen(to->declaration);
    const char *first = strchr(to->declaration, ']');
    for (const char *at = first == NULL || length == 0 ? end : first + 1; at < end; at++) {
        if (polytile_fortran_is_of_name(at[-1]) || strncmp(at, name.begin, length) != 0 ||
            polytile_fortran_is_of_name(at[length]))
            continue;
        const char *behind = polytile_fortran_skip_blanks((span){at + length, end});
        if (*behind == '[')
            return count_parts((span){behind, end});
    }
    return 0;
}

/** The brackets behind a name, with both; no text: there are none, or nothing closes them. */
static span find_brackets(const char *behind, const char *end) {
    const char *open = polytile_fortran_skip_blanks((span){behind, end});
    const char *close = NULL;
    if (open < end && *open == '(')
        close = polytile_fortran_find_closing((span){open, end});
    return close == NULL ? (span){behind, behind} : (span){open, close + 1};
}

/** Write A(i, j) with its subscripts reversed; return what is behind. */
static const char *reverse_element(writer *to, span name, const char *end) {
    const span brackets = find_brackets(name.end, end);
    if (brackets.begin == brackets.end) {
        add_bytes(to, name.begin, name.end);
        return name.end;
    }
    add_bytes(to, name.begin, brackets.begin + 1);
    reverse_list(to, (span){brackets.begin + 1, brackets.end - 1});
    add_text(to, ")");
    return brackets.end;
}

/** What is behind an array's name in a macro of bodies. */
typedef enum macro_kind {
    TAKES_NO_ARRAY, /* elements, at most, as it is written */
    TAKES_SUBSCRIPTS,
    TAKES_A_DIMENSION /* and perhaps more */
} macro_kind;

typedef struct macro {
    const char *name;
    macro_kind kind;
} macro;

static const macro macros[] = {
    {"PT_AT", TAKES_SUBSCRIPTS},
    {"PT_FIRST", TAKES_A_DIMENSION},
    {"PT_LAST", TAKES_A_DIMENSION},
    {"PT_ARRAY_FIRST", TAKES_A_DIMENSION},
    {"PT_ARRAY_LAST", TAKES_A_DIMENSION},
    {"PT_EXTENT", TAKES_A_DIMENSION},
    {"PT_WRAP", TAKES_A_DIMENSION},
    {"PT_CLAMP", TAKES_A_DIMENSION},
    {"PT_SUM", TAKES_NO_ARRAY},
    {"PT_PROD", TAKES_NO_ARRAY},
    {"PT_MIN", TAKES_NO_ARRAY},
    {"PT_MAX", TAKES_NO_ARRAY},
    {"PT_ARGMIN", TAKES_NO_ARRAY},
    {"PT_ARGMAX", TAKES_NO_ARRAY},
    {"PT_SUM_RANGE", TAKES_NO_ARRAY},
    {"PT_C64", TAKES_NO_ARRAY},
    {"PT_C128", TAKES_NO_ARRAY},
    {"PT_RE", TAKES_NO_ARRAY},
    {"PT_IM", TAKES_NO_ARRAY},
    {"PT_CONJ", TAKES_NO_ARRAY},
};

/** NULL: there is none of this name. */
static const macro *find_macro(span name) {
    const size_t length = (size_t)(name.end - name.begin);
    for (size_t k = 0; k < sizeof macros / sizeof *macros; k++)
        if (strlen(macros[k].name) == length && strncmp(macros[k].name, name.begin, length) == 0)
            return &macros[k];
    return NULL;
}

/** A plain number up to the number of an array's subscripts; 0: it is none. */
static int read_dimension(span text, int n_subscripts) {
    int dimension = 0;
    for (const char *at = text.begin; at < text.end; at++) {
        if (!isdigit((unsigned char)*at) || dimension > n_subscripts)
            return 0;
        dimension = 10 * dimension + *at - '0';
    }
    return dimension > n_subscripts ? 0 : dimension;
}

/** Write what is behind an array's name and a comma in a macro, its dimension as C counts it. */
static void reverse_dimension(writer *to, const macro *of, span array, span behind) {
    const int n = count_subscripts(to, array);
    const char *comma = polytile_fortran_find_comma(behind);
    const span text =
        polytile_fortran_trim((span){behind.begin, comma == NULL ? behind.end : comma});
    const int dimension = read_dimension(text, n);
    if (dimension == 0)
        refuse(to, text.begin,
               "%s(%.*s, %.*s): dimensions count from 1, as those of size() do; write a plain "
               "number from 1 to %d",
               of->name, (int)(array.end - array.begin), array.begin, (int)(text.end - text.begin),
               text.begin, n);
    else
        to->at += sprintf(to->at, "%d", n - dimension);
    if (comma != NULL)
        reverse_text(to, (span){comma, behind.end});
}

/** Write a macro of an array, M(A, ...), in C's order; return what is behind. */
static const char *reverse_macro(writer *to, const macro *of, span name, const char *end) {
    const span brackets = find_brackets(name.end, end);
    const char *begin = polytile_fortran_skip_blanks(
        (span){brackets.begin + (brackets.begin < brackets.end), brackets.end});
    const span array = {begin, polytile_fortran_skip_name((span){begin, brackets.end})};
    const char *comma = polytile_fortran_skip_blanks((span){array.end, brackets.end});
    if (comma == brackets.end || *comma != ',' || count_subscripts(to, array) == 0) {
        refuse(to, name.begin, "%s takes the name of an array of the declaration: write %s(A, %s)",
               of->name, of->name, of->kind == TAKES_SUBSCRIPTS ? "i, ..." : "1");
        return name.end;
    }
    const span behind = {comma + 1, brackets.end - 1};
    add_bytes(to, name.begin, behind.begin);
    add_text(to, " ");
    if (of->kind == TAKES_SUBSCRIPTS)
        reverse_list(to, behind);
    else
        reverse_dimension(to, of, array, behind);
    add_text(to, ")");
    return brackets.end;
}

/** Refuse names of a body behind which subscripts could be missed. */
static void check_name(writer *to, span name, const char *end) {
    static const char prefix[] = "PT_";
    if (isdigit((unsigned char)*name.begin) && name.end < end && *name.end == '\'')
        refuse(to, name.begin, "a ' within a number; write its digits without");
    if (strncmp(name.begin, prefix, strlen(prefix)) == 0)
        refuse(
            to, name.begin,
            "%.*s is no macro that bodies have, and subscripts behind it would stay in Fortran's "
            "order; write A(i, j) for an element",
            (int)(name.end - name.begin), name.begin);
}

/** Write a name of a body, with the subscripts or the dimension that belong to it; return what is
 * behind. */
static const char *reverse_name(writer *to, span text) {
    const span name = {text.begin, polytile_fortran_skip_name(text)};
    const macro *of = find_macro(name);
    if (of != NULL && of->kind != TAKES_NO_ARRAY)
        return reverse_macro(to, of, name, text.end);
    if (count_subscripts(to, name) > 0)
        return reverse_element(to, name, text.end);
    if (of == NULL)
        check_name(to, name, text.end);
    add_bytes(to, name.begin, name.end);
    return name.end;
}

/** Write a list in brackets of a declaration; return what is behind. */
static const char *reverse_brackets(writer *to, span text) {
    const char *close = polytile_fortran_find_closing(text);
    add_text(to, "[");
    if (close == NULL)
        return text.begin + 1;
    reverse_list(to, (span){text.begin + 1, close});
    add_text(to, "]");
    return close + 1;
}

static void reverse_text(writer *to, span text) {
    for (const char *behind; text.begin < text.end; text.begin = behind) {
        behind = polytile_fortran_skip_quoted(text);
        if (behind > text.begin)
            add_bytes(to, text.begin, behind);
        else if (to->declaration != NULL && polytile_fortran_is_of_name(*text.begin))
            behind = reverse_name(to, text);
        else if (to->declaration == NULL && *text.begin == '[')
            behind = reverse_brackets(to, text);
        else
            add_bytes(to, text.begin, behind = text.begin + 1);
    }
}

/** Refuse lines that a backslash joins: it may stand within a name, and end no comment. */
static void check_lines(writer *to) {
    for (const char *at = to->body; (at = strchr(at, '\\')) != NULL; at++)
        if (at[1 + strspn(at + 1, " \t\r\v\f")] == '\n')
            refuse(to, at, "a \\ at the end of a line; write what it joins in one line");
}

static char *allocate_reversed(const char *text) {
    return malloc(2 * strlen(text) + 1);
}

char *polytile_fortran_reverse_declaration(const char *declaration) {
    char *made = allocate_reversed(declaration);
    writer to = {.at = made};
    if (made == NULL)
        return NULL;
    reverse_text(&to, (span){declaration, declaration + strlen(declaration)});
    *to.at = '\0';
    return made;
}

char *polytile_fortran_reverse_body(const char *body, const char *declaration, size_t why_bytes,
                                    char *why) {
    char *made = allocate_reversed(body);
    writer to = {made, declaration, body, why_bytes, why};
    *why = '\0';
    if (made == NULL)
        return NULL;
    check_lines(&to);
    reverse_text(&to, (span){body, body + strlen(body)});
    *to.at = '\0';
    if (*why == '\0')
        return made;
    free(made);
    return NULL;
}
