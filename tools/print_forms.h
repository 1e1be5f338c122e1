#ifndef POLYTILE_TOOLS_PRINT_FORMS_H
#define POLYTILE_TOOLS_PRINT_FORMS_H

#include <polytile/polytile.h>

/** Write a plan, or what else has forms, in one of them; *text is the caller's. */
typedef polytile_status form_writer(const void *plan, polytile_format format, char **text);

/** Print one form, into the file of a path or, if that is NULL, to standard output; reports errors.
 * Returns the exit code. */
int print_form(const char *subcommand, const polytile_context *ctx, form_writer *write,
               const void *plan, polytile_format format, const char *path);

/** Print a plan: as a picture into the file that svg names, unless it is NULL, then as JSON or
 * text; reports errors. Returns the exit code. */
int print_forms(const char *subcommand, const polytile_context *ctx, form_writer *write,
                const void *plan, const char *svg, bool json);

#endif
