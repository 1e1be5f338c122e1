#include "arguments.h"
#include "command.h"
#include "options.h"

#include <stdlib.h>
#include <string.h>

/* One handler an option; text is the option's value. Returns the exit code. */
typedef int option_handler(arguments *args, const char *text);

static int add_kernel(arguments *args, const char *text) {
    args->kernel[args->n_kernels++] = text;
    return EXIT_DONE;
}

static int add_domain(arguments *args, const char *text) {
    char why[WHY_SIZE];
    if (parse_domain(text, &args->domain[args->n_domains++], why))
        return EXIT_DONE;
    return usage_error(args->subcommand, "--domain %s: %s", text, why);
}

/** Refuse a value that could not be read: it is wrong, or memory ran out. */
static int refuse_value(const arguments *args, const char *option, const char *text, parsed how,
                        const char *why) {
    if (how == PARSED_NO_MEMORY)
        return failure(args->subcommand, "%s %s: out of memory", option, text);
    return usage_error(args->subcommand, "%s %s: %s", option, text, why);
}

/** The most arrays, and the most parameters: each is compared with all others. */
enum { MAX_VALUES = 4096 };

static int refuse_one_more(const arguments *args, const char *option, const char *text) {
    return usage_error(args->subcommand, "%s %s: it is one more than the %d there may be", option,
                       text, MAX_VALUES);
}

static int add_array(arguments *args, const char *text) {
    char why[WHY_SIZE];
    array_value value;
    if (args->n_arrays == MAX_VALUES)
        return refuse_one_more(args, "--array", text);
    parsed how = parse_array(text, &value, why);
    if (how != PARSED)
        return refuse_value(args, "--array", text, how, why);
    args->array[args->n_arrays++] = value;
    for (int k = 0; k < args->n_arrays - 1; k++)
        if (strcmp(args->array[k].name, value.name) == 0)
            return usage_error(args->subcommand, "--array %s: %s is given twice; give it once",
                               text, value.name);
    return EXIT_DONE;
}

static int add_parameter(arguments *args, const char *text) {
    char why[WHY_SIZE];
    parameter_value value;
    if (args->n_parameters == MAX_VALUES)
        return refuse_one_more(args, "--param", text);
    parsed how = parse_parameter(text, &value, why);
    if (how != PARSED)
        return refuse_value(args, "--param", text, how, why);
    args->parameter[args->n_parameters++] = value;
    for (int k = 0; k < args->n_parameters - 1; k++)
        if (strcmp(args->parameter[k].name, value.name) == 0)
            return usage_error(args->subcommand, "--param %s: %s is given twice; give it once",
                               text, value.name);
    return EXIT_DONE;
}

/** The most launches that a command plans. */
enum { MOST_LAUNCHES = 1000000 };

static int set_steps(arguments *args, const char *text) {
    if (parse_integer(text, &args->n_steps) && args->n_steps >= 1 && args->n_steps <= MOST_LAUNCHES)
        return EXIT_DONE;
    return usage_error(args->subcommand, "--steps %s: use a number from 1 to %d", text,
                       MOST_LAUNCHES);
}

static int add_swap(arguments *args, const char *text) {
    char why[WHY_SIZE];
    parsed how = parse_swap(text, &args->swap[args->n_swaps], why);
    if (how != PARSED)
        return refuse_value(args, "--swap", text, how, why);
    args->n_swaps++;
    return EXIT_DONE;
}

static int add_scratch(arguments *args, const char *text) {
    args->scratch[args->n_scratch++] = text;
    return EXIT_DONE;
}

static int set_launches_per_pass(arguments *args, const char *text) {
    if (strcmp(text, "auto") == 0)
        args->launches_per_pass = 0;
    else if (!parse_integer(text, &args->launches_per_pass) || args->launches_per_pass < 1)
        return usage_error(args->subcommand,
                           "--launches-per-pass %s: use a number of at least 1, or auto", text);
    args->has_launches_per_pass = true;
    return EXIT_DONE;
}

static int set_block(arguments *args, const char *text) {
    char why[WHY_SIZE];
    if (parse_extents(text, &args->n_block, args->block, why))
        return EXIT_DONE;
    return usage_error(args->subcommand, "--block %s: %s", text, why);
}

static int set_limit(arguments *args, const char *text) {
    char why[POLYTILE_SIZE_WHY_BYTES];
    if (polytile_size_parse(text, &args->limit_bytes))
        return EXIT_DONE;
    return usage_error(args->subcommand, "--limit %s: %s", text, polytile_size_explain(text, why));
}

static int set_buffers(arguments *args, const char *text) {
    int64_t n_buffers = 0;
    bool is_auto = strcmp(text, "auto") == 0;
    if (!is_auto && (!parse_integer(text, &n_buffers) || n_buffers < 1 || n_buffers > 3))
        return usage_error(args->subcommand, "--buffers %s: use 1, 2, 3 or auto", text);
    args->n_buffers = (int)n_buffers;
    return EXIT_DONE;
}

static int set_strategy(arguments *args, const char *text) {
    args->strategy = text;
    return EXIT_DONE;
}

/** The most ranks that a command plans with. */
enum { MOST_RANKS = 4096 };

static int set_ranks(arguments *args, const char *text) {
    if (parse_integer(text, &args->n_ranks) && args->n_ranks >= 1 && args->n_ranks <= MOST_RANKS)
        return EXIT_DONE;
    return usage_error(args->subcommand, "--ranks %s: use a number from 1 to %d", text, MOST_RANKS);
}

static int set_grid(arguments *args, const char *text) {
    args->grid = text;
    return EXIT_DONE;
}

static int set_layout(arguments *args, const char *text) {
    args->layout = text;
    return EXIT_DONE;
}

static int set_launches_per_exchange(arguments *args, const char *text) {
    args->has_launches_per_exchange = true;
    args->launches_per_exchange = 0;
    if (strcmp(text, "auto") == 0 ||
        (parse_integer(text, &args->launches_per_exchange) && args->launches_per_exchange >= 1))
        return EXIT_DONE;
    return usage_error(args->subcommand,
                       "--launches-per-exchange %s: use a number of at least 1, or auto", text);
}

static int set_json(arguments *args, const char *text) {
    (void)text;
    args->json = true;
    return EXIT_DONE;
}

static int set_svg(arguments *args, const char *text) {
    if (*text == '\0')
        return usage_error(args->subcommand, "--svg: the name of the file is empty");
    args->svg = text;
    return EXIT_DONE;
}

static int set_help(arguments *args, const char *text) {
    (void)text;
    args->help = true;
    return EXIT_DONE;
}

static const struct {
    option_row row;
    option_handler *handle;
} table[] = {
    {{"kernel", true, false}, add_kernel},
    {{"domain", true, false}, add_domain},
    {{"array", true, true}, add_array},
    {{"param", true, true}, add_parameter},
    {{"steps", true, false}, set_steps},
    {{"swap", true, true}, add_swap},
    {{"scratch", true, true}, add_scratch},
    {{"launches-per-pass", true, false}, set_launches_per_pass},
    {{"block", true, false}, set_block},
    {{"limit", true, false}, set_limit},
    {{"buffers", true, false}, set_buffers},
    {{"strategy", true, false}, set_strategy},
    {{"ranks", true, false}, set_ranks},
    {{"grid", true, false}, set_grid},
    {{"layout", true, false}, set_layout},
    {{"launches-per-exchange", true, false}, set_launches_per_exchange},
    {{"json", false, false}, set_json},
    {{"svg", true, false}, set_svg},
    {{"help", false, false}, set_help},
};

enum { N_OPTIONS = sizeof table / sizeof *table };
_Static_assert(N_OPTIONS <= (int)MAX_OPTIONS, "more options than are read");

static int handle_option(void *args, int row, const char *text) {
    return table[row].handle(args, text);
}

static int parse_options(int argc, char **argv, arguments *args) {
    option_row rows[N_OPTIONS];
    for (int k = 0; k < N_OPTIONS; k++)
        rows[k] = table[k].row;
    return read_options(argc, argv, N_OPTIONS, rows, handle_option, args);
}

bool arguments_are_of_chain(const arguments *args) {
    return args->n_kernels > 1 || args->n_steps > 0 || args->n_swaps > 0 || args->n_scratch > 0 ||
           args->has_launches_per_pass;
}

const char *arguments_ranks_option(const arguments *args) {
    if (args->grid != NULL)
        return "--grid";
    if (args->layout != NULL)
        return "--layout";
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
    if (option != NULL && args->n_ranks == 0)
        return usage_error(args->subcommand,
                           "%s is of plans over ranks; give their number, such as --ranks 4",
                           option);
    return EXIT_DONE;
}

static int require_options(const arguments *args) {
    if (args->n_kernels == 0)
        return usage_error(args->subcommand,
                           "--kernel is missing; declare what a thread touches, such as --kernel "
                           "'add[i]: in x[i], y[i]; out z[i]'");
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
    int exit_code = parse_options(argc, argv, args);
    return exit_code != EXIT_DONE || args->help ? exit_code : require_options(args);
}

void arguments_free(arguments *args) {
    for (int k = 0; k < args->n_arrays; k++)
        free(args->array[k].name);
    for (int k = 0; k < args->n_parameters; k++)
        free(args->parameter[k].name);
    for (int k = 0; k < args->n_swaps; k++) {
        free(args->swap[k].one);
        free(args->swap[k].other);
    }
    free(args->kernel);
    free(args->domain);
    free(args->array);
    free(args->parameter);
    free(args->swap);
    free(args->scratch);
}
