#include "base/text.h"
#include "command.h"
#include "help.h"

#include <getopt.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdlib.h>

static const char subcommand[] = "devices";

/** Parse --json and --help. Returns the exit code. */
static int parse(int argc, char **argv, bool *json, bool *help) {
    static const struct option options[] = {
        {"json", no_argument, NULL, 'j'}, {"help", no_argument, NULL, 'h'}, {0}};
    int option;
    opterr = 0;
    optind = 1;
    while ((option = getopt_long(argc, argv, "+h", options, NULL)) != -1) {
        *json |= option == 'j';
        *help |= option == 'h';
        if (option == '?')
            return usage_error(subcommand, "%s is not understood; the only option is --json",
                               argv[optind - 1]);
    }
    if (optind < argc)
        return usage_error(subcommand, "there is no place for the word \"%s\"", argv[optind]);
    return EXIT_DONE;
}

static void add_device(pti_text *out, const polytile_device_info *info) {
    char memory[32];
    const polytile_link *link = &info->link;
    pti_text_add(out, "%s: %s\n", info->text, info->description);
    pti_text_add(out, "  memory       %s\n", pti_bytes_format(info->memory_bytes, memory));
    if (info->n_threads > 0)
        pti_text_add(out, "  threads      %d\n", info->n_threads);
    pti_text_add(out, "  to device    %.1f GB/s\n", link->upload_bytes_per_s / 1e9);
    pti_text_add(out, "  from device  %.1f GB/s\n", link->download_bytes_per_s / 1e9);
    pti_text_add(out, "  both ways    %.1f GB/s each\n", link->duplex_bytes_per_s / 1e9);
}

static void add_text(pti_text *out, const polytile_device_info *infos, int n) {
    for (int k = 0; k < n; k++)
        add_device(out, &infos[k]);
}

static json_t *json_device(const polytile_device_info *info) {
    const polytile_link *link = &info->link;
    return json_pack("{s:s, s:s, s:I, s:i, s:f, s:f, s:f, s:f, s:f, s:f}", "device", info->text,
                     "description", info->description, "memory_bytes",
                     (json_int_t)info->memory_bytes, "threads", info->n_threads,
                     "upload_bytes_per_s", link->upload_bytes_per_s, "download_bytes_per_s",
                     link->download_bytes_per_s, "duplex_bytes_per_s", link->duplex_bytes_per_s,
                     "transfer_latency_s", link->transfer_latency_s, "launch_latency_s",
                     link->launch_latency_s, "kernel_bytes_per_s", link->kernel_bytes_per_s);
}

static void add_json(pti_text *out, const polytile_device_info *infos, int n) {
    json_t *list = json_array();
    for (int k = 0; k < n; k++)
        out->failed |= json_array_append_new(list, json_device(&infos[k])) != 0;
    json_t *root = json_pack("{s:O}", "devices", list);
    char *text = root == NULL ? NULL : json_dumps(root, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
    out->failed |= text == NULL;
    if (text != NULL)
        pti_text_add(out, "%s\n", text);
    free(text);
    json_decref(root);
    json_decref(list);
}

static int print_devices(const polytile_device_info *infos, int n, bool json) {
    pti_text out = {0};
    (json ? add_json : add_text)(&out, infos, n);
    int exit_code = out.failed ? library_error(subcommand, NULL, POLYTILE_NO_MEMORY)
                               : write_result(subcommand, out.data == NULL ? "" : out.data);
    pti_text_free(&out);
    return exit_code;
}

static int list_devices(bool json) {
    enum { CAPACITY = 64 };
    static polytile_device_info infos[CAPACITY];
    polytile_context *ctx = NULL;
    int n = 0;
    polytile_status status = polytile_context_create(&ctx);
    if (status == POLYTILE_OK)
        status = polytile_devices_list(ctx, CAPACITY, infos, &n);
    int exit_code = status == POLYTILE_OK ? print_devices(infos, n < CAPACITY ? n : CAPACITY, json)
                                          : library_error(subcommand, ctx, status);
    polytile_context_destroy(ctx);
    return exit_code;
}

int devices_command(int argc, char **argv) {
    bool json = false, help = false;
    int exit_code = parse(argc, argv, &json, &help);
    if (exit_code != EXIT_DONE)
        return exit_code;
    return help ? write_result(subcommand, help_devices) : list_devices(json);
}
