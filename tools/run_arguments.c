#include "run_arguments.h"
#include "command.h"
#include "option_values.h"
#include "options.h"

#include <stdlib.h>
#include <string.h>

static int keep_file(run_arguments *args, const char *option, const char *text, file_value value) {
    args->file[args->n_files++] = value;
    for (int k = 0; k < args->n_files - 1; k++)
        if (strcmp(args->file[k].name, value.name) == 0)
            return refuse_second_name(args->subcommand, option, text, value.name);
    return EXIT_DONE;
}

/** Parse an array of a run, which has to be there or is created. */
typedef parsed file_parser(const char *text, file_value *value, char *why);

static int add_file(run_arguments *args, const char *option, file_parser *parse, const char *text) {
    char why[WHY_SIZE];
    file_value value;
    const parsed how = parse(text, &value, why);
    return how == PARSED ? keep_file(args, option, text, value)
                         : refuse_value(args->subcommand, option, text, how, why);
}

static int take_array(void *args, const char *text) {
    return add_file(args, "--array", parse_file, text);
}

static int take_output(void *args, const char *text) {
    return add_file(args, "--output", parse_output, text);
}

static int take_parameter(void *of, const char *text) {
    run_arguments *args = of;
    return add_parameter(args->subcommand, text, &args->n_parameters, args->parameter);
}

static const option_row rows[] = {
    {"kernel", OPTION_ONCE, offsetof(run_arguments, kernel), NULL},
    {"body", OPTION_ONCE, offsetof(run_arguments, body), NULL},
    {"domain", OPTION_ONCE, offsetof(run_arguments, domain), NULL},
    {"array", OPTION_VALUES, 0, take_array},
    {"output", OPTION_VALUES, 0, take_output},
    {"param", OPTION_VALUES, 0, take_parameter},
    {"device", OPTION_ONCE, offsetof(run_arguments, device), NULL},
    {"limit", OPTION_SIZE, offsetof(run_arguments, limit_bytes), NULL},
    {"trace", OPTION_ONCE, offsetof(run_arguments, trace), NULL},
    {"check", OPTION_FLAG, offsetof(run_arguments, check), NULL},
    {"json", OPTION_FLAG, offsetof(run_arguments, json), NULL},
    {"help", OPTION_FLAG, offsetof(run_arguments, help), NULL},
};

enum { N_OPTIONS = sizeof rows / sizeof *rows };
_Static_assert(N_OPTIONS <= (int)MAX_OPTIONS, "more options than are read");

static int require_options(const run_arguments *args) {
    if (args->kernel == NULL)
        return refuse_missing_kernel(args->subcommand);
    if (args->body == NULL)
        return usage_error(args->subcommand,
                           "--body is missing; say what a thread does, such as --body 'z(i) = x(i) "
                           "+ y(i);', or --body @FILE");
    if (args->domain == NULL)
        return usage_error(args->subcommand,
                           "--domain is missing; give the threads, such as --domain x.0 for one "
                           "each element of x");
    return EXIT_DONE;
}

/** The trace may not be written over an array, nor the other way round. */
static int refuse_shared_trace(const run_arguments *args) {
    for (int k = 0; k < args->n_files && args->trace != NULL; k++) {
        const char *path = args->file[k].path;
        if (path != NULL && (strcmp(path, args->trace) == 0 || is_same_file(path, args->trace)))
            return usage_error(args->subcommand,
                               "--trace %s is the file of array %s, which the trace would replace; "
                               "name another file",
                               args->trace, args->file[k].name);
    }
    return EXIT_DONE;
}

int run_arguments_parse(int argc, char **argv, run_arguments *args) {
    *args = (run_arguments){.subcommand = argv[0]};
    args->file = calloc((size_t)argc + 1, sizeof *args->file);
    args->parameter = calloc((size_t)argc + 1, sizeof *args->parameter);
    if (args->file == NULL || args->parameter == NULL)
        return failure(args->subcommand, "out of memory for %d arguments", argc);
    int exit_code = read_options(argc, argv, N_OPTIONS, rows, args);
    if (exit_code == EXIT_DONE && !args->help)
        exit_code = require_options(args);
    return exit_code == EXIT_DONE && !args->help ? refuse_shared_trace(args) : exit_code;
}

void run_arguments_free(run_arguments *args) {
    for (int k = 0; k < args->n_files; k++) {
        free(args->file[k].name);
        free(args->file[k].domain);
    }
    free(args->file);
    free_parameters(args->n_parameters, args->parameter);
}
