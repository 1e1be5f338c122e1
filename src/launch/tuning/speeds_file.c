#include "launch/tuning/speeds.h"

#include "base/cache_file.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The file of a machine: {"speeds": [{"key": "0123456789abcdef", "rows_per_s": 5e6}]}. */

enum { MOST_BYTES = 1 << 20, HOST_BYTES = 256 };

/** Find the file's path; false if nothing is to be kept. */
static bool locate_speeds(const polytile_context *ctx, pti_text *path) {
    char host[HOST_BYTES] = "";
    bool is_kept = pti_cache_locate(ctx, path) && gethostname(host, sizeof host - 1) == 0;
    pti_text_add(path, "/speeds-%s.json", host);
    return is_kept && !path->failed && strchr(host, '/') == NULL;
}

/** Put a row of the file into a list; false: it is none. */
static bool put_row(const json_t *row, pti_kept_speeds *speeds) {
    const char *text = json_string_value(json_object_get(row, "key"));
    const double rows_per_s = json_number_value(json_object_get(row, "rows_per_s"));
    char *end;
    if (text == NULL || *text == '\0' || !(rows_per_s > 0) || isinf(rows_per_s))
        return false;
    errno = 0;
    const uint64_t key = strtoull(text, &end, 16);
    if (*end != '\0' || errno != 0)
        return false;
    pti_speeds_put(speeds, key, rows_per_s);
    return true;
}

/** Put all rows of a file's root; false: it is no such file. */
static bool put_rows(const json_t *root, pti_kept_speeds *speeds) {
    const json_t *rows = json_object_get(root, "speeds");
    bool is_right = json_is_array(rows);
    for (size_t k = 0; is_right && k < json_array_size(rows); k++)
        is_right = put_row(json_array_get(rows, k), speeds);
    return is_right;
}

/** Read a file into an empty list; why stays empty if there is none. */
static void read_speeds_file(const char *path, pti_kept_speeds *speeds, pti_text *why) {
    json_error_t error;
    char *text = malloc(MOST_BYTES + 1);
    const ssize_t n_bytes = text == NULL ? -1 : pti_file_read(path, text, MOST_BYTES, why);
    json_t *root = n_bytes < 0 ? NULL : json_loadb(text, (size_t)n_bytes, 0, &error);
    if (n_bytes >= 0 && root == NULL)
        pti_text_add(why, "line %d: %s", error.line, error.text);
    else if (n_bytes >= 0 && !put_rows(root, speeds))
        pti_text_add(why, "it has no list of speeds, or one of other rows");
    if (why->length > 0)
        speeds->n_kept = 0;
    json_decref(root);
    free(text);
}

void pti_speeds_read(polytile_context *ctx, pti_kept_speeds *speeds) {
    pti_text path = {0}, why = {0};
    if (locate_speeds(ctx, &path))
        read_speeds_file(path.data, speeds, &why);
    if (why.length > 0)
        pti_log(ctx, PTI_LOG_WARN, "%s: the speeds are ignored, since %s", path.data, why.data);
    pti_text_free(&path);
    pti_text_free(&why);
}

/** NULL when memory runs out. */
static json_t *describe_speed(const pti_kept_speed *of) {
    char key[sizeof "0123456789abcdef"];
    snprintf(key, sizeof key, "%016" PRIx64, of->key);
    return json_pack("{s:s, s:f}", "key", key, "rows_per_s", of->rows_per_s);
}

/** NULL when memory runs out. */
static json_t *describe_speeds(const pti_kept_speeds *speeds) {
    json_t *rows = json_array();
    int failed = 0;
    for (int k = 0; k < speeds->n_kept && k < PTI_MOST_SPEEDS; k++)
        failed |= json_array_append_new(rows, describe_speed(&speeds->at[k]));
    if (failed == 0)
        return json_pack("{s:o}", "speeds", rows);
    json_decref(rows);
    return NULL;
}

/** Join a file's speeds with those of a list, which replace older ones. */
static void join_speeds(polytile_context *ctx, const pti_kept_speeds *speeds,
                        pti_kept_speeds *joined) {
    pti_speeds_read(ctx, joined);
    for (int k = 0; k < speeds->n_kept && k < PTI_MOST_SPEEDS; k++)
        pti_speeds_put(joined, speeds->at[k].key, speeds->at[k].rows_per_s);
}

void pti_speeds_write(polytile_context *ctx, const pti_kept_speeds *speeds) {
    pti_text path = {0};
    pti_kept_speeds *joined = calloc(1, sizeof *joined);
    json_t *root = NULL;
    if (joined != NULL && locate_speeds(ctx, &path)) {
        join_speeds(ctx, speeds, joined);
        root = describe_speeds(joined);
        errno = ENOMEM;
        if (root == NULL || !pti_file_replace(path.data, root))
            pti_log(ctx, PTI_LOG_WARN, "%s: the speeds are not kept: %s", path.data,
                    strerror(errno));
    }
    json_decref(root);
    pti_text_free(&path);
    free(joined);
}
