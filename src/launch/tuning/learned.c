#include "launch/tuning/learned.h"

#include "base/cache_file.h"
#include "base/json_text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** Find the file's path; false if nothing is to be kept. */
static bool locate_table(const polytile_context *ctx, pti_text *path) {
    bool is_kept = pti_cache_locate(ctx, path);
    pti_text_add(path, "/tuning.json");
    return is_kept && !path->failed;
}

/** Read a file's table; false if there is no valid one. */
static bool read_learned_file(polytile_context *ctx, const char *path, pti_learned *found) {
    pti_text why = {0};
    int line = 1;
    char *text = malloc(PTI_TUNING_MAX_BYTES + 1);
    ssize_t n_bytes = text == NULL ? -1 : pti_file_read(path, text, PTI_TUNING_MAX_BYTES, &why);
    *found = (pti_learned){0};
    if (n_bytes >= 0 &&
        pti_tuning_table_read(text, (size_t)n_bytes, &found->table, &line, &why) == POLYTILE_OK)
        found->root = json_loadb(text, (size_t)n_bytes, JSON_REJECT_DUPLICATES, NULL);
    if (why.length > 0)
        pti_log(ctx, PTI_LOG_WARN, "%s:%d: the tuning table is ignored, since %s", path, line,
                why.data);
    pti_text_free(&why);
    free(text);
    if (found->root == NULL)
        pti_learned_free(found);
    return found->root != NULL;
}

void pti_learned_read(polytile_context *ctx, pti_learned *learned) {
    pti_text path = {0};
    *learned = (pti_learned){0};
    if (locate_table(ctx, &path))
        read_learned_file(ctx, path.data, learned);
    pti_text_free(&path);
}

void pti_learned_free(pti_learned *learned) {
    json_decref(learned->root);
    pti_tuning_table_free(learned->table);
    *learned = (pti_learned){0};
}

static json_t *describe_block(const pti_tuning_row *row) {
    json_t *block = json_array();
    for (int d = 0; d < row->n_dims; d++)
        json_array_append_new(block, json_integer(row->block[d]));
    return block;
}

static json_t *describe_row(const pti_tuning_row *row, const char *architecture) {
    json_t *object = json_pack("{s:s, s:s}", "kernel", row->kernel, "architecture", architecture);
    for (int t = 0; t < PTI_N_TRAITS; t++) {
        const struct pti_trait_text *text = &pti_trait_texts[t];
        if (row->traits.level[t] != 0)
            json_object_set_new(object, text->name, json_string(text->words[row->traits.level[t]]));
    }
    json_object_set_new(object, "block", describe_block(row));
    json_object_set_new(object, "cache", json_string(pti_cache_words[row->cache]));
    if (row->coarsening != 0)
        json_object_set_new(object, "coarsening", json_integer(row->coarsening));
    json_object_set_new(object, "source", json_string("measured with POLYTILE_TUNE=1"));
    return object;
}

/** Return whether two rows of a file are for the same kernel. */
static bool are_for_same_kernel(const json_t *one, const json_t *other) {
    static const char *const members[] = {"kernel",     "architecture", "coalescing",
                                          "arithmetic", "evictions",    "reuse"};
    for (size_t k = 0; k < sizeof members / sizeof *members; k++) {
        const json_t *of_one = json_object_get(one, members[k]);
        const json_t *of_other = json_object_get(other, members[k]);
        if (of_one != of_other && !json_equal(of_one, of_other))
            return false;
    }
    return json_array_size(json_object_get(one, "block")) ==
           json_array_size(json_object_get(other, "block"));
}

/** Remove the rows that the new one replaces, and the oldest if there are too many. */
static void remove_rows(json_t *rows, const json_t *row) {
    for (size_t k = json_array_size(rows); k-- > 0;) {
        if (are_for_same_kernel(json_array_get(rows, k), row))
            json_array_remove(rows, k);
    }
    while (json_array_size(rows) >= PTI_TUNING_MAX_ROWS)
        json_array_remove(rows, 0);
}

static bool lists_capability(const json_t *capabilities, const char *capability) {
    size_t k;
    json_t *value;
    json_array_foreach(capabilities, k, value) {
        if (strcmp(json_string_value(value), capability) == 0)
            return true;
    }
    return false;
}

/** Return the name of a capability's architecture, which is made if there is none. */
static const char *find_architecture(json_t *architectures, int capability, char *made,
                                     size_t made_bytes) {
    char text[16];
    const char *name;
    json_t *capabilities;
    snprintf(text, sizeof text, "%d.%d", capability / 10, capability % 10);
    json_object_foreach(architectures, name, capabilities) {
        if (lists_capability(capabilities, text))
            return name;
    }
    snprintf(made, made_bytes, "sm_%d", capability);
    json_object_set_new(architectures, made, json_pack("[s]", text));
    return made;
}

/** Return a copy of a table's JSON with a new row. */
static json_t *extended_table(const json_t *root, const pti_tuning_row *row, int capability) {
    char made[PTI_TUNING_NAME_BYTES];
    json_t *copy = root != NULL
                       ? json_deep_copy(root)
                       : json_pack("{s:i, s:{}, s:[]}", "version", 1, "architectures", "rows");
    json_t *rows = json_object_get(copy, "rows");
    json_t *added = describe_row(row, find_architecture(json_object_get(copy, "architectures"),
                                                        capability, made, sizeof made));
    remove_rows(rows, added);
    json_array_append_new(rows, added);
    return copy;
}

/** Parse a learned table with the reader that later processes use; false if it refuses it. */
static bool parse_learned(json_t *root, pti_learned *taken) {
    pti_text text = {0}, why = {0};
    int line;
    pti_text_add_json(&text, root, 0);
    *taken = (pti_learned){.root = root};
    bool is_taken = !text.failed && pti_tuning_table_read(text.data, text.length, &taken->table,
                                                          &line, &why) == POLYTILE_OK;
    pti_text_free(&why);
    pti_text_free(&text);
    if (!is_taken)
        pti_learned_free(taken);
    return is_taken;
}

/** Add a row to the file's table, or to the known one if there is no file; else make a table of it
 * alone. */
static bool add_row(const pti_learned *known, const pti_tuning_row *row, int capability,
                    pti_learned *more) {
    return parse_learned(extended_table(known->root, row, capability), more) ||
           parse_learned(extended_table(NULL, row, capability), more);
}

bool pti_learned_add(polytile_context *ctx, pti_learned *learned, const pti_tuning_row *row,
                     int capability) {
    pti_text path = {0};
    pti_learned in_file = {0}, more;
    bool is_kept = locate_table(ctx, &path);
    bool is_there = is_kept && read_learned_file(ctx, path.data, &in_file);
    bool is_added = add_row(is_there ? &in_file : learned, row, capability, &more);
    if (is_added) {
        pti_learned_free(learned);
        *learned = more;
        if (is_kept && !pti_file_replace(path.data, learned->root))
            pti_log(ctx, PTI_LOG_WARN,
                    "%s cannot be written (%s), so that every process measures thread blocks "
                    "again; set POLYTILE_CACHE to a directory that can be, or to off",
                    path.data, strerror(errno));
    }
    pti_learned_free(&in_file);
    pti_text_free(&path);
    return is_added;
}
