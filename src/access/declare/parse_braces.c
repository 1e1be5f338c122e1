#include "access/declare/parse_parser.h"

#include "base/plural.h"

#include <stdlib.h>
#include <string.h>

/** Move the definitions of mod's quotients to the constraints. */
static bool move_pending_constraints(pti_parser *parser, pti_relation *constraints) {
    pti_relation *pending = &parser->scope->pending;
    for (int c = 0; c < pending->n_constraints; c++)
        if (!pti_relation_add(constraints, &pending->constraint[c]))
            return pti_parser_fail_memory(parser);
    pending->n_constraints = 0;
    return true;
}

/** Find out whether a name alone is one place of a tuple. */
static bool at_lone_name(pti_parser *parser, bool *lone) {
    pti_token next;
    *lone = false;
    if (!pti_parser_at(parser, PTI_TOKEN_NAME))
        return true;
    if (!pti_token_read(parser, parser->token.end, &next))
        return false;
    *lone = next.kind == PTI_TOKEN_COMMA || next.kind == PTI_TOKEN_CLOSE_BRACKET;
    return true;
}

static bool is_parameter(const pti_parser *parser, const char *name) {
    const polytile_declaration *declaration = parser->declaration;
    return pti_find_name(name, declaration->n_parameters, declaration->parameter_name) >= 0;
}

/** Read one place of a tuple: a new name is bound to it, any other expression equals it. */
static bool parse_place(pti_parser *parser, pti_binding kind, int position,
                        pti_relation *constraints) {
    bool lone;
    pti_token name = parser->token;
    if (!at_lone_name(parser, &lone))
        return false;
    if (lone && pti_scope_find(parser->scope, name.name) < 0 && !is_parameter(parser, name.name))
        return pti_scope_bind(parser, &name, kind, position) && pti_parser_advance(parser);
    pti_linear equality;
    if (!pti_parse_expression(parser, &equality) || !move_pending_constraints(parser, constraints))
        return false;
    int64_t *place = kind == PTI_BINDS_INDEX ? equality.index : equality.element;
    if (__builtin_sub_overflow(place[position], 1, &place[position]))
        return pti_parser_fail(parser, name.begin, "this coefficient exceeds 64 bits");
    equality.is_equality = true;
    return pti_relation_add(constraints, &equality) || pti_parser_fail_memory(parser);
}

static bool parse_tuple(pti_parser *parser, pti_binding kind, pti_relation *constraints,
                        int *n_places) {
    bool more = true;
    if (!pti_parser_expect(parser, PTI_TOKEN_OPEN_BRACKET, "before a tuple"))
        return false;
    for (*n_places = 0; more; ++*n_places) {
        if (*n_places == POLYTILE_MAX_DIMS)
            return pti_parser_fail(parser, parser->token.begin, "a tuple has at most %d places",
                                   POLYTILE_MAX_DIMS);
        if (!parse_place(parser, kind, *n_places, constraints) ||
            !pti_parser_accept(parser, PTI_TOKEN_COMMA, &more))
            return false;
    }
    return pti_parser_expect(parser, PTI_TOKEN_CLOSE_BRACKET, "after a tuple");
}

static bool parse_left_tuple(pti_parser *parser, pti_relation *constraints) {
    size_t offset = parser->token.begin;
    int n_places;
    if (!parse_tuple(parser, PTI_BINDS_INDEX, constraints, &n_places))
        return false;
    if (n_places != parser->declaration->n_indices)
        return pti_parser_fail(parser, offset, "%d %s for the %d %s of the kernel", n_places,
                               pti_plural(n_places, "place", "places"),
                               parser->declaration->n_indices,
                               pti_plural(parser->declaration->n_indices, "index", "indices"));
    return pti_parser_expect(parser, PTI_TOKEN_ARROW, "after the thread's tuple");
}

/** Number the quantified variables that a disjunct uses from 0, and drop the others. */
static void renumber_exists(pti_relation *disjunct) {
    int position[POLYTILE_MAX_DIMS];
    disjunct->n_exists = 0;
    for (int e = 0; e < POLYTILE_MAX_DIMS; e++) {
        bool used = false;
        for (int c = 0; c < disjunct->n_constraints; c++)
            used = used || disjunct->constraint[c].exists[e] != 0;
        position[e] = used ? disjunct->n_exists++ : -1;
    }
    for (int c = 0; c < disjunct->n_constraints; c++) {
        int64_t moved[POLYTILE_MAX_DIMS] = {0};
        for (int e = 0; e < POLYTILE_MAX_DIMS; e++)
            if (position[e] >= 0)
                moved[position[e]] = disjunct->constraint[c].exists[e];
        memcpy(disjunct->constraint[c].exists, moved, sizeof moved);
    }
}

/** Make an access of each disjunct of the condition, which then owns it. */
static bool add_disjuncts(pti_parser *parser, const pti_token *array, pti_access *access,
                          pti_condition *condition) {
    for (int d = 0; d < access->n_dims; d++)
        access->subscript[d] = (polytile_subscript){.step = 1, .from_first = true, .to_last = true};
    for (int p = 0; p < condition->n_disjuncts; p++) {
        pti_text why = {0};
        access->relation = condition->disjunct[p];
        renumber_exists(access->relation);
        polytile_status status =
            pti_declaration_add_access(parser->declaration, array->name, access, &why);
        if (!pti_parser_check(parser, array->begin, status, &why))
            return false;
        condition->disjunct[p] = NULL;
    }
    return true;
}

static bool parse_disjunct_condition(pti_parser *parser, pti_condition *condition) {
    bool found;
    if (!pti_parser_accept(parser, PTI_TOKEN_COLON, &found))
        return false;
    return found ? pti_parse_condition(parser, condition) : pti_condition_always(parser, condition);
}

static bool parse_disjunct(pti_parser *parser, pti_access *access) {
    pti_scope scope = {0};
    pti_relation tuples = {0};
    pti_condition condition = {0};
    parser->scope = &scope;
    bool done = parse_left_tuple(parser, &tuples);
    pti_token array = parser->token;
    done = done && pti_parser_expect(parser, PTI_TOKEN_NAME, "of an array after '->'") &&
           parse_tuple(parser, PTI_BINDS_ELEMENT, &tuples, &access->n_dims) &&
           parse_disjunct_condition(parser, &condition) &&
           pti_condition_restrict(parser, &condition, &tuples) &&
           add_disjuncts(parser, &array, access, &condition);
    pti_condition_free(&condition);
    free(tuples.constraint);
    free(scope.pending.constraint);
    parser->scope = NULL;
    return done;
}

bool pti_parse_braces(pti_parser *parser, polytile_role role, bool fresh) {
    bool more = true;
    if (!pti_parser_expect(parser, PTI_TOKEN_OPEN_BRACE, "before a relation"))
        return false;
    while (more) {
        pti_access access = {.role = role, .fresh = fresh};
        if (!parse_disjunct(parser, &access) ||
            !pti_parser_accept(parser, PTI_TOKEN_SEMICOLON, &more))
            return false;
    }
    return pti_parser_expect(parser, PTI_TOKEN_CLOSE_BRACE, "after a relation");
}

bool pti_parse_parameters(pti_parser *parser) {
    bool more = true;
    if (!pti_parser_expect(parser, PTI_TOKEN_OPEN_BRACKET, "before the parameters"))
        return false;
    while (more) {
        pti_token name = parser->token;
        pti_text why = {0};
        if (!pti_parser_expect(parser, PTI_TOKEN_NAME, "of a parameter"))
            return false;
        if (!is_parameter(parser, name.name)) {
            polytile_status status =
                pti_declaration_add_parameter(parser->declaration, name.name, &why);
            if (!pti_parser_check(parser, name.begin, status, &why))
                return false;
        }
        if (!pti_parser_accept(parser, PTI_TOKEN_COMMA, &more))
            return false;
    }
    return pti_parser_expect(parser, PTI_TOKEN_CLOSE_BRACKET, "after the parameters") &&
           pti_parser_expect(parser, PTI_TOKEN_ARROW, "between the parameters and '{'");
}
