#include "access/declare/parse_parser.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const symbols[] = {
#define SYMBOL_TEXT(name, text) text,
    PTI_SYMBOLS(SYMBOL_TEXT)
#undef SYMBOL_TEXT
};

enum { N_SYMBOLS = sizeof symbols / sizeof *symbols, MAX_TEXT_BYTES = 1 << 16 };

bool pti_parser_fail(pti_parser *parser, size_t offset, const char *format, ...) {
    if (parser->status != POLYTILE_OK)
        return false;
    char message[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    pti_text place = {0};
    pti_text_add_place(&place, parser->text, offset);
    const char *name = parser->declaration ? parser->declaration->name : "declaration";
    parser->status = pti_fail(parser->ctx, POLYTILE_DECLARATION, "%s: %s%s", name, message,
                              place.data ? place.data : "");
    pti_text_free(&place);
    return false;
}

bool pti_parser_fail_memory(pti_parser *parser) {
    if (parser->status == POLYTILE_OK)
        parser->status = pti_fail_memory(parser->ctx, "declaration", (double)strlen(parser->text));
    return false;
}

bool pti_parser_check(pti_parser *parser, size_t offset, polytile_status status, pti_text *why) {
    if (status == POLYTILE_NO_MEMORY || (status != POLYTILE_OK && why->data == NULL))
        pti_parser_fail_memory(parser);
    else if (status != POLYTILE_OK)
        pti_parser_fail(parser, offset, "%s", why->data);
    pti_text_free(why);
    return status == POLYTILE_OK;
}

static bool read_name(pti_parser *parser, pti_token *token) {
    const char *text = parser->text;
    while (isalnum((unsigned char)text[token->end]) || text[token->end] == '_')
        token->end++;
    size_t length = token->end - token->begin;
    if (length >= PTI_NAME_BYTES)
        return pti_parser_fail(parser, token->begin,
                               "a name of %zu letters; at most %d can be told apart", length,
                               PTI_NAME_BYTES - 1);
    memcpy(token->name, text + token->begin, length);
    token->name[length] = '\0';
    token->kind = PTI_TOKEN_NAME;
    return true;
}

static bool read_integer(pti_parser *parser, pti_token *token) {
    int64_t value = 0;
    token->kind = PTI_TOKEN_INTEGER;
    for (; isdigit((unsigned char)parser->text[token->end]); token->end++) {
        int digit = parser->text[token->end] - '0';
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, digit, &value))
            return pti_parser_fail(parser, token->begin, "this number exceeds 64 bits");
    }
    token->value = value;
    return true;
}

static void read_symbol(const char *text, pti_token *token) {
    token->kind = PTI_TOKEN_UNKNOWN;
    token->end++;
    for (int s = 0; s < N_SYMBOLS; s++) {
        size_t length = strlen(symbols[s]);
        if (strncmp(text + token->begin, symbols[s], length) == 0) {
            token->kind = (pti_token_kind)s;
            token->end = token->begin + length;
            return;
        }
    }
}

static bool read_token(pti_parser *parser, size_t offset, pti_token *token) {
    while (isspace((unsigned char)parser->text[offset]))
        offset++;
    token->begin = token->end = offset;
    char first = parser->text[offset];
    if (first == '\0') {
        token->kind = PTI_TOKEN_END;
        return true;
    }
    if (isalpha((unsigned char)first) || first == '_')
        return read_name(parser, token);
    if (isdigit((unsigned char)first))
        return read_integer(parser, token);
    read_symbol(parser->text, token);
    return true;
}

bool pti_token_read(pti_parser *parser, size_t offset, pti_token *token) {
    if (!read_token(parser, offset, token))
        return false;
    if (token->end > MAX_TEXT_BYTES)
        return pti_parser_fail(parser, token->begin,
                               "the text of %zu bytes is longer than the %d there may be; declare "
                               "fewer or wider sections",
                               strlen(parser->text), MAX_TEXT_BYTES);
    return true;
}

bool pti_parser_descend(pti_parser *parser) {
    if (parser->depth == PTI_MAX_DEPTH)
        return pti_parser_fail(parser, parser->token.begin, "nested more than %d deep",
                               PTI_MAX_DEPTH);
    parser->depth++;
    return true;
}

bool pti_parser_ascend(pti_parser *parser) {
    parser->depth--;
    return true;
}

bool pti_parser_advance(pti_parser *parser) {
    parser->previous = parser->token.kind;
    return pti_token_read(parser, parser->token.end, &parser->token);
}

bool pti_parser_at(const pti_parser *parser, pti_token_kind kind) {
    return parser->token.kind == kind;
}

bool pti_parser_at_word(const pti_parser *parser, const char *word) {
    return pti_parser_at(parser, PTI_TOKEN_NAME) && strcmp(parser->token.name, word) == 0;
}

bool pti_parser_accept(pti_parser *parser, pti_token_kind kind, bool *found) {
    *found = pti_parser_at(parser, kind);
    return !*found || pti_parser_advance(parser);
}

const char *pti_token_show(const pti_token *token, char *buffer) {
    static const char quoted[] = "'%s'";
    if (token->kind == PTI_TOKEN_NAME)
        snprintf(buffer, PTI_NAME_BYTES + 2, quoted, token->name);
    else if (token->kind == PTI_TOKEN_INTEGER)
        snprintf(buffer, PTI_NAME_BYTES + 2, "%lld", (long long)token->value);
    else if (token->kind == PTI_TOKEN_END)
        return "the end";
    else if (token->kind == PTI_TOKEN_UNKNOWN)
        return "this character";
    else
        snprintf(buffer, PTI_NAME_BYTES + 2, quoted, symbols[token->kind]);
    return buffer;
}

bool pti_parser_expect(pti_parser *parser, pti_token_kind kind, const char *context) {
    if (pti_parser_at(parser, kind))
        return pti_parser_advance(parser);
    char shown[PTI_NAME_BYTES + 2];
    if (kind == PTI_TOKEN_NAME)
        return pti_parser_fail(parser, parser->token.begin, "expected a name %s, not %s", context,
                               pti_token_show(&parser->token, shown));
    return pti_parser_fail(parser, parser->token.begin, "expected '%s' %s, not %s", symbols[kind],
                           context, pti_token_show(&parser->token, shown));
}
