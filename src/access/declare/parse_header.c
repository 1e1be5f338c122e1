#include "access/array/type.h"
#include "access/declare/parse_parser.h"

/* The part of a declaration in front of its sections: "name[i, j](f32 a, i64 n):". */

static bool parse_indices(pti_parser *parser) {
    bool more = true;
    while (more) {
        pti_text why = {0};
        pti_token name = parser->token;
        if (!pti_parser_expect(parser, PTI_TOKEN_NAME, "of an index"))
            return false;
        polytile_status status = pti_declaration_add_index(parser->declaration, name.name, &why);
        if (!pti_parser_check(parser, name.begin, status, &why) ||
            !pti_parser_accept(parser, PTI_TOKEN_COMMA, &more))
            return false;
    }
    return pti_parser_expect(parser, PTI_TOKEN_CLOSE_BRACKET, "after the indices");
}

bool pti_parse_type(pti_parser *parser, const char *what, polytile_type *type) {
    char shown[PTI_NAME_BYTES + 2];
    if (!pti_parser_at(parser, PTI_TOKEN_NAME) ||
        polytile_type_parse(parser->token.name, type) != POLYTILE_OK)
        return pti_parser_fail(parser, parser->token.begin,
                               "expected %s (" PTI_TYPE_NAMES "), not %s", what,
                               pti_token_show(&parser->token, shown));
    return pti_parser_advance(parser);
}

static bool parse_typed_parameter(pti_parser *parser) {
    polytile_type type;
    pti_text why = {0};
    if (!pti_parse_type(parser, "a parameter's type", &type))
        return false;
    pti_token name = parser->token;
    if (!pti_parser_expect(parser, PTI_TOKEN_NAME, "of a parameter"))
        return false;
    polytile_status status =
        pti_declaration_add_typed_parameter(parser->declaration, type, name.name, &why);
    return pti_parser_check(parser, name.begin, status, &why);
}

/** Read "(f32 a, i64 n)", which may be left out. */
static bool parse_typed_parameters(pti_parser *parser) {
    bool more;
    if (!pti_parser_accept(parser, PTI_TOKEN_OPEN_PAREN, &more) || !more)
        return parser->status == POLYTILE_OK;
    while (more)
        if (!parse_typed_parameter(parser) || !pti_parser_accept(parser, PTI_TOKEN_COMMA, &more))
            return false;
    return pti_parser_expect(parser, PTI_TOKEN_CLOSE_PAREN, "after the parameters");
}

bool pti_parse_header(pti_parser *parser) {
    pti_text why = {0};
    pti_token name = parser->token;
    if (!pti_parser_expect(parser, PTI_TOKEN_NAME, "of a kernel"))
        return false;
    polytile_status status =
        pti_declaration_new(parser->ctx, name.name, &parser->declaration, &why);
    return pti_parser_check(parser, name.begin, status, &why) &&
           pti_parser_expect(parser, PTI_TOKEN_OPEN_BRACKET, "after the kernel's name") &&
           parse_indices(parser) && parse_typed_parameters(parser) &&
           pti_parser_expect(parser, PTI_TOKEN_COLON, "between the indices and the first role");
}
