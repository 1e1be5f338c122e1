#include "arguments.h"
#include "command.h"
#include "option_values.h"
#include "options.h"

#include <stdlib.h>
#include <string.h>

/** The most launches that a command plans, and the most ranks that it plans with. */
enum { MOST_LAUNCHES = 1000000, MOST_RANKS = 4096, MOST_FILL_THREADS = 1 << 30 };

static int take_kernel(void *of, const char *text) {
    arguments *args = of;
    args->kernel[args->n_kernels++] = text;
    return EXIT_DONE;
}

static int take_domain(void *of, const char *text) {
    char why[WHY_SIZE];
    arguments *args = of;
    if (parse_domain(text, &args->domain[args->n_domains++], why))
        return EXIT_DONE;
    return refuse_value(args->subcommand, "--domain", text, PARSED_REFUSED, why);
}

static int take_array(void *of, const char *text) {
    char why[WHY_SIZE];
    array_value value;
    arguments *args = of;
    const int exit_code = check_room(args->subcommand, "--array", text, args->n_arrays);
    if (exit_code != EXIT_DONE)
        return exit_code;
    const parsed how = parse_array(text, &value, why);
    if (how != PARSED)
        return refuse_value(args->subcommand, "--array", text, how, why);
    args->array[args->n_arrays++] = value;
    for (int k = 0; k < args->n_arrays - 1; k++)
        if (strcmp(args->array[k].name, value.name) == 0)
            return refuse_second_name(args->subcommand, "--array", text, value.name);
    return EXIT_DONE;
}

static int take_parameter(void *of, const char *text) {
    arguments *args = of;
    return add_parameter(args->subcommand, text, &args->n_parameters, args->parameter);
}

static int take_swap(void *of, const char *text) {
    char why[WHY_SIZE];
    arguments *args = of;
    const parsed how = parse_swap(text, &args->swap[args->n_swaps], why);
    if (how != PARSED)
        return refuse_value(args->subcommand, "--swap", text, how, why);
    args->n_swaps++;
    return EXIT_DONE;
}

static int take_scratch(void *of, const char *text) {
    arguments *args = of;
    args->scratch[args->n_scratch++] = text;
    return EXIT_DONE;
}

static int set_count(const arguments *args, const char *option, const char *text, int most,
                     int64_t *count) {
    if (parse_integer(text, count) && *count >= 1 && *count <= most)
        return EXIT_DONE;
    return usage_error(args->subcommand, "%s %s: use a number from 1 to %d", option, text, most);
}

static int take_steps(void *of, const char *text) {
    arguments *args = of;
    return set_count(args, "--steps", text, MOST_LAUNCHES, &args->n_steps);
}

static int take_ranks(void *of, const char *text) {
    arguments *args = of;
    return set_count(args, "--ranks", text, MOST_RANKS, &args->n_ranks);
}

/** Set a count, which is 0 for auto. */
static int set_count_or_auto(const arguments *args, const char *option, const char *text,
                             int64_t *count) {
    *count = 0;
    if (strcmp(text, "auto") == 0 || (parse_integer(text, count) && *count >= 1))
        return EXIT_DONE;
    return usage_error(args->subcommand, "%s %s: use a number of at least 1, or auto", option,
                       text);
}

static int take_launches_per_pass(void *of, const char *text) {
    arguments *args = of;
    args->has_launches_per_pass = true;
    return set_count_or_auto(args, "--launches-per-pass", text, &args->launches_per_pass);
}

static int take_launches_per_exchange(void *of, const char *text) {
    arguments *args = of;
    args->has_launches_per_exchange = true;
    return set_count_or_auto(args, "--launches-per-exchange", text, &args->launches_per_exchange);
}

static int take_block(void *of, const char *text) {
    char why[WHY_SIZE];
    arguments *args = of;
    if (parse_extents(text, &args->n_block, args->block, why))
        return EXIT_DONE;
    return refuse_value(args->subcommand, "--block", text, PARSED_REFUSED, why);
}

static int take_buffers(void *of, const char *text) {
    int64_t n_buffers = 0;
    arguments *args = of;
    const bool is_auto = strcmp(text, "auto") == 0;
    if (!is_auto && (!parse_integer(text, &n_buffers) || n_buffers < 1 || n_buffers > 3))
        return usage_error(args->subcommand, "--buffers %s: use 1, 2, 3 or auto", text);
    args->n_buffers = (int)n_buffers;
    return EXIT_DONE;
}

static int take_fill_threads(void *of, const char *text) {
    arguments *args = of;
    return set_count(args, "--fill-threads", text, MOST_FILL_THREADS, &args->fill_threads);
}

static int take_svg(void *of, const char *text) {
    arguments *args = of;
    args->svg = text;
    if (*text != '\0')
        return EXIT_DONE;
    return usage_error(args->subcommand, "--svg: the name of the file is empty");
}

/** Whether devices are listed with commas between them, outside parentheses. */
static bool has_commas(const char *devices) {
    int depth = 0;
    while (*devices != '\0' && (*devices != ',' || depth > 0)) {
        depth += *devices == '(' ? 1 : *devices == ')' ? -1 : 0;
        devices++;
    }
    return *devices == ',';
}

static const option_row rows[] = {
    {"kernel", OPTION_VALUE, 0, take_kernel},
    {"domain", OPTION_VALUE, 0, take_domain},
    {"array", OPTION_VALUES, 0, take_array},
    {"param", OPTION_VALUES, 0, take_parameter},
    {"steps", OPTION_VALUE, 0, take_steps},
    {"swap", OPTION_VALUES, 0, take_swap},
    {"scratch", OPTION_VALUES, 0, take_scratch},
    {"launches-per-pass", OPTION_VALUE, 0, take_launches_per_pass},
    {"block", OPTION_VALUE, 0, take_block},
    {"limit", OPTION_SIZE, offsetof(arguments, limit_bytes), NULL},
    {"buffers", OPTION_VALUE, 0, take_buffers},
    {"fill-threads", OPTION_VALUE, 0, take_fill_threads},
    {"strategy", OPTION_TEXT, offsetof(arguments, strategy), NULL},
    {"ranks", OPTION_VALUE, 0, take_ranks},
    {"device", OPTION_TEXT, offsetof(arguments, device), NULL},
    {"attached", OPTION_FLAG, offsetof(arguments, attached), NULL},
    {"linked", OPTION_FLAG, offsetof(arguments, linked), NULL},
    {"grid", OPTION_TEXT, offsetof(arguments, grid), NULL},
    {"layout", OPTION_TEXT, offsetof(arguments, layout), NULL},
    {"launches-per-exchange", OPTION_VALUE, 0, take_launches_per_exchange},
    {"json", OPTION_FLAG, offsetof(arguments, json), NULL},
    {"svg", OPTION_VALUE, 0, take_svg},
    {"help", OPTION_FLAG, offsetof(arguments, help), NULL},
};

enum { N_OPTIONS = sizeof rows / sizeof *rows };
_Static_assert(N_OPTIONS <= (int)MAX_OPTIONS, "more options than are read");

bool arguments_are_of_chain(const arguments *args) {
    return args->n_kernels > 1 || args->n_steps > 0 || args->n_swaps > 0 || args->n_scratch > 0 ||
           args->has_launches_per_pass;
}

const char *arguments_ranks_option(const arguments *args) {
    if (args->grid != NULL)
        return "--grid";
    if (args->layout != NULL)
        return "--layout";
    if (args->attached)
        return "--attached";
    if (args->linked)
        return "--linked";
    return args->has_launches_per_exchange ? "--launches-per-exchange" : NULL;
}

static int check_counts(const arguments *args) {
    if (args->n_domains > 1 && args->n_domains != args->n_kernels)
        return usage_error(args->subcommand,
                           "--domain is given %d times, and --kernel %d time%s; give one for all "
                           "kernels, or one for each",
                           args->n_domains, args->n_kernels, args->n_kernels == 1 ? "" : "s");
    if (args->n_steps > MOST_LAUNCHES / args->n_kernels)
        return usage_error(args->subcommand, "--steps of %d kernels: there can be %d launches",
                           args->n_kernels, MOST_LAUNCHES);
    const char *option = arguments_ranks_option(args);
    if (option != NULL && args->n_ranks == 0 && args->device == NULL)
        return usage_error(
            args->subcommand, "%s is of plans over %s; give %s--device cuda:0,cuda:1", option,
            args->linked ? "devices" : "ranks or devices", args->linked ? "" : "--ranks 4, or ");
    if (args->n_ranks > 0 && args->device != NULL && has_commas(args->device))
        return usage_error(args->subcommand,
                           "--device %s: with --ranks, all ranks have the same devices; write + "
                           "between those of a rank",
                           args->device);
    return EXIT_DONE;
}

static int require_options(const arguments *args) {
    if (args->n_kernels == 0)
        return refuse_missing_kernel(args->subcommand);
    if (args->n_domains == 0)
        return usage_error(args->subcommand,
                           "--domain is missing; give the threads, such as --domain 8192x8192");
    return check_counts(args);
}

/** Allocate lists with a place for each word. False when memory runs out. */
static bool make_lists(arguments *args, size_t most) {
    args->kernel = calloc(most, sizeof *args->kernel);
    args->domain = calloc(most, sizeof *args->domain);
    args->array = calloc(most, sizeof *args->array);
    args->parameter = calloc(most, sizeof *args->parameter);
    args->swap = calloc(most, sizeof *args->swap);
    args->scratch = calloc(most, sizeof *args->scratch);
    return args->kernel != NULL && args->domain != NULL && args->array != NULL &&
           args->parameter != NULL && args->swap != NULL && args->scratch != NULL;
}

int arguments_parse(int argc, char **argv, arguments *args) {
    *args = (arguments){.subcommand = argv[0]};
    if (!make_lists(args, (size_t)argc + 1))
        return failure(args->subcommand, "out of memory for %d arguments", argc);
    const int exit_code = read_options(argc, argv, N_OPTIONS, rows, args);
    return exit_code != EXIT_DONE || args->help ? exit_code : require_options(args);
}

void arguments_free(arguments *args) {
    for (int k = 0; k < args->n_arrays; k++)
        free(args->array[k].name);
    free_parameters(args->n_parameters, args->parameter);
    for (int k = 0; k < args->n_swaps; k++) {
        free(args->swap[k].one);
        free(args->swap[k].other);
    }
    free(args->kernel);
    free(args->domain);
    free(args->array);
    free(args->swap);
    free(args->scratch);
}
