#include "command.h"
#include "help.h"
#include "run_arrays.h"

#include <errno.h>
#include <inttypes.h>
#include <polytile/compile.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** What a run has; zeros: nothing yet. */
typedef struct run {
    run_arguments args;
    polytile_context *ctx;
    polytile_kernel *kernel;
    polytile_device *device;
    run_arrays arrays;
    polytile_parameter *parameters; /* owned */
    polytile_launch_options options;
} run;

static int refuse_body(const run *of, const char *why) {
    return failure(of->args.subcommand, "--body %s: cannot be read: %s", of->args.body, why);
}

/** Read a file whole as a text for free(). Returns 0, or an errno. */
static int read_text(const char *path, char **text) {
    size_t n_bytes = 0;
    FILE *file = fopen(path, "re");
    *text = NULL;
    if (file == NULL)
        return errno;
    const ssize_t length = getdelim(text, &n_bytes, '\0', file);
    const int error = ferror(file) ? errno : 0;
    fclose(file);
    if (error == 0 && length < 0 && *text != NULL)
        **text = '\0';
    return error == 0 && *text == NULL ? ENOMEM : error;
}

/** Compile a body, the words themselves or @FILE. */
static int create_kernel(run *of) {
    const char *body = of->args.body;
    char *text = NULL;
    if (*body == '@') {
        const int error = read_text(body + 1, &text);
        if (error != 0) {
            free(text);
            return refuse_body(of, strerror(error));
        }
    }
    const polytile_status status = polytile_kernel_compile(
        of->ctx, of->args.kernel, text == NULL ? body : text, NULL, &of->kernel);
    free(text);
    return status == POLYTILE_OK ? EXIT_DONE : library_error(of->args.subcommand, of->ctx, status);
}

static int open_device(run *of) {
    const polytile_status status = polytile_device_open(
        of->ctx, of->args.device == NULL ? "host" : of->args.device, &of->device);
    return status == POLYTILE_OK ? EXIT_DONE : library_error(of->args.subcommand, of->ctx, status);
}

static int fill_options(run *of) {
    of->parameters = calloc((size_t)of->args.n_parameters + 1, sizeof *of->parameters);
    if (of->parameters == NULL)
        return library_error(of->args.subcommand, NULL, POLYTILE_NO_MEMORY);
    for (int p = 0; p < of->args.n_parameters; p++)
        of->parameters[p] = of->args.parameter[p].value;
    of->options = (polytile_launch_options){.n_parameters = of->args.n_parameters,
                                            .parameters = of->parameters,
                                            .plan = {.limit_bytes = of->args.limit_bytes}};
    return EXIT_DONE;
}

/** Trace from now on, or with NULL no more. */
static polytile_status trace(const run *of, const char *path) {
    return of->args.trace == NULL ? POLYTILE_OK : polytile_device_trace(of->device, path);
}

/** Prove that the declaration has no conflicts, and that the body touches what it says. */
static polytile_status check(const run *of) {
    const run_arrays *arrays = &of->arrays;
    polytile_status status =
        polytile_check(of->kernel, &arrays->threads, arrays->n, arrays->array, &of->options);
    if (status == POLYTILE_OK)
        status = polytile_check_run(of->device, of->kernel, &arrays->threads, arrays->n,
                                    arrays->array, &of->options, NULL);
    return status;
}

static int run_kernel(run *of) {
    const run_arrays *arrays = &of->arrays;
    polytile_status status = of->args.check ? check(of) : POLYTILE_OK;
    if (status == POLYTILE_OK)
        status = trace(of, of->args.trace);
    if (status == POLYTILE_OK)
        status = polytile_run(of->device, of->kernel, &arrays->threads, arrays->n, arrays->array,
                              &of->options);
    if (status == POLYTILE_OK)
        status = trace(of, NULL);
    if (status != POLYTILE_OK)
        return library_error(of->args.subcommand, of->ctx, status);
    return run_arrays_finish(&of->args, of->ctx, arrays);
}

static int print_text(const run *of, const polytile_report *report) {
    char in[32], out[32];
    run_arrays_print(&of->arrays);
    printf("%s: %" PRId64 " sub-kernel%s on %s in %.3f s, %s in, %s out\n",
           polytile_kernel_get_name(of->kernel), report->n_kernels,
           report->n_kernels == 1 ? "" : "s", polytile_device_get_text(of->device), report->run_s,
           polytile_size_format(report->h2d_bytes, in),
           polytile_size_format(report->d2h_bytes, out));
    return finish_results(of->args.subcommand);
}

static int print_json(const run *of, const polytile_report *report) {
    json_t *values = run_arrays_to_json(&of->arrays);
    json_t *root = json_pack(
        "{s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:f, s:f, s:f, s:f, s:o}", "kernel",
        polytile_kernel_get_name(of->kernel), "device", polytile_device_get_text(of->device),
        "limit_bytes", (json_int_t)of->args.limit_bytes, "kernels", (json_int_t)report->n_kernels,
        "peak_device_bytes", (json_int_t)report->peak_device_bytes, "h2d_bytes",
        (json_int_t)report->h2d_bytes, "d2h_bytes", (json_int_t)report->d2h_bytes,
        "lower_bound_bytes", (json_int_t)report->lower_bound_bytes, "plan_s", report->plan_s,
        "total_s", report->run_s, "compute_s", report->compute_s, "transfer_s", report->transfer_s,
        "values", values);
    return write_json(of->args.subcommand, root, JSON_REAL_PRECISION(17));
}

static int print_result(const run *of) {
    polytile_report report;
    polytile_device_get_report(of->device, &report);
    return of->args.json ? print_json(of, &report) : print_text(of, &report);
}

static int create_context(run *of) {
    const polytile_status status = polytile_context_create(&of->ctx);
    return status == POLYTILE_OK ? EXIT_DONE : library_error(of->args.subcommand, NULL, status);
}

/** All that can be refused without the files is refused before. */
static int perform(run *of) {
    int exit_code = create_context(of);
    if (exit_code == EXIT_DONE)
        exit_code = create_kernel(of);
    if (exit_code == EXIT_DONE)
        exit_code = open_device(of);
    if (exit_code == EXIT_DONE)
        exit_code = fill_options(of);
    if (exit_code == EXIT_DONE)
        exit_code = run_arrays_open(&of->args, of->ctx, of->kernel, &of->arrays);
    if (exit_code == EXIT_DONE)
        exit_code = run_kernel(of);
    return exit_code == EXIT_DONE ? print_result(of) : exit_code;
}

int run_command(int argc, char **argv) {
    run of = {0};
    int exit_code = run_arguments_parse(argc, argv, &of.args);
    if (exit_code == EXIT_DONE)
        exit_code = of.args.help ? write_result(of.args.subcommand, help_run) : perform(&of);
    run_arrays_close(&of.arrays);
    polytile_context_destroy(of.ctx);
    free(of.parameters);
    run_arguments_free(&of.args);
    return exit_code;
}
