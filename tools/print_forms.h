#ifndef POLYTILE_TOOLS_PRINT_FORMS_H
#define POLYTILE_TOOLS_PRINT_FORMS_H

#include <polytile/polytile.h>

/** Write a plan, of whatever kind, in a form; *text is the caller's. */
typedef polytile_status form_writer(const void *plan, polytile_format format, char **text);

/** Print a plan: as a picture into the file that svg names, unless it is NULL, then as JSON or
 * text; reports errors. Returns the exit code. */
int print_forms(const char *subcommand, const polytile_context *ctx, form_writer *write,
                const void *plan, const char *svg, bool json);

#endif
