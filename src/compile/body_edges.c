#include "compile/body_edges.h"

#include <stdlib.h>
#include <string.h>

/** What stands for an edge in a body, and in C. */
static const struct {
    const char *word, *macro;
} edges[] = {{"wrap", "PT_WRAP"}, {"clamp", "PT_CLAMP"}};

enum { N_EDGES = sizeof edges / sizeof *edges };

/** A word that is replaced. */
typedef struct replacement {
    const char *macro; /* NULL: the token stays */
    int array;
    int dim;
} replacement;

/** A body being expanded. */
typedef struct expansion {
    const polytile_declaration *declaration;
    pti_c_tokens tokens;
    replacement *of; /* of each token; owned */
} expansion;

static bool is_opening(const pti_c_tokens *tokens, size_t at) {
    static const char *const brackets[] = {"(", "[", "{", "<%", "<:", NULL};
    return pti_c_token_is_one_of(tokens, at, brackets);
}

static bool is_closing(const pti_c_tokens *tokens, size_t at) {
    static const char *const brackets[] = {")", "]", "}", "%>", ":>", NULL};
    return pti_c_token_is_one_of(tokens, at, brackets);
}

/** Return the bracket that closes the one at a place, or the number of tokens. */
static size_t find_closing(const pti_c_tokens *tokens, size_t open) {
    size_t depth = 0, at = open;
    for (; at < tokens->n; at++) {
        depth += is_opening(tokens, at);
        depth -= is_closing(tokens, at);
        if (depth == 0)
            break;
    }
    return at;
}

/** Return the comma or bracket after the argument that begins at a place. */
static size_t find_argument_end(const pti_c_tokens *tokens, size_t at) {
    while (at < tokens->n && !is_closing(tokens, at) && !pti_c_token_is(tokens, at, ","))
        at = is_opening(tokens, at) ? find_closing(tokens, at) + 1 : at + 1;
    return at;
}

/** Note what replaces the first word of a subscript if that is an edge around all of it. */
static void note_edge(expansion *of, int array, int dim, size_t begin, size_t end) {
    if (pti_c_token_find_array(&of->tokens, begin, of->declaration) >= 0 ||
        !pti_c_token_is(&of->tokens, begin + 1, "(") ||
        find_closing(&of->tokens, begin + 1) + 1 != end)
        return;
    for (int e = 0; e < N_EDGES; e++)
        if (pti_c_token_is(&of->tokens, begin, edges[e].word))
            of->of[begin] = (replacement){edges[e].macro, array, dim};
}

/** Note the edges of an element's subscripts, which begin at a place. */
static void note_element(expansion *of, int array, size_t begin) {
    const int n_dims = of->declaration->array_n_dims[array];
    for (int dim = 0; dim < n_dims && begin < of->tokens.n; dim++) {
        const size_t end = find_argument_end(&of->tokens, begin);
        note_edge(of, array, dim, begin, end);
        begin = end + 1;
    }
}

/** Note the edges in A(i, j) and PT_AT(A, i, j). */
static void note_edges(expansion *of) {
    for (size_t at = 0; at < of->tokens.n; at++) {
        const int array = pti_c_token_find_array(&of->tokens, at, of->declaration);
        const bool is_at = at > 1 && pti_c_token_is(&of->tokens, at - 1, "(") &&
                           pti_c_token_is(&of->tokens, at - 2, "PT_AT");
        if (array >= 0 && (is_at || pti_c_token_is(&of->tokens, at + 1, "(")))
            note_element(of, array, at + 2);
    }
}

static void write_expanded(const expansion *of, pti_text *expanded) {
    const char *text = of->tokens.text;
    size_t written = 0;
    for (size_t at = 0; at < of->tokens.n; at++) {
        const replacement *by = &of->of[at];
        if (by->macro == NULL)
            continue;
        pti_text_add(expanded, "%.*s%s(%s, %d, ", (int)(of->tokens.token[at].begin - written),
                     text + written, by->macro, of->declaration->array_name[by->array], by->dim);
        written = of->tokens.token[at + 1].end;
    }
    pti_text_add(expanded, "%s", text + written);
}

void pti_body_add_expanded(pti_text *expanded, const polytile_declaration *declaration,
                           const char *text) {
    expansion of = {.declaration = declaration};
    size_t where;
    const char *why;
    if (pti_c_tokens_read(text, &of.tokens, &where, &why) == POLYTILE_OK)
        of.of = calloc(of.tokens.n + 1, sizeof *of.of);
    if (of.of == NULL) {
        expanded->failed = true;
    } else {
        note_edges(&of);
        write_expanded(&of, expanded);
    }
    free(of.of);
    pti_c_tokens_free(&of.tokens);
}
