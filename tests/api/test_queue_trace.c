#include <polytile/kernel.h>
#include <polytile/polytile.h>
#include <polytile/queue.h>

#include "api/files.h"
#include "support/c_test.h"

#include <string.h>

/* Traces of queues; test_queue.c has all else. */

enum { N = 1024 };

POLYTILE_KERNEL(shift, (i), (const double, x, 1), (double, y, 1)) {
    PT_AT(y, i) = PT_AT(x, i - 1) + PT_AT(x, i + 1);
}

/* A queue, and two arrays of N numbers. */
typedef struct scene {
    polytile_queue *queue;
    double x[N], y[N];
    polytile_array *a, *b;
    polytile_kernel *shift;
} scene;

static void set(polytile_context *ctx, const char *device_text, scene *s) {
    CHECK_OK(polytile_array_wrap(ctx, "x", POLYTILE_F64, 1, (int64_t[]){N}, s->x, &s->a));
    CHECK_OK(polytile_array_wrap(ctx, "y", POLYTILE_F64, 1, (int64_t[]){N}, s->y, &s->b));
    CHECK_OK(polytile_kernel_create(ctx, "shift[i]: in x[i-1], x[i+1]; out y[i]", &shift_kernel,
                                    &s->shift));
    CHECK_OK(polytile_queue_create(ctx, device_text, &s->queue));
}

static polytile_status shift_to(const scene *s, polytile_array *from, polytile_array *to) {
    return polytile_queue_launch(s->queue, s->shift, POLYTILE_INTERIOR(1, N),
                                 POLYTILE_ARRAYS(from, to), NULL);
}

static int count_in(const char *text, const char *word) {
    int n = 0;
    for (const char *at = strstr(text, word); at != NULL; at = strstr(at + 1, word))
        n++;
    return n;
}

TEST_CASE(ApiQueueTrace, WritesATraceOfAllItsDevicesUntilItIsToldNotTo) {
    static char traced[1 << 18], later[1 << 18];
    static scene s;
    const char *path = file_named("trace.json");
    set(ctx, "host(memory=8KiB),host(memory=8KiB)", &s);
    CHECK_OK(polytile_queue_attach(s.queue, POLYTILE_ARRAYS(s.a, s.b)));
    CHECK_OK(polytile_queue_trace(s.queue, path));
    CHECK_OK(shift_to(&s, s.a, s.b));
    CHECK_OK(shift_to(&s, s.b, s.a));
    CHECK_OK(polytile_queue_trace(s.queue, NULL));
    file_read(path, traced, sizeof traced);
    CHECK_EQUAL(count_in(traced, "process_name"), 3);
    CHECK_EQUAL(count_in(traced, "polytile program"), 1);
    CHECK(count_in(traced, "launch shift") >= 4);
    CHECK(count_in(traced, "plan shift") >= 2);
    CHECK_OK(shift_to(&s, s.a, s.b));
    CHECK_OK(polytile_queue_detach(s.queue, POLYTILE_ARRAYS(s.a, s.b)));
    CHECK_TEXT(file_read(path, later, sizeof later), traced);
}

TEST_CASE(ApiQueueTrace, CannotTraceToWhatCannotBeWritten) {
    static scene s;
    set(ctx, "host,host", &s);
    CHECK_REFUSED(polytile_queue_trace(s.queue, file_named("no/trace.json")), POLYTILE_IO,
                  "trace.json", "No such file");
    CHECK_OK(polytile_queue_trace(s.queue, NULL));
    CHECK_REFUSED(polytile_queue_trace(NULL, NULL), POLYTILE_INVALID, "NULL");
}
