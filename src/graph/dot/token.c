#include "graph/dot/token.h"

#include "base/list.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

char *pti_dot_reserve(pti_dot *dot, size_t length) {
    if (!PTI_GROW(dot->string, dot->n_strings, &dot->string_capacity))
        return NULL;
    char *text = malloc(length + 1);
    if (text == NULL)
        return NULL;
    text[length] = '\0';
    dot->string[dot->n_strings++] = text;
    return text;
}

/** Keep length bytes of a text as a string of the pti_dot; NULL: no memory. */
static char *keep_bytes(pti_dot *dot, const char *bytes, size_t length) {
    char *copy = pti_dot_reserve(dot, length);
    if (copy != NULL)
        memcpy(copy, bytes, length);
    return copy;
}

static bool is_name_byte(char c) {
    return isalnum((unsigned char)c) || c == '_' || (c & 0x80) != 0;
}

/** Where a comment that begins at a place ends; the place itself: none does. */
static polytile_status skip_comment(const pti_dot *dot, size_t *at) {
    const char *text = dot->text + *at;
    const bool begins_line = *at == 0 || text[-1] == '\n';
    if (strncmp(text, "//", 2) == 0 || (*text == '#' && begins_line)) {
        *at += strcspn(text, "\n");
    } else if (strncmp(text, "/*", 2) == 0) {
        const char *end = strstr(text + 2, "*/");
        if (end == NULL)
            return pti_dot_fail(dot, *at, "this comment has no end; write */");
        *at += (size_t)(end - text) + 2;
    }
    return POLYTILE_OK;
}

static polytile_status skip_blanks(const pti_dot *dot, size_t *at) {
    polytile_status status = POLYTILE_OK;
    size_t before;
    do {
        before = *at;
        while (isspace((unsigned char)dot->text[*at]))
            (*at)++;
        status = skip_comment(dot, at);
    } while (status == POLYTILE_OK && *at != before);
    return status;
}

/** Take a quoted string's bytes: \" is a quote, a backslash at a line's end joins lines, and any
 * other stays, as in Graphviz. */
static size_t take_quoted(const char *from, const char *to, char *out) {
    size_t length = 0;
    for (; from < to; from++) {
        if (*from == '\\' && from[1] == '\n') {
            from++;
            continue;
        }
        if (*from == '\\' && from[1] == '"')
            from++;
        out[length++] = *from;
    }
    return length;
}

static polytile_status read_quoted(pti_dot *dot, pti_dot_token *token) {
    const char *from = dot->text + token->begin + 1, *to = from;
    while (*to != '\0' && *to != '"')
        to += *to == '\\' && to[1] != '\0' ? 2 : 1;
    if (*to == '\0')
        return pti_dot_fail(dot, token->begin, "this string has no end; write \"");
    char *word = keep_bytes(dot, from, (size_t)(to - from));
    if (word == NULL)
        return pti_dot_fail_memory(dot);
    word[take_quoted(from, to, word)] = '\0';
    token->kind = PTI_DOT_WORD;
    token->is_quoted = true;
    token->word = word;
    token->end = (size_t)(to + 1 - dot->text);
    return POLYTILE_OK;
}

static polytile_status keep_word(pti_dot *dot, pti_dot_token *token) {
    token->kind = PTI_DOT_WORD;
    token->word = keep_bytes(dot, dot->text + token->begin, token->end - token->begin);
    return token->word == NULL ? pti_dot_fail_memory(dot) : POLYTILE_OK;
}

static size_t count_digits(const char *text) {
    return strspn(text, "0123456789");
}

/** The bytes of a number as Graphviz has it, [-]12.5 or [-].5; 0: it is none. */
static size_t number_length(const char *text) {
    size_t length = *text == '-', whole = count_digits(text + length), fraction = 0;
    length += whole;
    if (text[length] == '.') {
        fraction = count_digits(text + length + 1);
        length += fraction + 1;
    }
    return whole + fraction > 0 ? length : 0;
}

static polytile_status read_number(pti_dot *dot, pti_dot_token *token) {
    token->end = token->begin + number_length(dot->text + token->begin);
    if (is_name_byte(dot->text[token->end]))
        return pti_dot_fail(dot, token->begin, "a number ends in letters; put it in quotes");
    return keep_word(dot, token);
}

static polytile_status read_mark(const pti_dot *dot, pti_dot_token *token) {
    const char *text = dot->text + token->begin;
    token->kind = PTI_DOT_MARK;
    token->mark = *text;
    token->end = token->begin + 1;
    if (strncmp(text, "->", 2) == 0 || strncmp(text, "--", 2) == 0) {
        token->kind = text[1] == '>' ? PTI_DOT_ARROW : PTI_DOT_DASHES;
        token->end++;
    } else if (strchr("{}[]=;,+:", *text) == NULL) {
        return pti_dot_fail(dot, token->begin,
                            *text == '<' ? "texts in <> are not read; put it in quotes"
                                         : "this character has no place here; put names with such "
                                           "characters in quotes");
    }
    return POLYTILE_OK;
}

polytile_status pti_dot_read_token(pti_dot *dot, size_t offset, pti_dot_token *token) {
    polytile_status status;
    *token = (pti_dot_token){0};
    PTI_TRY(skip_blanks(dot, &offset));
    const char *text = dot->text + offset;
    token->begin = token->end = offset;
    if (*text == '\0')
        return POLYTILE_OK;
    if (*text == '"')
        return read_quoted(dot, token);
    if (number_length(text) > 0)
        return read_number(dot, token);
    if (!is_name_byte(*text))
        return read_mark(dot, token);
    while (is_name_byte(dot->text[token->end]))
        token->end++;
    status = keep_word(dot, token);
done:
    return status;
}

bool pti_dot_is_keyword(const pti_dot_token *token, const char *word) {
    return token->kind == PTI_DOT_WORD && !token->is_quoted && strcasecmp(token->word, word) == 0;
}
