#include "base/text.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool reserve(pti_text *text, size_t more) {
    size_t need = text->length + more + 1;
    if (need <= text->capacity)
        return true;
    size_t capacity = need < 256 ? 256 : need + need / 2;
    char *data = realloc(text->data, capacity);
    if (data == NULL) {
        text->failed = true;
        return false;
    }
    text->data = data;
    text->capacity = capacity;
    return true;
}

void pti_text_add(pti_text *text, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (length < 0 || text->failed || !reserve(text, (size_t)length)) {
        text->failed = true;
        return;
    }
    va_start(arguments, format);
    vsnprintf(text->data + text->length, (size_t)length + 1, format, arguments);
    va_end(arguments);
    text->length += (size_t)length;
}

void pti_text_free(pti_text *text) {
    free(text->data);
    *text = (pti_text){0};
}

static const struct unit {
    const char *name;
    int64_t bytes;
} units[] = {
    {"TiB", (int64_t)1 << 40},
    {"GiB", (int64_t)1 << 30},
    {"MiB", (int64_t)1 << 20},
    {"KiB", (int64_t)1 << 10},
    {"B", 1},
};

enum { N_UNITS = sizeof units / sizeof *units };

char *pti_bytes_format(int64_t bytes, char *buffer) {
    for (size_t k = 0; k < N_UNITS; k++) {
        if (bytes < units[k].bytes && k + 1 < N_UNITS)
            continue;
        double value = (double)bytes / (double)units[k].bytes;
        const char *format = bytes % units[k].bytes == 0 ? "%.0f %s" : "%.2f %s";
        snprintf(buffer, 32, format, value, units[k].name);
        break;
    }
    return buffer;
}

static int64_t unit_bytes(const char *name) {
    if (*name == '\0')
        return 1;
    for (size_t k = 0; k < N_UNITS; k++) {
        if (strcmp(name, units[k].name) == 0)
            return units[k].bytes;
    }
    return 0;
}

bool pti_bytes_parse(const char *text, int64_t *bytes) {
    if (!isdigit((unsigned char)*text))
        return false;
    char *end;
    if (text[strspn(text, "0123456789")] != '.') {
        unsigned long long whole = strtoull(text, &end, 10);
        int64_t unit = unit_bytes(end);
        int64_t result;
        if (unit == 0 || strspn(text, "0") == (size_t)(end - text) || whole > INT64_MAX ||
            __builtin_mul_overflow((int64_t)whole, unit, &result))
            return false;
        *bytes = result;
        return true;
    }
    size_t n_digits = strspn(text, "0123456789.");
    double number = strtod(text, &end);
    if ((size_t)(end - text) != n_digits)
        return false;
    double value = number * (double)unit_bytes(end);
    if (!(value >= 1) || value > 9e18 || floor(value) != value)
        return false;
    *bytes = (int64_t)value;
    return true;
}
