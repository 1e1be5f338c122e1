#include "launch/tuning/json_line.h"

#include "base/text_cursor.h"

#include <string.h>

/** Take a separator with the space around it; false if it is not there. */
static bool accept_separator(pti_text_cursor *c, char separator) {
    const bool is_there = pti_text_cursor_accept(c, separator);
    pti_text_cursor_skip_space(c);
    return is_there;
}

static void skip_string(pti_text_cursor *c) {
    c->at++;
    while (c->at < c->end && *c->at != '"')
        c->at += *c->at == '\\' && c->at + 1 < c->end ? 2 : 1;
    c->at += c->at < c->end;
}

/** Skip a value with all that is in it. */
static void skip_value(pti_text_cursor *c) {
    size_t depth = 0;
    do {
        if (pti_text_cursor_is_at(c, '"')) {
            skip_string(c);
            continue;
        }
        depth += pti_text_cursor_is_at_any(c, "[{");
        depth -= depth > 0 && pti_text_cursor_is_at_any(c, "]}");
        c->at += c->at < c->end;
    } while (c->at < c->end && (depth > 0 || !pti_text_cursor_is_at_any(c, ",]} \t\r\n")));
}

/** Go from an object to the value of a member; *found is its key. */
static bool enter_member(pti_text_cursor *c, const char *key, const char **found) {
    bool has_more = accept_separator(c, '{');
    while (has_more && pti_text_cursor_is_at(c, '"')) {
        const char *begin = c->at;
        skip_string(c);
        size_t length = (size_t)(c->at - begin);
        bool is_key = length == strlen(key) + 2 && memcmp(begin + 1, key, length - 2) == 0;
        accept_separator(c, ':');
        if (is_key) {
            *found = begin;
            return true;
        }
        skip_value(c);
        has_more = accept_separator(c, ',');
    }
    return false;
}

static bool enter_element(pti_text_cursor *c, size_t element, const char **found) {
    bool has_more = accept_separator(c, '[');
    for (size_t k = 0; has_more && k < element; k++) {
        skip_value(c);
        has_more = accept_separator(c, ',');
    }
    if (has_more)
        *found = c->at;
    return has_more;
}

static bool enter_step(pti_text_cursor *c, const pti_json_step *step, const char **found) {
    return step->key != NULL ? enter_member(c, step->key, found)
                             : enter_element(c, step->element, found);
}

int pti_json_line(const char *text, size_t n_bytes, const pti_json_step *steps, int n_steps) {
    pti_text_cursor c = {text, text + n_bytes};
    const char *found = text;
    int line = 1;
    for (int s = 0; s < n_steps && enter_step(&c, &steps[s], &found); s++)
        continue;
    for (const char *at = text; at < found; at++)
        line += *at == '\n';
    return line;
}
