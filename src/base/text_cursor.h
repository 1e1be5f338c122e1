#ifndef POLYTILE_BASE_TEXT_CURSOR_H
#define POLYTILE_BASE_TEXT_CURSOR_H

#include <stdbool.h>
#include <string.h>

/** A place in a text that is read, and the text's end. */
typedef struct pti_text_cursor {
    const char *at;
    const char *end;
} pti_text_cursor;

/** Return whether a character comes next. */
static inline bool pti_text_cursor_is_at(const pti_text_cursor *cursor, char character) {
    return cursor->at < cursor->end && *cursor->at == character;
}

/** Return whether one of some characters comes next; the end of a string is none of them. */
static inline bool pti_text_cursor_is_at_any(const pti_text_cursor *cursor,
                                             const char *characters) {
    return cursor->at < cursor->end && *cursor->at != '\0' &&
           strchr(characters, *cursor->at) != NULL;
}

static inline void pti_text_cursor_skip_space(pti_text_cursor *cursor) {
    while (pti_text_cursor_is_at_any(cursor, " \t\r\n"))
        cursor->at++;
}

/** Take a character, after the space before it; false if it does not come next. */
static inline bool pti_text_cursor_accept(pti_text_cursor *cursor, char character) {
    pti_text_cursor_skip_space(cursor);
    const bool is_there = pti_text_cursor_is_at(cursor, character);
    cursor->at += is_there;
    return is_there;
}

#endif
