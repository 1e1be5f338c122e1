#include "command.h"
#include "help.h"
#include "options.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static const char subcommand[] = "devices";

/** The arguments: whether an option is given. */
typedef struct devices_arguments {
    bool json;
    bool help;
} devices_arguments;

static const option_row rows[] = {
    {"json", OPTION_FLAG, offsetof(devices_arguments, json), NULL},
    {"help", OPTION_FLAG, offsetof(devices_arguments, help), NULL},
};

/** Return whether a device has a link; one that cannot be used has none, and its description says
 * why. */
static bool has_link(const polytile_device_info *info) {
    return info->link.upload_bytes_per_s > 0;
}

static void print_link(const polytile_link *link) {
    static const double gb = 1e9;
    printf("  to device    %.1f GB/s\n", link->upload_bytes_per_s / gb);
    printf("  from device  %.1f GB/s\n", link->download_bytes_per_s / gb);
    printf("  both ways    %.1f GB/s each\n", link->duplex_bytes_per_s / gb);
}

static void print_device(const polytile_device_info *info) {
    static const double gib = 1024.0 * 1024.0 * 1024.0;
    printf("%s: %s\n", info->text, info->description);
    if (info->memory_bytes > 0)
        printf("  memory       %.1f GiB\n", (double)info->memory_bytes / gib);
    if (info->n_threads > 0)
        printf("  threads      %d\n", info->n_threads);
    if (has_link(info))
        print_link(&info->link);
}

static int print_text(const polytile_device_info *infos, int n, const char *why_no_cuda) {
    for (int k = 0; k < n; k++)
        print_device(&infos[k]);
    if (why_no_cuda != NULL)
        printf("no cuda: %s\n", why_no_cuda);
    return finish_results(subcommand);
}

/** The figures of a link; each is null where there is none. */
static const struct {
    const char *name;
    size_t offset;
} figures[] = {
#define FIGURE(member)                                                                             \
    { #member, offsetof(polytile_link, member) }
    FIGURE(upload_bytes_per_s), FIGURE(download_bytes_per_s),  FIGURE(duplex_bytes_per_s),
    FIGURE(transfer_latency_s), FIGURE(run_overhead_bytes),    FIGURE(launch_latency_s),
    FIGURE(kernel_bytes_per_s), FIGURE(kernel_accesses_per_s),
#undef FIGURE
};

static json_t *json_figure(const polytile_device_info *info, size_t offset) {
    double value = *(const double *)((const char *)&info->link + offset);
    return has_link(info) ? json_real(value) : json_null();
}

static json_t *json_device(const polytile_device_info *info) {
    json_t *device =
        json_pack("{s:s, s:s, s:I, s:i}", "device", info->text, "description", info->description,
                  "memory_bytes", (json_int_t)info->memory_bytes, "threads", info->n_threads);
    int failed = 0;
    for (size_t k = 0; k < sizeof figures / sizeof *figures; k++)
        failed |=
            json_object_set_new(device, figures[k].name, json_figure(info, figures[k].offset));
    if (!failed)
        return device;
    json_decref(device);
    return NULL;
}

/** Return what is missing, and why. */
static json_t *json_absent(const char *why_no_cuda) {
    if (why_no_cuda == NULL)
        return json_array();
    return json_pack("[{s:s, s:s}]", "device", "cuda", "reason", why_no_cuda);
}

static int print_json(const polytile_device_info *infos, int n, const char *why_no_cuda) {
    json_t *list = json_array();
    int failed = 0;
    for (int k = 0; k < n; k++)
        failed |= json_array_append_new(list, json_device(&infos[k]));
    json_t *root = json_pack("{s:o, s:o}", "devices", list, "absent", json_absent(why_no_cuda));
    if (failed) {
        json_decref(root);
        root = NULL;
    }
    return write_json(subcommand, root, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
}

/** Find why no listed device is a GPU, by opening one; NULL: one is, or can be opened. */
static const char *find_why_no_cuda(polytile_context *ctx, const polytile_device_info *infos,
                                    int n) {
    static const char cuda[] = "cuda:", first[] = "cuda:0: ";
    polytile_device *device = NULL;
    for (int k = 0; k < n; k++)
        if (strncmp(infos[k].text, cuda, strlen(cuda)) == 0)
            return NULL;
    if (polytile_device_open(ctx, "cuda:0", &device) == POLYTILE_OK) {
        polytile_device_close(device);
        return NULL;
    }
    const char *why = polytile_last_error(ctx);
    return strncmp(why, first, strlen(first)) == 0 ? why + strlen(first) : why;
}

static int list_devices(bool json) {
    enum { CAPACITY = 64 };
    static polytile_device_info infos[CAPACITY];
    polytile_context *ctx = NULL;
    int n = 0;
    polytile_status status = polytile_context_create(&ctx);
    if (status == POLYTILE_OK)
        status = polytile_devices_list(ctx, CAPACITY, infos, &n);
    n = n < CAPACITY ? n : CAPACITY;
    int exit_code =
        status == POLYTILE_OK
            ? (json ? print_json : print_text)(infos, n, find_why_no_cuda(ctx, infos, n))
            : library_error(subcommand, ctx, status);
    polytile_context_destroy(ctx);
    return exit_code;
}

int devices_command(int argc, char **argv) {
    devices_arguments args = {0};
    const int exit_code = read_options(argc, argv, sizeof rows / sizeof *rows, rows, &args);
    if (exit_code != EXIT_DONE)
        return exit_code;
    return args.help ? write_result(subcommand, help_devices) : list_devices(args.json);
}
