#include "launch/tuning/reader.h"

#include <stdlib.h>
#include <string.h>

enum { FORMAT_VERSION = 1 };

/** Parse a capability, "9.0" as 90; -1: invalid. */
static int capability_of(const char *text) {
    int major = 0;
    size_t n_digits = text == NULL ? 0 : strspn(text, "0123456789");
    if (n_digits < 1 || n_digits > 2 || text[n_digits] != '.' || (n_digits > 1 && text[0] == '0'))
        return -1;
    if (strspn(text + n_digits + 1, "0123456789") != 1 || text[n_digits + 2] != '\0')
        return -1;
    for (size_t k = 0; k < n_digits; k++)
        major = 10 * major + (text[k] - '0');
    return 10 * major + (text[n_digits + 1] - '0');
}

static const char *owner_of(const pti_tuning_table *table, int capability) {
    for (int a = 0; a < table->n_architectures; a++) {
        for (int k = 0; k < table->architecture[a].n_capabilities; k++) {
            if (table->architecture[a].capability[k] == capability)
                return table->architecture[a].name;
        }
    }
    return NULL;
}

static bool read_capability(pti_reader *r, const json_t *value, pti_tuning_architecture *into) {
    int capability = capability_of(json_string_value(value));
    if (capability < 0)
        return pti_reader_refuse(r, "a compute capability is not a string such as \"9.0\"");
    const char *owner = owner_of(r->table, capability);
    if (owner != NULL)
        return pti_reader_refuse(r, "the compute capability %d.%d is one of \"%s\" already",
                                 capability / 10, capability % 10, pti_reader_show(owner).text);
    into->capability[into->n_capabilities++] = capability;
    return true;
}

static bool read_capabilities(pti_reader *r, const char *name, const json_t *value) {
    if (strlen(name) < 1 || strlen(name) >= PTI_TUNING_NAME_BYTES)
        return pti_reader_refuse(r,
                                 "the name of an architecture has %zu bytes; it may have 1 to %d",
                                 strlen(name), PTI_TUNING_NAME_BYTES - 1);
    if (!pti_reader_array(r, name, value, 1, PTI_TUNING_MAX_CAPABILITIES))
        return false;
    pti_tuning_architecture *into = &r->table->architecture[r->table->n_architectures++];
    strcpy(into->name, name);
    for (size_t k = 0; k < json_array_size(value); k++) {
        pti_reader_enter(r, NULL, k);
        if (!read_capability(r, json_array_get(value, k), into))
            return false;
        pti_reader_pop(r);
    }
    return true;
}

static bool read_architectures(pti_reader *r, json_t *object) {
    const char *name;
    json_t *value;
    if (!json_is_object(object))
        return pti_reader_refuse(r, "\"architectures\" is not an object");
    if (json_object_size(object) > PTI_TUNING_MAX_ARCHITECTURES)
        return pti_reader_refuse(r, "there are %zu architectures; there may be %d",
                                 json_object_size(object), PTI_TUNING_MAX_ARCHITECTURES);
    r->table->architecture = calloc(json_object_size(object) + 1, sizeof *r->table->architecture);
    if (r->table->architecture == NULL)
        return pti_reader_no_memory(r, "architectures");
    json_object_foreach(object, name, value) {
        pti_reader_enter(r, name, 0);
        if (!read_capabilities(r, name, value))
            return false;
        pti_reader_pop(r);
    }
    return true;
}

static bool read_version(pti_reader *r, const pti_member *m, const json_t *value,
                         pti_tuning_row *row) {
    (void)row;
    if (json_is_integer(value) && json_integer_value(value) == FORMAT_VERSION)
        return true;
    return pti_reader_refuse(r, "\"%s\" is not %d, the only one there is", m->name, FORMAT_VERSION);
}

/** Skip the architectures, which are read first, since rows name them. */
static bool skip_architectures(pti_reader *r, const pti_member *m, const json_t *value,
                               pti_tuning_row *row) {
    (void)m;
    (void)value;
    (void)row;
    return r->table->architecture != NULL;
}

static const pti_member root_members[] = {
    {"version", read_version, true, 0},
    {"source", pti_read_source, false, 0},
    {"architectures", skip_architectures, true, 0},
    {"rows", pti_read_rows, true, 0},
};

static bool read_root(pti_reader *r, json_t *root) {
    json_t *architectures = json_object_get(root, "architectures");
    pti_reader_enter(r, "architectures", 0);
    if (architectures != NULL && !read_architectures(r, architectures))
        return false;
    pti_reader_pop(r);
    return pti_reader_object(r, "the table", root_members,
                             sizeof root_members / sizeof *root_members, root, NULL);
}

static int line_at(const pti_reader *r, const char *place) {
    int line = 1;
    for (const char *at = r->text; at < place; at++)
        line += *at == '\n';
    return line;
}

/** Parse a text. jansson may report lack of memory as a wrong text, so this tries twice. */
static json_t *parse_json(pti_reader *r, json_error_t *error) {
    json_t *root = json_loadb(r->text, r->n_bytes, JSON_REJECT_DUPLICATES, error);
    if (root == NULL)
        root = json_loadb(r->text, r->n_bytes, JSON_REJECT_DUPLICATES, error);
    if (root == NULL && !pti_memory_is_there())
        pti_reader_no_memory(r, "text");
    return root;
}

/** Parse the text. jansson refuses repeated keys and more than 2048 nested brackets, but ignores
 * some NUL bytes. */
static bool parse_text(pti_reader *r) {
    const char *nul = memchr(r->text, '\0', r->n_bytes);
    json_error_t error;
    if (nul != NULL) {
        *r->line = line_at(r, nul);
        pti_text_add(r->why, "there is a NUL byte");
        return false;
    }
    json_t *root = parse_json(r, &error);
    if (root == NULL && r->status == POLYTILE_NO_MEMORY)
        return false;
    if (root == NULL) {
        *r->line = error.line > 0 ? error.line : 1;
        pti_text_add(r->why, "%s", pti_reader_show(error.text).text);
        return false;
    }
    bool is_good = read_root(r, root);
    json_decref(root);
    return is_good;
}

polytile_status pti_tuning_table_read(const char *text, size_t n_bytes, pti_tuning_table **table,
                                      int *line, pti_text *why) {
    pti_reader r = {
        .text = text, .n_bytes = n_bytes, .status = POLYTILE_INVALID, .line = line, .why = why};
    r.table = calloc(1, sizeof *r.table);
    *table = r.table;
    *line = 1;
    if (r.table == NULL) {
        pti_text_add(why, "there is no memory for it");
        return POLYTILE_NO_MEMORY;
    }
    if (parse_text(&r))
        return POLYTILE_OK;
    pti_tuning_table_free(r.table);
    *table = NULL;
    return r.status;
}
