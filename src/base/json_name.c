#include "base/json_text.h"

#include "base/text.h"

json_t *pti_json_name(const char *name) {
    json_t *value = json_string(name);
    if (value != NULL)
        return value;
    pti_text plain = {0};
    for (const char *c = name; *c != '\0'; c++)
        pti_text_add(&plain, "%c", (*c & 0x80) != 0 ? '?' : *c);
    value = plain.failed || plain.data == NULL ? NULL : json_string(plain.data);
    pti_text_free(&plain);
    return value;
}
