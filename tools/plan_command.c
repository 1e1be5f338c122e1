#include "command.h"
#include "help.h"
#include "ranks.h"
#include "request.h"

#include <stdlib.h>

static int print_plan(const arguments *args, const polytile_context *ctx, const polytile_plan *plan,
                      polytile_format format) {
    char *text = NULL;
    polytile_status status = polytile_plan_to_string(plan, format, &text);
    if (status != POLYTILE_OK)
        return library_error(args->subcommand, ctx, status);
    int exit_code = format == POLYTILE_SVG ? write_file(args->subcommand, args->svg, text)
                                           : write_result(args->subcommand, text);
    free(text);
    return exit_code;
}

static polytile_status create_plan(const arguments *args, const request *made,
                                   polytile_plan **plan) {
    const polytile_chain_launch *first = &made->launch[0];
    if (!arguments_are_of_chain(args))
        return polytile_plan_create(first->kernel, &first->domain, first->arrays, &made->options,
                                    plan);
    return polytile_plan_create_chain(made->n_launches, made->launch, args->n_scratch,
                                      made->scratch, &made->options, plan);
}

static int plan_request(const arguments *args, const request *made) {
    polytile_plan *plan = NULL;
    polytile_status status = create_plan(args, made, &plan);
    if (status != POLYTILE_OK)
        return library_error(args->subcommand, made->ctx, status);
    int exit_code = EXIT_DONE;
    if (args->svg != NULL)
        exit_code = print_plan(args, made->ctx, plan, POLYTILE_SVG);
    if (exit_code == EXIT_DONE)
        exit_code = print_plan(args, made->ctx, plan, args->json ? POLYTILE_JSON : POLYTILE_TEXT);
    return exit_code;
}

int plan_command(int argc, char **argv) {
    arguments args;
    request made = {0};
    int exit_code = arguments_parse(argc, argv, &args);
    if (exit_code == EXIT_DONE && args.help) {
        exit_code = write_result(args.subcommand, help_plan);
    } else if (exit_code == EXIT_DONE) {
        exit_code = request_create(&args, &made);
        if (exit_code == EXIT_DONE)
            exit_code = args.n_ranks > 0 ? plan_ranks(&args, &made) : plan_request(&args, &made);
    }
    request_free(&made);
    arguments_free(&args);
    return exit_code;
}
