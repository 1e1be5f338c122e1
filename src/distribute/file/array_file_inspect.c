#include "distribute/file/array_file.h"

#include "access/array/npy_header.h"
#include "access/array/type.h"
#include "access/set/range.h"
#include "base/cache_file.h"
#include "base/retry.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/** The bytes of a file in which its header must lie; NumPy's own take 128 bytes or a few more. */
enum { HEAD_BYTES = 1 << 18 };

/** A file's length and its beginning. */
typedef struct file_head {
    int64_t file_bytes;
    int64_t n_bytes;
    unsigned char *bytes; /* owned */
} file_head;

static polytile_status read_bytes(polytile_context *ctx, const char *path, int file,
                                  file_head *head) {
    head->bytes = malloc(HEAD_BYTES);
    if (head->bytes == NULL)
        return pti_fail_memory(ctx, path, HEAD_BYTES);
    while (head->n_bytes < HEAD_BYTES) {
        ssize_t n_read;
        PTI_RETRY(n_read, pread(file, head->bytes + head->n_bytes,
                                (size_t)(HEAD_BYTES - head->n_bytes), head->n_bytes));
        if (n_read < 0)
            return pti_fail_errno(ctx, path, "read");
        if (n_read == 0)
            break;
        head->n_bytes += n_read;
    }
    return POLYTILE_OK;
}

static polytile_status read_head(polytile_context *ctx, const char *path, file_head *head) {
    polytile_status status;
    int file;
    PTI_RETRY(file, open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (file < 0)
        return pti_fail_errno(ctx, path, "open");
    PTI_TRY(pti_file_find_size(ctx, path, file, &head->file_bytes));
    PTI_TRY(read_bytes(ctx, path, file, head));
done:
    close(file);
    return status;
}

static bool have_equal_extents(const polytile_domain *a, const polytile_domain *b) {
    bool is_same = a->n_dims == b->n_dims;
    for (int d = 0; is_same && d < a->n_dims; d++)
        is_same = pti_range_count(a->range[d]) == pti_range_count(b->range[d]);
    return is_same;
}

/** Append a type and a shape: "f32 of 100x20". */
static void add_shape(pti_text *text, polytile_type type, const polytile_domain *domain) {
    char word[PTI_TYPE_TEXT_BYTES];
    pti_text_add(text, "%s of ", pti_type_format(type, word));
    for (int d = 0; d < domain->n_dims; d++)
        pti_text_add(text, "%s%" PRId64, d == 0 ? "" : "x", pti_range_count(domain->range[d]));
}

static polytile_status fail_shape(polytile_context *ctx, const char *path,
                                  const polytile_array *array, const pti_npy_header *header) {
    pti_text text = {0};
    pti_text_add(&text, "holds ");
    add_shape(&text, header->type, &header->domain);
    pti_text_add(&text, ", array %s is ", array->name);
    add_shape(&text, array->type, &array->domain);
    polytile_status status = text.failed
                                 ? pti_fail_memory(ctx, path, (double)text.length)
                                 : pti_fail(ctx, POLYTILE_INVALID, "%s: %s", path, text.data);
    pti_text_free(&text);
    return status;
}

static polytile_status judge_npy(polytile_context *ctx, const char *path,
                                 const polytile_array *array, const file_head *head,
                                 int64_t *offset_bytes) {
    pti_npy_header header;
    const char *reason;
    polytile_status status = pti_npy_header_read(head->bytes, head->n_bytes, &header, &reason);
    if (status != POLYTILE_OK)
        return pti_fail(ctx, status, "%s: %s", path, reason);
    if (header.type != array->type || !have_equal_extents(&header.domain, &array->domain))
        return fail_shape(ctx, path, array, &header);
    *offset_bytes = header.data_offset;
    return pti_npy_header_check(ctx, path, &header, head->file_bytes);
}

static polytile_status judge_raw(polytile_context *ctx, const char *path,
                                 const polytile_array *array, const file_head *head,
                                 int64_t *offset_bytes) {
    *offset_bytes = 0;
    if (head->file_bytes == array->n_bytes)
        return POLYTILE_OK;
    return pti_fail(ctx, POLYTILE_INVALID,
                    "%s: has %" PRId64 " bytes, but the elements of array %s are %" PRId64
                    " bytes; a file without a header holds nothing else",
                    path, head->file_bytes, array->name, array->n_bytes);
}

polytile_status pti_array_file_inspect(polytile_context *ctx, const char *path,
                                       const polytile_array *array, int64_t *offset_bytes) {
    file_head head = {0};
    polytile_status status;
    PTI_TRY(read_head(ctx, path, &head));
    PTI_TRY(pti_array_file_is_npy(path) ? judge_npy(ctx, path, array, &head, offset_bytes)
                                        : judge_raw(ctx, path, array, &head, offset_bytes));
done:
    free(head.bytes);
    return status;
}
