#include "launch/tuning/json_line.h"

#include <stdbool.h>
#include <string.h>

/** A place in a text. */
typedef struct cursor {
    const char *at;
    const char *end;
} cursor;

static bool is_at(const cursor *c, char character) {
    return c->at < c->end && *c->at == character;
}

static bool is_at_one_of(const cursor *c, const char *characters) {
    return c->at < c->end && *c->at != '\0' && strchr(characters, *c->at) != NULL;
}

static void skip_space(cursor *c) {
    while (is_at_one_of(c, " \t\r\n"))
        c->at++;
}

/** Take a separator with the space around it; false if it is not there. */
static bool accept_separator(cursor *c, char separator) {
    skip_space(c);
    bool is_there = is_at(c, separator);
    c->at += is_there;
    skip_space(c);
    return is_there;
}

static void skip_string(cursor *c) {
    c->at++;
    while (c->at < c->end && *c->at != '"')
        c->at += *c->at == '\\' && c->at + 1 < c->end ? 2 : 1;
    c->at += c->at < c->end;
}

/** Skip a value with all that is in it. */
static void skip_value(cursor *c) {
    size_t depth = 0;
    do {
        if (is_at(c, '"')) {
            skip_string(c);
            continue;
        }
        depth += is_at_one_of(c, "[{");
        depth -= depth > 0 && is_at_one_of(c, "]}");
        c->at += c->at < c->end;
    } while (c->at < c->end && (depth > 0 || !is_at_one_of(c, ",]} \t\r\n")));
}

/** Go from an object to the value of a member; *found is its key. */
static bool enter_member(cursor *c, const char *key, const char **found) {
    bool has_more = accept_separator(c, '{');
    while (has_more && is_at(c, '"')) {
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

static bool enter_element(cursor *c, size_t element, const char **found) {
    bool has_more = accept_separator(c, '[');
    for (size_t k = 0; has_more && k < element; k++) {
        skip_value(c);
        has_more = accept_separator(c, ',');
    }
    if (has_more)
        *found = c->at;
    return has_more;
}

static bool enter_step(cursor *c, const pti_json_step *step, const char **found) {
    return step->key != NULL ? enter_member(c, step->key, found)
                             : enter_element(c, step->element, found);
}

int pti_json_line(const char *text, size_t n_bytes, const pti_json_step *steps, int n_steps) {
    cursor c = {text, text + n_bytes};
    const char *found = text;
    int line = 1;
    for (int s = 0; s < n_steps && enter_step(&c, &steps[s], &found); s++)
        continue;
    for (const char *at = text; at < found; at++)
        line += *at == '\n';
    return line;
}
