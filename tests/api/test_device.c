#include <polytile/device.h>
#include <polytile/kernel.h>
#include <polytile/polytile.h>

#include "api/files.h"
#include "support/c_test.h"

#include <string.h>

static const struct {
    const char *text;
    int64_t limit_bytes;
} devices[] = {
    {"host", 0},
    {"host(memory=64MiB)", INT64_C(64) << 20},
    {"host(memory=1B)", 1},
    {"host(threads=2)", 0},
    {"host(memory=64MiB,threads=2)", INT64_C(64) << 20},
    {"host(threads=1,memory=1.5KiB)", 1536},
};

TEST_TABLE(ApiDevice, IsOpenedByItsText, devices) {
    polytile_device *device = NULL;
    if (!CHECK_OK(polytile_device_open(ctx, row->text, &device)))
        return;
    CHECK_EQUAL(polytile_device_get_limit(device), row->limit_bytes);
    CHECK_TEXT(polytile_device_get_text(device), row->text);
    polytile_device_close(device);
}

static const struct {
    const char *text, *says;
} wrong_devices[] = {
    {"", "host"},
    {"moon", "host"},
    {"HOST", "host"},
    {"host:0", ""},
    {"host(", ""},
    {"host(memory)", "memory"},
    {"host(memory=)", "memory"},
    {"host(memory=64)", "64MiB"},
    {"host(memory=0B)", "memory"},
    {"host(memory=-4KiB)", "memory"},
    {"host(threads=0)", "threads"},
    {"host(threads=two)", "threads"},
    {"host(speed=9)", "memory"},
    {"host(memory=1MiB) or so", ""},
    {"cuda:x", "cuda"},
};

TEST_TABLE(ApiDevice, ThatIsUnknownIsRefusedWithWhatThereIs, wrong_devices) {
    polytile_device *device = NULL;
    CHECK_REFUSED(polytile_device_open(ctx, row->text, &device), POLYTILE_INVALID, row->says);
    CHECK_CONTAINS(polytile_last_error(ctx), row->text);
    CHECK(device == NULL);
}

TEST_CASE(ApiDevice, ThatIsNotHereIsNotSupported) {
    polytile_device *device = NULL;
    CHECK_REFUSED(polytile_device_open(ctx, "cuda:999", &device), POLYTILE_UNSUPPORTED, "cuda:999");
    CHECK(device == NULL);
}

TEST_CASE(ApiDevice, HostHasTheLinkOfPlansWithoutOne) {
    polytile_device *device = NULL;
    CHECK_OK(polytile_device_open(ctx, "host(memory=1MiB)", &device));
    CHECK(memcmp(polytile_device_get_link(device), &polytile_link_default,
                 sizeof polytile_link_default) == 0);
    CHECK(polytile_link_default.upload_bytes_per_s > 0);
    CHECK(polytile_link_default.transfer_latency_s > 0);
}

TEST_CASE(ApiDevice, MayBeNull) {
    polytile_device *device = NULL;
    polytile_device_close(NULL);
    CHECK_EQUAL(polytile_device_get_limit(NULL), 0);
    CHECK(polytile_device_get_link(NULL) == &polytile_link_default);
    CHECK_TEXT(polytile_device_get_text(NULL), "");
    CHECK_REFUSED(polytile_device_open(ctx, NULL, &device), POLYTILE_INVALID, "text");
    CHECK_REFUSED(polytile_device_open(ctx, "host", NULL), POLYTILE_INVALID, "place");
    CHECK_REFUSED(polytile_device_open(NULL, "host", &device), POLYTILE_INVALID, "NULL");
    CHECK_REFUSED(polytile_device_trace(NULL, NULL), POLYTILE_INVALID, "NULL");
}

TEST_CASE(ApiDevice, OfAQueueIsNotClosed) {
    polytile_queue *queue = NULL;
    CHECK_OK(polytile_queue_create(ctx, "host(memory=1MiB)", &queue));
    polytile_device_close(polytile_queue_get_device(queue));
    CHECK_EQUAL(polytile_device_get_limit(polytile_queue_get_device(queue)), 1 << 20);
}

POLYTILE_KERNEL(twice, (i), (const float, x, 1), (float, y, 1)) {
    PT_AT(y, i) = 2 * PT_AT(x, i);
}

static void run(polytile_context *ctx, polytile_device *device) {
    float x[64] = {0}, y[64];
    polytile_array *arrays[2] = {NULL};
    polytile_kernel *kernel = NULL;
    CHECK_OK(polytile_array_wrap(ctx, "x", POLYTILE_F32, 1, (int64_t[]){64}, x, &arrays[0]));
    CHECK_OK(polytile_array_wrap(ctx, "y", POLYTILE_F32, 1, (int64_t[]){64}, y, &arrays[1]));
    CHECK_OK(polytile_kernel_create(ctx, "twice[i]: in x[i]; out y[i]", &twice_kernel, &kernel));
    CHECK_OK(polytile_run(device, kernel, POLYTILE_EXTENTS(64), 2, arrays, NULL));
    polytile_array_destroy(arrays[0]);
    polytile_array_destroy(arrays[1]);
}

TEST_CASE(ApiDevice, WhereNothingRunsNothingIsCancelled) {
    polytile_device *device = NULL;
    CHECK_OK(polytile_device_open(ctx, "host(memory=1KiB)", &device));
    polytile_device_cancel(NULL);
    polytile_device_cancel(device);
    run(ctx, device);
}

enum { LONG = 1 << 20 };

/** A body that cancels its run, and marks what it touched. */
static void cancel_within(const polytile_domain *threads, const polytile_view *views, void *user) {
    float *x = views[0].origin;
    for (int64_t i = threads->range[0].lo; i <= threads->range[0].hi; i++)
        x[i] = 1;
    polytile_device_cancel(user);
}

TEST_CASE(ApiDevice, ARunInPlaceIsCancelledWithinALaunch) {
    static float x[LONG];
    polytile_implementation body = {.host = cancel_within};
    polytile_device *device = NULL;
    polytile_kernel *kernel = NULL;
    polytile_array *array = NULL;
    CHECK_OK(polytile_device_open(ctx, "host(threads=1)", &device));
    body.user = device;
    CHECK_OK(polytile_kernel_create(ctx, "mark[i]: out x[i]", &body, &kernel));
    CHECK_OK(polytile_array_wrap(ctx, "x", POLYTILE_F32, 1, (const int64_t[]){LONG}, x, &array));
    CHECK_REFUSED(polytile_run(device, kernel, POLYTILE_EXTENTS(LONG), 1, &array, NULL),
                  POLYTILE_CANCELLED, "after 0 sub-kernels of the 1");
    CHECK(x[0] == 1);
    CHECK(x[LONG - 1] == 0);
    run(ctx, device);
}

TEST_CASE(ApiDevice, WritesATraceUntilItIsToldNotTo) {
    static char traced[1 << 16], later[1 << 16];
    const char *path = file_named("trace.json");
    polytile_device *device = NULL;
    CHECK_OK(polytile_device_open(ctx, "host(memory=1KiB)", &device));
    CHECK_OK(polytile_device_trace(device, path));
    run(ctx, device);
    CHECK_OK(polytile_device_trace(device, NULL));
    CHECK_CONTAINS(file_read(path, traced, sizeof traced), "upload");
    CHECK_CONTAINS(traced, "twice");
    CHECK_CONTAINS(traced, "download");
    run(ctx, device);
    CHECK_TEXT(file_read(path, later, sizeof later), traced);
    CHECK_OK(polytile_device_trace(device, NULL));
}

TEST_CASE(ApiDevice, ClosingItFinishesATrace) {
    static char traced[1 << 16];
    const char *path = file_named("closed.json");
    polytile_device *device = NULL;
    CHECK_OK(polytile_device_open(ctx, "host(memory=1KiB)", &device));
    CHECK_OK(polytile_device_trace(device, path));
    run(ctx, device);
    polytile_device_close(device);
    file_read(path, traced, sizeof traced);
    const size_t length = strlen(traced);
    CHECK(length > 2 && strchr("]}", traced[length - 2]) != NULL);
}

TEST_CASE(ApiDevice, CannotTraceToWhatCannotBeWritten) {
    polytile_device *device = NULL;
    CHECK_OK(polytile_device_open(ctx, "host", &device));
    CHECK_REFUSED(polytile_device_trace(device, file_named("no/trace.json")), POLYTILE_IO,
                  "trace.json", "No such file");
    run(ctx, device);
}

TEST_CASE(ApiDevice, ThoseThatAreHereAreListedAndHostIsAmongThem) {
    polytile_device_info infos[64];
    int n_devices = 0, n_hosts = 0;
    SPOIL(infos);
    CHECK_OK(polytile_devices_list(ctx, 64, infos, &n_devices));
    CHECK(n_devices >= 1 && n_devices <= 64);
    for (int k = 0; k < n_devices; k++) {
        CHECK(infos[k].description[0] != '\0');
        CHECK_RESERVED(infos[k]);
        CHECK_RESERVED(infos[k].link);
        if (strcmp(infos[k].text, "host") != 0)
            continue;
        n_hosts++;
        CHECK(infos[k].memory_bytes > 0);
        CHECK(infos[k].n_threads > 0);
        CHECK(infos[k].link.upload_bytes_per_s > 0);
    }
    CHECK_EQUAL(n_hosts, 1);
}

TEST_CASE(ApiDevice, ThoseThatAreHereAreCountedWithoutAPlaceForThem) {
    polytile_device_info info = {.n_threads = -7};
    int n_all = 0, n_devices = 0;
    CHECK_OK(polytile_devices_list(ctx, 0, NULL, &n_all));
    CHECK_OK(polytile_devices_list(ctx, 0, &info, &n_devices));
    CHECK(n_all >= 1);
    CHECK_EQUAL(n_devices, n_all);
    CHECK_EQUAL(info.n_threads, -7);
}

TEST_CASE(ApiDevice, AListNeedsAPlace) {
    polytile_device_info info;
    int n_devices = 0;
    CHECK_REFUSED(polytile_devices_list(ctx, 1, NULL, &n_devices), POLYTILE_INVALID, "1 entries");
    CHECK_REFUSED(polytile_devices_list(ctx, 1, &info, NULL), POLYTILE_INVALID, "number");
    CHECK_REFUSED(polytile_devices_list(ctx, -1, &info, &n_devices), POLYTILE_INVALID, "-1");
    CHECK_REFUSED(polytile_devices_list(NULL, 1, &info, &n_devices), POLYTILE_INVALID, "NULL");
}
