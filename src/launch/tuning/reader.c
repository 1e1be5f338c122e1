#include "launch/tuning/reader.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void pti_reader_enter(pti_reader *r, const char *key, size_t element) {
    r->step[r->n_steps++] = (pti_json_step){key, element};
}

void pti_reader_pop(pti_reader *r) {
    r->n_steps--;
}

pti_shown pti_reader_show(const char *foreign) {
    pti_shown s;
    size_t length = strnlen(foreign, PTI_READER_SHOWN_BYTES);
    for (size_t k = 0; k < length; k++)
        s.text[k] = foreign[k];
    for (size_t k = 0; k < length; k++) {
        if (s.text[k] < ' ' || s.text[k] > '~')
            s.text[k] = '?';
    }
    strcpy(s.text + length, foreign[length] == '\0' ? "" : "...");
    return s;
}

bool pti_reader_refuse(pti_reader *r, const char *format, ...) {
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    *r->line = pti_json_line(r->text, r->n_bytes, r->step, r->n_steps);
    pti_text_add(r->why, "%s", text);
    return false;
}

bool pti_reader_no_memory(pti_reader *r, const char *what) {
    r->status = POLYTILE_NO_MEMORY;
    return pti_reader_refuse(r, "there is no memory for its %s", what);
}

static const pti_member *find_member(const pti_member *members, size_t n_members,
                                     const char *name) {
    for (size_t k = 0; k < n_members; k++) {
        if (strcmp(members[k].name, name) == 0)
            return &members[k];
    }
    return NULL;
}

bool pti_reader_object(pti_reader *r, const char *what, const pti_member *members, size_t n_members,
                       json_t *object, pti_tuning_row *row) {
    const char *key;
    json_t *value;
    if (!json_is_object(object))
        return pti_reader_refuse(r, "%s is not an object", what);
    for (size_t k = 0; k < n_members; k++) {
        if (members[k].is_needed && json_object_get(object, members[k].name) == NULL)
            return pti_reader_refuse(r, "%s has no \"%s\"", what, members[k].name);
    }
    json_object_foreach(object, key, value) {
        pti_reader_enter(r, key, 0);
        const pti_member *found = find_member(members, n_members, key);
        if (found == NULL)
            return pti_reader_refuse(r, "%s cannot have a \"%s\"", what, pti_reader_show(key).text);
        if (!found->read(r, found, value, row))
            return false;
        pti_reader_pop(r);
    }
    return true;
}

bool pti_reader_string(pti_reader *r, const char *name, const json_t *value, size_t max_bytes) {
    if (!json_is_string(value))
        return pti_reader_refuse(r, "\"%s\" is not a string", name);
    if (json_string_length(value) < 1 || json_string_length(value) > max_bytes)
        return pti_reader_refuse(r, "\"%s\" has %zu bytes; it may have 1 to %zu", name,
                                 json_string_length(value), max_bytes);
    return true;
}

static void add_words(pti_text *text, const char *const *words) {
    for (int k = 0; words[k] != NULL; k++)
        pti_text_add(text, "%s%s", k == 0 ? "" : words[k + 1] != NULL ? ", " : " or ", words[k]);
}

bool pti_reader_word(pti_reader *r, const char *name, const json_t *value, const char *const *words,
                     int *number) {
    pti_text list = {0};
    const char *word = json_string_value(value);
    for (*number = 0; word != NULL && words[*number] != NULL; ++*number) {
        if (strcmp(words[*number], word) == 0)
            return true;
    }
    add_words(&list, words);
    pti_reader_refuse(r, "\"%s\" is %s%s%s; it may be %s", name, word == NULL ? "no string" : "\"",
                      word == NULL ? "" : pti_reader_show(word).text, word == NULL ? "" : "\"",
                      list.failed ? "another word" : list.data);
    pti_text_free(&list);
    return false;
}

bool pti_reader_array(pti_reader *r, const char *name, const json_t *value, size_t least,
                      size_t most) {
    if (!json_is_array(value))
        return pti_reader_refuse(r, "\"%s\" is not an array", pti_reader_show(name).text);
    if (json_array_size(value) < least || json_array_size(value) > most)
        return pti_reader_refuse(r, "\"%s\" has %zu elements; it may have %zu to %zu",
                                 pti_reader_show(name).text, json_array_size(value), least, most);
    return true;
}
