#ifndef POLYTILE_COMPILE_TOKEN_H
#define POLYTILE_COMPILE_TOKEN_H

#include "compile/compile.h"

/** A token of C; comments and white space are none. */
typedef enum pti_token_kind {
    PTI_TOKEN_NAME,
    PTI_TOKEN_NUMBER,
    PTI_TOKEN_LITERAL, /* a string or a character */
    PTI_TOKEN_SYMBOL,
    PTI_TOKEN_DIRECTIVE /* a line of the preprocessor */
} pti_token_kind;

typedef struct pti_token {
    pti_token_kind kind;
    size_t begin, end; /* in the text */
} pti_token;

/** All tokens of a text; zeros: none. */
typedef struct pti_tokens {
    const char *text; /* borrowed */
    size_t n;
    pti_token *token; /* owned */
    size_t capacity;
} pti_tokens;

/**
 * Split a text into tokens.
 *
 * Errors  DECLARATION: *why says what is wrong at *where, a comment or literal without an end;
 *         NO_MEMORY.
 */
polytile_status pti_tokens_read(const char *text, pti_tokens *tokens, size_t *where,
                                const char **why);
void pti_tokens_free(pti_tokens *tokens);

/** Return whether the token at a place, perhaps beyond the ends, is this one. */
bool pti_token_is(const pti_tokens *tokens, size_t at, const char *text);
/** Return whether a token is one of a list that ends with NULL. */
bool pti_token_is_one_of(const pti_tokens *tokens, size_t at, const char *const *texts);

#endif
