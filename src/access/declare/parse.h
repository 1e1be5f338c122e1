#ifndef POLYTILE_ACCESS_DECLARE_PARSE_H
#define POLYTILE_ACCESS_DECLARE_PARSE_H

#include "access/declare/declaration.h"

/**
 * Read a declaration; docs/declarations.md has the grammar.
 *
 * Accesses in braces come with their relation and whole dimensions as their section;
 * pti_relations_find_sections() narrows those.
 *
 * Errors  DECLARATION with the line and a caret under the column, NO_MEMORY. Owns    The caller
 * frees *declaration with pti_declaration_free(); on error it is NULL.
 */
polytile_status pti_declaration_parse(polytile_context *ctx, const char *text,
                                      polytile_declaration **declaration);

#endif
