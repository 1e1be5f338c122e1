#include "base/cache_file.h"

#include "base/json_text.h"
#include "base/retry.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/** Return whether a path is absolute: the XDG specification calls others invalid. */
static bool is_absolute(const char *path) {
    return path != NULL && path[0] == '/';
}

bool pti_cache_locate(const polytile_context *ctx, pti_text *path) {
    const pti_settings *settings = pti_get_settings(ctx);
    const char *caches = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (settings->no_cache)
        return false;
    if (settings->cache_directory != NULL)
        pti_text_add(path, "%s", settings->cache_directory);
    else if (is_absolute(caches))
        pti_text_add(path, "%s/polytile", caches);
    else if (is_absolute(home))
        pti_text_add(path, "%s/.cache/polytile", home);
    return path->length > 0 && !path->failed;
}

ssize_t pti_file_read(const char *path, char *text, ssize_t max_bytes, pti_text *why) {
    ssize_t n_bytes = 0, n_more = 1;
    int fd;
    PTI_RETRY(fd, open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    while (fd >= 0 && n_more > 0 && n_bytes <= max_bytes) {
        PTI_RETRY(n_more, read(fd, text + n_bytes, (size_t)(max_bytes + 1 - n_bytes)));
        n_bytes += n_more;
    }
    bool is_absent = fd < 0 && (errno == ENOENT || errno == ENOTDIR);
    bool is_read = fd >= 0 && n_more >= 0 && n_bytes <= max_bytes;
    if (fd >= 0 && n_bytes > max_bytes)
        pti_text_add(why, "it has more than %lld bytes", (long long)max_bytes);
    else if (!is_read && !is_absent)
        pti_text_add(why, "%s", strerror(errno));
    int reason = n_bytes > max_bytes ? EFBIG : errno;
    if (fd >= 0)
        close(fd);
    errno = reason;
    return is_read ? n_bytes : -1;
}

static bool make_one_directory(const char *path) {
    return mkdir(path, S_IRWXU) == 0 || errno == EEXIST;
}

/** Make a directory and those above it; errno is that of mkdir(). */
static bool make_directory(char *path) {
    if (make_one_directory(path))
        return true;
    char *slash = strrchr(path, '/');
    if (errno != ENOENT || slash == NULL || slash == path)
        return false;
    *slash = '\0';
    bool is_made = make_directory(path);
    *slash = '/';
    return is_made && make_one_directory(path);
}

static bool make_directory_of(char *path) {
    char *slash = strrchr(path, '/');
    if (slash == NULL || slash == path)
        return true;
    *slash = '\0';
    bool is_made = make_directory(path);
    *slash = '/';
    return is_made;
}

polytile_status pti_file_find_size(polytile_context *ctx, const char *path, int file,
                                   int64_t *n_bytes) {
    struct stat info;
    if (fstat(file, &info) != 0)
        return pti_fail_errno(ctx, path, "read the file's size");
    if (!S_ISREG(info.st_mode))
        return pti_fail(ctx, POLYTILE_IO, "%s: is not a regular file", path);
    *n_bytes = info.st_size;
    return POLYTILE_OK;
}

bool pti_file_write(int file, const char *bytes, size_t n_bytes) {
    for (size_t n_done = 0; n_done < n_bytes;) {
        ssize_t n_written;
        PTI_RETRY(n_written, write(file, bytes + n_done, n_bytes - n_done));
        if (n_written < 0)
            return false;
        n_done += (size_t)n_written;
    }
    return true;
}

/** Write a new file under a chosen name, and rename it to the path. */
static bool write_and_rename(const char *path, char *temporary, const pti_text *text) {
    if (!make_directory_of(temporary))
        return false;
    int fd = mkostemp(temporary, O_CLOEXEC);
    if (fd < 0)
        return false;
    bool is_written = pti_file_write(fd, text->data, text->length);
    is_written &= close(fd) == 0;
    if (is_written && rename(temporary, path) == 0)
        return true;
    int reason = errno;
    unlink(temporary);
    errno = reason;
    return false;
}

bool pti_file_replace_text(const char *path, const pti_text *text) {
    pti_text temporary = {0};
    pti_text_add(&temporary, "%s.XXXXXX", path);
    errno = ENOMEM;
    bool is_replaced =
        !temporary.failed && !text->failed && write_and_rename(path, temporary.data, text);
    int reason = errno;
    pti_text_free(&temporary);
    errno = reason;
    return is_replaced;
}

bool pti_file_replace(const char *path, const json_t *root) {
    pti_text text = {0};
    pti_text_add_json(&text, root, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
    bool is_replaced = pti_file_replace_text(path, &text);
    int reason = errno;
    pti_text_free(&text);
    errno = reason;
    return is_replaced;
}
