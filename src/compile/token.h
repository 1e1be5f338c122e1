#ifndef POLYTILE_COMPILE_TOKEN_H
#define POLYTILE_COMPILE_TOKEN_H

#include "compile/compile.h"

/* The text of a body, split into tokens of C. */

/** A token of C; comments and white space are none. */
typedef enum pti_c_token_kind {
    PTI_C_TOKEN_NAME,
    PTI_C_TOKEN_NUMBER,
    PTI_C_TOKEN_LITERAL, /* a string or a character */
    PTI_C_TOKEN_SYMBOL,
    PTI_C_TOKEN_DIRECTIVE /* a line of the preprocessor */
} pti_c_token_kind;

/** A token, by its place in the text. */
typedef struct pti_c_token {
    pti_c_token_kind kind;
    size_t begin, end; /* in the text */
} pti_c_token;

/** All tokens of a text; zeros: none. */
typedef struct pti_c_tokens {
    const char *text; /* borrowed */
    size_t n;
    pti_c_token *token; /* owned */
    size_t capacity;
} pti_c_tokens;

/**
 * Split a text into tokens.
 *
 * Errors  DECLARATION: *why says what is wrong at *where, a comment or literal without an end;
 *         NO_MEMORY.
 */
polytile_status pti_c_tokens_read(const char *text, pti_c_tokens *tokens, size_t *where,
                                  const char **why);
void pti_c_tokens_free(pti_c_tokens *tokens);

/** Return whether the token at a place, perhaps beyond the ends, is this one. */
bool pti_c_token_is(const pti_c_tokens *tokens, size_t at, const char *text);
/** Return the position of a name, which the token at a place perhaps is, among n names, or -1. */
int pti_c_token_find_name(const pti_c_tokens *tokens, size_t at, int n, char *const *names);
/** Return the position of a declaration's array whose name the token at a place perhaps is, or -1.
 */
static inline int pti_c_token_find_array(const pti_c_tokens *tokens, size_t at,
                                         const polytile_declaration *declaration) {
    return pti_c_token_find_name(tokens, at, declaration->n_arrays, declaration->array_name);
}
/** Return whether a token is one of a list that ends with NULL. */
bool pti_c_token_is_one_of(const pti_c_tokens *tokens, size_t at, const char *const *texts);

#endif
