#include <polytile/polytile.h>

#include "api/files.h"
#include "support/c_test.h"

#include <stdlib.h>
#include <string.h>

static void increment(const polytile_domain *threads, const polytile_view *views, void *user) {
    (void)user;
    for (int64_t i = threads->range[0].lo; i <= threads->range[0].hi; i++)
        ((float *)views[1].origin)[i] = ((const float *)views[0].origin)[i] + 1;
}

/** Traces a run through little memory. */
static const char *trace_a_run(polytile_context *ctx) {
    static float x[1000], y[1000];
    const char *path = file_named("trace.json");
    polytile_implementation body = {.host = increment};
    polytile_device *device = NULL;
    polytile_kernel *kernel = NULL;
    polytile_array *arrays[2] = {NULL, NULL};
    CHECK_OK(polytile_device_open(ctx, "host(memory=2KiB)", &device));
    CHECK_OK(polytile_kernel_create(ctx, "inc[i]: in x[i]; out y[i]", &body, &kernel));
    CHECK_OK(
        polytile_array_wrap(ctx, "x", POLYTILE_F32, 1, (const int64_t[]){1000}, x, &arrays[0]));
    CHECK_OK(
        polytile_array_wrap(ctx, "y", POLYTILE_F32, 1, (const int64_t[]){1000}, y, &arrays[1]));
    CHECK_OK(polytile_device_trace(device, path));
    CHECK_OK(polytile_run(device, kernel, POLYTILE_EXTENTS(1000), 2, arrays, NULL));
    CHECK_OK(polytile_device_trace(device, NULL));
    return path;
}

static const struct {
    polytile_format format;
    const char *begin, *part, *other_part;
} forms[] = {
    {POLYTILE_TEXT, "", "3.91 KiB in, 3.91 KiB out, lower bound 7.81 KiB", "host(memory=2KiB)"},
    {POLYTILE_JSON, "{", "\"in_bytes\": 4000", "\"bound_bytes\": 8000"},
    {POLYTILE_HTML, "<!DOCTYPE html>", "\"limit_bytes\": 2048", "</html>"},
};

TEST_TABLE(ApiTrace, IsWrittenInEachForm, forms) {
    polytile_trace *trace = NULL;
    char *text = NULL;
    if (!CHECK_OK(polytile_trace_read(ctx, trace_a_run(ctx), &trace)))
        return;
    CHECK_OK(polytile_trace_to_string(trace, row->format, &text));
    CHECK_CONTAINS(text, row->begin, row->part);
    CHECK_CONTAINS(text, row->other_part);
    CHECK(strncmp(text, row->begin, strlen(row->begin)) == 0);
    free(text);
    polytile_trace_destroy(trace);
}

TEST_CASE(ApiTrace, HasNoPicture) {
    polytile_trace *trace = NULL;
    char *text = NULL;
    CHECK_OK(polytile_trace_read(ctx, trace_a_run(ctx), &trace));
    CHECK_REFUSED(polytile_trace_to_string(trace, POLYTILE_SVG, &text), POLYTILE_INVALID,
                  "a trace has no format 2; use POLYTILE_TEXT, POLYTILE_JSON or POLYTILE_HTML");
    CHECK(text == NULL);
    CHECK_REFUSED(polytile_trace_to_string(trace, POLYTILE_TEXT, NULL), POLYTILE_INVALID,
                  "text is NULL");
}

TEST_CASE(ApiTrace, IsAFile) {
    polytile_trace *trace = NULL;
    CHECK_REFUSED(polytile_trace_read(ctx, "/no/such/trace.json", &trace), POLYTILE_IO,
                  "/no/such/trace.json: cannot open");
    CHECK_REFUSED(polytile_trace_read(ctx, "/tmp", &trace), POLYTILE_IO, "/tmp: cannot read");
    CHECK_REFUSED(polytile_trace_read(ctx, NULL, &trace), POLYTILE_INVALID, "the path is NULL");
    CHECK_REFUSED(polytile_trace_read(ctx, "/tmp", NULL), POLYTILE_INVALID,
                  "the place for the trace is NULL");
}

TEST_CASE(ApiTrace, IsRefusedUnlessItIsOne) {
    const char *path = file_named("none.json");
    polytile_trace *trace = NULL;
    file_write(path, "{}", 2);
    CHECK_REFUSED(polytile_trace_read(ctx, path, &trace), POLYTILE_INVALID, "none.json",
                  "is no trace");
    CHECK(trace == NULL);
}
