#ifndef POLYTILE_ACCESS_DECLARE_PARSE_PARSER_H
#define POLYTILE_ACCESS_DECLARE_PARSE_PARSER_H

#include "access/declare/declaration.h"
#include "access/declare/lookups.h"

/* What the files of the parser share. A function that returns bool records an error before it
 * returns false; its caller only passes that on. */

/** X-macro: token, how an error text calls it. Longer spellings come before their prefixes. */
#define PTI_SYMBOLS(X)                                                                             \
    X(ARROW, "->")                                                                                 \
    X(AND, "&&")                                                                                   \
    X(OR, "||")                                                                                    \
    X(LESS_EQUAL, "<=")                                                                            \
    X(GREATER_EQUAL, ">=")                                                                         \
    X(EQUAL, "==")                                                                                 \
    X(NOT_EQUAL, "!=")                                                                             \
    X(LESS, "<")                                                                                   \
    X(GREATER, ">")                                                                                \
    X(SINGLE_EQUAL, "=")                                                                           \
    X(OPEN_BRACKET, "[")                                                                           \
    X(CLOSE_BRACKET, "]")                                                                          \
    X(OPEN_BRACE, "{")                                                                             \
    X(CLOSE_BRACE, "}")                                                                            \
    X(OPEN_PAREN, "(")                                                                             \
    X(CLOSE_PAREN, ")")                                                                            \
    X(COMMA, ",")                                                                                  \
    X(SEMICOLON, ";")                                                                              \
    X(COLON, ":")                                                                                  \
    X(PLUS, "+")                                                                                   \
    X(MINUS, "-")                                                                                  \
    X(STAR, "*")                                                                                   \
    X(PERCENT, "%")

typedef enum pti_token_kind {
#define PTI_TOKEN_KIND(name, text) PTI_TOKEN_##name,
    PTI_SYMBOLS(PTI_TOKEN_KIND)
#undef PTI_TOKEN_KIND
        PTI_TOKEN_NAME,
    PTI_TOKEN_INTEGER,
    PTI_TOKEN_END,
    PTI_TOKEN_UNKNOWN,
} pti_token_kind;

enum { PTI_NAME_BYTES = 64 };

/** One token of a declaration. */
typedef struct pti_token {
    pti_token_kind kind;
    size_t begin; /* offset in the text */
    size_t end;
    int64_t value;             /* of an integer */
    char name[PTI_NAME_BYTES]; /* of a name */
} pti_token;

/** constant + indices + elements + parameters + exists + lookup, each with its coefficient;
 * is_equality is unused. */
typedef pti_constraint pti_linear;

typedef enum pti_binding_kind { PTI_BINDS_INDEX, PTI_BINDS_ELEMENT, PTI_BINDS_EXISTS } pti_binding;

/** The names bound inside one disjunct of a relation in braces, innermost last. */
typedef struct pti_scope {
    int n_names;
    struct {
        char name[PTI_NAME_BYTES];
        pti_binding kind;
        int position;
    } bound[3 * POLYTILE_MAX_DIMS];
    int n_exists; /* used so far in this disjunct, by exists and by mod */
    pti_relation
        pending; /* what defines the quotients of mod in the expression being read; owned */
} pti_scope;

/** A declaration while it is read. */
typedef struct pti_parser {
    polytile_context *ctx;
    const char *text;
    pti_token token;         /* the next one, not yet used */
    pti_token_kind previous; /* of the one before it */
    polytile_declaration *declaration;
    pti_scope *scope;    /* NULL outside braces */
    pti_lookups lookups; /* of the section that is read; owned */
    int looked_up;       /* the last one in the expression that is read; -1: none yet */
    bool may_look_up;    /* inside a subscript */
    /** Read the subscripts of an access, with the bracket before them taken, up to the one after
     * them: expressions hold subscripts, too. */
    bool (*parse_subscripts)(struct pti_parser *parser, pti_access *access);
    int depth; /* of parentheses, signs and quantifiers around the token */
    polytile_status status;
} pti_parser;

/** Record an error at an offset of the text: the message, the line, and a caret under the column.
 * Returns false. */
bool pti_parser_fail(pti_parser *parser, size_t offset, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
bool pti_parser_fail_memory(pti_parser *parser);
/** Pass on the error of a function that leaves its text in *why, which is freed. */
bool pti_parser_check(pti_parser *parser, size_t offset, polytile_status status, pti_text *why);

/** Read the token at an offset. */
bool pti_token_read(pti_parser *parser, size_t offset, pti_token *token);
/** Go one level of nesting down, within a limit that bounds the stack; go up after success. */
enum { PTI_MAX_DEPTH = 100 };
bool pti_parser_descend(pti_parser *parser);
bool pti_parser_ascend(pti_parser *parser);
/** Go on to the next token. */
bool pti_parser_advance(pti_parser *parser);
bool pti_parser_at(const pti_parser *parser, pti_token_kind kind);
bool pti_parser_at_word(const pti_parser *parser, const char *word);
/** Take the token if it is of this kind; *found says whether. */
bool pti_parser_accept(pti_parser *parser, pti_token_kind kind, bool *found);
/** Take a token of this kind, or fail; context says where, such as "after the indices". */
bool pti_parser_expect(pti_parser *parser, pti_token_kind kind, const char *context);
/** Return the token as an error text shows it, in a buffer of at least PTI_NAME_BYTES + 2 bytes. */
const char *pti_token_show(const pti_token *token, char *buffer);

/** Read an affine expression in the scope's names, indices and parameters. New names become
 * parameters. */
bool pti_parse_expression(pti_parser *parser, pti_linear *linear);
/** Read an affine expression that must be an integer constant. */
bool pti_parse_constant(pti_parser *parser, const char *what, int64_t *value);
/** Add factor * term to *sum. False on overflow of 64 bits. */
bool pti_linear_add(pti_linear *sum, const pti_linear *term, int64_t factor);

/** A condition as a disjunction of conjunctions; the relations' n_exists is unused. */
typedef struct pti_condition {
    int n_disjuncts;
    pti_relation **disjunct; /* owned */
} pti_condition;

bool pti_parse_condition(pti_parser *parser, pti_condition *condition);
/** Make the condition that always holds: one disjunct without constraints. */
bool pti_condition_always(pti_parser *parser, pti_condition *condition);
/** Set *condition to *condition and these constraints. */
bool pti_condition_restrict(pti_parser *parser, pti_condition *condition,
                            const pti_relation *constraints);
void pti_condition_free(pti_condition *condition);

/** Bind a name in the scope. */
bool pti_scope_bind(pti_parser *parser, const pti_token *name, pti_binding kind, int position);
/** Return the innermost binding of a name, or -1. */
int pti_scope_find(const pti_scope *scope, const char *name);
/** Add an existentially quantified variable to the disjunct being read. */
bool pti_scope_new_exists(pti_parser *parser, size_t offset, int *position);

/** Read the kernel's name, indices and typed parameters, up to the colon. */
bool pti_parse_header(pti_parser *parser);
/** Read the name of an element type; what: whose, as an error text says it. */
bool pti_parse_type(pti_parser *parser, const char *what, polytile_type *type);
/** Read a relation in braces, with the brace next, and add its disjuncts as accesses. */
bool pti_parse_braces(pti_parser *parser, polytile_role role, bool fresh);
/** Read "[n, m] -> " in front of braces, with the bracket next: names of parameters. */
bool pti_parse_parameters(pti_parser *parser);

#endif
