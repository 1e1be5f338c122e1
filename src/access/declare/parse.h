#ifndef POLYTILE_ACCESS_DECLARE_PARSE_H
#define POLYTILE_ACCESS_DECLARE_PARSE_H

#include "access/declare/declaration.h"

/**
 * Read a declaration; docs/declarations.md has the grammar.
 *
 * Accesses in braces get their relation, and whole dimensions as their section, which
 * pti_relations_find_sections() narrows.
 *
 * Errors  DECLARATION with the line and a caret under the column, NO_MEMORY. The caller frees
 *         *declaration with pti_declaration_free(); on error it is NULL.
 */
polytile_status pti_declaration_parse(polytile_context *ctx, const char *text,
                                      polytile_declaration **declaration);

#endif
