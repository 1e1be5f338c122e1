#include <polytile/npy.h>

#include "access/array/array.h"
#include "access/array/npy_header.h"
#include "access/array/type.h"
#include "base/cache_file.h"
#include "base/checked.h"
#include "base/retry.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static polytile_status map_file(polytile_context *ctx, const char *path, int file, int64_t n_bytes,
                                bool writable, void **mapping) {
    int protection = writable ? PROT_READ | PROT_WRITE : PROT_READ;
    void *mapped = mmap(NULL, (size_t)n_bytes, protection, MAP_SHARED, file, 0);
    if (mapped == MAP_FAILED)
        return pti_fail_errno(ctx, path, "map the file into memory");
    *mapping = mapped;
    return POLYTILE_OK;
}

static polytile_status find_map_size(polytile_context *ctx, const char *path, int file,
                                     int64_t *n_bytes) {
    const polytile_status status = pti_file_find_size(ctx, path, file, n_bytes);
    if (status == POLYTILE_OK && *n_bytes == 0)
        return pti_fail(ctx, POLYTILE_IO, "%s: is empty", path);
    return status;
}

/** Read the header and compare it with the file's size. */
static polytile_status read_header(polytile_context *ctx, const char *path, const void *mapping,
                                   int64_t n_bytes, pti_npy_header *header) {
    const char *reason;
    polytile_status status = pti_npy_header_read(mapping, n_bytes, header, &reason);
    if (status != POLYTILE_OK)
        return pti_fail(ctx, status, "%s: %s", path, reason);
    status = pti_npy_header_check(ctx, path, header, n_bytes);
    if (status != POLYTILE_OK)
        return status;
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

static polytile_status check_path_and_array(polytile_context *ctx, const char *path,
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
    polytile_status status = check_path_and_array(ctx, path, array);
    if (status != POLYTILE_OK)
        return status;
    int64_t n_bytes = 0;
    void *mapping = NULL;
    pti_npy_header header;
    int file;
    PTI_RETRY(file, open(path, (writable ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NONBLOCK));
    if (file < 0)
        return pti_fail_errno(ctx, path, writable ? "open for writing" : "open");
    PTI_TRY(find_map_size(ctx, path, file, &n_bytes));
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

static polytile_status check_type(polytile_context *ctx, const char *path, polytile_type type) {
    char text[PTI_TYPE_TEXT_BYTES];
    if (type >= 0 && polytile_type_get_bytes(type) > 0 && type != POLYTILE_BF16 &&
        type != POLYTILE_INDEXED(POLYTILE_BF16))
        return POLYTILE_OK;
    return pti_fail(ctx, POLYTILE_UNSUPPORTED,
                    "%s: NumPy files hold elements of i8 to i64, u8 to u64, f16, f32, f64, c64 and "
                    "c128, and of real ones with an index, not %s",
                    path, pti_type_format(type, text));
}

polytile_status polytile_npy_create(polytile_context *ctx, const char *name, const char *path,
                                    polytile_type type, const polytile_domain *domain,
                                    polytile_array **array) {
    polytile_status status = check_path_and_array(ctx, path, array);
    if (status != POLYTILE_OK)
        return status;
    int64_t n_bytes = 0;
    void *mapping = NULL;
    polytile_array *made = NULL;
    char bytes[PTI_NPY_HEADER_CAPACITY];
    PTI_TRY(check_type(ctx, path, type));
    PTI_TRY(pti_array_create(ctx, name, type, domain, &made));
    pti_npy_header header = {.type = type, .domain = *domain, .data_bytes = made->n_bytes};
    pti_npy_header_write(&header, bytes);
    if (pti_add_overflows(header.data_offset, header.data_bytes, &n_bytes))
        PTI_TRY(pti_fail(ctx, POLYTILE_OVERFLOW, "%s: a file of 2^63 bytes or more", path));
    PTI_TRY(pti_part_file_begin(ctx, path, &made->part));
    PTI_TRY(pti_part_file_reserve(ctx, &made->part, n_bytes, true));
    PTI_TRY(map_file(ctx, path, made->part.file, n_bytes, true, &mapping));
    memcpy(mapping, bytes, (size_t)header.data_offset);
    give_mapping(made, mapping, n_bytes, header.data_offset);
    *array = made;
    made = NULL;
done:
    polytile_npy_abandon(made);
    polytile_array_destroy(made);
    return status;
}

polytile_status polytile_npy_finish(polytile_array *array) {
    PTI_ENTER(array, array->object.context, "array");
    polytile_context *ctx = array->object.context;
    if (array->part.path == NULL)
        return POLYTILE_OK;
    if (array->queue != NULL)
        return pti_fail(ctx, POLYTILE_INVALID,
                        "array %s: is attached to a queue, which may still write it; detach it "
                        "before its file %s is finished",
                        array->name, array->part.path);
    if (!pti_array_is_complete(array))
        return pti_fail(ctx, POLYTILE_INVALID,
                        "array %s: is incomplete, so %s is as it was; write it whole, or give its "
                        "file up by polytile_npy_abandon()",
                        array->name, array->part.path);
    return pti_part_file_commit(ctx, &array->part);
}

void polytile_npy_abandon(polytile_array *array) {
    if (array != NULL)
        pti_part_file_abandon(&array->part);
}
