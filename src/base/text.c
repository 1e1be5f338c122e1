#include "base/text.h"

#include "base/list.h"

#include <polytile/text.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool grow_text(pti_text *text, size_t more) {
    size_t need = text->length + more + 1;
    if (need <= text->capacity)
        return true;
    size_t capacity = need < 256 ? 256 : need + need / 2;
    if (!PTI_RESIZE(text->data, (int64_t)capacity)) {
        text->failed = true;
        return false;
    }
    text->capacity = capacity;
    return true;
}

void pti_text_add(pti_text *text, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (length < 0 || text->failed || !grow_text(text, (size_t)length)) {
        text->failed = true;
        return;
    }
    va_start(arguments, format);
    vsnprintf(text->data + text->length, (size_t)length + 1, format, arguments);
    va_end(arguments);
    text->length += (size_t)length;
}

char *pti_text_extend(pti_text *text, size_t n_bytes) {
    if (text->failed || !grow_text(text, n_bytes))
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

/** First bytes of characters in UTF-8, with the length and the range of the second byte. Overlong
 * forms, surrogates and controls from U+0080 on are left out. */
static const struct {
    unsigned char first, last;
    unsigned char second_from, second_to;
    size_t n_bytes;
} characters[] = {
    {'\t', '\n', 0, 0, 1},       {' ', '~', 0, 0, 1},         {0xC2, 0xC2, 0xA0, 0xBF, 2},
    {0xC3, 0xDF, 0x80, 0xBF, 2}, {0xE0, 0xE0, 0xA0, 0xBF, 3}, {0xE1, 0xEC, 0x80, 0xBF, 3},
    {0xED, 0xED, 0x80, 0x9F, 3}, {0xEE, 0xEF, 0x80, 0xBF, 3}, {0xF0, 0xF0, 0x90, 0xBF, 4},
    {0xF1, 0xF3, 0x80, 0xBF, 4}, {0xF4, 0xF4, 0x80, 0x8F, 4},
};

/** Return the bytes of the character at the beginning of a text; 0: it is not printable. */
static size_t printable_bytes(const unsigned char *text) {
    for (size_t k = 0; k < sizeof characters / sizeof *characters; k++) {
        size_t n_bytes = characters[k].n_bytes;
        if (*text < characters[k].first || *text > characters[k].last)
            continue;
        if (n_bytes > 1 &&
            (text[1] < characters[k].second_from || text[1] > characters[k].second_to))
            return 0;
        for (size_t b = 2; b < n_bytes; b++)
            if ((text[b] & 0xC0) != 0x80)
                return 0;
        return n_bytes;
    }
    return 0;
}

pti_shown_character pti_text_show_next(const char *text) {
    pti_shown_character shown = {.n_bytes = printable_bytes((const unsigned char *)text),
                                 .n_columns = 1};
    if (shown.n_bytes > 0) {
        memcpy(shown.bytes, text, shown.n_bytes);
        return shown;
    }
    shown.n_bytes = 1;
    shown.n_columns = 4;
    snprintf(shown.bytes, sizeof shown.bytes, "\\x%02x", (unsigned)(unsigned char)*text);
    return shown;
}

size_t pti_text_add_shown(pti_text *text, const char *bytes, size_t n_bytes) {
    size_t n_columns = 0;
    for (size_t at = 0; at < n_bytes;) {
        pti_shown_character shown = pti_text_show_next(bytes + at);
        pti_text_add(text, "%s", shown.bytes);
        n_columns += shown.n_columns;
        at += shown.n_bytes;
    }
    return n_columns;
}

/** Copy characters as they are shown while they fit n_bytes, and advance the text. Returns the
 * bytes. */
static size_t copy_shown(const char **text, char *buffer, size_t n_bytes) {
    size_t n_written = 0;
    while (**text != '\0') {
        pti_shown_character shown = pti_text_show_next(*text);
        size_t length = strlen(shown.bytes);
        if (length > n_bytes - n_written)
            break;
        memcpy(buffer + n_written, shown.bytes, length);
        n_written += length;
        *text += shown.n_bytes;
    }
    return n_written;
}

static size_t count_shown(const char *text) {
    size_t n_bytes = 0;
    while (*text != '\0') {
        pti_shown_character shown = pti_text_show_next(text);
        n_bytes += strlen(shown.bytes);
        text += shown.n_bytes;
    }
    return n_bytes;
}

/** Return the longest end of a text that is shown in n_bytes. */
static const char *find_tail(const char *text, size_t n_bytes) {
    size_t n_left = count_shown(text);
    while (n_left > n_bytes) {
        pti_shown_character shown = pti_text_show_next(text);
        n_left -= strlen(shown.bytes);
        text += shown.n_bytes;
    }
    return text;
}

char *polytile_text_show(const char *text, char *buffer, size_t n_bytes) {
    static const char gap[] = " ... ";
    enum { GAP_BYTES = sizeof gap - 1, SHORT_BYTES = 64 };
    if (buffer == NULL || n_bytes == 0)
        return buffer;
    const char *rest = text == NULL ? "" : text;
    size_t room = n_bytes - 1, n_written;
    if (room < SHORT_BYTES || count_shown(rest) <= room) {
        n_written = copy_shown(&rest, buffer, room);
    } else {
        size_t half = (room - GAP_BYTES) / 2;
        n_written = copy_shown(&rest, buffer, half);
        memcpy(buffer + n_written, gap, GAP_BYTES);
        n_written += GAP_BYTES;
        rest = find_tail(rest, half);
        n_written += copy_shown(&rest, buffer + n_written, half);
    }
    buffer[n_written] = '\0';
    return buffer;
}

bool pti_is_name(const char *name, const char *text, size_t length) {
    return strlen(name) == length && strncmp(name, text, length) == 0;
}
