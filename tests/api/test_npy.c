#include <polytile/kernel.h>
#include <polytile/npy.h>
#include <polytile/polytile.h>

#include "api/files.h"
#include "support/c_test.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Writes a .npy file, version 1, with this header and so many bytes of data 0, 1, 2, ... */
static const char *write_npy(const char *name, const char *header, size_t n_data) {
    const char *path = file_named(name);
    unsigned char bytes[1024] = "\x93NUMPY\x01\x00";
    const size_t n_header = 118;
    bytes[8] = (unsigned char)n_header;
    memset(bytes + 10, ' ', n_header);
    memcpy(bytes + 10, header, strlen(header));
    bytes[10 + n_header - 1] = '\n';
    for (size_t k = 0; k < n_data; k++)
        bytes[10 + n_header + k] = (unsigned char)k;
    file_write(path, bytes, 10 + n_header + n_data);
    return path;
}

#define HEADER(descr, fortran, shape)                                                              \
    "{'descr': '" descr "', 'fortran_order': " fortran ", 'shape': " shape ", }"

TEST_CASE(ApiNpy, AFileIsAnArray) {
    const char *path = write_npy("open.npy", HEADER("<i2", "False", "(3, 4)"), 24);
    polytile_array *array = NULL;
    if (!CHECK_OK(polytile_npy_open(ctx, "x", path, false, &array)))
        return;
    CHECK_TEXT(polytile_array_get_name(array), "x");
    CHECK_EQUAL(polytile_array_get_type(array), POLYTILE_I16);
    CHECK_EQUAL(polytile_array_get_domain(array)->n_dims, 2);
    CHECK_EQUAL(polytile_array_get_domain(array)->range[0].hi, 2);
    CHECK_EQUAL(polytile_array_get_domain(array)->range[1].hi, 3);
    CHECK_EQUAL(((const int16_t *)polytile_array_get_data(array))[1], 0x0302);
    polytile_array_destroy(array);
}

TEST_CASE(ApiNpy, AWritableFileIsChangedInPlace) {
    const char *path = write_npy("change.npy", HEADER("|u1", "False", "(4,)"), 4);
    char bytes[256];
    polytile_array *array = NULL;
    CHECK_OK(polytile_npy_open(ctx, "x", path, true, &array));
    ((uint8_t *)polytile_array_get_data(array))[3] = 'z';
    polytile_array_destroy(array);
    file_read(path, bytes, sizeof bytes);
    CHECK_EQUAL(bytes[128 + 3], 'z');
}

static const struct {
    const char *header;
    size_t n_data;
    polytile_status status;
    const char *says;
} wrong_files[] = {
    {HEADER("<f4", "True", "(2, 2)"), 16, POLYTILE_UNSUPPORTED, "Fortran"},
    {HEADER(">f4", "False", "(4,)"), 16, POLYTILE_UNSUPPORTED, "endian"},
    {HEADER("<c32", "False", "(2,)"), 64, POLYTILE_UNSUPPORTED, "c32"},
    {HEADER("<f4", "False", "()"), 4, POLYTILE_UNSUPPORTED, "dimension"},
    {HEADER("<f4", "False", "(1,1,1,1,1,1,1,1,1)"), 4, POLYTILE_UNSUPPORTED, "dimension"},
    {HEADER("<f4", "False", "(5,)"), 16, POLYTILE_IO, "20"},
    {"nonsense", 16, POLYTILE_IO, ""},
};

TEST_TABLE(ApiNpy, AFileThatCannotBeMappedIsRefusedWithItsNameAndTheReason, wrong_files) {
    const char *path = write_npy("wrong.npy", row->header, row->n_data);
    polytile_array *array = NULL;
    CHECK_REFUSED(polytile_npy_open(ctx, "x", path, false, &array), row->status, "wrong.npy",
                  row->says);
    CHECK(array == NULL);
}

TEST_CASE(ApiNpy, AFileThatIsNotThereOrForeignIsAnIoError) {
    polytile_array *array = NULL;
    CHECK_REFUSED(polytile_npy_open(ctx, "x", file_named("missing.npy"), false, &array),
                  POLYTILE_IO, "missing.npy", "No such file");
    file_write(file_named("foreign.npy"), "PNG", 3);
    CHECK_REFUSED(polytile_npy_open(ctx, "x", file_named("foreign.npy"), false, &array),
                  POLYTILE_IO, "foreign.npy");
    file_write(file_named("empty.npy"), "", 0);
    CHECK_REFUSED(polytile_npy_open(ctx, "x", file_named("empty.npy"), false, &array), POLYTILE_IO,
                  "empty.npy");
}

POLYTILE_KERNEL(add_one, (i), (uint8_t, x, 1)) {
    PT_AT(x, i) = (uint8_t)(PT_AT(x, i) + 1);
}

static polytile_status add_one_to(polytile_context *ctx, polytile_array *array) {
    polytile_device *device = NULL;
    polytile_kernel *kernel = NULL;
    CHECK_OK(polytile_device_open(ctx, "host(memory=1MiB)", &device));
    CHECK_OK(polytile_kernel_create(ctx, "add[i]: inout x[i]", &add_one_kernel, &kernel));
    return polytile_run(device, kernel, POLYTILE_EXTENTS(4), POLYTILE_ARRAYS(array), NULL);
}

TEST_CASE(ApiNpy, ARunRefusesToWriteAReadOnlyFile) {
    const char *path = write_npy("only.npy", HEADER("|u1", "False", "(4,)"), 4);
    polytile_array *array = NULL;
    CHECK_OK(polytile_npy_open(ctx, "x", path, false, &array));
    CHECK_REFUSED(add_one_to(ctx, array), POLYTILE_INVALID, "x", "opened for reading");
}

/* Files that are made. */

static polytile_array *create(polytile_context *ctx, const char *path) {
    polytile_array *array = NULL;
    CHECK_OK(polytile_npy_create(ctx, "x", path, POLYTILE_U8, POLYTILE_EXTENTS(4), &array));
    return array;
}

static const char *part_of(const char *name) {
    char part[64];
    snprintf(part, sizeof part, "%s.part", name);
    return file_named(part);
}

TEST_CASE(ApiNpy, AFileThatIsMadeIsOfZerosAndReadBack) {
    polytile_array *array = create(ctx, file_named("made.npy"));
    for (int k = 0; k < 4; k++)
        CHECK_EQUAL(((uint8_t *)polytile_array_get_data(array))[k], 0);
    CHECK_OK(add_one_to(ctx, array));
    polytile_array_destroy(array);
    CHECK_OK(polytile_npy_open(ctx, "x", file_named("made.npy"), false, &array));
    CHECK_EQUAL(polytile_array_get_type(array), POLYTILE_U8);
    CHECK_EQUAL(polytile_array_get_domain(array)->range[0].hi, 3);
    CHECK_EQUAL(((uint8_t *)polytile_array_get_data(array))[3], 1);
}

TEST_CASE(ApiNpy, AFileIsCalledPartUntilItIsWhole) {
    char bytes[256];
    file_write(file_named("old.npy"), "old", 3);
    polytile_array *array = create(ctx, file_named("old.npy"));
    CHECK(file_is_there(part_of("old.npy")));
    CHECK_TEXT(file_read(file_named("old.npy"), bytes, sizeof bytes), "old");
    polytile_array_destroy(array);
    CHECK(!file_is_there(part_of("old.npy")));
    CHECK_CONTAINS(file_read(file_named("old.npy"), bytes, sizeof bytes), "NUMPY");
}

TEST_CASE(ApiNpy, AFileGetsItsNameWithItsContextsEnd) {
    polytile_context *mine = NULL;
    CHECK_OK(polytile_context_create(&mine));
    create(mine, file_named("context.npy"));
    CHECK(!file_is_there(file_named("context.npy")));
    polytile_context_destroy(mine);
    CHECK(file_is_there(file_named("context.npy")));
}

TEST_CASE(ApiNpy, AFinishedFileHasItsNameAndIsChangedDirectly) {
    char bytes[256];
    polytile_array *array = create(ctx, file_named("finished.npy"));
    CHECK_OK(polytile_npy_finish(array));
    CHECK(file_is_there(file_named("finished.npy")));
    CHECK(!file_is_there(part_of("finished.npy")));
    ((uint8_t *)polytile_array_get_data(array))[0] = 'f';
    CHECK_OK(polytile_npy_finish(array));
    polytile_npy_abandon(array);
    polytile_array_destroy(array);
    file_read(file_named("finished.npy"), bytes, sizeof bytes);
    CHECK_EQUAL(bytes[128], 'f');
}

TEST_CASE(ApiNpy, AnAbandonedFileLeavesTheOldOne) {
    char bytes[256];
    file_write(file_named("abandoned.npy"), "old", 3);
    polytile_array *array = create(ctx, file_named("abandoned.npy"));
    polytile_npy_abandon(array);
    CHECK(!file_is_there(part_of("abandoned.npy")));
    CHECK_OK(add_one_to(ctx, array));
    polytile_array_destroy(array);
    CHECK_TEXT(file_read(file_named("abandoned.npy"), bytes, sizeof bytes), "old");
    polytile_npy_abandon(NULL);
}

TEST_CASE(ApiNpy, AFileThatAnotherArrayWritesIsRefused) {
    polytile_array *second = NULL;
    create(ctx, file_named("twice.npy"));
    CHECK_REFUSED(polytile_npy_create(ctx, "y", file_named("twice.npy"), POLYTILE_U8,
                                      POLYTILE_EXTENTS(4), &second),
                  POLYTILE_IO, "twice.npy");
    CHECK(second == NULL);
}

TEST_CASE(ApiNpy, APathThatIsNoFileIsRefusedAndNothingLeft) {
    polytile_array *array = NULL;
    CHECK_REFUSED(polytile_npy_create(ctx, "x", file_named("no/file.npy"), POLYTILE_U8,
                                      POLYTILE_EXTENTS(4), &array),
                  POLYTILE_IO, "file.npy", "No such file");
    mkdir(file_named("directory.npy"), 0700);
    CHECK_REFUSED(polytile_npy_create(ctx, "x", file_named("directory.npy"), POLYTILE_U8,
                                      POLYTILE_EXTENTS(4), &array),
                  POLYTILE_IO, "directory.npy");
    CHECK(!file_is_there(part_of("directory.npy")));
}

TEST_CASE(ApiNpy, ATypeThatNumPyHasNotIsNotSupported) {
    polytile_array *array = NULL;
    CHECK_REFUSED(polytile_npy_create(ctx, "x", file_named("bytes.npy"), POLYTILE_BYTES(12),
                                      POLYTILE_EXTENTS(4), &array),
                  POLYTILE_UNSUPPORTED, "12");
    CHECK(!file_is_there(part_of("bytes.npy")));
}

TEST_CASE(ApiNpy, BytesBeyond64BitsAreAnOverflow) {
    polytile_array *array = NULL;
    CHECK_REFUSED(polytile_npy_create(ctx, "x", file_named("large.npy"), POLYTILE_F64,
                                      POLYTILE_EXTENTS(INT64_C(1) << 40, 1 << 30), &array),
                  POLYTILE_OVERFLOW, "x", "64 bits");
    CHECK(!file_is_there(part_of("large.npy")));
}

TEST_CASE(ApiNpy, OnlyAnArrayThatIsMadeAndHereCanBeFinished) {
    uint8_t memory[4];
    polytile_array *array = NULL, *attached = create(ctx, file_named("attached.npy"));
    polytile_queue *queue = NULL;
    CHECK_REFUSED(polytile_npy_finish(NULL), POLYTILE_INVALID, "NULL");
    CHECK_OK(polytile_array_wrap(ctx, "x", POLYTILE_U8, 1, (int64_t[]){4}, memory, &array));
    CHECK_OK(polytile_queue_create(ctx, "host", &queue));
    CHECK_OK(polytile_queue_attach(queue, POLYTILE_ARRAYS(attached)));
    CHECK_REFUSED(polytile_npy_finish(attached), POLYTILE_INVALID, "x", "queue");
    CHECK(!file_is_there(file_named("attached.npy")));
}

TEST_CASE(ApiNpy, NeedsAPath) {
    polytile_array *array = NULL;
    CHECK_REFUSED(polytile_npy_open(ctx, "x", NULL, false, &array), POLYTILE_INVALID, "path");
    CHECK_REFUSED(polytile_npy_create(ctx, "x", NULL, POLYTILE_U8, POLYTILE_EXTENTS(4), &array),
                  POLYTILE_INVALID, "path");
}
