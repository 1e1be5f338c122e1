#include <polytile/npy.h>

#include "access/array.h"
#include "access/npy_header.h"
#include "base/checked.h"
#include "base/retry.h"
#include "base/text.h"
#include <polytile/size.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static polytile_status fail_errno(polytile_context *ctx, const char *path, const char *action,
                                  int error) {
    return pti_fail(ctx, POLYTILE_IO, "%s: cannot %s: %s", path, action, strerror(error));
}

static void close_if_open(int file) {
    if (file >= 0)
        close(file);
}

static polytile_status map_file(polytile_context *ctx, const char *path, int file, int64_t n_bytes,
                                bool writable, void **mapping) {
    int protection = writable ? PROT_READ | PROT_WRITE : PROT_READ;
    void *mapped = mmap(NULL, (size_t)n_bytes, protection, MAP_SHARED, file, 0);
    if (mapped == MAP_FAILED)
        return fail_errno(ctx, path, "map the file into memory", errno);
    *mapping = mapped;
    return POLYTILE_OK;
}

static polytile_status get_size(polytile_context *ctx, const char *path, int file,
                                int64_t *n_bytes) {
    struct stat info;
    if (fstat(file, &info) != 0)
        return fail_errno(ctx, path, "read the file's size", errno);
    if (!S_ISREG(info.st_mode))
        return pti_fail(ctx, POLYTILE_IO, "%s: is not a regular file", path);
    if (info.st_size == 0)
        return pti_fail(ctx, POLYTILE_IO, "%s: is empty", path);
    *n_bytes = info.st_size;
    return POLYTILE_OK;
}

/** Read the header and compare it with the file's size. */
static polytile_status read_header(polytile_context *ctx, const char *path, const void *mapping,
                                   int64_t n_bytes, pti_npy_header *header) {
    const char *reason;
    polytile_status status = pti_npy_header_read(mapping, n_bytes, header, &reason);
    if (status != POLYTILE_OK)
        return pti_fail(ctx, status, "%s: %s", path, reason);
    if (header->data_bytes > n_bytes - header->data_offset)
        return pti_fail(ctx, POLYTILE_IO,
                        "%s: is truncated: its header says %" PRId64
                        " bytes of elements, the file has %" PRId64,
                        path, header->data_bytes, n_bytes - header->data_offset);
    if (header->data_offset % polytile_type_get_bytes(header->type) != 0)
        return pti_fail(ctx, POLYTILE_UNSUPPORTED,
                        "%s: its elements begin at byte %" PRId64
                        ", which is not aligned for them; save it again with numpy.save",
                        path, header->data_offset);
    return POLYTILE_OK;
}

/** Let an array own the mapping of its file. */
static void give_mapping(polytile_array *array, void *mapping, int64_t n_bytes,
                         int64_t data_offset) {
    array->mapping = mapping;
    array->mapping_bytes = n_bytes;
    array->data = (char *)mapping + data_offset;
}

static polytile_status check_arguments(polytile_context *ctx, const char *path,
                                       polytile_array **array) {
    if (ctx == NULL || array == NULL)
        return pti_fail(ctx, POLYTILE_INVALID, "a .npy file: the %s is NULL",
                        ctx == NULL ? "context" : "place for the array");
    pti_clear_error(ctx);
    *array = NULL;
    if (path == NULL || *path == '\0')
        return pti_fail(ctx, POLYTILE_INVALID, "a .npy file needs a path");
    return POLYTILE_OK;
}

polytile_status polytile_npy_open(polytile_context *ctx, const char *name, const char *path,
                                  bool writable, polytile_array **array) {
    polytile_status status = check_arguments(ctx, path, array);
    if (status != POLYTILE_OK)
        return status;
    int64_t n_bytes = 0;
    void *mapping = NULL;
    pti_npy_header header;
    int file;
    PTI_RETRY(file, open(path, (writable ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NONBLOCK));
    if (file < 0)
        return fail_errno(ctx, path, writable ? "open for writing" : "open", errno);
    PTI_TRY(get_size(ctx, path, file, &n_bytes));
    PTI_TRY(map_file(ctx, path, file, n_bytes, writable, &mapping));
    PTI_TRY(read_header(ctx, path, mapping, n_bytes, &header));
    PTI_TRY(pti_array_create(ctx, name, header.type, &header.domain, array));
    give_mapping(*array, mapping, n_bytes, header.data_offset);
    mapping = NULL;
    (*array)->read_only = !writable;
done:
    if (mapping != NULL)
        munmap(mapping, (size_t)n_bytes);
    close(file);
    return status;
}

static int create_new(const char *path) {
    int file;
    PTI_RETRY(file, open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    return file;
}

/** A new file that no other thread makes; -1 and errno if there is none. What has the name already
 * was left by a process that was killed, whose numbers this one has now. */
static int create_beside(const char *path, pti_text *beside) {
    pti_text_add(beside, "%s.%ld.%ld.part", path, (long)getpid(), (long)gettid());
    if (beside->failed)
        return -1;
    int file = create_new(beside->data);
    if (file < 0 && errno == EEXIST && unlink(beside->data) == 0)
        file = create_new(beside->data);
    return file;
}

/** A new file is made beside the old one, which it replaces only when its space is reserved: an old
 * file that is open, perhaps as the input, or that cannot be replaced, stays as it is. */
static polytile_status open_beside(polytile_context *ctx, const char *path, pti_text *beside,
                                   int *file) {
    struct stat old;
    if (stat(path, &old) == 0 && !S_ISREG(old.st_mode))
        return pti_fail(ctx, POLYTILE_IO, "%s: is not a regular file", path);
    *file = create_beside(path, beside);
    if (beside->failed)
        return pti_fail_memory(ctx, path, (double)strlen(path));
    return *file < 0 ? fail_errno(ctx, beside->data, "create", errno) : POLYTILE_OK;
}

static polytile_status reserve(polytile_context *ctx, const char *path, int file, int64_t n_bytes) {
    int error;
    char size[32];
    do
        error = posix_fallocate(file, 0, n_bytes);
    while (error == EINTR);
    if (error == 0)
        return POLYTILE_OK;
    return pti_fail(ctx, POLYTILE_IO, "%s: cannot reserve %s on the disk: %s", path,
                    polytile_size_format(n_bytes, size), strerror(error));
}

static polytile_status check_type(polytile_context *ctx, const char *path, polytile_type type) {
    if (type >= 0 && polytile_type_get_bytes(type) > 0)
        return POLYTILE_OK;
    return pti_fail(ctx, POLYTILE_UNSUPPORTED,
                    "%s: NumPy files hold elements of i8 to i64, u8 to u64, f16, f32 and f64, not "
                    "type %d",
                    path, type);
}

static polytile_status put_in_place(polytile_context *ctx, const char *path, pti_text *beside) {
    if (rename(beside->data, path) != 0)
        return fail_errno(ctx, path, "replace", errno);
    pti_text_free(beside);
    return POLYTILE_OK;
}

polytile_status polytile_npy_create(polytile_context *ctx, const char *name, const char *path,
                                    polytile_type type, const polytile_domain *domain,
                                    polytile_array **array) {
    polytile_status status = check_arguments(ctx, path, array);
    if (status != POLYTILE_OK)
        return status;
    int file = -1;
    int64_t n_bytes = 0;
    void *mapping = NULL;
    pti_text beside = {0};
    polytile_array *made = NULL;
    char bytes[PTI_NPY_HEADER_CAPACITY];
    PTI_TRY(check_type(ctx, path, type));
    PTI_TRY(pti_array_create(ctx, name, type, domain, &made));
    pti_npy_header header = {.type = type, .domain = *domain, .data_bytes = made->n_bytes};
    pti_npy_header_write(&header, bytes);
    if (pti_add_overflows(header.data_offset, header.data_bytes, &n_bytes))
        PTI_TRY(pti_fail(ctx, POLYTILE_OVERFLOW, "%s: a file of 2^63 bytes or more", path));
    PTI_TRY(open_beside(ctx, path, &beside, &file));
    PTI_TRY(reserve(ctx, path, file, n_bytes));
    PTI_TRY(map_file(ctx, path, file, n_bytes, true, &mapping));
    memcpy(mapping, bytes, (size_t)header.data_offset);
    PTI_TRY(put_in_place(ctx, path, &beside));
    give_mapping(made, mapping, n_bytes, header.data_offset);
    *array = made;
    mapping = NULL;
    made = NULL;
done:
    if (mapping != NULL)
        munmap(mapping, (size_t)n_bytes);
    close_if_open(file);
    if (file >= 0 && beside.data != NULL)
        unlink(beside.data);
    pti_text_free(&beside);
    polytile_array_destroy(made);
    return status;
}
