#ifndef POLYTILE_BASE_JSON_TEXT_H
#define POLYTILE_BASE_JSON_TEXT_H

#include "base/text.h"

#include <jansson.h>

/** Append a value as jansson writes it with its flags; NULL fails the text. json_dumps() would
 * silently leave out keys when memory runs out. */
void pti_text_add_json(pti_text *text, const json_t *value, size_t flags);

/** Return a name for JSON, with '?' for bytes that are no UTF-8; NULL when memory runs out. */
json_t *pti_json_name(const char *name);

#endif
