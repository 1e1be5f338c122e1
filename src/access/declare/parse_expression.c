#include "access/array/type.h"
#include "access/declare/parse_parser.h"
#include "base/checked.h"

#include <string.h>

static bool add_scaled(int64_t *sum, const int64_t *term, int64_t factor, int n) {
    for (int k = 0; k < n; k++) {
        int64_t product;
        if (pti_mul_overflows(term[k], factor, &product) ||
            pti_add_overflows(sum[k], product, &sum[k]))
            return false;
    }
    return true;
}

bool pti_linear_add(pti_linear *sum, const pti_linear *term, int64_t factor) {
    return add_scaled(&sum->constant, &term->constant, factor, 1) &&
           add_scaled(sum->index, term->index, factor, POLYTILE_MAX_DIMS) &&
           add_scaled(sum->element, term->element, factor, POLYTILE_MAX_DIMS) &&
           add_scaled(sum->parameter, term->parameter, factor, POLYTILE_MAX_PARAMETERS) &&
           add_scaled(sum->exists, term->exists, factor, POLYTILE_MAX_DIMS) &&
           add_scaled(&sum->lookup, &term->lookup, factor, 1);
}

static bool are_zero(int n, const int64_t *coefficients) {
    for (int k = 0; k < n; k++)
        if (coefficients[k] != 0)
            return false;
    return true;
}

static bool is_constant(const pti_linear *linear) {
    return are_zero(POLYTILE_MAX_DIMS, linear->index) &&
           are_zero(POLYTILE_MAX_DIMS, linear->element) &&
           are_zero(POLYTILE_MAX_PARAMETERS, linear->parameter) &&
           are_zero(POLYTILE_MAX_DIMS, linear->exists) && linear->lookup == 0;
}

static bool scale_linear(pti_parser *parser, size_t offset, pti_linear *linear, int64_t factor) {
    pti_linear scaled = {0};
    if (!pti_linear_add(&scaled, linear, factor))
        return pti_parser_fail(parser, offset, "this product exceeds 64 bits");
    *linear = scaled;
    return true;
}

static bool multiply_linear(pti_parser *parser, size_t offset, pti_linear *a, const pti_linear *b) {
    if (is_constant(b))
        return scale_linear(parser, offset, a, b->constant);
    if (!is_constant(a))
        return pti_parser_fail(parser, offset,
                               "not affine: one factor of a product must be an integer constant");
    int64_t factor = a->constant;
    *a = *b;
    return scale_linear(parser, offset, a, factor);
}

/** Set linear to linear modulo the divisor, by a quotient q: 0 <= linear - divisor * q <
 * divisor. */
static bool reduce_modulo(pti_parser *parser, size_t offset, pti_linear *linear, int64_t divisor) {
    int q;
    pti_linear upper = {.constant = divisor - 1};
    if (!pti_scope_new_exists(parser, offset, &q))
        return false;
    linear->exists[q] = -divisor;
    if (!pti_linear_add(&upper, linear, -1))
        return pti_parser_fail(parser, offset, "this remainder exceeds 64 bits");
    pti_relation *pending = &parser->scope->pending;
    if (!pti_relation_add(pending, linear) || !pti_relation_add(pending, &upper))
        return pti_parser_fail_memory(parser);
    return true;
}

static bool parse_factor(pti_parser *parser, pti_linear *linear);

static bool parse_remainder(pti_parser *parser, pti_linear *linear) {
    size_t offset = parser->token.begin;
    if (parser->scope == NULL)
        return pti_parser_fail(parser, offset,
                               "not affine: a remainder needs the form in braces, "
                               "{ [i] -> A[a] : a = i mod 2 }");
    pti_linear divisor = {0};
    if (!pti_parser_advance(parser))
        return false;
    size_t divisor_offset = parser->token.begin;
    if (!parse_factor(parser, &divisor))
        return false;
    if (!is_constant(&divisor) || divisor.constant < 1)
        return pti_parser_fail(parser, divisor_offset,
                               "not affine: the divisor must be a positive integer constant");
    return reduce_modulo(parser, offset, linear, divisor.constant);
}

/** Read a name that the scope binds; *found says whether it is one. */
static bool bound_name(pti_parser *parser, const pti_token *name, pti_linear *linear, bool *found) {
    int position = pti_scope_find(parser->scope, name->name);
    *found = position >= 0;
    if (!*found)
        return true;
    int variable = parser->scope->bound[position].position;
    switch (parser->scope->bound[position].kind) {
    case PTI_BINDS_INDEX:
        linear->index[variable] = 1;
        break;
    case PTI_BINDS_ELEMENT:
        linear->element[variable] = 1;
        break;
    case PTI_BINDS_EXISTS:
        linear->exists[variable] = 1;
        break;
    }
    return true;
}

static bool index_name(pti_parser *parser, const pti_token *name, pti_linear *linear, bool *found) {
    const polytile_declaration *declaration = parser->declaration;
    int index = pti_find_name(name->name, declaration->n_indices, declaration->index_name);
    *found = index >= 0;
    if (*found && parser->scope != NULL)
        return pti_parser_fail(parser, name->begin,
                               "the index '%s' is not named in the tuple on the left of this '->'",
                               name->name);
    if (*found)
        linear->index[index] = 1;
    return true;
}

static bool parameter_name(pti_parser *parser, const pti_token *name, pti_linear *linear) {
    polytile_declaration *declaration = parser->declaration;
    char type[PTI_TYPE_TEXT_BYTES];
    int parameter =
        pti_find_name(name->name, declaration->n_parameters, declaration->parameter_name);
    if (parameter < 0) {
        pti_text why = {0};
        polytile_status status = pti_declaration_add_parameter(declaration, name->name, &why);
        if (!pti_parser_check(parser, name->begin, status, &why))
            return false;
        parameter = declaration->n_parameters - 1;
    }
    if (!pti_parameter_is_integer(declaration, parameter))
        return pti_parser_fail(parser, name->begin, "%s is %s: subscripts take integers",
                               name->name,
                               pti_type_format(declaration->parameter_type[parameter], type));
    declaration->is_in_subscripts[parameter] = true;
    linear->parameter[parameter] = 1;
    return true;
}

/** Refuse what stands in brackets after a name. */
static bool refuse_brackets(pti_parser *parser, const pti_token *name) {
    if (parser->scope == NULL && pti_parser_at(parser, PTI_TOKEN_OPEN_PAREN) &&
        (strcmp(name->name, pti_edge_word(POLYTILE_EDGE_WRAP)) == 0 ||
         strcmp(name->name, pti_edge_word(POLYTILE_EDGE_CLAMP)) == 0))
        return pti_parser_fail(parser, name->begin,
                               "%s(...) stands around a whole subscript, with nothing beside it",
                               name->name);
    return pti_parser_fail(
        parser, name->begin,
        "not affine: '%s' with something in brackets cannot stand here; elements "
        "of index arrays stand in subscripts, such as V[P[i]:P[i+1]-1], not in "
        "braces, steps or arguments",
        name->name);
}

/** Read what stands in brackets after the name of an index array. */
static bool parse_lookup(pti_parser *parser, const pti_token *name, pti_linear *linear) {
    pti_text why = {0};
    pti_access access = {.exact = true};
    int position = -1;
    if (parser->looked_up >= 0)
        return pti_parser_fail(parser, name->begin,
                               "one element of an index array may stand at an end of a subscript, "
                               "and '%s' is a second one",
                               name->name);
    const polytile_status status =
        pti_lookups_add(&parser->lookups, name->name, name->begin, &position, &why);
    if (!pti_parser_check(parser, name->begin, status, &why))
        return false;
    const bool read = pti_parser_descend(parser) && pti_parser_advance(parser) &&
                      parser->parse_subscripts(parser, &access) && pti_parser_ascend(parser);
    parser->lookups.lookup[position].access = access;
    parser->looked_up = position;
    linear->lookup = 1;
    return read;
}

static bool parse_name(pti_parser *parser, pti_linear *linear) {
    pti_token name = parser->token;
    bool found = false;
    if (!pti_parser_advance(parser))
        return false;
    if (pti_parser_at(parser, PTI_TOKEN_OPEN_BRACKET) && parser->may_look_up)
        return parse_lookup(parser, &name, linear);
    if (pti_parser_at(parser, PTI_TOKEN_OPEN_BRACKET) ||
        pti_parser_at(parser, PTI_TOKEN_OPEN_PAREN))
        return refuse_brackets(parser, &name);
    if (parser->scope != NULL && !bound_name(parser, &name, linear, &found))
        return false;
    if (!found && !index_name(parser, &name, linear, &found))
        return false;
    return found || parameter_name(parser, &name, linear);
}

static bool parse_sum(pti_parser *parser, pti_linear *linear);

static bool parse_parenthesis(pti_parser *parser, pti_linear *linear) {
    return pti_parser_descend(parser) && pti_parser_advance(parser) && parse_sum(parser, linear) &&
           pti_parser_expect(parser, PTI_TOKEN_CLOSE_PAREN, "after the expression") &&
           pti_parser_ascend(parser);
}

static bool parse_signed(pti_parser *parser, pti_linear *linear) {
    return pti_parser_descend(parser) && pti_parser_advance(parser) &&
           parse_factor(parser, linear) && pti_parser_ascend(parser);
}

static bool parse_factor(pti_parser *parser, pti_linear *linear) {
    char shown[PTI_NAME_BYTES + 2];
    size_t offset = parser->token.begin;
    memset(linear, 0, sizeof *linear);
    switch (parser->token.kind) {
    case PTI_TOKEN_INTEGER:
        linear->constant = parser->token.value;
        return pti_parser_advance(parser);
    case PTI_TOKEN_NAME:
        return parse_name(parser, linear);
    case PTI_TOKEN_OPEN_PAREN:
        return parse_parenthesis(parser, linear);
    case PTI_TOKEN_MINUS:
        return parse_signed(parser, linear) && scale_linear(parser, offset, linear, -1);
    case PTI_TOKEN_PLUS:
        return parse_signed(parser, linear);
    default:
        return pti_parser_fail(parser, offset,
                               "expected an expression in indices and parameters, not %s",
                               pti_token_show(&parser->token, shown));
    }
}

static bool at_remainder(const pti_parser *parser) {
    return pti_parser_at(parser, PTI_TOKEN_PERCENT) || pti_parser_at_word(parser, "mod");
}

/** Return whether a number stands directly before its factor: 2i, -2i, 2(i + 1). */
static bool at_juxtaposed(const pti_parser *parser) {
    return parser->previous == PTI_TOKEN_INTEGER && !at_remainder(parser) &&
           !pti_parser_at_word(parser, "and") && !pti_parser_at_word(parser, "or") &&
           (pti_parser_at(parser, PTI_TOKEN_NAME) || pti_parser_at(parser, PTI_TOKEN_OPEN_PAREN));
}

static bool parse_product(pti_parser *parser, pti_linear *linear) {
    bool is_remainder = false;
    if (!parse_factor(parser, linear))
        return false;
    for (;;) {
        size_t offset = parser->token.begin;
        bool starred = pti_parser_at(parser, PTI_TOKEN_STAR);
        if (at_remainder(parser)) {
            if (!parse_remainder(parser, linear))
                return false;
            is_remainder = true;
        } else if (starred || (!is_remainder && at_juxtaposed(parser))) {
            pti_linear factor;
            if (starred && !pti_parser_advance(parser))
                return false;
            if (!parse_factor(parser, &factor) || !multiply_linear(parser, offset, linear, &factor))
                return false;
            is_remainder = false;
        } else {
            return true;
        }
    }
}

static bool parse_sum(pti_parser *parser, pti_linear *linear) {
    if (!parse_product(parser, linear))
        return false;
    while (pti_parser_at(parser, PTI_TOKEN_PLUS) || pti_parser_at(parser, PTI_TOKEN_MINUS)) {
        size_t offset = parser->token.begin;
        int64_t sign = pti_parser_at(parser, PTI_TOKEN_PLUS) ? 1 : -1;
        pti_linear term;
        if (!pti_parser_advance(parser) || !parse_product(parser, &term))
            return false;
        if (!pti_linear_add(linear, &term, sign))
            return pti_parser_fail(parser, offset, "this sum exceeds 64 bits");
    }
    return true;
}

/** Divisions, a frequent mistake, have a text of their own. */
bool pti_parse_expression(pti_parser *parser, pti_linear *linear) {
    if (!parse_sum(parser, linear))
        return false;
    if (parser->text[parser->token.begin] == '/')
        return pti_parser_fail(parser, parser->token.begin,
                               "not affine: there is no division in a subscript");
    return true;
}

bool pti_parse_constant(pti_parser *parser, const char *what, int64_t *value) {
    size_t offset = parser->token.begin;
    pti_linear linear;
    if (!pti_parse_expression(parser, &linear))
        return false;
    if (!is_constant(&linear))
        return pti_parser_fail(parser, offset, "%s must be an integer constant", what);
    *value = linear.constant;
    return true;
}
