#ifndef POLYTILE_BASE_JSON_TEXT_H
#define POLYTILE_BASE_JSON_TEXT_H

#include "base/text.h"

#include <jansson.h>

/** A value as jansson writes it with its flags, behind what is there; of NULL the text has failed. Not
 * by json_dumps(), which leaves out keys that it finds no memory for, and says nothing. */
void pti_text_add_json(pti_text *text, const json_t *value, size_t flags);

#endif
