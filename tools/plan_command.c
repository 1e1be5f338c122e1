#include "command.h"
#include "help.h"
#include "print_forms.h"
#include "ranks.h"
#include "request.h"

static polytile_status write_plan(const void *plan, polytile_format format, char **text) {
    return polytile_plan_to_string(plan, format, text);
}

static polytile_status create_plan(const arguments *args, const request *made,
                                   polytile_plan **plan) {
    const polytile_chain_launch *first = &made->launch[0];
    if (!arguments_are_of_chain(args))
        return polytile_plan_create(first->kernel, &first->domain, first->n_arrays, first->arrays,
                                    &made->options, plan);
    return polytile_plan_create_chain(made->n_launches, made->launch, args->n_scratch,
                                      made->scratch, &made->options.plan, plan);
}

static int plan_request(const arguments *args, const request *made) {
    polytile_plan *plan = NULL;
    polytile_status status = create_plan(args, made, &plan);
    if (status != POLYTILE_OK)
        return library_error(args->subcommand, made->ctx, status);
    return print_forms(args->subcommand, made->ctx, write_plan, plan, args->svg, args->json);
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
            exit_code = args.n_ranks > 0 || args.device != NULL ? plan_ranks(&args, &made)
                                                                : plan_request(&args, &made);
    }
    request_free(&made);
    arguments_free(&args);
    return exit_code;
}
