#include "launch/tuning/json_line.h"
#include "launch/tuning/table.h"

#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FORMAT_VERSION = 1, MAX_STEPS = 4, SHOWN_BYTES = 100 };

/** A table being read, and the place in the text that is looked at. */
typedef struct reader {
    const char *text;
    size_t n_bytes;
    pti_tuning_table *table;
    pti_json_step step[MAX_STEPS];
    int n_steps;
    int *line;
    pti_text *why;
} reader;

static void enter(reader *r, const char *key, size_t element) {
    r->step[r->n_steps++] = (pti_json_step){key, element};
}

static void leave(reader *r) {
    r->n_steps--;
}

/** Foreign text for a message: printable, and not too long. */
typedef struct shown {
    char text[SHOWN_BYTES + sizeof "..."];
} shown;

static shown show(const char *foreign) {
    shown s;
    size_t length = strnlen(foreign, SHOWN_BYTES);
    for (size_t k = 0; k < length; k++)
        s.text[k] = foreign[k];
    for (size_t k = 0; k < length; k++) {
        if (s.text[k] < ' ' || s.text[k] > '~')
            s.text[k] = '?';
    }
    strcpy(s.text + length, foreign[length] == '\0' ? "" : "...");
    return s;
}

/** Say what is wrong at the place that is looked at; false. */
__attribute__((format(printf, 2, 3))) static bool refuse(reader *r, const char *format, ...) {
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    *r->line = pti_json_line(r->text, r->n_bytes, r->step, r->n_steps);
    pti_text_add(r->why, "%s", text);
    return false;
}

/** A member of an object: what its value is stored by, and whether it may be left out. */
typedef struct member {
    const char *name;
    bool (*read)(reader *r, const struct member *member, const json_t *value, pti_tuning_row *row);
    bool is_needed;
    int trait;
} member;

static const member *find_member(const member *members, size_t n_members, const char *name) {
    for (size_t k = 0; k < n_members; k++) {
        if (strcmp(members[k].name, name) == 0)
            return &members[k];
    }
    return NULL;
}

/** Read an object that may have these members and no others. */
static bool read_object(reader *r, const char *what, const member *members, size_t n_members,
                        json_t *object, pti_tuning_row *row) {
    const char *key;
    json_t *value;
    if (!json_is_object(object))
        return refuse(r, "%s is not an object", what);
    for (size_t k = 0; k < n_members; k++) {
        if (members[k].is_needed && json_object_get(object, members[k].name) == NULL)
            return refuse(r, "%s has no \"%s\"", what, members[k].name);
    }
    json_object_foreach(object, key, value) {
        enter(r, key, 0);
        const member *found = find_member(members, n_members, key);
        if (found == NULL)
            return refuse(r, "%s cannot have a \"%s\"", what, show(key).text);
        if (!found->read(r, found, value, row))
            return false;
        leave(r);
    }
    return true;
}

/** A string of 1 to max_bytes bytes. */
static bool check_string(reader *r, const char *name, const json_t *value, size_t max_bytes) {
    if (!json_is_string(value))
        return refuse(r, "\"%s\" is not a string", name);
    if (json_string_length(value) < 1 || json_string_length(value) > max_bytes)
        return refuse(r, "\"%s\" has %zu bytes; it may have 1 to %zu", name,
                      json_string_length(value), max_bytes);
    return true;
}

static void add_words(pti_text *text, const char *const *words) {
    for (int k = 0; words[k] != NULL; k++)
        pti_text_add(text, "%s%s", k == 0 ? "" : words[k + 1] != NULL ? ", " : " or ", words[k]);
}

/** The number of the word that a string is. */
static bool read_word(reader *r, const char *name, const json_t *value, const char *const *words,
                      int *number) {
    pti_text list = {0};
    const char *word = json_string_value(value);
    for (*number = 0; word != NULL && words[*number] != NULL; ++*number) {
        if (strcmp(words[*number], word) == 0)
            return true;
    }
    add_words(&list, words);
    refuse(r, "\"%s\" is %s%s%s; it may be %s", name, word == NULL ? "no string" : "\"",
           word == NULL ? "" : show(word).text, word == NULL ? "" : "\"",
           list.failed ? "another word" : list.data);
    pti_text_free(&list);
    return false;
}

static bool read_kernel(reader *r, const member *m, const json_t *value, pti_tuning_row *row) {
    if (!check_string(r, m->name, value, PTI_TUNING_NAME_BYTES - 1))
        return false;
    strcpy(row->kernel, json_string_value(value));
    return true;
}

static bool read_architecture(reader *r, const member *m, const json_t *value,
                              pti_tuning_row *row) {
    if (!check_string(r, m->name, value, PTI_TUNING_NAME_BYTES - 1))
        return false;
    for (int k = 0; k < r->table->n_architectures; k++) {
        row->architecture = k;
        if (strcmp(r->table->architecture[k].name, json_string_value(value)) == 0)
            return true;
    }
    return refuse(r, "\"%s\" is none of the table's \"architectures\"",
                  show(json_string_value(value)).text);
}

static bool read_trait(reader *r, const member *m, const json_t *value, pti_tuning_row *row) {
    return read_word(r, m->name, value, pti_trait_texts[m->trait].words,
                     &row->traits.level[m->trait]);
}

static bool read_cache(reader *r, const member *m, const json_t *value, pti_tuning_row *row) {
    int number;
    if (!read_word(r, m->name, value, pti_cache_words, &number))
        return false;
    row->cache = (pti_cache_preference)number;
    return true;
}

static bool read_source(reader *r, const member *m, const json_t *value, pti_tuning_row *row) {
    (void)row;
    return check_string(r, m->name, value, PTI_TUNING_MAX_SOURCE_BYTES);
}

static bool check_block(reader *r, const pti_tuning_row *row) {
    int64_t n_threads = 1;
    for (int d = 0; d < row->n_dims; d++)
        n_threads *= row->block[d];
    if (n_threads > PTI_TUNING_MAX_BLOCK_THREADS)
        return refuse(r, "the block has %lld threads; it may have %d", (long long)n_threads,
                      PTI_TUNING_MAX_BLOCK_THREADS);
    if (row->n_dims == PTI_TUNING_MAX_BLOCK_DIMS && row->block[0] > PTI_TUNING_MAX_BLOCK_PLANES)
        return refuse(r,
                      "the block has %lld threads along the first of its three dimensions; it "
                      "may have %d",
                      (long long)row->block[0], PTI_TUNING_MAX_BLOCK_PLANES);
    return true;
}

static bool read_block(reader *r, const member *m, const json_t *value, pti_tuning_row *row) {
    size_t n_dims = json_array_size(value);
    if (!json_is_array(value) || n_dims < 1 || n_dims > PTI_TUNING_MAX_BLOCK_DIMS)
        return refuse(r, "\"%s\" is not an array of 1 to %d numbers", m->name,
                      PTI_TUNING_MAX_BLOCK_DIMS);
    row->n_dims = (int)n_dims;
    for (size_t d = 0; d < n_dims; d++) {
        const json_t *number = json_array_get(value, d);
        row->block[d] = json_integer_value(number);
        enter(r, NULL, d);
        if (!json_is_integer(number))
            return refuse(r, "a number of \"%s\" is not a whole number", m->name);
        if (row->block[d] < 1 || row->block[d] > PTI_TUNING_MAX_BLOCK_THREADS)
            return refuse(r, "a number of \"%s\" is %lld; it may be 1 to %d", m->name,
                          (long long)row->block[d], PTI_TUNING_MAX_BLOCK_THREADS);
        leave(r);
    }
    return check_block(r, row);
}

static const member row_members[] = {
    {"kernel", read_kernel, false, 0},
    {"architecture", read_architecture, true, 0},
    {"coalescing", read_trait, false, PTI_COALESCING},
    {"arithmetic", read_trait, false, PTI_ARITHMETIC},
    {"evictions", read_trait, false, PTI_EVICTIONS},
    {"reuse", read_trait, false, PTI_REUSE},
    {"block", read_block, true, 0},
    {"cache", read_cache, false, 0},
    {"source", read_source, false, 0},
};

static bool are_same(const pti_tuning_row *one, const pti_tuning_row *other) {
    return one->architecture == other->architecture && one->n_dims == other->n_dims &&
           strcmp(one->kernel, other->kernel) == 0 &&
           memcmp(&one->traits, &other->traits, sizeof one->traits) == 0;
}

static bool read_row(reader *r, json_t *value) {
    pti_tuning_table *table = r->table;
    pti_tuning_row *row = &table->row[table->n_rows];
    if (!read_object(r, "a row", row_members, sizeof row_members / sizeof *row_members, value, row))
        return false;
    for (int k = 0; k < table->n_rows; k++) {
        if (are_same(&table->row[k], row))
            return refuse(r,
                          "the row is for the same kernels, architecture and number of "
                          "dimensions as row %d",
                          k + 1);
    }
    table->n_rows++;
    return true;
}

/** An array of 1 to most elements. */
static bool check_array(reader *r, const char *name, const json_t *value, size_t least,
                        size_t most) {
    if (!json_is_array(value))
        return refuse(r, "\"%s\" is not an array", show(name).text);
    if (json_array_size(value) < least || json_array_size(value) > most)
        return refuse(r, "\"%s\" has %zu elements; it may have %zu to %zu", show(name).text,
                      json_array_size(value), least, most);
    return true;
}

static bool read_rows(reader *r, const member *m, const json_t *value, pti_tuning_row *row) {
    (void)row;
    if (!check_array(r, m->name, value, 0, PTI_TUNING_MAX_ROWS))
        return false;
    r->table->row = calloc(json_array_size(value) + 1, sizeof *r->table->row);
    if (r->table->row == NULL)
        return refuse(r, "there is no memory for its rows");
    for (size_t k = 0; k < json_array_size(value); k++) {
        enter(r, NULL, k);
        if (!read_row(r, json_array_get(value, k)))
            return false;
        leave(r);
    }
    return true;
}

/** "9.0" as 90; -1: it is none. */
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

static bool read_capability(reader *r, const json_t *value, pti_tuning_architecture *into) {
    int capability = capability_of(json_string_value(value));
    if (capability < 0)
        return refuse(r, "a compute capability is not a string such as \"9.0\"");
    const char *owner = owner_of(r->table, capability);
    if (owner != NULL)
        return refuse(r, "the compute capability %d.%d is one of \"%s\" already", capability / 10,
                      capability % 10, show(owner).text);
    into->capability[into->n_capabilities++] = capability;
    return true;
}

static bool read_capabilities(reader *r, const char *name, const json_t *value) {
    if (strlen(name) < 1 || strlen(name) >= PTI_TUNING_NAME_BYTES)
        return refuse(r, "the name of an architecture has %zu bytes; it may have 1 to %d",
                      strlen(name), PTI_TUNING_NAME_BYTES - 1);
    if (!check_array(r, name, value, 1, PTI_TUNING_MAX_CAPABILITIES))
        return false;
    pti_tuning_architecture *into = &r->table->architecture[r->table->n_architectures++];
    strcpy(into->name, name);
    for (size_t k = 0; k < json_array_size(value); k++) {
        enter(r, NULL, k);
        if (!read_capability(r, json_array_get(value, k), into))
            return false;
        leave(r);
    }
    return true;
}

static bool read_architectures(reader *r, json_t *object) {
    const char *name;
    json_t *value;
    if (!json_is_object(object))
        return refuse(r, "\"architectures\" is not an object");
    if (json_object_size(object) > PTI_TUNING_MAX_ARCHITECTURES)
        return refuse(r, "there are %zu architectures; there may be %d", json_object_size(object),
                      PTI_TUNING_MAX_ARCHITECTURES);
    r->table->architecture = calloc(json_object_size(object) + 1, sizeof *r->table->architecture);
    if (r->table->architecture == NULL)
        return refuse(r, "there is no memory for its architectures");
    json_object_foreach(object, name, value) {
        enter(r, name, 0);
        if (!read_capabilities(r, name, value))
            return false;
        leave(r);
    }
    return true;
}

static bool read_version(reader *r, const member *m, const json_t *value, pti_tuning_row *row) {
    (void)row;
    if (json_is_integer(value) && json_integer_value(value) == FORMAT_VERSION)
        return true;
    return refuse(r, "\"%s\" is not %d, the only one there is", m->name, FORMAT_VERSION);
}

/** Read before everything else, since rows name them. */
static bool is_read(reader *r, const member *m, const json_t *value, pti_tuning_row *row) {
    (void)m;
    (void)value;
    (void)row;
    return r->table->architecture != NULL;
}

static const member root_members[] = {
    {"version", read_version, true, 0},
    {"source", read_source, false, 0},
    {"architectures", is_read, true, 0},
    {"rows", read_rows, true, 0},
};

static bool read_root(reader *r, json_t *root) {
    json_t *architectures = json_object_get(root, "architectures");
    enter(r, "architectures", 0);
    if (architectures != NULL && !read_architectures(r, architectures))
        return false;
    leave(r);
    return read_object(r, "the table", root_members, sizeof root_members / sizeof *root_members,
                       root, NULL);
}

static int line_at(const reader *r, const char *place) {
    int line = 1;
    for (const char *at = r->text; at < place; at++)
        line += *at == '\n';
    return line;
}

/** Parse the text; jansson refuses keys that come twice, and more than 2048 brackets in brackets, but
 * takes some NUL bytes for nothing. */
static bool read_text(reader *r) {
    const char *nul = memchr(r->text, '\0', r->n_bytes);
    json_error_t error;
    if (nul != NULL) {
        *r->line = line_at(r, nul);
        pti_text_add(r->why, "there is a NUL byte");
        return false;
    }
    json_t *root = json_loadb(r->text, r->n_bytes, JSON_REJECT_DUPLICATES, &error);
    if (root == NULL) {
        *r->line = error.line > 0 ? error.line : 1;
        pti_text_add(r->why, "%s", show(error.text).text);
        return false;
    }
    bool is_good = read_root(r, root);
    json_decref(root);
    return is_good;
}

polytile_status pti_tuning_table_read(const char *text, size_t n_bytes, pti_tuning_table **table,
                                      int *line, pti_text *why) {
    reader r = {.text = text, .n_bytes = n_bytes, .line = line, .why = why};
    r.table = calloc(1, sizeof *r.table);
    *table = r.table;
    *line = 1;
    if (r.table == NULL) {
        pti_text_add(why, "there is no memory for it");
        return POLYTILE_NO_MEMORY;
    }
    if (read_text(&r))
        return POLYTILE_OK;
    pti_tuning_table_free(r.table);
    *table = NULL;
    return POLYTILE_INVALID;
}
