#include "access/declare/parse.h"

#include "access/declare/parse_parser.h"

#include <string.h>

static bool find_role(const char *word, polytile_role *role) {
    for (*role = POLYTILE_IN; *role <= POLYTILE_SCRATCH; ++*role)
        if (strcmp(word, pti_role_word(*role)) == 0)
            return true;
    return false;
}

/** Read "sum" and the like behind "out", unless it is an array: out sum s[0], out sum[0]. */
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

/** Read lo, lo:hi or lo:hi:step; lo and hi left out are the array's first and last index. */
static bool parse_range(pti_parser *parser, polytile_subscript *subscript) {
    pti_linear lo = {0}, hi = {0};
    bool colon;
    subscript->from_first = pti_parser_at(parser, PTI_TOKEN_COLON);
    if (!subscript->from_first && !pti_parse_expression(parser, &lo))
        return false;
    subscript->lo = subscript->hi = to_affine(&lo);
    if (!pti_parser_accept(parser, PTI_TOKEN_COLON, &colon) || !colon)
        return parser->status == POLYTILE_OK;
    subscript->to_last = at_subscript_end(parser);
    if (!subscript->to_last && !pti_parse_expression(parser, &hi))
        return false;
    subscript->hi = to_affine(&hi);
    return parse_step(parser, &subscript->step);
}

/** Find the edge that the next tokens begin, "wrap(" or "clamp(", or none. */
static bool find_edge(pti_parser *parser, polytile_edge *edge) {
    pti_token behind = {.kind = PTI_TOKEN_END};
    *edge = POLYTILE_EDGE_CLIP;
    for (int e = POLYTILE_EDGE_WRAP; e <= POLYTILE_EDGE_CLAMP; e++)
        if (pti_parser_at_word(parser, pti_edge_word((polytile_edge)e)))
            *edge = (polytile_edge)e;
    if (*edge != POLYTILE_EDGE_CLIP && !pti_token_read(parser, parser->token.end, &behind))
        return false;
    if (behind.kind != PTI_TOKEN_OPEN_PAREN)
        *edge = POLYTILE_EDGE_CLIP;
    return true;
}

/** Read a range in parentheses behind its edge, with nothing else beside it. */
static bool parse_edge(pti_parser *parser, polytile_subscript *subscript) {
    if (!pti_parser_advance(parser) || !pti_parser_advance(parser) ||
        !parse_range(parser, subscript) ||
        !pti_parser_expect(parser, PTI_TOKEN_CLOSE_PAREN, "after the range"))
        return false;
    if (pti_parser_at(parser, PTI_TOKEN_COMMA) || pti_parser_at(parser, PTI_TOKEN_CLOSE_BRACKET))
        return true;
    return pti_parser_fail(parser, parser->token.begin,
                           "%s(...) stands around a whole subscript, with nothing beside it",
                           pti_edge_word(subscript->edge));
}

static bool parse_subscript(pti_parser *parser, polytile_subscript *subscript) {
    memset(subscript, 0, sizeof *subscript);
    subscript->step = 1;
    if (!find_edge(parser, &subscript->edge))
        return false;
    return subscript->edge == POLYTILE_EDGE_CLIP ? parse_range(parser, subscript)
                                                 : parse_edge(parser, subscript);
}

static bool parse_subscripts(pti_parser *parser, pti_access *access) {
    bool more = true;
    while (more) {
        if (access->n_dims == POLYTILE_MAX_DIMS)
            return pti_parser_fail(parser, parser->token.begin,
                                   "more than the %d subscripts there may be", POLYTILE_MAX_DIMS);
        if (!parse_subscript(parser, &access->subscript[access->n_dims++]) ||
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
    if (!pti_parser_expect(parser, PTI_TOKEN_OPEN_BRACKET, "after the array's name") ||
        !parse_subscripts(parser, &access))
        return false;
    polytile_status status =
        pti_declaration_add_access(parser->declaration, name.name, &access, &why);
    return pti_parser_check(parser, name.begin, status, &why);
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

static bool parse_group(pti_parser *parser) {
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
        if (!parse_group(parser) || !pti_parser_accept(parser, PTI_TOKEN_SEMICOLON, &more))
            return false;
    if (!pti_parser_at(parser, PTI_TOKEN_END))
        return pti_parser_fail(parser, parser->token.begin,
                               "expected ',', ';' or the end after a section, not %s",
                               pti_token_show(&parser->token, shown));
    return true;
}

polytile_status pti_declaration_parse(polytile_context *ctx, const char *text,
                                      polytile_declaration **declaration) {
    pti_parser parser = {.ctx = ctx, .text = text, .status = POLYTILE_OK};
    *declaration = NULL;
    if (parse_declaration(&parser))
        *declaration = parser.declaration;
    else
        pti_declaration_free(parser.declaration);
    return parser.status;
}
