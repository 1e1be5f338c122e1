#ifndef POLYTILE_GRAPH_DOT_TOKEN_H
#define POLYTILE_GRAPH_DOT_TOKEN_H

#include "graph/dot/dot.h"

/* The tokens of DOT. Those of declarations have neither quotes nor comments nor fractions, so these
 * are read apart; both show their places alike. */

/** Kinds of tokens. */
typedef enum pti_dot_kind {
    PTI_DOT_END,
    PTI_DOT_WORD,   /* a name, a number or a quoted string */
    PTI_DOT_ARROW,  /* -> */
    PTI_DOT_DASHES, /* --, of graphs without directions */
    PTI_DOT_MARK    /* one character */
} pti_dot_kind;

/** One token. */
typedef struct pti_dot_token {
    pti_dot_kind kind;
    char mark;        /* of a PTI_DOT_MARK */
    bool is_quoted;   /* a word that is no keyword */
    const char *word; /* without quotes; of the pti_dot */
    size_t begin;
    size_t end;
} pti_dot_token;

/** Read the token at or after an offset. Errors: DECLARATION, NO_MEMORY. */
polytile_status pti_dot_read_token(pti_dot *dot, size_t offset, pti_dot_token *token);

/** Return whether a token is a keyword of DOT, in whatever case. */
bool pti_dot_is_keyword(const pti_dot_token *token, const char *word);

/** Return room for a string of the pti_dot, for the caller to write; NULL: no memory. */
char *pti_dot_reserve(pti_dot *dot, size_t length);

#endif
