#include "distribute/file/array_file.h"

#include "access/array/npy_header.h"
#include "base/checked.h"
#include "base/retry.h"

#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

bool pti_array_file_is_npy(const char *path) {
    size_t length = strlen(path);
    return length >= 4 && strcmp(path + length - 4, ".npy") == 0;
}

static pti_npy_header header_of(const polytile_array *array) {
    return (pti_npy_header){
        .type = array->type, .domain = array->domain, .data_bytes = array->n_bytes};
}

int64_t pti_array_file_offset(const polytile_array *array, const char *path) {
    char bytes[PTI_NPY_HEADER_CAPACITY];
    pti_npy_header header = header_of(array);
    if (!pti_array_file_is_npy(path) || array->type < 0)
        return 0;
    pti_npy_header_write(&header, bytes);
    return header.data_offset;
}

/** Make the file's header, and find its length with all elements. */
static polytile_status make_header(polytile_context *ctx, const char *path,
                                   const polytile_array *array, char *bytes, pti_npy_header *header,
                                   int64_t *n_bytes) {
    *header = header_of(array);
    if (pti_array_file_is_npy(path) && array->type < 0)
        return pti_fail(ctx, POLYTILE_UNSUPPORTED,
                        "%s: NumPy files hold elements of i8 to i64, u8 to u64, f16, f32 and f64; "
                        "write array %s, of elements of %d bytes, under a name that does not end "
                        "in .npy",
                        path, array->name, (int)array->element_bytes);
    if (pti_array_file_is_npy(path))
        pti_npy_header_write(header, bytes);
    if (pti_add_overflows(header->data_offset, header->data_bytes, n_bytes))
        return pti_fail(ctx, POLYTILE_OVERFLOW, "%s: a file of 2^63 bytes or more", path);
    return POLYTILE_OK;
}

static polytile_status write_header(polytile_context *ctx, const char *path, int file,
                                    const char *bytes, int64_t n_bytes) {
    for (int64_t done = 0; done < n_bytes;) {
        ssize_t n_written;
        PTI_RETRY(n_written, pwrite(file, bytes + done, (size_t)(n_bytes - done), done));
        if (n_written < 0)
            return pti_fail_errno(ctx, path, "write its header");
        done += n_written;
    }
    return POLYTILE_OK;
}

/** Unlock the file: on NFS, MPI-IO's processes would wait for this lock for ever. Commit finds
 * another writer of the same file. */
static void unlock_file(const pti_part_file *part) {
    flock(part->file, LOCK_UN);
}

polytile_status pti_array_file_begin(polytile_context *ctx, const char *path,
                                     const polytile_array *array, pti_part_file *part) {
    int64_t n_bytes = 0;
    pti_npy_header header;
    char bytes[PTI_NPY_HEADER_CAPACITY];
    polytile_status status;
    *part = (pti_part_file){0};
    PTI_TRY(make_header(ctx, path, array, bytes, &header, &n_bytes));
    PTI_TRY(pti_part_file_begin(ctx, path, part));
    PTI_TRY(pti_part_file_reserve(ctx, part, n_bytes, false));
    PTI_TRY(write_header(ctx, part->part, part->file, bytes, header.data_offset));
    unlock_file(part);
done:
    if (status != POLYTILE_OK)
        pti_part_file_abandon(part);
    return status;
}

polytile_status pti_array_file_commit(polytile_context *ctx, pti_part_file *part) {
    polytile_status status = pti_part_file_commit(ctx, part);
    pti_part_file_abandon(part);
    return status;
}

polytile_status pti_array_file_probe(polytile_context *ctx, const char *path, bool writable) {
    int file;
    PTI_RETRY(file, open(path, (writable ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NONBLOCK));
    if (file < 0)
        return pti_fail_errno(ctx, path, writable ? "open for writing" : "open");
    close(file);
    return POLYTILE_OK;
}
