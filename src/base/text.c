#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

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

char *pti_text_extend(pti_text *text, size_t n_bytes) {
    if (text->failed || !reserve(text, n_bytes))
        return NULL;
    char *end = text->data + text->length;
    text->length += n_bytes;
    end[n_bytes] = '\0';
    return end;
}

void pti_text_free(pti_text *text) {
    free(text->data);
    *text = (pti_text){0};
}
