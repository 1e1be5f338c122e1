#include "access/declare/parse_parser.h"

#include <string.h>

bool pti_scope_bind(pti_parser *parser, const pti_token *name, pti_binding kind, int position) {
    pti_scope *scope = parser->scope;
    int capacity = (int)(sizeof scope->bound / sizeof *scope->bound);
    if (scope->n_names == capacity)
        return pti_parser_fail(parser, name->begin, "more than the %d names a relation may bind",
                               capacity);
    memcpy(scope->bound[scope->n_names].name, name->name, PTI_NAME_BYTES);
    scope->bound[scope->n_names].kind = kind;
    scope->bound[scope->n_names].position = position;
    scope->n_names++;
    return true;
}

int pti_scope_find(const pti_scope *scope, const char *name) {
    for (int k = scope->n_names - 1; k >= 0; k--)
        if (strcmp(scope->bound[k].name, name) == 0)
            return k;
    return -1;
}

bool pti_scope_new_exists(pti_parser *parser, size_t offset, int *position) {
    if (parser->scope->n_exists == POLYTILE_MAX_DIMS)
        return pti_parser_fail(
            parser, offset,
            "more than the %d quantified variables and remainders a relation may "
            "have; split it with ';'",
            POLYTILE_MAX_DIMS);
    *position = parser->scope->n_exists++;
    return true;
}
