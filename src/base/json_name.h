#ifndef POLYTILE_BASE_JSON_NAME_H
#define POLYTILE_BASE_JSON_NAME_H

#include <jansson.h>

/** Return a name for JSON, with '?' for bytes that are no UTF-8; NULL when memory runs out. */
json_t *pti_json_name(const char *name);

#endif
