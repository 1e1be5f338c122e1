#include "base/part_file.h"

#include "base/retry.h"
#include <polytile/size.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/** A name may change hands between two looks at it, but not so often. */
enum { MOST_LOOKS = 16 };

static bool is_link(const char *path) {
    struct stat info;
    return lstat(path, &info) == 0 && S_ISLNK(info.st_mode);
}

/** Follow a link to the file that it names, which is replaced in its place. */
static polytile_status resolve_link(polytile_context *ctx, const char *path, char **followed) {
    bool leads_on = is_link(path);
    *followed = leads_on ? realpath(path, NULL) : strdup(path);
    if (*followed != NULL)
        return POLYTILE_OK;
    if (leads_on && errno == ENOENT)
        return pti_fail(ctx, POLYTILE_IO,
                        "%s: is a symbolic link to a file that is not there; make that file, or "
                        "remove the link",
                        path);
    return leads_on && errno != ENOMEM ? pti_fail_errno(ctx, path, "follow the symbolic link")
                                       : pti_fail_memory(ctx, path, (double)strlen(path));
}

/** Refuse to replace a directory or a device. */
static polytile_status check_old(polytile_context *ctx, const char *path) {
    struct stat old;
    if (stat(path, &old) == 0 && !S_ISREG(old.st_mode))
        return pti_fail(ctx, POLYTILE_IO, "%s: is not a regular file", path);
    return POLYTILE_OK;
}

static polytile_status append_part(polytile_context *ctx, const char *path, char **part) {
    pti_text text = {0};
    pti_text_add(&text, "%s.part", path);
    if (text.failed) {
        pti_text_free(&text);
        return pti_fail_memory(ctx, path, (double)strlen(path));
    }
    *part = text.data;
    return POLYTILE_OK;
}

/** Return whether an open file has lost its name, perhaps to another file. */
static bool is_named_otherwise(const struct stat *opened, const char *name) {
    struct stat named;
    return lstat(name, &named) != 0 || opened->st_dev != named.st_dev ||
           opened->st_ino != named.st_ino;
}

/** Return whether a part file has lost its name. One that cannot be examined still has it. */
static bool has_lost_name(const pti_part_file *part_file) {
    struct stat opened;
    return fstat(part_file->file, &opened) == 0 && is_named_otherwise(&opened, part_file->part);
}

/** Return whether another process has locked a file; never on a file system without locks. */
static bool is_locked_by_another(int file) {
    int status;
    PTI_RETRY(status, flock(file, LOCK_EX | LOCK_NB));
    return status != 0 && errno == EWOULDBLOCK;
}

/** Open and lock the file of this name, a new one or what another process left. */
static polytile_status open_locked(polytile_context *ctx, const char *part, int *file) {
    PTI_RETRY(*file, open(part, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666));
    if (*file < 0)
        return pti_fail_errno(ctx, part, "create");
    if (!is_locked_by_another(*file))
        return POLYTILE_OK;
    close(*file);
    return pti_fail(ctx, POLYTILE_IO,
                    "%s: is being written, by another array or another process; choose another "
                    "file, or wait for its end",
                    part);
}

/** Keep a file that is empty and has the name. Remove one that an ended process left with contents,
 * since somebody may still read it. */
static polytile_status claim_part_file(polytile_context *ctx, const char *part, int file,
                                       bool *is_ours) {
    struct stat opened;
    polytile_status status = POLYTILE_OK;
    PTI_TRY(fstat(file, &opened) == 0 ? POLYTILE_OK : pti_fail_errno(ctx, part, "look at"));
    bool is_named = !is_named_otherwise(&opened, part);
    *is_ours = is_named && opened.st_size == 0;
    if (is_named && !*is_ours && unlink(part) != 0)
        status = pti_fail_errno(ctx, part, "replace");
done:
    if (!*is_ours)
        close(file);
    return status;
}

static polytile_status open_part(polytile_context *ctx, const char *part, int *file) {
    for (int look = 0; look < MOST_LOOKS; look++) {
        bool is_ours = false;
        polytile_status status = open_locked(ctx, part, file);
        if (status == POLYTILE_OK)
            status = claim_part_file(ctx, part, *file, &is_ours);
        if (status != POLYTILE_OK || is_ours)
            return status;
    }
    return pti_fail(ctx, POLYTILE_IO, "%s: cannot create: others do so all the time", part);
}

static void forget_names(pti_part_file *part_file) {
    free(part_file->path);
    free(part_file->part);
    *part_file = (pti_part_file){0};
}

polytile_status pti_part_file_name(polytile_context *ctx, const char *path, char **part) {
    char *followed = NULL;
    polytile_status status;
    *part = NULL;
    PTI_TRY(resolve_link(ctx, path, &followed));
    PTI_TRY(append_part(ctx, followed, part));
done:
    free(followed);
    return status;
}

/** Give the new file the owner, group and permissions of the old one, where the process may.
 * Without the old group, the new one gets no permissions. */
static void inherit_permissions(const pti_part_file *part_file, mode_t added) {
    struct stat old;
    if (stat(part_file->path, &old) != 0)
        return;
    bool has_group = fchown(part_file->file, old.st_uid, old.st_gid) == 0 ||
                     fchown(part_file->file, (uid_t)-1, old.st_gid) == 0;
    mode_t mode = old.st_mode & (has_group ? 0777 : 0707);
    if (fchmod(part_file->file, mode | added) != 0)
        errno = 0;
}

polytile_status pti_part_file_begin(polytile_context *ctx, const char *path,
                                    pti_part_file *part_file) {
    polytile_status status;
    *part_file = (pti_part_file){0};
    PTI_TRY(check_old(ctx, path));
    PTI_TRY(resolve_link(ctx, path, &part_file->path));
    PTI_TRY(append_part(ctx, part_file->path, &part_file->part));
    PTI_TRY(open_part(ctx, part_file->part, &part_file->file));
    inherit_permissions(part_file, S_IRUSR | S_IWUSR);
    return POLYTILE_OK;
done:
    forget_names(part_file);
    return status;
}

/** Reserve space if the file system can, else only extend the file: writing then fails when the
 * disk is full. Returns 0 or the error's number. */
static int reserve_or_extend(int file, int64_t n_bytes) {
    int status;
    PTI_RETRY(status, fallocate(file, 0, 0, n_bytes));
    if (status != 0 && (errno == EOPNOTSUPP || errno == ENOSYS))
        PTI_RETRY(status, ftruncate(file, n_bytes));
    return status == 0 ? 0 : errno;
}

/** Reserve space, block by block if need be. Returns 0 or the error's number. */
static int reserve_every_block(int file, int64_t n_bytes) {
    int error;
    do
        error = posix_fallocate(file, 0, n_bytes);
    while (error == EINTR);
    return error;
}

polytile_status pti_part_file_reserve(polytile_context *ctx, const pti_part_file *part_file,
                                      int64_t n_bytes, bool is_mapped) {
    char size[32];
    int error = is_mapped ? reserve_every_block(part_file->file, n_bytes)
                          : reserve_or_extend(part_file->file, n_bytes);
    if (error == 0)
        return POLYTILE_OK;
    return pti_fail(ctx, POLYTILE_IO, "%s: cannot reserve %s on the disk: %s", part_file->path,
                    polytile_size_format(n_bytes, size), strerror(error));
}

polytile_status pti_part_file_commit(polytile_context *ctx, pti_part_file *part_file) {
    polytile_status status;
    if (has_lost_name(part_file))
        return pti_fail(ctx, POLYTILE_IO,
                        "%s: was removed or replaced while it was written; %s is as it was",
                        part_file->part, part_file->path);
    inherit_permissions(part_file, 0);
    PTI_TRY(rename(part_file->part, part_file->path) == 0
                ? POLYTILE_OK
                : pti_fail_errno(ctx, part_file->path, "replace"));
    pti_part_file_keep(part_file);
done:
    return status;
}

void pti_part_file_abandon(pti_part_file *part_file) {
    if (part_file->path != NULL && !has_lost_name(part_file))
        unlink(part_file->part);
    pti_part_file_keep(part_file);
}

void pti_part_file_keep(pti_part_file *part_file) {
    if (part_file->path == NULL)
        return;
    close(part_file->file);
    forget_names(part_file);
}
