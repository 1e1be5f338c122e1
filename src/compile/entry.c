#include "compile/entry.h"

#include "base/cache_file.h"
#include "base/mix.h"
#include "base/retry.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char folder[] = "/kernels";

enum { SEED = 1, OTHER_SEED = 2, OTHERS_WRITE = S_IWGRP | S_IWOTH };

/** Mix all bytes, of which up to eight are a number. */
static uint64_t hash_bytes(const char *bytes, size_t n_bytes, int64_t seed) {
    uint64_t hash = pti_mix(0, seed);
    for (size_t k = 0; k < n_bytes; k += sizeof(int64_t)) {
        int64_t number = 0;
        memcpy(&number, bytes + k, n_bytes - k < sizeof number ? n_bytes - k : sizeof number);
        hash = pti_mix(hash, number);
    }
    return pti_mix(hash, (int64_t)n_bytes);
}

static void add_hash(pti_text *text, const char *bytes, size_t n_bytes) {
    pti_text_add(text, "%016" PRIx64 "%016" PRIx64, hash_bytes(bytes, n_bytes, SEED),
                 hash_bytes(bytes, n_bytes, OTHER_SEED));
}

/** Append what a file begins with: the whole recipe, so that no two share a file, and a hash of the
 * code. */
static void add_head(pti_text *head, const pti_text *recipe, const pti_code *code) {
    pti_text_add(head, "%s\n%zu ", recipe->data, code->n_bytes);
    add_hash(head, code->bytes, code->n_bytes);
    pti_text_add(head, "\n");
}

/** Append a file's path. Returns false if nothing is kept. */
static bool locate_file(const polytile_context *ctx, const pti_text *recipe, pti_text *path) {
    if (!pti_cache_locate(ctx, path))
        return false;
    pti_text_add(path, "%s/", folder);
    add_hash(path, recipe->data, recipe->length);
    return !path->failed;
}

/** Refuse a directory, if it is there, of which somebody else could change the files. */
static polytile_status check_directory(polytile_context *ctx, const char *kernel,
                                       const char *path) {
    struct stat of;
    if (stat(path, &of) != 0)
        return POLYTILE_OK;
    if (!S_ISDIR(of.st_mode))
        return pti_fail(ctx, POLYTILE_IO,
                        "%s: compiled bodies are kept in %s, which is no directory; name one with "
                        "POLYTILE_CACHE, or off to keep nothing",
                        kernel, path);
    if (of.st_uid != geteuid() && of.st_uid != 0)
        return pti_fail(ctx, POLYTILE_IO,
                        "%s: compiled bodies are kept in %s, which belongs to user %ld; name a "
                        "directory of your own with POLYTILE_CACHE, or off to keep nothing",
                        kernel, path, (long)of.st_uid);
    if ((of.st_mode & OTHERS_WRITE) == 0)
        return POLYTILE_OK;
    return pti_fail(ctx, POLYTILE_IO,
                    "%s: compiled bodies are kept in %s, which others may write (mode %o); chmod "
                    "go-w %s, name another directory with POLYTILE_CACHE, or off to keep nothing",
                    kernel, path, (unsigned)of.st_mode & 07777, path);
}

/** Check the directory of a file, and the one above it. */
static polytile_status check_directories(polytile_context *ctx, const char *kernel, char *path) {
    polytile_status status = POLYTILE_OK;
    char *slash[] = {NULL, NULL};
    for (int k = 0; k < 2 && status == POLYTILE_OK; k++) {
        slash[k] = strrchr(path, '/');
        if (slash[k] == NULL || slash[k] == path)
            break;
        *slash[k] = '\0';
        status = check_directory(ctx, kernel, path);
    }
    for (int k = 1; k >= 0; k--)
        if (slash[k] != NULL)
            *slash[k] = '/';
    return status;
}

static void warn_damaged(polytile_context *ctx, const char *kernel, const char *path) {
    pti_log(ctx, PTI_LOG_WARN, "%s: %s is damaged; its body is compiled again", kernel, path);
}

/** Return whether a file may be trusted as its directory is, as one of this user's, and find its
 * size. */
static bool is_own_file(int file, size_t *n_bytes) {
    struct stat of;
    if (fstat(file, &of) != 0 || !S_ISREG(of.st_mode) || (of.st_mode & OTHERS_WRITE) != 0 ||
        (of.st_uid != geteuid() && of.st_uid != 0))
        return false;
    *n_bytes = (size_t)of.st_size;
    return true;
}

static bool read_all(int file, char *bytes, size_t n_bytes) {
    size_t n_read = 0;
    ssize_t n_more = 1;
    while (n_read < n_bytes && n_more > 0) {
        PTI_RETRY(n_more, read(file, bytes + n_read, n_bytes - n_read));
        n_read += n_more > 0 ? (size_t)n_more : 0;
    }
    return n_read == n_bytes;
}

/** Return whether a file has a recipe and code whose hash is right, and let *code be that. */
static bool take_kept_code(const pti_text *recipe, char *bytes, size_t n_bytes, pti_code *code) {
    const char *end = memchr(bytes + recipe->length + 1, '\n', n_bytes - recipe->length - 1);
    pti_text head = {0};
    if (end == NULL)
        return false;
    const size_t head_bytes = (size_t)(end - bytes) + 1;
    *code = (pti_code){bytes + head_bytes, n_bytes - head_bytes};
    add_head(&head, recipe, code);
    const bool is_right =
        !head.failed && head.length == head_bytes && memcmp(head.data, bytes, head_bytes) == 0;
    pti_text_free(&head);
    if (is_right)
        memmove(bytes, code->bytes, code->n_bytes);
    *code = is_right ? (pti_code){bytes, code->n_bytes} : (pti_code){0};
    return is_right;
}

/** Read an open file, of which *code gets the memory. */
static polytile_status read_open_file(polytile_context *ctx, const char *kernel, const char *path,
                                      int file, const pti_text *recipe, pti_code *code) {
    size_t n_bytes;
    if (!is_own_file(file, &n_bytes)) {
        warn_damaged(ctx, kernel, path);
        return POLYTILE_OK;
    }
    char *bytes = malloc(n_bytes + 1);
    if (bytes == NULL)
        return pti_fail_memory(ctx, kernel, (double)n_bytes);
    if (!read_all(file, bytes, n_bytes) || n_bytes <= recipe->length + 1 ||
        !take_kept_code(recipe, bytes, n_bytes, code)) {
        warn_damaged(ctx, kernel, path);
        free(bytes);
    }
    return POLYTILE_OK;
}

polytile_status pti_entry_find(polytile_context *ctx, const char *kernel, const pti_text *recipe,
                               pti_code *code) {
    pti_text path = {0};
    int file = -1;
    polytile_status status = POLYTILE_OK;
    *code = (pti_code){0};
    if (locate_file(ctx, recipe, &path)) {
        PTI_TRY(check_directories(ctx, kernel, path.data));
        PTI_RETRY(file, open(path.data, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW));
        if (file >= 0)
            PTI_TRY(read_open_file(ctx, kernel, path.data, file, recipe, code));
    }
done:
    if (file >= 0)
        close(file);
    pti_text_free(&path);
    return status;
}

void pti_entry_keep(polytile_context *ctx, const char *kernel, const pti_text *recipe,
                    const pti_code *code) {
    pti_text path = {0}, file = {0};
    add_head(&file, recipe, code);
    char *bytes = pti_text_extend(&file, code->n_bytes);
    if (bytes != NULL)
        memcpy(bytes, code->bytes, code->n_bytes);
    if (locate_file(ctx, recipe, &path) && !file.failed && !pti_file_replace_text(path.data, &file))
        pti_log(ctx, PTI_LOG_INFO, "%s: cannot keep the compiled body as %s: %s", kernel, path.data,
                strerror(errno));
    pti_text_free(&file);
    pti_text_free(&path);
}
