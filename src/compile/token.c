#include "compile/token.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/** Symbols of several characters, the longest first. Digraphs are their symbols. */
static const char *const long_symbols[] = {
    "<<=", ">>=", "...", "->", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||",
    "+=",  "-=",  "*=",  "/=", "%=", "&=", "|=", "^=", "<%", "%>", "<:", ":>", NULL};

/** The end of what has none. */
static const size_t no_end = SIZE_MAX;

static bool add_token(pti_c_tokens *tokens, pti_c_token_kind kind, size_t begin, size_t end) {
    enum { FIRST_CAPACITY = 64 };
    if (tokens->n == tokens->capacity) {
        const size_t capacity = tokens->capacity == 0 ? FIRST_CAPACITY : 2 * tokens->capacity;
        pti_c_token *grown = realloc(tokens->token, capacity * sizeof *grown);
        if (grown == NULL)
            return false;
        tokens->token = grown;
        tokens->capacity = capacity;
    }
    tokens->token[tokens->n++] = (pti_c_token){kind, begin, end};
    return true;
}

static bool begins_name(char c) {
    return isalpha((unsigned char)c) || c == '_' || (c & 0x80) != 0;
}

static bool is_of_name(char c) {
    return begins_name(c) || isdigit((unsigned char)c);
}

static size_t name_end(const char *text, size_t at) {
    while (is_of_name(text[at]))
        at++;
    return at;
}

/** The signs of an exponent belong to a number. */
static size_t number_end(const char *text, size_t at) {
    while (is_of_name(text[at]) || text[at] == '.' ||
           ((text[at] == '+' || text[at] == '-') && strchr("eEpP", text[at - 1]) != NULL))
        at++;
    return at;
}

static size_t symbol_end(const char *text, size_t at) {
    for (const char *const *symbol = long_symbols; *symbol != NULL; symbol++)
        if (strncmp(text + at, *symbol, strlen(*symbol)) == 0)
            return at + strlen(*symbol);
    return at + 1;
}

/** Return the end of a literal, which a line does not outlast. */
static size_t literal_end(const char *text, size_t at) {
    const char quote = text[at++];
    while (text[at] != quote && text[at] != '\0' && text[at] != '\n')
        at += text[at] == '\\' && text[at + 1] != '\0' ? 2 : 1;
    return text[at] == quote ? at + 1 : no_end;
}

static size_t line_end(const char *text, size_t at) {
    while (text[at] != '\0' && (text[at] != '\n' || text[at - 1] == '\\'))
        at++;
    return at;
}

/** Return the end of a comment; at itself: there is none. */
static size_t comment_end(const char *text, size_t at) {
    if (strncmp(text + at, "//", 2) == 0)
        return line_end(text, at);
    if (strncmp(text + at, "/*", 2) != 0)
        return at;
    const char *end = strstr(text + at + 2, "*/");
    return end == NULL ? no_end : (size_t)(end - text) + 2;
}

static bool begins_number(const char *text) {
    return isdigit((unsigned char)*text) || (*text == '.' && isdigit((unsigned char)text[1]));
}

static bool begins_directive(const char *text) {
    return *text == '#' || strncmp(text, "%:", 2) == 0;
}

/** Return the end of a token, and find its kind. */
static size_t token_end(const char *text, size_t at, pti_c_token_kind *kind) {
    const char *const from = text + at;
    *kind = begins_name(*from)              ? PTI_C_TOKEN_NAME
            : begins_number(from)           ? PTI_C_TOKEN_NUMBER
            : *from == '"' || *from == '\'' ? PTI_C_TOKEN_LITERAL
            : begins_directive(from)        ? PTI_C_TOKEN_DIRECTIVE
                                            : PTI_C_TOKEN_SYMBOL;
    switch (*kind) {
    case PTI_C_TOKEN_NAME:
        return name_end(text, at);
    case PTI_C_TOKEN_NUMBER:
        return number_end(text, at);
    case PTI_C_TOKEN_LITERAL:
        return literal_end(text, at);
    case PTI_C_TOKEN_DIRECTIVE:
        return line_end(text, at);
    default:
        return symbol_end(text, at);
    }
}

static polytile_status refuse_place(size_t at, const char *text, size_t *where, const char **why) {
    *where = at;
    *why = text;
    return POLYTILE_DECLARATION;
}

polytile_status pti_c_tokens_read(const char *text, pti_c_tokens *tokens, size_t *where,
                                  const char **why) {
    *tokens = (pti_c_tokens){.text = text};
    for (size_t at = 0; text[at] != '\0';) {
        pti_c_token_kind kind;
        const size_t after = comment_end(text, at);
        if (after == no_end)
            return refuse_place(at, "a comment without its end, */", where, why);
        if (after > at || isspace((unsigned char)text[at])) {
            at = after > at ? after : at + 1;
            continue;
        }
        const size_t end = token_end(text, at, &kind);
        if (end == no_end)
            return refuse_place(at, "a literal without its closing quote", where, why);
        if (!add_token(tokens, kind, at, end))
            return POLYTILE_NO_MEMORY;
        at = end;
    }
    return POLYTILE_OK;
}

void pti_c_tokens_free(pti_c_tokens *tokens) {
    free(tokens->token);
    *tokens = (pti_c_tokens){0};
}

bool pti_c_token_is(const pti_c_tokens *tokens, size_t at, const char *text) {
    if (at >= tokens->n)
        return false;
    const pti_c_token *token = &tokens->token[at];
    return strlen(text) == token->end - token->begin &&
           strncmp(tokens->text + token->begin, text, token->end - token->begin) == 0;
}

bool pti_c_token_is_one_of(const pti_c_tokens *tokens, size_t at, const char *const *texts) {
    while (*texts != NULL && !pti_c_token_is(tokens, at, *texts))
        texts++;
    return *texts != NULL;
}

int pti_c_token_find_name(const pti_c_tokens *tokens, size_t at, int n, char *const *names) {
    if (at >= tokens->n || tokens->token[at].kind != PTI_C_TOKEN_NAME)
        return -1;
    int k = n - 1;
    while (k >= 0 && !pti_c_token_is(tokens, at, names[k]))
        k--;
    return k;
}
