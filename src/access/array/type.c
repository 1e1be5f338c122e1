#include "access/array/type.h"

#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct type_row {
    const char *text;
    int64_t bytes;
} type_row;

static const type_row types[] = {
#define TYPE_ROW(name, text, bytes) {text, bytes},
    POLYTILE_TYPES(TYPE_ROW)
#undef TYPE_ROW
};

enum { N_TYPES = sizeof types / sizeof *types };

int64_t polytile_type_get_bytes(polytile_type type) {
    if (type < 0)
        return -1 - (int64_t)type;
    return type < N_TYPES ? types[type].bytes : 0;
}

/* Parse a number of bytes: digits only, 1 .. INT_MAX. */
static polytile_status parse_bytes(const char *text, polytile_type *type) {
    char *end;
    if (*text < '0' || *text > '9')
        return POLYTILE_INVALID;
    long long bytes = strtoll(text, &end, 10);
    if (*end != '\0' || bytes < 1 || bytes > INT_MAX)
        return POLYTILE_INVALID;
    *type = POLYTILE_BYTES((int)bytes);
    return POLYTILE_OK;
}

polytile_status polytile_type_parse(const char *text, polytile_type *type) {
    if (text == NULL || type == NULL)
        return POLYTILE_INVALID;
    for (int t = 0; t < N_TYPES; t++)
        if (strcmp(text, types[t].text) == 0) {
            *type = t;
            return POLYTILE_OK;
        }
    return parse_bytes(text, type);
}

polytile_type pti_type_of(polytile_number number, int64_t element_bytes) {
    static const char letters[] = {[POLYTILE_SIGNED_NUMBER] = 'i',
                                   [POLYTILE_UNSIGNED_NUMBER] = 'u',
                                   [POLYTILE_FLOAT_NUMBER] = 'f'};
    const size_t k = (size_t)number;
    for (int t = 0; k < sizeof letters && t < N_TYPES; t++) {
        if (types[t].text[0] == letters[k] && types[t].bytes == element_bytes)
            return t;
    }
    return POLYTILE_BYTES(element_bytes);
}

char *pti_type_format(polytile_type type, char buffer[PTI_TYPE_TEXT_BYTES]) {
    if (type < 0)
        snprintf(buffer, PTI_TYPE_TEXT_BYTES, "%lld B", (long long)polytile_type_get_bytes(type));
    else
        snprintf(buffer, PTI_TYPE_TEXT_BYTES, "%s", type < N_TYPES ? types[type].text : "no type");
    return buffer;
}
