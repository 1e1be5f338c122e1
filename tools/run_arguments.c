#include "run_arguments.h"
#include "command.h"
#include "options.h"

#include <stdlib.h>
#include <string.h>

/* One handler an option; text is the option's value. Returns the exit code. */
typedef int option_handler(run_arguments *args, const char *text);

static int set_once(const run_arguments *args, const char *option, const char **member,
                    const char *text) {
    if (*member != NULL)
        return usage_error(args->subcommand, "%s is given twice; give it once", option);
    *member = text;
    return EXIT_DONE;
}

static int set_kernel(run_arguments *args, const char *text) {
    return set_once(args, "--kernel", &args->kernel, text);
}

static int set_body(run_arguments *args, const char *text) {
    return set_once(args, "--body", &args->body, text);
}

static int set_domain(run_arguments *args, const char *text) {
    return set_once(args, "--domain", &args->domain, text);
}

static int set_device(run_arguments *args, const char *text) {
    return set_once(args, "--device", &args->device, text);
}

/** Refuse a value that could not be read: it is wrong, or memory ran out. */
static int refuse_value(const run_arguments *args, const char *option, const char *text, parsed how,
                        const char *why) {
    if (how == PARSED_NO_MEMORY)
        return failure(args->subcommand, "%s %s: out of memory", option, text);
    return usage_error(args->subcommand, "%s %s: %s", option, text, why);
}

static int keep_file(run_arguments *args, const char *option, const char *text, file_value value) {
    args->file[args->n_files++] = value;
    for (int k = 0; k < args->n_files - 1; k++)
        if (strcmp(args->file[k].name, value.name) == 0)
            return usage_error(args->subcommand, "%s %s: %s is given twice; give it once", option,
                               text, value.name);
    return EXIT_DONE;
}

static int add_array(run_arguments *args, const char *text) {
    char why[WHY_SIZE];
    file_value value;
    const parsed how = parse_file(text, &value, why);
    return how == PARSED ? keep_file(args, "--array", text, value)
                         : refuse_value(args, "--array", text, how, why);
}

static int add_output(run_arguments *args, const char *text) {
    char why[WHY_SIZE];
    file_value value;
    const parsed how = parse_output(text, &value, why);
    return how == PARSED ? keep_file(args, "--output", text, value)
                         : refuse_value(args, "--output", text, how, why);
}

static int add_parameter(run_arguments *args, const char *text) {
    char why[WHY_SIZE];
    parameter_value value;
    const parsed how = parse_parameter(text, &value, why);
    if (how != PARSED)
        return refuse_value(args, "--param", text, how, why);
    args->parameter[args->n_parameters++] = value;
    for (int k = 0; k < args->n_parameters - 1; k++)
        if (strcmp(args->parameter[k].name, value.name) == 0)
            return usage_error(args->subcommand, "--param %s: %s is given twice; give it once",
                               text, value.name);
    return EXIT_DONE;
}

static int set_limit(run_arguments *args, const char *text) {
    char why[POLYTILE_SIZE_WHY_BYTES];
    if (polytile_size_parse(text, &args->limit_bytes))
        return EXIT_DONE;
    return usage_error(args->subcommand, "--limit %s: %s", text, polytile_size_explain(text, why));
}

static int set_check(run_arguments *args, const char *text) {
    (void)text;
    args->check = true;
    return EXIT_DONE;
}

static int set_json(run_arguments *args, const char *text) {
    (void)text;
    args->json = true;
    return EXIT_DONE;
}

static int set_help(run_arguments *args, const char *text) {
    (void)text;
    args->help = true;
    return EXIT_DONE;
}

static const struct {
    option_row row;
    option_handler *handle;
} table[] = {
    {{"kernel", true, false}, set_kernel}, {{"body", true, false}, set_body},
    {{"domain", true, false}, set_domain}, {{"array", true, true}, add_array},
    {{"output", true, true}, add_output},  {{"param", true, true}, add_parameter},
    {{"device", true, false}, set_device}, {{"limit", true, false}, set_limit},
    {{"check", false, false}, set_check},  {{"json", false, false}, set_json},
    {{"help", false, false}, set_help},
};

enum { N_OPTIONS = sizeof table / sizeof *table };
_Static_assert(N_OPTIONS <= (int)MAX_OPTIONS, "more options than are read");

static int handle_option(void *args, int row, const char *text) {
    return table[row].handle(args, text);
}

static int require_options(const run_arguments *args) {
    if (args->kernel == NULL)
        return usage_error(args->subcommand,
                           "--kernel is missing; declare what a thread touches, such as --kernel "
                           "'add[i]: in x[i], y[i]; out z[i]'");
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

int run_arguments_parse(int argc, char **argv, run_arguments *args) {
    option_row rows[N_OPTIONS];
    *args = (run_arguments){.subcommand = argv[0]};
    args->file = calloc((size_t)argc + 1, sizeof *args->file);
    args->parameter = calloc((size_t)argc + 1, sizeof *args->parameter);
    if (args->file == NULL || args->parameter == NULL)
        return failure(args->subcommand, "out of memory for %d arguments", argc);
    for (int k = 0; k < N_OPTIONS; k++)
        rows[k] = table[k].row;
    const int exit_code = read_options(argc, argv, N_OPTIONS, rows, handle_option, args);
    return exit_code != EXIT_DONE || args->help ? exit_code : require_options(args);
}

void run_arguments_free(run_arguments *args) {
    for (int k = 0; k < args->n_files; k++) {
        free(args->file[k].name);
        free(args->file[k].domain);
    }
    for (int k = 0; k < args->n_parameters; k++)
        free(args->parameter[k].name);
    free(args->file);
    free(args->parameter);
}
