#include "print_forms.h"
#include "command.h"

#include <stdlib.h>

int print_form(const char *subcommand, const polytile_context *ctx, form_writer *write,
               const void *plan, polytile_format format, const char *path) {
    char *text = NULL;
    const polytile_status status = write(plan, format, &text);
    if (status != POLYTILE_OK)
        return library_error(subcommand, ctx, status);
    const int exit_code =
        path != NULL ? write_file(subcommand, path, text) : write_result(subcommand, text);
    free(text);
    return exit_code;
}

int print_forms(const char *subcommand, const polytile_context *ctx, form_writer *write,
                const void *plan, const char *svg, bool json) {
    int exit_code = EXIT_DONE;
    if (svg != NULL)
        exit_code = print_form(subcommand, ctx, write, plan, POLYTILE_SVG, svg);
    if (exit_code == EXIT_DONE)
        exit_code =
            print_form(subcommand, ctx, write, plan, json ? POLYTILE_JSON : POLYTILE_TEXT, NULL);
    return exit_code;
}
