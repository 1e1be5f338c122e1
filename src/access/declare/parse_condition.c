#include "access/declare/parse_parser.h"

#include "base/list.h"

#include <stdlib.h>
#include <string.h>

/* Conditions are kept in disjunctive normal form: a list of disjuncts, each a conjunction. */

enum { MAX_DISJUNCTS = 64, MAX_CONSTRAINTS = 256, MAX_OPERANDS = POLYTILE_MAX_DIMS };

void pti_condition_free(pti_condition *condition) {
    for (int p = 0; p < condition->n_disjuncts; p++)
        pti_relation_free(condition->disjunct[p]);
    free(condition->disjunct);
    memset(condition, 0, sizeof *condition);
}

/** Add a disjunct, which is freed on failure; NULL is a failed allocation. */
static bool add_disjunct(pti_parser *parser, pti_condition *condition, pti_relation *disjunct) {
    if (disjunct == NULL)
        return pti_parser_fail_memory(parser);
    if (condition->n_disjuncts == MAX_DISJUNCTS) {
        pti_relation_free(disjunct);
        return pti_parser_fail(parser, parser->token.begin,
                               "this condition has more than %d pieces once 'or' is multiplied out",
                               MAX_DISJUNCTS);
    }
    if (!PTI_RESIZE(condition->disjunct, condition->n_disjuncts + 1)) {
        pti_relation_free(disjunct);
        return pti_parser_fail_memory(parser);
    }
    condition->disjunct[condition->n_disjuncts++] = disjunct;
    return true;
}

bool pti_condition_always(pti_parser *parser, pti_condition *condition) {
    memset(condition, 0, sizeof *condition);
    return add_disjunct(parser, condition, pti_relation_new());
}

static bool add_constraints(pti_parser *parser, pti_relation *disjunct,
                            const pti_relation *constraints) {
    if (constraints->n_constraints > MAX_CONSTRAINTS - disjunct->n_constraints)
        return pti_parser_fail(parser, parser->token.begin,
                               "a piece has more than the %d comparisons there may be; leave out "
                               "those that follow from others",
                               MAX_CONSTRAINTS);
    for (int c = 0; c < constraints->n_constraints; c++)
        if (!pti_relation_add(disjunct, &constraints->constraint[c]))
            return pti_parser_fail_memory(parser);
    return true;
}

bool pti_condition_restrict(pti_parser *parser, pti_condition *condition,
                            const pti_relation *constraints) {
    for (int p = 0; p < condition->n_disjuncts; p++)
        if (!add_constraints(parser, condition->disjunct[p], constraints))
            return false;
    return true;
}

/** Set *a to *a or *b, and empty *b. */
static bool unite_conditions(pti_parser *parser, pti_condition *a, pti_condition *b) {
    for (int p = 0; p < b->n_disjuncts; p++) {
        pti_relation *disjunct = b->disjunct[p];
        b->disjunct[p] = NULL;
        if (!add_disjunct(parser, a, disjunct))
            return false;
    }
    pti_condition_free(b);
    return true;
}

/** Set *a to *a and *b. */
static bool intersect_conditions(pti_parser *parser, pti_condition *a, pti_condition *b) {
    pti_condition product = {0};
    bool done = true;
    for (int p = 0; done && p < a->n_disjuncts; p++) {
        for (int q = 0; done && q < b->n_disjuncts; q++) {
            pti_relation *disjunct = pti_relation_copy(a->disjunct[p]);
            done = add_disjunct(parser, &product, disjunct) &&
                   add_constraints(parser, disjunct, b->disjunct[q]);
        }
    }
    pti_condition_free(a);
    *a = product;
    return done;
}

/** X-macro: comparison, factors of left and right in "... >= 0", what is added, equality. */
#define COMPARISONS(X)                                                                             \
    X(LESS, -1, 1, -1, false)                                                                      \
    X(LESS_EQUAL, -1, 1, 0, false)                                                                 \
    X(GREATER, 1, -1, -1, false)                                                                   \
    X(GREATER_EQUAL, 1, -1, 0, false)                                                              \
    X(EQUAL, 1, -1, 0, true)                                                                       \
    X(SINGLE_EQUAL, 1, -1, 0, true)

static const struct comparison {
    pti_token_kind token;
    int64_t left, right, constant;
    bool is_equality;
} comparisons[] = {
#define COMPARISON_ROW(name, left, right, constant, equality)                                      \
    {PTI_TOKEN_##name, left, right, constant, equality},
    COMPARISONS(COMPARISON_ROW)
#undef COMPARISON_ROW
};

enum { N_COMPARISONS = sizeof comparisons / sizeof *comparisons };

static bool is_comparison(pti_token_kind kind) {
    for (int k = 0; k < N_COMPARISONS; k++)
        if (comparisons[k].token == kind)
            return true;
    return kind == PTI_TOKEN_NOT_EQUAL;
}

static bool add_comparison(pti_parser *parser, pti_token_kind kind, const pti_linear *left,
                           const pti_linear *right, pti_condition *condition) {
    const struct comparison *row = comparisons;
    while (row->token != kind)
        row++;
    pti_constraint constraint = {.constant = row->constant, .is_equality = row->is_equality};
    if (!pti_linear_add(&constraint, left, row->left) ||
        !pti_linear_add(&constraint, right, row->right))
        return pti_parser_fail(parser, parser->token.begin, "this comparison exceeds 64 bits");
    pti_relation *disjunct = pti_relation_new();
    return add_disjunct(parser, condition, disjunct) &&
           (pti_relation_add(disjunct, &constraint) || pti_parser_fail_memory(parser));
}

static bool add_any_comparison(pti_parser *parser, pti_token_kind kind, const pti_linear *left,
                               const pti_linear *right, pti_condition *condition) {
    if (kind != PTI_TOKEN_NOT_EQUAL)
        return add_comparison(parser, kind, left, right, condition);
    return add_comparison(parser, PTI_TOKEN_LESS, left, right, condition) &&
           add_comparison(parser, PTI_TOKEN_GREATER, left, right, condition);
}

/** One side of a comparison: expressions between commas, each of which is compared. */
typedef struct operands {
    int n;
    pti_linear linear[MAX_OPERANDS];
} operands;

static bool parse_operands(pti_parser *parser, operands *side) {
    bool more = true;
    for (side->n = 0; more; side->n++) {
        if (side->n == MAX_OPERANDS)
            return pti_parser_fail(parser, parser->token.begin, "more than %d expressions",
                                   MAX_OPERANDS);
        if (!pti_parse_expression(parser, &side->linear[side->n]) ||
            !pti_parser_accept(parser, PTI_TOKEN_COMMA, &more))
            return false;
    }
    return true;
}

static bool compare_all(pti_parser *parser, pti_token_kind kind, const operands *left,
                        const operands *right, pti_condition *condition) {
    bool done = true;
    for (int l = 0; done && l < left->n; l++) {
        for (int r = 0; done && r < right->n; r++) {
            pti_condition one = {0};
            done = add_any_comparison(parser, kind, &left->linear[l], &right->linear[r], &one) &&
                   intersect_conditions(parser, condition, &one);
            pti_condition_free(&one);
        }
    }
    return done;
}

/** Read a chain of comparisons: 0 <= a, b < n. */
static bool parse_chain(pti_parser *parser, pti_condition *condition) {
    operands left, right;
    char shown[PTI_NAME_BYTES + 2];
    if (!pti_condition_always(parser, condition) || !parse_operands(parser, &left))
        return false;
    if (!is_comparison(parser->token.kind))
        return pti_parser_fail(parser, parser->token.begin, "expected a comparison, not %s",
                               pti_token_show(&parser->token, shown));
    while (is_comparison(parser->token.kind)) {
        pti_token_kind kind = parser->token.kind;
        if (!pti_parser_advance(parser) || !parse_operands(parser, &right) ||
            !compare_all(parser, kind, &left, &right, condition))
            return false;
        left = right;
    }
    bool done = pti_condition_restrict(parser, condition, &parser->scope->pending);
    parser->scope->pending.n_constraints = 0;
    return done;
}

/** Read exists (e0, e1 : condition), or exists e0, e1 : condition. */
static bool parse_exists(pti_parser *parser, pti_condition *condition) {
    bool parenthesis, more = true;
    int n_names = parser->scope->n_names;
    if (!pti_parser_advance(parser) ||
        !pti_parser_accept(parser, PTI_TOKEN_OPEN_PAREN, &parenthesis))
        return false;
    while (more) {
        pti_token name = parser->token;
        int position;
        if (!pti_parser_expect(parser, PTI_TOKEN_NAME, "of a quantified variable") ||
            !pti_scope_new_exists(parser, name.begin, &position) ||
            !pti_scope_bind(parser, &name, PTI_BINDS_EXISTS, position) ||
            !pti_parser_accept(parser, PTI_TOKEN_COMMA, &more))
            return false;
    }
    if (!pti_parser_expect(parser, PTI_TOKEN_COLON, "after the quantified variables") ||
        !pti_parse_condition(parser, condition))
        return false;
    parser->scope->n_names = n_names;
    return !parenthesis ||
           pti_parser_expect(parser, PTI_TOKEN_CLOSE_PAREN, "after the quantified condition");
}

/** Find out whether the next parenthesis holds a condition rather than an expression. One that is
 * nested too deep is refused later. */
static bool holds_condition(pti_parser *parser, bool *holds) {
    pti_token token = parser->token;
    int depth = 1;
    *holds = false;
    while (depth > 0 && depth <= PTI_MAX_DEPTH && !*holds) {
        if (!pti_token_read(parser, token.end, &token))
            return false;
        if (token.kind == PTI_TOKEN_END)
            return true;
        depth += token.kind == PTI_TOKEN_OPEN_PAREN;
        depth -= token.kind == PTI_TOKEN_CLOSE_PAREN;
        *holds = is_comparison(token.kind);
    }
    return true;
}

static bool continues_expression(pti_token_kind kind) {
    return is_comparison(kind) || kind == PTI_TOKEN_PLUS || kind == PTI_TOKEN_MINUS ||
           kind == PTI_TOKEN_STAR || kind == PTI_TOKEN_PERCENT || kind == PTI_TOKEN_COMMA;
}

/** Find out whether variables are quantified next; exists may also be a name. */
static bool at_exists(pti_parser *parser, bool *found) {
    pti_token next;
    *found = pti_parser_at_word(parser, "exists");
    if (!*found)
        return true;
    if (!pti_token_read(parser, parser->token.end, &next))
        return false;
    *found = !continues_expression(next.kind);
    return true;
}

static bool parse_in_parentheses(pti_parser *parser, pti_condition *condition) {
    return pti_parser_advance(parser) && pti_parse_condition(parser, condition) &&
           pti_parser_expect(parser, PTI_TOKEN_CLOSE_PAREN, "after the condition");
}

static bool parse_atom(pti_parser *parser, pti_condition *condition) {
    bool grouped = false, quantified;
    if (!at_exists(parser, &quantified))
        return false;
    if (!quantified && pti_parser_at(parser, PTI_TOKEN_OPEN_PAREN) &&
        !holds_condition(parser, &grouped))
        return false;
    if (!quantified && !grouped)
        return parse_chain(parser, condition);
    return pti_parser_descend(parser) &&
           (quantified ? parse_exists(parser, condition)
                       : parse_in_parentheses(parser, condition)) &&
           pti_parser_ascend(parser);
}

/** Conditions of one kind with a symbol, or a word, between them. */
typedef struct joined_conditions {
    pti_token_kind symbol;
    const char *word;
    bool (*parse)(pti_parser *parser, pti_condition *condition);
    bool (*join)(pti_parser *parser, pti_condition *condition, pti_condition *next);
} joined_conditions;

static bool parse_joined(pti_parser *parser, const joined_conditions *of,
                         pti_condition *condition) {
    if (!of->parse(parser, condition))
        return false;
    while (pti_parser_at(parser, of->symbol) || pti_parser_at_word(parser, of->word)) {
        pti_condition next = {0};
        bool done = pti_parser_advance(parser) && of->parse(parser, &next) &&
                    of->join(parser, condition, &next);
        pti_condition_free(&next);
        if (!done)
            return false;
    }
    return true;
}

static bool parse_conjunction(pti_parser *parser, pti_condition *condition) {
    const joined_conditions of = {PTI_TOKEN_AND, "and", parse_atom, intersect_conditions};
    return parse_joined(parser, &of, condition);
}

bool pti_parse_condition(pti_parser *parser, pti_condition *condition) {
    const joined_conditions of = {PTI_TOKEN_OR, "or", parse_conjunction, unite_conditions};
    return parse_joined(parser, &of, condition);
}
