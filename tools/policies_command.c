#include "command.h"
#include "help.h"
#include "values.h"

#include <getopt.h>
#include <polytile/policy.h>
#include <stdlib.h>

static const char subcommand[] = "policies";

/** The arguments; members of zero are options not given. */
typedef struct policies_arguments {
    polytile_simulation_request request; /* with lists that are owned, but for the costs */
    const char *costs;                   /* a path */
    const char *svg;
    bool json;
    bool help;
} policies_arguments;

static int refuse_memory(void) {
    return library_error(subcommand, NULL, POLYTILE_NO_MEMORY);
}

static int add_policy(policies_arguments *args, const char *text) {
    const char ***list = (const char ***)(uintptr_t)&args->request.policies;
    const char **longer =
        realloc((void *)*list, (size_t)(args->request.n_policies + 1) * sizeof *longer);
    if (longer == NULL)
        return refuse_memory();
    longer[args->request.n_policies++] = text;
    *list = longer;
    return EXIT_DONE;
}

static int set_speeds(policies_arguments *args, const char *text) {
    double *speeds;
    free((void *)(uintptr_t)args->request.speeds);
    args->request.speeds = NULL;
    parsed how = parse_numbers(text, &args->request.n_units, &speeds);
    args->request.speeds = speeds;
    if (how == PARSED_NO_MEMORY)
        return refuse_memory();
    return how == PARSED ? EXIT_DONE
                         : usage_error(subcommand,
                                       "--speeds %s: give numbers with commas between them, such "
                                       "as 8,1,1",
                                       text);
}

/** How many units a node has, as a number of them. */
static bool is_count(double number) {
    return number >= 1 && number <= 1e6 && number == (double)(int)number;
}

static int set_nodes(policies_arguments *args, const char *text) {
    double *numbers;
    int n_nodes;
    parsed how = parse_numbers(text, &n_nodes, &numbers);
    int *units = how == PARSED ? calloc((size_t)n_nodes, sizeof *units) : NULL;
    for (int n = 0; units != NULL && n < n_nodes; n++) {
        how = is_count(numbers[n]) && how == PARSED ? PARSED : PARSED_REFUSED;
        units[n] = how == PARSED ? (int)numbers[n] : 0;
    }
    free(numbers);
    free((void *)(uintptr_t)args->request.node_units);
    args->request.node_units = units;
    args->request.n_nodes = n_nodes;
    if (how == PARSED_REFUSED)
        return usage_error(subcommand, "--nodes %s: give how many units each has, such as 1,2",
                           text);
    return units == NULL ? refuse_memory() : EXIT_DONE;
}

static int set_rows(policies_arguments *args, const char *text) {
    if (parse_integer(text, &args->request.n_rows) && args->request.n_rows >= 1)
        return EXIT_DONE;
    return usage_error(subcommand, "--rows %s: give a number of rows, at least 1", text);
}

static int set_option(policies_arguments *args, int option, const char *text) {
    args->json |= option == 'j';
    args->help |= option == 'h';
    args->svg = option == 'v' ? text : args->svg;
    args->costs = option == 'c' ? text : args->costs;
    switch (option) {
    case 's':
        return set_speeds(args, text);
    case 'n':
        return set_nodes(args, text);
    case 'r':
        return set_rows(args, text);
    case 'p':
        return add_policy(args, text);
    default:
        return EXIT_DONE;
    }
}

static int check_given(const policies_arguments *args) {
    if (args->help)
        return EXIT_DONE;
    if (args->request.n_units == 0)
        return usage_error(subcommand,
                           "--speeds is missing: give one number a unit, such as 8,1,1");
    if ((args->request.n_rows > 0) == (args->costs != NULL))
        return usage_error(subcommand, "give %s --rows N and --costs FILE.npy",
                           args->costs == NULL ? "one of" : "not both of");
    return EXIT_DONE;
}

static int parse(int argc, char **argv, policies_arguments *args) {
    static const struct option options[] = {{"speeds", required_argument, NULL, 's'},
                                            {"nodes", required_argument, NULL, 'n'},
                                            {"rows", required_argument, NULL, 'r'},
                                            {"costs", required_argument, NULL, 'c'},
                                            {"policy", required_argument, NULL, 'p'},
                                            {"svg", required_argument, NULL, 'v'},
                                            {"json", no_argument, NULL, 'j'},
                                            {"help", no_argument, NULL, 'h'},
                                            {0}};
    int option, exit_code = EXIT_DONE;
    opterr = 0;
    optind = 1;
    while (exit_code == EXIT_DONE &&
           (option = getopt_long(argc, argv, "+:h", options, NULL)) != -1) {
        if (option == ':')
            exit_code = usage_error(subcommand, "%s needs a value", argv[optind - 1]);
        else if (option == '?')
            exit_code = usage_error(subcommand, "%s is not understood", argv[optind - 1]);
        else
            exit_code = set_option(args, option, optarg);
    }
    if (exit_code == EXIT_DONE && optind < argc)
        exit_code = usage_error(subcommand, "there is no place for the word \"%s\"", argv[optind]);
    return exit_code == EXIT_DONE ? check_given(args) : exit_code;
}

/** The costs of a file, which the context maps. */
static int read_costs(polytile_context *ctx, policies_arguments *args) {
    polytile_array *costs = NULL;
    polytile_status status = polytile_npy_open(ctx, "costs", args->costs, false, &costs);
    if (status != POLYTILE_OK) {
        int exit_code = library_error(subcommand, ctx, status);
        return status == POLYTILE_NO_MEMORY ? exit_code : EXIT_USAGE;
    }
    if (polytile_array_get_type(costs) != POLYTILE_F64)
        return usage_error(subcommand, "--costs %s: its elements are no f64", args->costs);
    const polytile_domain *domain = polytile_array_get_domain(costs);
    args->request.costs = polytile_array_get_data(costs);
    args->request.n_rows = 1;
    for (int d = 0; d < domain->n_dims; d++)
        args->request.n_rows *= domain->range[d].hi - domain->range[d].lo + 1;
    return EXIT_DONE;
}

static int print_form(polytile_context *ctx, const polytile_simulation *simulation,
                      polytile_format format, const char *path) {
    char *text = NULL;
    polytile_status status = polytile_simulation_to_string(simulation, format, &text);
    if (status != POLYTILE_OK)
        return library_error(subcommand, ctx, status);
    int exit_code =
        path != NULL ? write_file(subcommand, path, text) : write_result(subcommand, text);
    free(text);
    return exit_code;
}

static int simulate(polytile_context *ctx, policies_arguments *args) {
    polytile_simulation *simulation = NULL;
    int exit_code = args->costs == NULL ? EXIT_DONE : read_costs(ctx, args);
    if (exit_code != EXIT_DONE)
        return exit_code;
    polytile_status status = polytile_simulation_create(ctx, &args->request, &simulation);
    if (status != POLYTILE_OK)
        return library_error(subcommand, ctx, status);
    if (args->svg != NULL)
        exit_code = print_form(ctx, simulation, POLYTILE_SVG, args->svg);
    if (exit_code == EXIT_DONE)
        exit_code = print_form(ctx, simulation, args->json ? POLYTILE_JSON : POLYTILE_TEXT, NULL);
    return exit_code;
}

static int simulate_in_context(policies_arguments *args) {
    polytile_context *ctx = NULL;
    polytile_status status = polytile_context_create(&ctx);
    int exit_code =
        status == POLYTILE_OK ? simulate(ctx, args) : library_error(subcommand, ctx, status);
    polytile_context_destroy(ctx);
    return exit_code;
}

int policies_command(int argc, char **argv) {
    policies_arguments args = {0};
    int exit_code = parse(argc, argv, &args);
    if (exit_code == EXIT_DONE)
        exit_code =
            args.help ? write_result(subcommand, help_policies) : simulate_in_context(&args);
    free((void *)(uintptr_t)args.request.speeds);
    free((void *)(uintptr_t)args.request.node_units);
    free((void *)(uintptr_t)args.request.policies);
    return exit_code;
}
