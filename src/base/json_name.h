#ifndef POLYTILE_BASE_JSON_NAME_H
#define POLYTILE_BASE_JSON_NAME_H

#include <jansson.h>

/** A name that may hold bytes that are no UTF-8, which JSON must not have: they become '?'. NULL
 * when memory runs out. */
json_t *pti_json_name(const char *name);

#endif
