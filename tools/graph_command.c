#include "command.h"
#include "help.h"
#include "options.h"
#include "print_forms.h"

#include <polytile/graph.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char subcommand[] = "graph";

/** The arguments; members of zero are options not given. */
typedef struct graph_arguments {
    const char *path;
    const char *machine;
    const char *profile;
    const char *dot;
    const char *svg;
    polytile_graph_options options;
    bool json;
    bool help;
} graph_arguments;

/** Set a choice of two words; false: it is neither. */
static bool choose(const char *text, const char *no, const char *yes, bool *chosen) {
    *chosen = strcmp(text, yes) == 0;
    return *chosen || strcmp(text, no) == 0;
}

static int take_map(void *of, const char *text) {
    graph_arguments *args = of;
    args->options.keep_map = false;
    args->options.in_turn = strcmp(text, "turns") == 0;
    args->options.in_parts = strcmp(text, "parts") == 0;
    return args->options.in_turn || args->options.in_parts ||
                   choose(text, "auto", "keep", &args->options.keep_map)
               ? EXIT_DONE
               : usage_error(subcommand, "--map %s: use auto, keep, turns or parts", text);
}

static int take_overlap(void *of, const char *text) {
    graph_arguments *args = of;
    return choose(text, "on", "off", &args->options.no_overlap)
               ? EXIT_DONE
               : usage_error(subcommand, "--overlap %s: use on or off", text);
}

static int parse(int argc, char **argv, graph_arguments *args) {
    static const option_row rows[] = {
        {NULL, OPTION_WORD, offsetof(graph_arguments, path), NULL},
        {"machine", OPTION_TEXT, offsetof(graph_arguments, machine), NULL},
        {"map", OPTION_VALUE, 0, take_map},
        {"overlap", OPTION_VALUE, 0, take_overlap},
        {"objective", OPTION_TEXT, offsetof(graph_arguments, options.objective), NULL},
        {"strategy", OPTION_TEXT, offsetof(graph_arguments, options.strategy), NULL},
        {"superblocks", OPTION_FLAG, offsetof(graph_arguments, options.in_superblocks), NULL},
        {"profile", OPTION_TEXT, offsetof(graph_arguments, profile), NULL},
        {"dot", OPTION_TEXT, offsetof(graph_arguments, dot), NULL},
        {"svg", OPTION_TEXT, offsetof(graph_arguments, svg), NULL},
        {"json", OPTION_FLAG, offsetof(graph_arguments, json), NULL},
        {"help", OPTION_FLAG, offsetof(graph_arguments, help), NULL},
    };
    const int exit_code = read_options(argc, argv, sizeof rows / sizeof *rows, rows, args);
    if (exit_code == EXIT_DONE && args->path == NULL && !args->help)
        return usage_error(subcommand, "the graph is missing: name its file, FILE.dot");
    return exit_code;
}

/** Files that are named but cannot be read are wrong usage. */
static int report_read(polytile_context *ctx, polytile_status status) {
    const int exit_code = library_error(subcommand, ctx, status);
    return status == POLYTILE_IO ? EXIT_USAGE : exit_code;
}

/* Measured seconds and rates, as polytile_stream_to_json() writes them, or seconds as --json
 * does. */

/** What they are of. */
typedef struct measured {
    polytile_graph *graph;
    polytile_machine *machine;
} measured;

/** The parts of an actor stand one after the other, and make its seconds together. */
static int set_measured(polytile_context *ctx, polytile_graph *graph, const char *path,
                        const json_t *actor, double *seconds_s) {
    const char *name = json_string_value(json_object_get(actor, "name"));
    const json_t *seconds = json_object_get(actor, "seconds");
    if (name == NULL || !json_is_number(seconds))
        return usage_error(subcommand, "--profile %s: an actor has a \"name\" and \"seconds\"",
                           path);
    const bool is_later_part = json_integer_value(json_object_get(actor, "part")) > 0;
    *seconds_s = (is_later_part ? *seconds_s : 0) + json_number_value(seconds);
    const polytile_status status = polytile_graph_set_seconds(graph, name, *seconds_s);
    return status == POLYTILE_OK ? EXIT_DONE : library_error(subcommand, ctx, status);
}

static int set_rate(polytile_context *ctx, polytile_machine *machine, const char *path,
                    const json_t *link) {
    const char *from = json_string_value(json_object_get(link, "from"));
    const char *to = json_string_value(json_object_get(link, "to"));
    const json_t *rate = json_object_get(link, "bytes_per_s");
    if (from == NULL || to == NULL || !json_is_number(rate))
        return usage_error(subcommand,
                           "--profile %s: a link has \"from\", \"to\" and \"bytes_per_s\"", path);
    const polytile_status status =
        polytile_machine_set_rate(machine, from, to, json_number_value(rate));
    return status == POLYTILE_OK ? EXIT_DONE : library_error(subcommand, ctx, status);
}

/** Links may be missing: plans in JSON have none. */
static int take_profile(polytile_context *ctx, const measured *to, const char *path,
                        const json_t *root) {
    const json_t *actors = json_object_get(root, "actors");
    const json_t *links = json_object_get(root, "links");
    int exit_code = EXIT_DONE;
    double seconds_s = 0;
    size_t k;
    json_t *entry;
    if (!json_is_array(actors))
        return usage_error(subcommand, "--profile %s: it has no list \"actors\"", path);
    if (links != NULL && !json_is_array(links))
        return usage_error(subcommand, "--profile %s: \"links\" is no list", path);
    json_array_foreach(actors, k, entry) {
        if (exit_code == EXIT_DONE)
            exit_code = set_measured(ctx, to->graph, path, entry, &seconds_s);
    }
    json_array_foreach(links, k, entry) {
        if (exit_code == EXIT_DONE)
            exit_code = set_rate(ctx, to->machine, path, entry);
    }
    return exit_code;
}

static int read_profile(polytile_context *ctx, const measured *to, const char *path) {
    json_error_t error;
    json_t *root = json_load_file(path, 0, &error);
    if (root == NULL)
        return usage_error(subcommand, "--profile %s: %s (line %d)", path, error.text, error.line);
    const int exit_code = take_profile(ctx, to, path, root);
    json_decref(root);
    return exit_code;
}

/* Results. */

static polytile_status write_plan(const void *plan, polytile_format format, char **text) {
    return polytile_graph_plan_to_string(plan, format, text);
}

static int write_dot(polytile_context *ctx, const polytile_graph_plan *plan, const char *path) {
    char *text = NULL;
    polytile_status status = polytile_graph_plan_to_dot(plan, &text);
    if (status != POLYTILE_OK)
        return library_error(subcommand, ctx, status);
    int exit_code = write_file(subcommand, path, text);
    free(text);
    return exit_code;
}

static int write_results(polytile_context *ctx, const polytile_graph_plan *plan,
                         const graph_arguments *args) {
    int exit_code = EXIT_DONE;
    if (args->dot != NULL)
        exit_code = write_dot(ctx, plan, args->dot);
    if (exit_code == EXIT_DONE)
        exit_code = print_forms(subcommand, ctx, write_plan, plan, args->svg, args->json);
    if (exit_code == EXIT_DONE && args->json)
        fputs(polytile_graph_plan_get_notes(plan), stderr);
    return exit_code;
}

static int plan_in_context(polytile_context *ctx, const graph_arguments *args) {
    polytile_graph *graph = NULL;
    polytile_machine *machine = NULL;
    polytile_graph_plan *plan = NULL;
    polytile_status status = polytile_graph_read(ctx, args->path, &graph);
    if (status == POLYTILE_OK)
        status = args->machine != NULL ? polytile_machine_read(ctx, args->machine, &machine)
                                       : polytile_machine_find(ctx, &machine);
    if (status != POLYTILE_OK)
        return report_read(ctx, status);
    const measured of = {graph, machine};
    int exit_code = args->profile == NULL ? EXIT_DONE : read_profile(ctx, &of, args->profile);
    if (exit_code != EXIT_DONE)
        return exit_code;
    status = polytile_graph_plan_create(graph, machine, &args->options, &plan);
    return status == POLYTILE_OK ? write_results(ctx, plan, args)
                                 : library_error(subcommand, ctx, status);
}

int graph_command(int argc, char **argv) {
    graph_arguments args = {0};
    polytile_context *ctx = NULL;
    int exit_code = parse(argc, argv, &args);
    if (exit_code != EXIT_DONE || args.help)
        return exit_code != EXIT_DONE ? exit_code : write_result(subcommand, help_graph);
    polytile_status status = polytile_context_create(&ctx);
    exit_code = status == POLYTILE_OK ? plan_in_context(ctx, &args)
                                      : library_error(subcommand, ctx, status);
    polytile_context_destroy(ctx);
    return exit_code;
}
