#include "compile/diagnose.h"

#include "compile/body.h"
#include "compile/source.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_MESSAGE_BYTES = 400 };

/** What a line of a compiler's output says of the body. */
typedef struct remark {
    bool is_of_body;
    bool is_error;
    size_t line;   /* from 1 */
    size_t column; /* from 1; 0: not in this line */
    char message[MAX_MESSAGE_BYTES];
} remark;

static const char *next_line(const char *line) {
    const char *end = strchr(line, '\n');
    return end == NULL ? line + strlen(line) : end + 1;
}

/** Copy a message up to its line's end, without the option that it comes from. */
static void copy_message(const char *from, char *message) {
    static const char option[] = " [-W";
    size_t length = strcspn(from, "\n");
    for (size_t k = 0; k + strlen(option) <= length; k++)
        if (strncmp(from + k, option, strlen(option)) == 0)
            length = k;
    length = length < MAX_MESSAGE_BYTES ? length : MAX_MESSAGE_BYTES - 1;
    memcpy(message, from, length);
    message[length] = '\0';
}

/** Read the place after the body's name: "(3)" of NVRTC, ":3:8" of gcc and clang. */
static void read_place(const char *at, remark *of) {
    char *end;
    const bool has_columns = *at == ':';
    of->line = strtoul(at + 1, &end, 10);
    of->is_of_body = of->line > 0;
    if (has_columns && *end == ':')
        of->column = strtoul(end + 1, NULL, 10);
}

static remark read_remark(const char *line) {
    static const char error[] = "error:", body[] = PTI_BODY_FILE;
    remark of = {0};
    const size_t length = strcspn(line, "\n");
    const char *found = strstr(line, error);
    of.is_error = found != NULL && (size_t)(found - line) < length;
    const char after = strncmp(line, body, strlen(body)) == 0 ? line[strlen(body)] : '\0';
    if (after == '(' || after == ':')
        read_place(line + strlen(body), &of);
    if (of.is_error) {
        found += strlen(error);
        copy_message(found + strspn(found, " "), of.message);
    }
    return of;
}

/** Find the column that a caret below the source's line shows, after two blanks. */
static size_t column_below(const char *line) {
    const char *source = next_line(line), *caret = next_line(source);
    const size_t blanks = strspn(caret, " \t");
    return caret[blanks] == '^' && blanks >= 2 ? blanks - 1 : 1;
}

/** Find the first error; its place may be that of a later remark, in whose macro it is. */
static bool find_error(const char *said, remark *found) {
    bool has_error = false;
    for (const char *line = said; *line != '\0'; line = next_line(line)) {
        remark of = read_remark(line);
        if (of.is_of_body && of.column == 0)
            of.column = column_below(line);
        if (!has_error && of.is_error) {
            *found = of;
            has_error = true;
        } else if (has_error && !found->is_of_body && of.is_of_body) {
            found->is_of_body = true;
            found->line = of.line;
            found->column = of.column;
        }
    }
    return has_error;
}

/** Return the offset after the last character that is seen. */
static size_t seen_end(const char *text) {
    size_t end = strlen(text);
    while (end > 0 && isspace((unsigned char)text[end - 1]))
        end--;
    return end;
}

/** Return the offset of a place in the body; one after its end is at the end. */
static size_t offset_of(const char *text, size_t line, size_t column) {
    const char *at = text;
    for (size_t k = 1; k < line && *at != '\0'; k++)
        at = next_line(at);
    if (*at == '\0')
        return seen_end(text);
    const size_t length = strcspn(at, "\n");
    return (size_t)(at - text) + (column - 1 < length ? column - 1 : length);
}

static void add_names(pti_text *text, const char *what, int n, char *const *names) {
    for (int k = 0; k < n; k++)
        pti_text_add(text, "%s%s%s", k > 0 ? ", " : what, k > 0 ? "" : " ", names[k]);
}

/** Say that the declaration has no such name, and what it has. */
static polytile_status refuse_name(polytile_context *ctx, const pti_body_text *body, size_t offset,
                                   size_t length) {
    const polytile_declaration *declaration = body->declaration;
    pti_text has = {0};
    add_names(&has, "index", declaration->n_indices, declaration->index_name);
    add_names(&has, "; array", declaration->n_arrays, declaration->array_name);
    add_names(&has, "; parameter", declaration->n_parameters, declaration->parameter_name);
    const polytile_status status = pti_body_fail(
        ctx, declaration, body->text, offset, "%.*s is unknown; the declaration has %s",
        (int)length, body->text + offset, has.data == NULL ? "no such name" : has.data);
    pti_text_free(&has);
    return status;
}

static bool is_unknown_name(const char *message) {
    return strstr(message, "implicit declaration") != NULL ||
           strstr(message, "undeclared") != NULL || strstr(message, "is undefined") != NULL;
}

static size_t name_length(const char *text) {
    size_t length = 0;
    while (isalnum((unsigned char)text[length]) || text[length] == '_')
        length++;
    return length;
}

static polytile_status refuse_body(polytile_context *ctx, const pti_body_text *body,
                                   const remark *found) {
    const size_t offset = offset_of(body->text, found->line, found->column);
    const size_t length = name_length(body->text + offset);
    if (is_unknown_name(found->message) && length > 0)
        return refuse_name(ctx, body, offset, length);
    return pti_body_fail(ctx, body->declaration, body->text, offset, "%s", found->message);
}

polytile_status pti_diagnose(polytile_context *ctx, const pti_body_text *body, const char *compiler,
                             const char *advice, const char *said) {
    remark found = {0};
    const bool has_error = find_error(said, &found);
    if (has_error && found.is_of_body)
        return refuse_body(ctx, body, &found);
    if (!has_error)
        copy_message(said, found.message);
    return pti_fail(ctx, POLYTILE_UNSUPPORTED, "%s: %s does not compile the body, and says: %s; %s",
                    body->declaration->name, compiler,
                    found.message[0] == '\0' ? "nothing" : found.message, advice);
}
