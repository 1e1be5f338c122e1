#include "access/declare/parse.h"

#include "access/declare/parse_parser.h"

#include <string.h>

static bool find_role(const char *word, polytile_role *role) {
    for (*role = POLYTILE_IN; *role <= POLYTILE_SCRATCH; ++*role)
        if (strcmp(word, pti_role_word(*role)) == 0)
            return true;
    return false;
}

/** Read "sum" and the like after "out", unless it is an array: out sum s[0], out sum[0]. */
static bool parse_fresh(pti_parser *parser, polytile_role *role, bool *fresh) {
    polytile_role reduction;
    pti_token next;
    *fresh = false;
    if (*role != POLYTILE_OUT || !pti_parser_at(parser, PTI_TOKEN_NAME) ||
        !find_role(parser->token.name, &reduction) || !pti_role_reduces(reduction))
        return true;
    if (!pti_token_read(parser, parser->token.end, &next))
        return false;
    if (next.kind != PTI_TOKEN_NAME && next.kind != PTI_TOKEN_OPEN_BRACE)
        return true;
    *fresh = true;
    *role = reduction;
    return pti_parser_advance(parser);
}

static bool parse_role(pti_parser *parser, polytile_role *role, bool *fresh) {
    char shown[PTI_NAME_BYTES + 2];
    if (!pti_parser_at(parser, PTI_TOKEN_NAME) || !find_role(parser->token.name, role))
        return pti_parser_fail(
            parser, parser->token.begin,
            "expected a role (in, out, inout, sum, prod, min, max, argmin, argmax, out sum, ..., "
            "scratch), not %s",
            pti_token_show(&parser->token, shown));
    return pti_parser_advance(parser) && parse_fresh(parser, role, fresh);
}

static polytile_affine to_affine(const pti_linear *linear) {
    polytile_affine affine = {.constant = linear->constant};
    memcpy(affine.index, linear->index, sizeof affine.index);
    memcpy(affine.parameter, linear->parameter, sizeof affine.parameter);
    return affine;
}

static bool at_subscript_end(const pti_parser *parser) {
    return pti_parser_at(parser, PTI_TOKEN_COMMA) || pti_parser_at(parser, PTI_TOKEN_COLON) ||
           pti_parser_at(parser, PTI_TOKEN_CLOSE_BRACKET) ||
           pti_parser_at(parser, PTI_TOKEN_CLOSE_PAREN);
}

static bool parse_step(pti_parser *parser, int64_t *step) {
    bool found;
    if (!pti_parser_accept(parser, PTI_TOKEN_COLON, &found) || !found)
        return parser->status == POLYTILE_OK;
    size_t offset = parser->token.begin;
    if (!pti_parse_constant(parser, "the step", step))
        return false;
    if (*step < 1)
        return pti_parser_fail(parser, offset, "the step is %lld; it must be at least 1",
                               (long long)*step);
    return true;
}

/** Read an end of a subscript: an affine expression, and perhaps an element of an index array. */
static bool parse_end(pti_parser *parser, pti_indirect_end *end) {
    const size_t offset = parser->token.begin;
    const bool could_look_up = parser->may_look_up;
    const int outer = parser->looked_up;
    pti_linear linear = {0};
    parser->may_look_up = true;
    parser->looked_up = -1;
    const bool read = pti_parse_expression(parser, &linear);
    *end = (pti_indirect_end){to_affine(&linear), parser->looked_up};
    parser->may_look_up = could_look_up;
    parser->looked_up = outer;
    if (read && end->access >= 0 && linear.lookup != 1)
        return pti_parser_fail(parser, offset,
                               "an element of an index array is added, with no factor before it");
    return read;
}

/** Read lo, lo:hi or lo:hi:step; lo and hi left out are the array's first and last index. */
static bool parse_range(pti_parser *parser, polytile_subscript *subscript, pti_indirect_end *lo,
                        pti_indirect_end *hi) {
    bool colon;
    *lo = (pti_indirect_end){.access = -1};
    subscript->from_first = pti_parser_at(parser, PTI_TOKEN_COLON);
    if (!subscript->from_first && !parse_end(parser, lo))
        return false;
    *hi = *lo;
    subscript->lo = subscript->hi = lo->plus;
    if (!pti_parser_accept(parser, PTI_TOKEN_COLON, &colon) || !colon)
        return parser->status == POLYTILE_OK;
    *hi = (pti_indirect_end){.access = -1};
    subscript->to_last = at_subscript_end(parser);
    if (!subscript->to_last && !parse_end(parser, hi))
        return false;
    subscript->hi = hi->plus;
    return parse_step(parser, &subscript->step);
}

/** Find the edge that the next tokens begin, "wrap(" or "clamp(", or none. */
static bool find_edge(pti_parser *parser, polytile_edge *edge) {
    pti_token next = {.kind = PTI_TOKEN_END};
    *edge = POLYTILE_EDGE_CLIP;
    for (int e = POLYTILE_EDGE_WRAP; e <= POLYTILE_EDGE_CLAMP; e++)
        if (pti_parser_at_word(parser, pti_edge_word((polytile_edge)e)))
            *edge = (polytile_edge)e;
    if (*edge != POLYTILE_EDGE_CLIP && !pti_token_read(parser, parser->token.end, &next))
        return false;
    if (next.kind != PTI_TOKEN_OPEN_PAREN)
        *edge = POLYTILE_EDGE_CLIP;
    return true;
}

/** Read a range in parentheses after its edge, with nothing else beside it. */
static bool parse_edge(pti_parser *parser, polytile_subscript *subscript, pti_indirect_end *lo,
                       pti_indirect_end *hi) {
    if (!pti_parser_advance(parser) || !pti_parser_advance(parser) ||
        !parse_range(parser, subscript, lo, hi) ||
        !pti_parser_expect(parser, PTI_TOKEN_CLOSE_PAREN, "after the range"))
        return false;
    if (pti_parser_at(parser, PTI_TOKEN_COMMA) || pti_parser_at(parser, PTI_TOKEN_CLOSE_BRACKET))
        return true;
    return pti_parser_fail(parser, parser->token.begin,
                           "%s(...) stands around a whole subscript, with nothing beside it",
                           pti_edge_word(subscript->edge));
}

static bool parse_subscript(pti_parser *parser, pti_access *access, int dim) {
    const size_t offset = parser->token.begin;
    polytile_subscript *subscript = &access->subscript[dim];
    pti_indirect_end lo, hi;
    pti_text why = {0};
    memset(subscript, 0, sizeof *subscript);
    subscript->step = 1;
    if (!find_edge(parser, &subscript->edge))
        return false;
    if (!(subscript->edge == POLYTILE_EDGE_CLIP ? parse_range(parser, subscript, &lo, &hi)
                                                : parse_edge(parser, subscript, &lo, &hi)))
        return false;
    if (lo.access < 0 && hi.access < 0)
        return true;
    const polytile_status status = pti_lookups_set(&parser->lookups, access, dim, &lo, &hi, &why);
    return pti_parser_check(parser, offset, status, &why);
}

static bool parse_subscripts(pti_parser *parser, pti_access *access) {
    bool more = true;
    while (more) {
        if (access->n_dims == POLYTILE_MAX_DIMS)
            return pti_parser_fail(parser, parser->token.begin,
                                   "more than the %d subscripts there may be", POLYTILE_MAX_DIMS);
        const int dim = access->n_dims++;
        if (!parse_subscript(parser, access, dim) ||
            !pti_parser_accept(parser, PTI_TOKEN_COMMA, &more))
            return false;
    }
    return pti_parser_expect(parser, PTI_TOKEN_CLOSE_BRACKET, "after the subscripts");
}

/** Read a section by its name and subscripts. */
static bool parse_named(pti_parser *parser, pti_access access, const char *what) {
    polytile_role other;
    pti_text why = {0};
    pti_token name = parser->token;
    if (!pti_parser_expect(parser, PTI_TOKEN_NAME, what))
        return false;
    if (pti_parser_at(parser, PTI_TOKEN_NAME) && find_role(name.name, &other))
        return pti_parser_fail(parser, name.begin, "write ';' before the next role '%s'",
                               name.name);
    size_t offset = name.begin;
    bool read = pti_parser_expect(parser, PTI_TOKEN_OPEN_BRACKET, "after the array's name") &&
                parse_subscripts(parser, &access);
    if (read) {
        const polytile_status status = pti_lookups_add_access(
            parser->declaration, name.name, &access, &parser->lookups, &offset, &why);
        read = pti_parser_check(parser, offset, status, &why);
    }
    if (!read)
        pti_access_free(&access);
    pti_lookups_free(&parser->lookups);
    return read;
}

static bool parse_section(pti_parser *parser, pti_access access) {
    if (pti_parser_at(parser, PTI_TOKEN_OPEN_BRACE))
        return pti_parse_braces(parser, access.role, access.fresh);
    if (pti_parser_at(parser, PTI_TOKEN_OPEN_BRACKET))
        return pti_parse_parameters(parser) && pti_parse_braces(parser, access.role, access.fresh);
    return parse_named(parser, access, "of an array or '{'");
}

/** Read a section of scratch, in front of which stands its type; "scratch f32 v[i], w[i]" has one
 * for both. */
static bool parse_scratch(pti_parser *parser, pti_access *access, bool is_first) {
    polytile_role other;
    pti_token next = {.kind = PTI_TOKEN_NAME};
    if (!is_first && !pti_token_read(parser, parser->token.end, &next))
        return false;
    bool has_type = next.kind == PTI_TOKEN_NAME && !find_role(parser->token.name, &other);
    if ((is_first || has_type) && !pti_parse_type(parser, "the type of scratch", &access->type))
        return false;
    return parse_named(parser, *access, "of scratch");
}

static bool parse_accesses_of_role(pti_parser *parser) {
    pti_access access = {.exact = true};
    bool is_first = true;
    if (!parse_role(parser, &access.role, &access.fresh))
        return false;
    for (bool more = true; more; is_first = false)
        if (!(access.role == POLYTILE_SCRATCH ? parse_scratch(parser, &access, is_first)
                                              : parse_section(parser, access)) ||
            !pti_parser_accept(parser, PTI_TOKEN_COMMA, &more))
            return false;
    return true;
}

static bool parse_declaration(pti_parser *parser) {
    char shown[PTI_NAME_BYTES + 2];
    bool more = true;
    if (!pti_token_read(parser, 0, &parser->token) || !pti_parse_header(parser))
        return false;
    while (more)
        if (!parse_accesses_of_role(parser) ||
            !pti_parser_accept(parser, PTI_TOKEN_SEMICOLON, &more))
            return false;
    if (!pti_parser_at(parser, PTI_TOKEN_END))
        return pti_parser_fail(parser, parser->token.begin,
                               "expected ',', ';' or the end after a section, not %s",
                               pti_token_show(&parser->token, shown));
    return true;
}

polytile_status pti_declaration_parse(polytile_context *ctx, const char *text,
                                      polytile_declaration **declaration) {
    pti_parser parser = {.ctx = ctx,
                         .text = text,
                         .looked_up = -1,
                         .parse_subscripts = parse_subscripts,
                         .status = POLYTILE_OK};
    *declaration = NULL;
    if (parse_declaration(&parser))
        *declaration = parser.declaration;
    else
        pti_declaration_free(parser.declaration);
    return parser.status;
}
