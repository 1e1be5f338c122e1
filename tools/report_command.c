#include "command.h"
#include "help.h"
#include "options.h"
#include "print_forms.h"

#include <polytile/trace.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static const char subcommand[] = "report";

/** The arguments; members of zero are options not given. */
typedef struct report_arguments {
    const char *trace; /* a path, as the other one */
    const char *output;
    bool json;
    bool help;
} report_arguments;

static const option_row rows[] = {
    {NULL, OPTION_WORD, offsetof(report_arguments, trace), NULL},
    {"output", OPTION_ONCE, offsetof(report_arguments, output), NULL},
    {"json", OPTION_FLAG, offsetof(report_arguments, json), NULL},
    {"help", OPTION_FLAG, offsetof(report_arguments, help), NULL},
};

static polytile_status write_trace(const void *trace, polytile_format format, char **text) {
    return polytile_trace_to_string(trace, format, text);
}

static int write_report(const polytile_context *ctx, const polytile_trace *trace,
                        const report_arguments *args) {
    int exit_code = EXIT_DONE;
    if (args->output != NULL)
        exit_code = print_form(subcommand, ctx, write_trace, trace, POLYTILE_HTML, args->output);
    if (exit_code == EXIT_DONE)
        exit_code = print_form(subcommand, ctx, write_trace, trace,
                               args->json ? POLYTILE_JSON : POLYTILE_TEXT, NULL);
    return exit_code;
}

static int report_in_context(const report_arguments *args) {
    polytile_context *ctx = NULL;
    polytile_trace *trace = NULL;
    polytile_status status = polytile_context_create(&ctx);
    if (status == POLYTILE_OK)
        status = polytile_trace_read(ctx, args->trace, &trace);
    int exit_code = status == POLYTILE_OK ? write_report(ctx, trace, args)
                                          : library_error(subcommand, ctx, status);
    polytile_context_destroy(ctx);
    return exit_code;
}

int report_command(int argc, char **argv) {
    report_arguments args = {0};
    const int exit_code = read_options(argc, argv, sizeof rows / sizeof *rows, rows, &args);
    if (exit_code != EXIT_DONE)
        return exit_code;
    if (args.help)
        return write_result(subcommand, help_report);
    if (args.trace == NULL)
        return usage_error(subcommand, "no trace is named; give a file that --trace wrote");
    if (args.output != NULL && is_same_file(args.trace, args.output))
        return usage_error(subcommand,
                           "--output %s is the trace itself, which the page would replace; name "
                           "another file",
                           args.output);
    return report_in_context(&args);
}
