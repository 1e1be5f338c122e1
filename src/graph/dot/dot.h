#ifndef POLYTILE_GRAPH_DOT_DOT_H
#define POLYTILE_GRAPH_DOT_DOT_H

#include "base/context.h"
#include "base/text.h"
#include <stdbool.h>
#include <stddef.h>

/* graph/dot: Graphviz's DOT as nodes and edges with attributes, in the subset that docs/graphs.md
 * has. What the attributes mean is for other rooms. Here is the text as data; token.h has its
 * tokens. */

/** NAME=VALUE; the texts belong to the pti_dot. */
typedef struct pti_dot_attribute {
    const char *name;
    const char *value;
    size_t name_at; /* bytes from the text's beginning */
    size_t value_at;
} pti_dot_attribute;

/** Attributes, the last one of each name. */
typedef struct pti_dot_attributes {
    int64_t n;
    int64_t capacity;
    pti_dot_attribute *attribute; /* owned */
} pti_dot_attributes;

/** A node with its attributes. */
typedef struct pti_dot_node {
    const char *name;
    size_t at; /* where it is first named */
    pti_dot_attributes attributes;
} pti_dot_node;

/** An edge with its attributes. */
typedef struct pti_dot_edge {
    int from; /* nodes */
    int to;
    size_t at; /* where its target is named */
    pti_dot_attributes attributes;
} pti_dot_edge;

/** A text with its nodes and edges. */
typedef struct pti_dot {
    polytile_context *ctx;
    int n_holders; /* beside the one that read it */
    char *source;  /* what errors call the text: a path, or "graph"; owned */
    char *text;    /* owned */
    int64_t n_nodes, node_capacity;
    pti_dot_node *node; /* owned; in the order in which they are named */
    int64_t n_edges, edge_capacity;
    pti_dot_edge *edge; /* owned */
    int64_t n_strings, string_capacity;
    char **string; /* all names and values; owned */
} pti_dot;

/** The most bytes of a text, and the most nodes and edges of it. */
enum { PTI_DOT_MAX_BYTES = 1 << 22, PTI_DOT_MAX_ITEMS = 1 << 14 };

/**
 * Read a text.
 *
 * Errors  DECLARATION with line, column and caret, NO_MEMORY. The caller frees *dot with
 *         pti_dot_free(); on error it is NULL.
 */
polytile_status pti_dot_parse(polytile_context *ctx, const char *source, const char *text,
                              pti_dot **dot);

/** Read a file. Errors: IO, too. */
polytile_status pti_dot_read(polytile_context *ctx, const char *path, pti_dot **dot);

/** Have a text stay for one more holder, who lets go of it with pti_dot_free(). Returns it. */
pti_dot *pti_dot_hold(pti_dot *dot);

/** Let go of a text; the last of its holders frees it. */
void pti_dot_free(pti_dot *dot);

/** Return the attribute of a name; NULL: it is not given. */
const pti_dot_attribute *pti_dot_find(const pti_dot_attributes *attributes, const char *name);

/** Record an error at a place of the text. Returns DECLARATION. */
polytile_status pti_dot_fail(const pti_dot *dot, size_t at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/** Record that memory for what a text says ran out. Returns NO_MEMORY. */
polytile_status pti_dot_fail_memory(const pti_dot *dot);

/** Refuse attributes that are neither in a list of words, which spaces separate, nor Graphviz's
 * own. what: "an actor", say. Errors: DECLARATION. */
polytile_status pti_dot_check_names(const pti_dot *dot, const pti_dot_attributes *attributes,
                                    const char *what, const char *words);

/** Append a text as DOT has it in quotes. */
void pti_dot_write_quoted(pti_text *text, const char *string);

#endif
