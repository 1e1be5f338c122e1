#include "ranks.h"
#include "command.h"

#include <polytile/ranks.h>
#include <stdlib.h>

static int print_plan(const arguments *args, const polytile_context *ctx,
                      const polytile_ranks_plan *plan, polytile_format format) {
    char *text = NULL;
    polytile_status status = polytile_ranks_plan_to_string(plan, format, &text);
    if (status != POLYTILE_OK)
        return library_error(args->subcommand, ctx, status);
    int exit_code = format == POLYTILE_SVG ? write_file(args->subcommand, args->svg, text)
                                           : write_result(args->subcommand, text);
    free(text);
    return exit_code;
}

int plan_ranks(const arguments *args, const request *made) {
    const polytile_ranks_request asked = {
        .n_launches = made->n_launches,
        .launches = made->launch,
        .n_scratch = args->n_scratch,
        .scratch = made->scratch,
        .options = &made->options,
        .n_ranks = (int)args->n_ranks,
        .grid = args->grid,
        .layout = args->layout,
        .launches_per_exchange = args->launches_per_exchange,
    };
    polytile_ranks_plan *plan = NULL;
    polytile_status status = polytile_ranks_plan_create(&asked, &plan);
    if (status != POLYTILE_OK)
        return library_error(args->subcommand, made->ctx, status);
    int exit_code = EXIT_DONE;
    if (args->svg != NULL)
        exit_code = print_plan(args, made->ctx, plan, POLYTILE_SVG);
    if (exit_code == EXIT_DONE)
        exit_code = print_plan(args, made->ctx, plan, args->json ? POLYTILE_JSON : POLYTILE_TEXT);
    return exit_code;
}
