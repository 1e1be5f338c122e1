#include "command.h"
#include "help.h"
#include "options.h"
#include "print_forms.h"
#include "values.h"

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

static int take_policy(void *of, const char *text) {
    policies_arguments *args = of;
    const char ***list = (const char ***)(uintptr_t)&args->request.policies;
    const char **longer =
        realloc((void *)*list, (size_t)(args->request.n_policies + 1) * sizeof *longer);
    if (longer == NULL)
        return refuse_memory();
    longer[args->request.n_policies++] = text;
    *list = longer;
    return EXIT_DONE;
}

static int take_speeds(void *of, const char *text) {
    policies_arguments *args = of;
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

static int take_nodes(void *of, const char *text) {
    policies_arguments *args = of;
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

static int take_rows(void *of, const char *text) {
    policies_arguments *args = of;
    if (parse_integer(text, &args->request.n_rows) && args->request.n_rows >= 1)
        return EXIT_DONE;
    return usage_error(subcommand, "--rows %s: give a number of rows, at least 1", text);
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
    static const option_row rows[] = {
        {"speeds", OPTION_VALUE, 0, take_speeds},
        {"nodes", OPTION_VALUE, 0, take_nodes},
        {"rows", OPTION_VALUE, 0, take_rows},
        {"costs", OPTION_TEXT, offsetof(policies_arguments, costs), NULL},
        {"policy", OPTION_VALUE, 0, take_policy},
        {"svg", OPTION_TEXT, offsetof(policies_arguments, svg), NULL},
        {"json", OPTION_FLAG, offsetof(policies_arguments, json), NULL},
        {"help", OPTION_FLAG, offsetof(policies_arguments, help), NULL},
    };
    const int exit_code = read_options(argc, argv, sizeof rows / sizeof *rows, rows, args);
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

static polytile_status write_simulation(const void *simulation, polytile_format format,
                                        char **text) {
    return polytile_simulation_to_string(simulation, format, text);
}

static int simulate(polytile_context *ctx, policies_arguments *args) {
    polytile_simulation *simulation = NULL;
    const int exit_code = args->costs == NULL ? EXIT_DONE : read_costs(ctx, args);
    if (exit_code != EXIT_DONE)
        return exit_code;
    polytile_status status = polytile_simulation_create(ctx, &args->request, &simulation);
    if (status != POLYTILE_OK)
        return library_error(subcommand, ctx, status);
    return print_forms(subcommand, ctx, write_simulation, simulation, args->svg, args->json);
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
