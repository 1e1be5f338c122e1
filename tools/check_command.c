#include "command.h"
#include "help.h"
#include "request.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const kind_words[] = {
    [POLYTILE_WITNESS_NONE] = "none",
    [POLYTILE_WITNESS_CONFLICT] = "conflict",
    [POLYTILE_WITNESS_OUTSIDE] = "outside",
    [POLYTILE_WITNESS_UNINITIALISED] = "uninitialised",
};

/** Return text for JSON, with '?' for bytes that are no UTF-8. */
static json_t *json_text(const char *text) {
    json_t *value = json_string(text);
    char *plain = value == NULL ? strdup(text) : NULL;
    if (plain == NULL)
        return value;
    for (char *c = plain; *c != '\0'; c++)
        *c = (*c & 0x80) != 0 ? '?' : *c;
    value = json_string(plain);
    free(plain);
    return value;
}

/** Return a list, or free it and return NULL if memory ran out. */
static json_t *list_or_none(json_t *list, int failed) {
    if (!failed)
        return list;
    json_decref(list);
    return NULL;
}

static json_t *list(const int64_t *point, int n_dims) {
    json_t *numbers = json_array();
    int failed = 0;
    for (int d = 0; d < n_dims; d++)
        failed |= json_array_append_new(numbers, json_integer(point[d]));
    return list_or_none(numbers, failed);
}

static json_t *list_threads(const polytile_witness *found) {
    json_t *threads = json_array();
    int failed = json_array_append_new(threads, list(found->thread, found->n_indices));
    if (found->kind == POLYTILE_WITNESS_CONFLICT)
        failed |= json_array_append_new(threads, list(found->other, found->n_indices));
    return list_or_none(threads, failed);
}

/** The array that a launch is given for a name of its declaration; scratch has the name alone. */
static const char *array_given_for(const polytile_chain_launch *launch, const char *name) {
    for (int a = 0; a < launch->n_arrays; a++)
        if (strcmp(polytile_kernel_get_array_name(launch->kernel, a), name) == 0)
            return polytile_array_get_name(launch->arrays[a]);
    return name;
}

static json_t *describe(const polytile_witness *found, const request *made) {
    const polytile_chain_launch *launch = &made->launch[found->launch];
    const char *operand = polytile_kernel_get_view_name(launch->kernel, found->operand);
    return json_pack("{s:s, s:i, s:s, s:o, s:o, s:s, s:o}", "kind", kind_words[found->kind],
                     "launch", found->launch, "kernel", polytile_kernel_get_name(launch->kernel),
                     "threads", list_threads(found), "array",
                     json_text(array_given_for(launch, operand)), "operand", operand, "element",
                     list(found->element, found->n_dims));
}

static json_t *describe_proof(const request *made) {
    return json_pack("{s:s, s:b, s:i}", "kernel", polytile_kernel_get_name(made->launch[0].kernel),
                     "ok", 1, "launches", made->n_launches);
}

/** Describe a failure; wrong usage has no context yet. */
static json_t *describe_failure(const request *made) {
    polytile_witness found;
    bool has_witness = polytile_last_witness(made->ctx, &found);
    return json_pack("{s:b, s:o, s:o}", "ok", 0, "error", json_text(last_report()), "witness",
                     has_witness ? describe(&found, made) : json_null());
}

static void print_domain(const polytile_domain *domain) {
    for (int d = 0; d < domain->n_dims; d++)
        printf("%s%" PRId64 ":%" PRId64, d == 0 ? "[" : ", ", domain->range[d].lo,
               domain->range[d].hi);
    printf("]");
}

/** Print "up over [2:97], down over [5:94]", and how often. */
static void print_launches(const arguments *args, const request *made) {
    for (int k = 0; k < args->n_kernels; k++) {
        printf("%s%s over ", k == 0 ? "" : ", ", polytile_kernel_get_name(made->launch[k].kernel));
        print_domain(&made->launch[k].domain);
    }
    if (args->n_steps > 1)
        printf(", %" PRId64 " times", args->n_steps);
}

static int print_text(const arguments *args, const request *made) {
    printf("ok: ");
    print_launches(args, made);
    printf(": every section meets its array, no two threads write one element unless they combine "
           "into it, and none reads what another writes");
    puts(made->n_launches > 1 || args->n_scratch > 0
             ? "; each element that a launch reads has a value by then"
             : "");
    return finish_results(args->subcommand);
}

static int prove(const arguments *args, const request *made) {
    polytile_status status = polytile_check_chain(made->n_launches, made->launch, args->n_scratch,
                                                  made->scratch, &made->options.plan);
    return status == POLYTILE_OK ? EXIT_DONE : library_error(args->subcommand, made->ctx, status);
}

/** Return whether the user wants JSON, also if wrong usage ended the parsing before that word. */
static bool wants_json(const arguments *args, int argc, char **argv) {
    bool wants = args->json;
    for (int k = 1; k < argc; k++)
        wants = wants || strcmp(argv[k], "--json") == 0;
    return wants;
}

static int print_failure(const arguments *args, const request *made, int exit_code) {
    int printed = write_json(args->subcommand, describe_failure(made), 0);
    return printed == EXIT_DONE ? exit_code : printed;
}

static int print_proof(const arguments *args, const request *made) {
    return args->json ? write_json(args->subcommand, describe_proof(made), 0)
                      : print_text(args, made);
}

int check_command(int argc, char **argv) {
    arguments args;
    request made = {0};
    int exit_code = arguments_parse(argc, argv, &args);
    bool is_help = exit_code == EXIT_DONE && args.help;
    if (exit_code == EXIT_DONE && !is_help)
        exit_code = request_create(&args, &made);
    if (exit_code == EXIT_DONE && !is_help)
        exit_code = prove(&args, &made);
    if (is_help)
        exit_code = write_result(args.subcommand, help_check);
    else if (exit_code == EXIT_DONE)
        exit_code = print_proof(&args, &made);
    else if (wants_json(&args, argc, argv))
        exit_code = print_failure(&args, &made, exit_code);
    request_free(&made);
    arguments_free(&args);
    return exit_code;
}
