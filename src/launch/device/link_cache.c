#include "launch/device/link_cache.h"

#include "base/cache_file.h"

#include <errno.h>
#include <string.h>

enum {
    FORMAT_VERSION = 1,        /* of the files; one of another version is measured anew */
    MAX_FILE_BYTES = 16 << 10, /* far more than a file of ours has */
};

/** The figures of a link in a file, and the bounds of those of real machines. */
static const struct figure {
    const char *name;
    size_t offset;
    double least, most;
} figures[] = {
#define FIGURE(member, least, most)                                                                \
    { #member, offsetof(polytile_link, member), least, most }
    FIGURE(upload_bytes_per_s, 1, 1e18), FIGURE(download_bytes_per_s, 1, 1e18),
    FIGURE(duplex_bytes_per_s, 1, 1e18), FIGURE(transfer_latency_s, 1e-12, 1e3),
    FIGURE(run_overhead_bytes, 0, 1e9),  FIGURE(launch_latency_s, 1e-12, 1e3),
    FIGURE(kernel_bytes_per_s, 1, 1e18), FIGURE(kernel_accesses_per_s, 1, 1e21),
#undef FIGURE
};

enum { N_FIGURES = sizeof figures / sizeof *figures };

static double get_figure(const polytile_link *link, const struct figure *figure) {
    return *(const double *)((const char *)link + figure->offset);
}

static void set_figure(polytile_link *link, const struct figure *figure, double value) {
    *(double *)((char *)link + figure->offset) = value;
}

/** NaN fails both comparisons. */
const char *pti_link_find_implausible(const polytile_link *link) {
    for (size_t k = 0; k < N_FIGURES; k++) {
        double value = get_figure(link, &figures[k]);
        if (!(value >= figures[k].least && value <= figures[k].most))
            return figures[k].name;
    }
    return NULL;
}

/** Find the path of a device's file; false if nothing is to be kept. */
static bool locate_link_file(const polytile_context *ctx, const char *key, pti_text *path) {
    bool is_kept = pti_cache_locate(ctx, path);
    pti_text_add(path, "/links/%s.json", key);
    return is_kept && !path->failed;
}

static bool take_figures(const json_t *object, polytile_link *link, pti_text *why) {
    for (size_t k = 0; k < N_FIGURES; k++) {
        const json_t *value = json_object_get(object, figures[k].name);
        if (!json_is_number(value)) {
            pti_text_add(why, "%s is not a number", figures[k].name);
            return false;
        }
        set_figure(link, &figures[k], json_number_value(value));
    }
    const char *implausible = pti_link_find_implausible(link);
    if (implausible != NULL)
        pti_text_add(why, "%s cannot be true", implausible);
    return implausible == NULL;
}

static bool parse_link(const json_t *root, polytile_link *link, pti_text *why) {
    const json_t *version = json_object_get(root, "version");
    if (!json_is_integer(version) || json_integer_value(version) != FORMAT_VERSION) {
        pti_text_add(why, "its format is not version %d", FORMAT_VERSION);
        return false;
    }
    return take_figures(json_object_get(root, "link"), link, why);
}

static bool read_link_file(const char *path, polytile_link *link, pti_text *why) {
    char text[MAX_FILE_BYTES + 1];
    json_error_t error;
    polytile_link found = polytile_link_default;
    ssize_t n_bytes = pti_file_read(path, text, MAX_FILE_BYTES, why);
    if (n_bytes < 0)
        return false;
    json_t *root = json_loadb(text, (size_t)n_bytes, JSON_REJECT_DUPLICATES, &error);
    if (root == NULL)
        pti_text_add(why, "it is not JSON from line %d on", error.line);
    bool is_good = root != NULL && parse_link(root, &found, why);
    if (is_good)
        *link = found;
    json_decref(root);
    return is_good;
}

bool pti_link_cache_read(polytile_context *ctx, const char *key, polytile_link *link) {
    pti_text path = {0}, why = {0};
    bool is_found = locate_link_file(ctx, key, &path) && read_link_file(path.data, link, &why);
    if (why.data != NULL)
        pti_log(ctx, PTI_LOG_WARN, "%s is ignored, since %s", path.data, why.data);
    pti_text_free(&path);
    pti_text_free(&why);
    return is_found;
}

static json_t *describe_link(const polytile_link *link) {
    json_t *object = json_object();
    int failed = 0;
    for (size_t k = 0; k < N_FIGURES; k++)
        failed |=
            json_object_set_new(object, figures[k].name, json_real(get_figure(link, &figures[k])));
    json_t *root = json_pack("{s:i, s:s, s:o}", "version", FORMAT_VERSION, "polytile",
                             polytile_version(), "link", object);
    if (!failed)
        return root;
    json_decref(root);
    return NULL;
}

void pti_link_cache_write(polytile_context *ctx, const char *key, const polytile_link *link) {
    pti_text path = {0};
    json_t *root = describe_link(link);
    if (locate_link_file(ctx, key, &path) && root != NULL && !pti_file_replace(path.data, root))
        pti_log(ctx, PTI_LOG_WARN,
                "%s cannot be written (%s), so that every process measures the link again; set "
                "POLYTILE_CACHE to a directory that can be, or to off",
                path.data, strerror(errno));
    json_decref(root);
    pti_text_free(&path);
}
