#include "graph/dot/token.h"

#include "base/list.h"
#include "base/mix.h"

#include <stdlib.h>
#include <string.h>

/* Statements of DOT. Each statement has the nodes that it names, so that an edge may begin or end
 * at several: a -> { b; c }. */

enum { MAX_DEPTH = 64, MAX_PARTS = 256 };

/** What nodes and edges get that are named from here on. */
typedef struct defaults {
    pti_dot_attributes node; /* owned */
    pti_dot_attributes edge; /* owned */
} defaults;

/** A text while it is read. */
typedef struct parser {
    pti_dot *dot;
    pti_dot_token token;
    int depth;
    int64_t n_named, named_capacity;
    int *named;        /* nodes, in the order in which statements name them; owned */
    int64_t n_buckets; /* of the table below, a power of two above twice the nodes */
    int *bucket;       /* nodes by the hash of their names, -1: free; owned */
} parser;

static polytile_status read_next_token(parser *of) {
    return pti_dot_read_token(of->dot, of->token.end, &of->token);
}

static bool at_mark(const parser *of, char mark) {
    return of->token.kind == PTI_DOT_MARK && of->token.mark == mark;
}

static bool at_keyword(const parser *of, const char *word) {
    return pti_dot_is_keyword(&of->token, word);
}

static polytile_status refuse_token(const parser *of, const char *wanted) {
    const pti_dot_token *token = &of->token;
    if (token->kind == PTI_DOT_END)
        return pti_dot_fail(of->dot, token->begin, "expected %s, not the end", wanted);
    return pti_dot_fail(of->dot, token->begin, "expected %s, not '%.*s'", wanted,
                        (int)(token->end - token->begin < 64 ? token->end - token->begin : 64),
                        of->dot->text + token->begin);
}

static polytile_status expect_mark(parser *of, char mark, const char *wanted) {
    return at_mark(of, mark) ? read_next_token(of) : refuse_token(of, wanted);
}

/* Attributes. */

static polytile_status set_attribute(parser *of, pti_dot_attributes *list,
                                     const pti_dot_attribute *attribute) {
    for (int64_t k = 0; k < list->n; k++)
        if (strcmp(list->attribute[k].name, attribute->name) == 0) {
            list->attribute[k] = *attribute;
            return POLYTILE_OK;
        }
    if (!PTI_GROW(list->attribute, list->n, &list->capacity))
        return pti_dot_fail_memory(of->dot);
    list->attribute[list->n++] = *attribute;
    return POLYTILE_OK;
}

static polytile_status set_attributes(parser *of, pti_dot_attributes *list,
                                      const pti_dot_attributes *with) {
    polytile_status status = POLYTILE_OK;
    for (int64_t k = 0; status == POLYTILE_OK && k < with->n; k++)
        status = set_attribute(of, list, &with->attribute[k]);
    return status;
}

/** Join "a" + "b" to the value read last. */
static polytile_status read_sum(parser *of, const char **value) {
    polytile_status status = POLYTILE_OK;
    for (int n_parts = 1; at_mark(of, '+'); n_parts++) {
        if (n_parts == MAX_PARTS)
            return pti_dot_fail(of->dot, of->token.begin, "more than %d strings are joined",
                                MAX_PARTS);
        PTI_TRY(read_next_token(of));
        if (!of->token.is_quoted)
            return refuse_token(of, "a quoted string after '+'");
        const size_t first = strlen(*value), second = strlen(of->token.word);
        char *joined = pti_dot_reserve(of->dot, first + second);
        if (joined == NULL)
            return pti_dot_fail_memory(of->dot);
        memcpy(joined, *value, first);
        memcpy(joined + first, of->token.word, second + 1);
        *value = joined;
        PTI_TRY(read_next_token(of));
    }
done:
    return status;
}

/** NAME = VALUE, the name being the token before. */
static polytile_status read_value(parser *of, pti_dot_attribute *attribute) {
    polytile_status status;
    PTI_TRY(expect_mark(of, '=', "'=' after an attribute's name"));
    if (of->token.kind != PTI_DOT_WORD)
        return refuse_token(of, "an attribute's value");
    attribute->value = of->token.word;
    attribute->value_at = of->token.begin + of->token.is_quoted;
    PTI_TRY(read_next_token(of));
    PTI_TRY(read_sum(of, &attribute->value));
done:
    return status;
}

/** Lists in brackets, as many as there are. */
static polytile_status read_attributes(parser *of, pti_dot_attributes *list) {
    polytile_status status = POLYTILE_OK;
    while (at_mark(of, '[')) {
        PTI_TRY(read_next_token(of));
        while (!at_mark(of, ']')) {
            pti_dot_attribute read = {.name = of->token.word, .name_at = of->token.begin};
            if (of->token.kind != PTI_DOT_WORD)
                return refuse_token(of, "an attribute or ']'");
            PTI_TRY(read_next_token(of));
            PTI_TRY(read_value(of, &read));
            PTI_TRY(set_attribute(of, list, &read));
            if (at_mark(of, ',') || at_mark(of, ';'))
                PTI_TRY(read_next_token(of));
        }
        PTI_TRY(read_next_token(of));
    }
done:
    return status;
}

/* Nodes. */

/** The place of a name in the table: where it is, or a free one. */
static int *find_bucket(const parser *of, const char *name) {
    uint64_t at = pti_mix_text(0, name);
    for (;; at++) {
        int *bucket = &of->bucket[at & (uint64_t)(of->n_buckets - 1)];
        if (*bucket < 0 || strcmp(of->dot->node[*bucket].name, name) == 0)
            return bucket;
    }
}

static polytile_status grow_table(parser *of) {
    const int64_t wanted = of->n_buckets == 0 ? 64 : 2 * of->n_buckets;
    if (2 * of->dot->n_nodes < of->n_buckets)
        return POLYTILE_OK;
    free(of->bucket);
    of->bucket = malloc((size_t)wanted * sizeof *of->bucket);
    of->n_buckets = of->bucket == NULL ? 0 : wanted;
    for (int64_t k = 0; k < of->n_buckets; k++)
        of->bucket[k] = -1;
    for (int n = 0; of->bucket != NULL && n < of->dot->n_nodes; n++)
        *find_bucket(of, of->dot->node[n].name) = n;
    return of->bucket == NULL ? pti_dot_fail_memory(of->dot) : POLYTILE_OK;
}

static polytile_status add_node(parser *of, const defaults *given, int *bucket) {
    pti_dot *dot = of->dot;
    if (dot->n_nodes == PTI_DOT_MAX_ITEMS)
        return pti_dot_fail(dot, of->token.begin, "there are more than %d nodes",
                            PTI_DOT_MAX_ITEMS);
    if (!PTI_GROW(dot->node, dot->n_nodes, &dot->node_capacity))
        return pti_dot_fail_memory(of->dot);
    *bucket = (int)dot->n_nodes;
    dot->node[dot->n_nodes] = (pti_dot_node){.name = of->token.word, .at = of->token.begin};
    return set_attributes(of, &dot->node[dot->n_nodes++].attributes, &given->node);
}

/** Name the node of a word, which is made with the defaults where it is new. */
static polytile_status name_node(parser *of, const defaults *given, int *node) {
    polytile_status status;
    PTI_TRY(grow_table(of));
    int *bucket = find_bucket(of, of->token.word);
    if (*bucket < 0)
        PTI_TRY(add_node(of, given, bucket));
    if (!PTI_GROW(of->named, of->n_named, &of->named_capacity))
        return pti_dot_fail_memory(of->dot);
    *node = of->named[of->n_named++] = *bucket;
    PTI_TRY(read_next_token(of));
    if (at_mark(of, ':'))
        return refuse_token(of, "no port of a node; name operands by as=");
done:
    return status;
}

/* Edges. */

static polytile_status add_edge(parser *of, int from, int to, size_t at) {
    pti_dot *dot = of->dot;
    if (dot->n_edges == PTI_DOT_MAX_ITEMS)
        return pti_dot_fail(dot, at, "there are more than %d edges", PTI_DOT_MAX_ITEMS);
    if (!PTI_GROW(dot->edge, dot->n_edges, &dot->edge_capacity))
        return pti_dot_fail_memory(of->dot);
    dot->edge[dot->n_edges++] = (pti_dot_edge){.from = from, .to = to, .at = at};
    return POLYTILE_OK;
}

/** Join each of some named nodes with each of those named after them. */
static polytile_status join_nodes(parser *of, int64_t first, int64_t middle, size_t at) {
    polytile_status status = POLYTILE_OK;
    const int64_t end = of->n_named;
    for (int64_t f = first; f < middle; f++)
        for (int64_t t = middle; status == POLYTILE_OK && t < end; t++)
            status = add_edge(of, of->named[f], of->named[t], at);
    return status;
}

static polytile_status read_group(parser *of, const defaults *given);

/** One end of an edge: a node, or a group of them. */
static polytile_status read_end(parser *of, const defaults *given) {
    int node;
    if (of->token.kind == PTI_DOT_WORD && !at_keyword(of, "subgraph"))
        return name_node(of, given, &node);
    if (at_mark(of, '{') || at_keyword(of, "subgraph"))
        return read_group(of, given);
    return refuse_token(of, "a node");
}

/** The rest of a chain a -> b -> c after its first end, and the attributes of all its edges. */
static polytile_status read_chain(parser *of, const defaults *given, int64_t first) {
    polytile_status status = POLYTILE_OK;
    const int64_t first_edge = of->dot->n_edges;
    pti_dot_attributes list = {0};
    while (of->token.kind == PTI_DOT_ARROW || of->token.kind == PTI_DOT_DASHES) {
        const int64_t middle = of->n_named;
        if (of->token.kind == PTI_DOT_DASHES)
            PTI_TRY(refuse_token(of, "'->', since edges have a direction"));
        PTI_TRY(read_next_token(of));
        const size_t at = of->token.begin;
        PTI_TRY(read_end(of, given));
        PTI_TRY(join_nodes(of, first, middle, at));
        first = middle;
    }
    PTI_TRY(set_attributes(of, &list, &given->edge));
    PTI_TRY(read_attributes(of, &list));
    for (int64_t e = first_edge; e < of->dot->n_edges; e++)
        PTI_TRY(set_attributes(of, &of->dot->edge[e].attributes, &list));
done:
    free(list.attribute);
    return status;
}

/* Statements. */

/** A word that begins a statement: NAME = VALUE of the graph, which is not ours, a node, or a
 * chain. */
static polytile_status read_word_statement(parser *of, const defaults *given) {
    polytile_status status;
    pti_dot_token next;
    pti_dot_attribute ignored;
    int node = 0;
    const int64_t first = of->n_named;
    PTI_TRY(pti_dot_read_token(of->dot, of->token.end, &next));
    if (next.kind == PTI_DOT_MARK && next.mark == '=') {
        of->token = next;
        return read_value(of, &ignored);
    }
    PTI_TRY(name_node(of, given, &node));
    if (of->token.kind == PTI_DOT_ARROW || of->token.kind == PTI_DOT_DASHES)
        return read_chain(of, given, first);
    PTI_TRY(read_attributes(of, &of->dot->node[node].attributes));
done:
    return status;
}

static polytile_status read_defaults(parser *of, pti_dot_attributes *list) {
    polytile_status status;
    PTI_TRY(read_next_token(of));
    if (!at_mark(of, '['))
        return refuse_token(of, "'[' and default attributes");
    PTI_TRY(read_attributes(of, list));
done:
    return status;
}

static polytile_status read_statement(parser *of, defaults *given) {
    polytile_status status;
    pti_dot_attributes ignored = {0};
    const int64_t first = of->n_named;
    if (at_keyword(of, "node"))
        return read_defaults(of, &given->node);
    if (at_keyword(of, "edge"))
        return read_defaults(of, &given->edge);
    if (at_keyword(of, "graph")) {
        status = read_defaults(of, &ignored);
        free(ignored.attribute);
        return status;
    }
    if (of->token.kind == PTI_DOT_WORD && !at_keyword(of, "subgraph"))
        return read_word_statement(of, given);
    PTI_TRY(read_end(of, given));
    if (of->token.kind == PTI_DOT_ARROW || of->token.kind == PTI_DOT_DASHES)
        PTI_TRY(read_chain(of, given, first));
done:
    return status;
}

/** { STATEMENT; ... }, with defaults of its own that begin as those around it. */
static polytile_status read_group(parser *of, const defaults *around) {
    polytile_status status;
    defaults own = {{0}, {0}};
    if (at_keyword(of, "subgraph")) {
        PTI_TRY(read_next_token(of));
        if (of->token.kind == PTI_DOT_WORD)
            PTI_TRY(read_next_token(of));
    }
    if (of->depth++ == MAX_DEPTH)
        return pti_dot_fail(of->dot, of->token.begin, "nested more than %d deep", MAX_DEPTH);
    PTI_TRY(expect_mark(of, '{', "'{'"));
    PTI_TRY(set_attributes(of, &own.node, &around->node));
    PTI_TRY(set_attributes(of, &own.edge, &around->edge));
    while (!at_mark(of, '}')) {
        if (at_mark(of, ';'))
            PTI_TRY(read_next_token(of));
        else
            PTI_TRY(read_statement(of, &own));
    }
    PTI_TRY(read_next_token(of));
    of->depth--;
done:
    free(own.node.attribute);
    free(own.edge.attribute);
    return status;
}

static polytile_status read_graph(parser *of) {
    static const defaults none = {{0}, {0}};
    polytile_status status;
    PTI_TRY(read_next_token(of));
    if (at_keyword(of, "strict"))
        PTI_TRY(read_next_token(of));
    if (at_keyword(of, "graph"))
        PTI_TRY(refuse_token(of, "'digraph', since edges have a direction"));
    if (!at_keyword(of, "digraph"))
        PTI_TRY(refuse_token(of, "'digraph'"));
    PTI_TRY(read_next_token(of));
    if (of->token.kind == PTI_DOT_WORD)
        PTI_TRY(read_next_token(of));
    if (!at_mark(of, '{'))
        PTI_TRY(refuse_token(of, "'{'"));
    PTI_TRY(read_group(of, &none));
    if (of->token.kind != PTI_DOT_END)
        PTI_TRY(refuse_token(of, "nothing after the graph"));
done:
    return status;
}

polytile_status pti_dot_parse(polytile_context *ctx, const char *source, const char *text,
                              pti_dot **dot) {
    polytile_status status = POLYTILE_OK;
    parser of = {.dot = calloc(1, sizeof *of.dot)};
    *dot = NULL;
    if (of.dot == NULL)
        return pti_fail_memory(ctx, source, sizeof *of.dot);
    of.dot->ctx = ctx;
    of.dot->source = strdup(source);
    of.dot->text = strdup(text);
    if (of.dot->source == NULL || of.dot->text == NULL)
        PTI_TRY(pti_fail_memory(ctx, source, (double)strlen(text)));
    if (strlen(text) > PTI_DOT_MAX_BYTES)
        PTI_TRY(pti_fail(ctx, POLYTILE_DECLARATION,
                         "%s: the text of %zu bytes is longer than the %d there may be", source,
                         strlen(text), PTI_DOT_MAX_BYTES));
    PTI_TRY(read_graph(&of));
    *dot = of.dot;
done:
    if (status != POLYTILE_OK)
        pti_dot_free(of.dot);
    free(of.named);
    free(of.bucket);
    return status;
}
