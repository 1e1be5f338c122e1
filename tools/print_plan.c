#include "print_plan.h"
#include "command.h"

#include <stdlib.h>

static int print_form(const arguments *args, const polytile_context *ctx, plan_writer *write,
                      const void *plan, polytile_format format) {
    char *text = NULL;
    polytile_status status = write(plan, format, &text);
    if (status != POLYTILE_OK)
        return library_error(args->subcommand, ctx, status);
    int exit_code = format == POLYTILE_SVG ? write_file(args->subcommand, args->svg, text)
                                           : write_result(args->subcommand, text);
    free(text);
    return exit_code;
}

int print_plan(const arguments *args, const polytile_context *ctx, plan_writer *write,
               const void *plan) {
    int exit_code = EXIT_DONE;
    if (args->svg != NULL)
        exit_code = print_form(args, ctx, write, plan, POLYTILE_SVG);
    if (exit_code == EXIT_DONE)
        exit_code = print_form(args, ctx, write, plan, args->json ? POLYTILE_JSON : POLYTILE_TEXT);
    return exit_code;
}
