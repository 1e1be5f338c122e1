#include "access/array/type.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** A type as error texts and programs write it. */
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

int pti_type_part(polytile_type type) {
    return type == POLYTILE_C64 ? POLYTILE_F32 : type == POLYTILE_C128 ? POLYTILE_F64 : -1;
}

int pti_type_indexed(polytile_type type) {
    const int scalar = type < POLYTILE_INDEXED(0) ? N_TYPES : type - POLYTILE_INDEXED(0);
    return scalar < N_TYPES && pti_type_part(scalar) < 0 ? scalar : -1;
}

int64_t polytile_type_get_bytes(polytile_type type) {
    if (type < 0)
        return -1 - (int64_t)type;
    if (type < N_TYPES)
        return types[type].bytes;
    return pti_type_indexed(type) < 0 ? 0 : PTI_INDEXED_BYTES;
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

static const char index_suffix[] = "_i64";

/** Return whether a text is the name of a scalar, or of one with an index. */
static bool is_name(const char *text, polytile_scalar scalar, bool is_indexed) {
    const size_t length = strlen(types[scalar].text);
    return strncmp(text, types[scalar].text, length) == 0 &&
           strcmp(text + length, is_indexed ? index_suffix : "") == 0;
}

polytile_status polytile_type_parse(const char *text, polytile_type *type) {
    if (text == NULL || type == NULL)
        return POLYTILE_INVALID;
    for (int t = 0; t < N_TYPES; t++) {
        const bool is_indexed = is_name(text, (polytile_scalar)t, true);
        if (!is_indexed && !is_name(text, (polytile_scalar)t, false))
            continue;
        if (is_indexed && pti_type_part(t) >= 0)
            return POLYTILE_INVALID;
        *type = is_indexed ? POLYTILE_INDEXED(t) : t;
        return POLYTILE_OK;
    }
    return parse_bytes(text, type);
}

/** Return the type of a value with an index: 16 times its number plus its bytes. */
static polytile_type type_with_index(int value) {
    const polytile_type scalar = pti_type_of((polytile_number)(value / 16), value % 16);
    return scalar < 0 ? POLYTILE_BYTES(PTI_INDEXED_BYTES) : POLYTILE_INDEXED(scalar);
}

polytile_type pti_type_of(polytile_number number, int64_t element_bytes) {
    static const char letters[] = {[POLYTILE_SIGNED_NUMBER] = 'i',
                                   [POLYTILE_UNSIGNED_NUMBER] = 'u',
                                   [POLYTILE_FLOAT_NUMBER] = 'f',
                                   [POLYTILE_COMPLEX_NUMBER] = 'c'};
    const size_t k = (size_t)number;
    if (number >= POLYTILE_INDEXED_NUMBER && element_bytes == PTI_INDEXED_BYTES)
        return type_with_index((int)number - POLYTILE_INDEXED_NUMBER);
    for (int t = 0; k < sizeof letters && t < N_TYPES; t++) {
        if (types[t].text[0] == letters[k] && types[t].bytes == element_bytes)
            return t;
    }
    return POLYTILE_BYTES(element_bytes);
}

char *pti_type_format(polytile_type type, char buffer[PTI_TYPE_TEXT_BYTES]) {
    if (type < 0)
        snprintf(buffer, PTI_TYPE_TEXT_BYTES, "%lld B", (long long)polytile_type_get_bytes(type));
    else if (pti_type_indexed(type) >= 0)
        snprintf(buffer, PTI_TYPE_TEXT_BYTES, "%s%s", types[pti_type_indexed(type)].text,
                 index_suffix);
    else
        snprintf(buffer, PTI_TYPE_TEXT_BYTES, "%s", type < N_TYPES ? types[type].text : "no type");
    return buffer;
}
